"""From a model and a benchmark to a result: prompts, the inference process, scores, one record."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from evaluator.data_types import MAX_MESSAGE, Item, ModelError, unless_unanswered
from evaluator.engines.generation_config import greedy_view
from evaluator.run.answer_cache import AnswerCache
from evaluator.run.job import Job, JobSpec
from evaluator.run.result import invariance, sum_up
from evaluator.run.task import Task, prompts_of, spread
from evaluator.sandbox.policy import SCRATCH, Walls, confined, hand_over, mechanism
from submissions.paths import ROOT
from submissions.records import Dataset, EvalResult, FailureCode

INFERENCE = "evaluator.run.child"  # the module run as the child process
MAX_EVENT = 65_536  # bytes of a line from it
SMALLER = 8  # batches are so many times smaller after some that changed scores

Progress = Callable[[str, int, int], None]  # stage, answered, of how many

Details = list[dict[str, object]]  # private: answers and scores by item


class Unanswered(ModelError):
    """Some questions could not be asked; the others' scores are in `details`. Asking again asks only those."""

    def __init__(self, message: str, details: Details) -> None:
        super().__init__("internal_error", message)
        self.details = details


class Stopped(Exception):
    """The evaluation was asked to stop; its answers so far are kept."""


@dataclass(frozen=True)
class Evaluation:
    result: EvalResult
    details: Details


def evaluate(
    task: Task,
    items: Sequence[Item],
    dataset: Dataset,
    job_dir: Path,
    *,
    on_progress: Progress = lambda *_: None,
    stop: threading.Event | None = None,
    worker: str | None = None,
) -> Evaluation:
    """Ask, score and sum up. Continues where an earlier run of the same job stopped.

    Raises ModelError where the model cannot be evaluated, Stopped once `stop` is set.
    """
    ids = {item.id: [prompt.id for prompt in prompts_of(task, item)] for item in items}
    total = sum(map(len, ids.values()))
    chosen = spread(items, -(-task.alone // len(ids[items[0].id])))
    asked_alone = [(item, ids[item.id]) for item in chosen]
    alone = [own for _, own_ids in asked_alone for own in own_ids]
    prepare = partial(_prepare, task, job_dir, items, frozenset(alone))
    job = prepare()
    if task.cache and not job.batches_tried():
        AnswerCache(task.cache).fill(job)
    sandbox = task.sandbox and not (task.api and task.api.remote)
    while True:
        infer(job, total, len(alone), on_progress, stop, sandbox=sandbox)
        answers = job.answers()
        same = invariance(task, asked_alone, answers, job.alone())
        batch_size = int(job.environment()["batch_size"])
        varies = same is not None and same.scores_changed > task.max_score_changes * same.n
        # A server elsewhere has batches that nobody here decides on, and each answer is paid for.
        if not varies or batch_size == 1 or (task.api and task.api.remote):
            break
        job.discard_answers(batch_size)
        job = prepare()
    if task.cache:
        AnswerCache(task.cache).keep(job)
    on_progress("score", total, total)
    given = [[answers[own] for own in ids[item.id]] for item in items]
    scores = [unless_unanswered(s, own) for s, own in zip(task.benchmark.score(items, given), given, strict=True)]
    details: Details = [
        {
            "id": item.id,
            "answers": [answers[own].text for own in ids[item.id]],
            **({"raw": raw} if any(raw := [answers[own].raw for own in ids[item.id]]) else {}),
            "status": score.status,
            "em": score.em,
            "f1": score.f1,
            "em_strict": score.em_strict,
        }
        for item, score in zip(items, scores, strict=True)
    ]
    if failed := sum(score.status == "infra_error" for score in scores):
        raise Unanswered(
            f"{failed} of {len(items)} questions have no answer, through no fault of the model; run again to ask them again",
            details,
        )
    if same and (tried := job.batches_tried()):
        same = same.evolve(batches_tried=tried)
    return Evaluation(sum_up(task, items, scores, list(answers.values()), dataset, job, same, worker), details)


def _prepare(task: Task, job_dir: Path, items: Sequence[Item], alone: frozenset[str]) -> Job:
    tried = Job(job_dir).batches_tried()
    model = task.model.resolve()
    if task.api and task.api.spawn and task.decoding == "greedy":
        model = greedy_view(model, job_dir.resolve() / "model")
    spec = JobSpec(
        engine="api" if task.api else task.request.engine,
        model=str(model),
        revision=task.request.revision,
        precision=task.request.precision,
        max_new_tokens=task.answer_tokens,
        max_pixels=task.max_pixels,
        batch_size=max(1, min(tried) // SMALLER) if tried else task.batch_size,
        api=task.api,
        max_reasoning_tokens=task.max_reasoning_tokens,
        thinking=task.request.thinking,
        decoding=task.decoding,
        adapter=str(task.adapter.resolve()) if task.adapter else None,
        base_revision=task.request.base_revision,
        custom_code=task.request.custom_code,
    )
    return Job.prepare(job_dir, spec, (p for item in items for p in prompts_of(task, item)), alone)


def infer(
    job: Job,
    total: int,
    alone: int,
    on_progress: Progress,
    stop: threading.Event | None = None,
    *,
    sandbox: bool = True,
) -> None:
    """Run the inference process until all `total` prompts have their answers and `alone` of them were measured.

    Raises ModelError, Stopped, or SandboxError.
    """
    answered = sum(answer.status != "infra_error" for answer in job.answers().values())
    if answered == total and job.done_mark.exists():
        return
    on_progress("load", answered, total)
    spec, folder = job.spec(), job.folder.resolve()
    environment = _child_environment(spec)
    command = [sys.executable, "-m", INFERENCE, str(folder)]
    if sandbox:
        folders = [Path(folder) for folder in (spec.model, spec.adapter) if folder]
        # Links lead into a Hub cache of the operator's.
        linked = [path.resolve() for model in folders for path in model.rglob("*") if path.is_symlink()]
        for model in folders:
            hand_over(job.out, model)
        environment |= {"HOME": SCRATCH[0]}
        environment |= {"HF_MODULES_CACHE": f"{SCRATCH[0]}/modules"} if spec.custom_code else {}
        program = _installation(spec.api.spawn) if spec.api and spec.api.spawn else []
        walls = Walls([*folders, *linked, *program, folder], folder / job.out.name, environment)
        command = confined(command, walls)
    with (
        job.log.open("ab") as log,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,  # its end tells the child that we are gone
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=ROOT,
            env=environment,
            process_group=0,
        ) as child,
    ):
        assert child.stdout is not None
        lines = iter(partial(child.stdout.readline, MAX_EVENT), b"")
        if stop:
            threading.Thread(target=_kill_when_set, args=(stop, child), daemon=True).start()
        failure, reason, measured = None, "", 0
        try:
            for number, line in enumerate(lines):
                event = _event(line)
                if event.kind == "environment":
                    if number == 0:  # later, the model may be what is speaking
                        job.keep_environment({**event.values, "sandbox": mechanism() if sandbox else "none"})
                    continue
                if event.kind == "loaded":
                    job.keep_environment({**job.environment(), "batch_size": event.batch_size, "params": event.params})
                elif event.kind == "failed":
                    failure, reason = event.code, _printable(event.message)
                    continue  # its stage is the one it was in
                answered += event.kind == "answered"
                measured += event.kind == "measured"
                if measured:
                    on_progress("measure", measured, alone)
                else:
                    on_progress("infer", answered, total)
            child.wait()  # before its stdin closes, which would end it half-way out
        except BaseException:
            _kill(child)
            raise
    if child.returncode and stop and stop.is_set():
        raise Stopped
    if child.returncode < 0:
        raise ModelError("process_killed", f"the inference process was ended by signal {-child.returncode}")
    if child.returncode:
        raise ModelError(failure or "internal_error", reason or _last_line(job.log))


class _Event(BaseModel):
    """A line from the inference process."""

    kind: Literal["environment", "loaded", "answered", "measured", "failed"] = Field(alias="event")
    values: dict[str, str | float] = {}
    batch_size: int | None = Field(default=None, ge=1)
    params: int | None = Field(default=None, ge=0)
    code: FailureCode | None = None
    message: str = Field(default="", max_length=MAX_MESSAGE)


def _event(line: bytes) -> _Event:
    try:
        return _Event.model_validate_json(line)
    except ValueError:
        raise ModelError("model_error", "the inference process says what it should not") from None


def _kill_when_set(stop: threading.Event, child: subprocess.Popen[bytes]) -> None:
    while child.poll() is None:
        if stop.wait(0.2):
            _kill(child)  # what it has answered stands in the file; at most one batch is asked again


def _kill(child: subprocess.Popen[bytes]) -> None:
    """With its group: bubblewrap, killed in its first moments, leaves a child that waits for it, and our pipe, for ever."""
    if child.poll() is None:  # else the number may be another's by now
        os.killpg(child.pid, signal.SIGKILL)


def _installation(command: str) -> list[Path]:
    """The folder a server's program is installed in, where that is not the system's: its own virtual environment."""
    words = shlex.split(command)
    found = shutil.which(words[0]) if words else None
    if found is None or Path(found).is_relative_to("/usr"):
        return []
    places = {Path(found).parent.parent, Path(found).resolve().parent.parent}
    return sorted(place for place in places if not place.is_relative_to("/usr") and place != Path("/"))


def _child_environment(spec: JobSpec) -> dict[str, str]:
    """No token, no setting of ours, nothing that could reach a hub; for a server's engine, what reaches that server."""
    keep = ["PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "TMPDIR"]
    if spec.api and spec.api.remote:
        keep += [spec.api.key, "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE"]
    elif spec.api:
        keep += ["HOME"]  # where servers keep what they compile
    kept = {name: os.environ[name] for name in keep if name in os.environ}
    return {**kept, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "true", "PYTHONUTF8": "1"}


def _last_line(log: Path) -> str:
    """The end of a log, without what could steer a terminal."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 4096))
        lines = file.read().decode(errors="replace").strip().splitlines()
    return _printable(lines[-1]) if lines else "no output"


def _printable(message: str) -> str:
    return "".join(c for c in message[:MAX_MESSAGE] if c.isprintable())

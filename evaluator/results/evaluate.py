"""Evaluate a model on a benchmark: write prompts, run the inference process, score the answers, build the result."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from evaluator.core.data_types import Answer, Item, Score
from evaluator.core.errors import Details, EvaluationError, IncompleteRunError
from evaluator.engines.generation_config import greedy_view
from evaluator.engines.load import engine_location
from evaluator.job.folder import Job
from evaluator.job.limited_process import run_limited
from evaluator.job.process import OnProgress, run_inference
from evaluator.results.answer_rows import answer_rows, answers_hash
from evaluator.results.build_result import build_result, round_measures
from evaluator.results.score_answers import ScoredAnswers, count_answers, keep_answers, score_answers
from evaluator.results.task import Task, evenly_spaced, prompts_of
from evaluator.sandbox.policy import make_readable
from submissions.records.result import Dataset, EvalResult
from submissions.texts.failure_codes import FailureCode

MIN_TIME_SHARE, TIME_SLACK_S = 0.4, 10.0  # answers must claim this share of the elapsed time, less these seconds
BATCH_SIZE_DIVISOR = 8  # the next batch size is this many times smaller if batching changed scores


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
    on_progress: OnProgress = lambda *_: None,
    stop: threading.Event | None = None,
    worker: str | None = None,
) -> Evaluation:
    """Ask all items, score the answers and build the result.

    Continues an earlier run of the same job. If batching changes too many scores, all is asked again in smaller batches.
    Raises EvaluationError if there is no result, EvaluationStopped once `stop` is set.
    """
    asked = {item.id: [prompt.id for prompt in prompts_of(task, item)] for item in items}
    total = sum(map(len, asked.values()))
    sampled = evenly_spaced(items, -(-task.latency_samples // len(asked[items[0].id])))
    sample_ids = frozenset(prompt_id for item in sampled for prompt_id in asked[item.id])
    prepare = partial(_prepare, task, job_dir, items, sample_ids)
    job = prepare()
    ids = {key: [job.ids[prompt_id] for prompt_id in prompts] for key, prompts in asked.items()}
    cache = None if job.discarded_batch_sizes() else task.cache
    answered = run_limited(count_answers, job.folder, cache, stop=stop)
    bare = [replace(item, page=None, images=(), links=()) for item in items]  # scoring uses no pages or images
    elapsed = 0.0
    while True:
        if answered < total or not job.done_mark.exists():
            elapsed = _ask(task, job, answered, len(sample_ids), on_progress, stop)
        on_progress("score", total, total)
        scored = run_limited(
            score_answers, job.folder, task.benchmark, bare, ids, [item.id for item in sampled], stop=stop
        )
        check_times(scored, elapsed)
        invariance = scored.invariance
        batch_size = int(job.environment()["batch_size"])
        varies = invariance is not None and (invariance.scores_changed or 0) > task.max_score_changes * invariance.n
        # The batches of a remote server cannot be changed from here, and each answer costs money.
        if not varies or batch_size == 1 or task.remote:
            break
        job.discard_answers(batch_size)
        job = prepare()
        answered = 0
    if task.cache:
        run_limited(keep_answers, job.folder, task.cache, stop=stop)
    by_item = [[scored.answers[prompt_id] for prompt_id in ids[item.id]] for item in items]
    details = _details(items, by_item, scored.scores)
    if failed := sum(score.status == "infra_error" for score in scored.scores):
        raise IncompleteRunError(
            _incomplete_message(job, failed, len(items)), details, uses_server=task.options.api is not None
        )
    if invariance and (discarded := job.discarded_batch_sizes()):
        invariance = invariance.evolve(batches_tried=discarded)
    result = build_result(
        task, items, scored, dataset, job.environment(), invariance, worker, gpu_memory=job.peak_gpu_memory()
    )
    if task.benchmark.drawn:  # its answers are published when its seed is
        result = result.evolve(answers_sha256=answers_hash(answer_rows(details)))
    return Evaluation(round_measures(result) if task.request.custom_code else result, details)


def answer_shard(
    task: Task,
    items: Sequence[Item],
    job_dir: Path,
    *,
    on_progress: OnProgress = lambda *_: None,
    stop: threading.Event | None = None,
) -> None:
    """Ask the questions of a shard, without latency samples, which belong to the run over the whole set.

    Raises the same errors as `evaluate`.
    """
    job = _prepare(task, job_dir, items, frozenset())
    answered = run_limited(count_answers, job.folder, None, stop=stop)
    if answered < len(job.ids):
        _ask(task, job, answered, 0, on_progress, stop)


def _ask(
    task: Task, job: Job, answered: int, latency_samples: int, on_progress: OnProgress, stop: threading.Event | None
) -> float:
    sandbox = task.sandbox and not task.remote
    return run_inference(
        job, answered, len(job.ids), latency_samples, on_progress, stop, sandbox=sandbox, devices=task.devices
    )


def check_times(scored: ScoredAnswers, elapsed: float) -> None:
    """Check the answers' reported times, since a model's code can report any time.

    Raises EvaluationError if they add up to much less than `elapsed`, the seconds measured outside of the sandbox. The
    reported times do not include the warm-up and writing the answers.
    """
    claimed = sum(answer.seconds for answer in (*scored.answers.values(), *scored.singly.values()))
    if claimed < MIN_TIME_SHARE * elapsed - TIME_SLACK_S:
        message = f"the answers took {elapsed:.0f} s but report {claimed:.0f} s"
        raise EvaluationError(FailureCode.MODEL_ERROR, message)


def _prepare(task: Task, job_dir: Path, items: Sequence[Item], sample_ids: frozenset[str]) -> Job:
    discarded = Job(job_dir).discarded_batch_sizes()
    options = replace(
        task.options,
        engine=engine_location(task.options.engine),
        model=task.options.model.resolve(),
        adapter=task.options.adapter.resolve() if task.options.adapter else None,
        batch_size=max(1, min(discarded) // BATCH_SIZE_DIVISOR) if discarded else task.options.batch_size,
    )
    if options.api and options.api.spawn and options.decoding == "greedy":
        if task.sandbox:
            make_readable(options.model)  # the view below holds links, and making it readable would not follow them
        options = replace(options, model=greedy_view(options.model, job_dir.resolve() / "model"))
    return Job.prepare(job_dir, options, (p for item in items for p in prompts_of(task, item)), sample_ids)


def _incomplete_message(job: Job, failed: int, total: int) -> str:
    message = f"{failed} of {total} questions have no answer because of infrastructure failures"
    if reason := job.last_server_message():
        message += f" (last: {reason})"
    return f"{message}; run again to ask them again; log: {job.log}"


def _details(items: Sequence[Item], answers: Sequence[Sequence[Answer]], scores: Sequence[Score]) -> Details:
    """Return the answers and scores of each item, which are private."""
    details: Details = []
    for item, item_answers, score in zip(items, answers, scores, strict=True):
        raw = [answer.raw for answer in item_answers]
        row: dict[str, Any] = {"id": item.id, "answers": [answer.text for answer in item_answers]}
        if any(raw):
            row["raw"] = raw
        if any(answer.reasoning_tokens is not None for answer in item_answers):
            row["reasoned"] = True
        details.append(row | {"status": score.status, **score.values})
    return details

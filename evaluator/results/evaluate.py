"""Evaluate a model on a benchmark: write prompts, run the inference process, score the answers, build the result.

The worker and `python -m evaluator run` call `evaluate` with a `Task` and its items. A launcher may split a run: workers on
several machines call `answer_shard` first, and the one that calls `evaluate` has restored their answers to its job folder.
"""

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from evaluator.core.data_types import Answer, Item, Prompt, Score
from evaluator.core.errors import Details, IncompleteRunError
from evaluator.engines.generation_config import greedy_view
from evaluator.engines.load import engine_location
from evaluator.job.events import OnProgress
from evaluator.job.folder import Job
from evaluator.job.limited_process import run_limited
from evaluator.job.process import run_inference
from evaluator.results.answer_rows import answer_rows, answers_hash
from evaluator.results.build_result import build_result, round_measures
from evaluator.results.score_answers import restore_and_count_answers, score_answers
from evaluator.results.task import Task, evenly_spaced, prompts_of
from evaluator.sandbox.policy import make_readable
from submissions.records.result import Dataset, EvalResult

BATCH_SIZE_DIVISOR = 8  # the next batch size is this many times smaller if batching changed scores


@dataclass(frozen=True)
class Evaluation:
    """The outcome of an evaluation."""

    result: EvalResult  # public
    details: Details  # the answers and scores of each item, for the private store


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

    Args:
        items: what `load_items` returned; all have the same number of prompts
        dataset: the published description of the items' set
        job_dir: folder of the job (see `job/folder.py`), which may have answers of an earlier run
        on_progress: called with a stage, the number of answered prompts and their total
        stop: set by the caller to end the run early
        worker: name of the worker, or None for a run by hand, whose result counts as reported

    Raises EvaluationError if there is no result, EvaluationStopped once `stop` is set.
    """
    prompts_by_item = {item.id: prompts_of(task, item) for item in items}
    prompts = [prompt for item_prompts in prompts_by_item.values() for prompt in item_prompts]
    prompts_per_item = len(prompts_by_item[items[0].id])
    sampled_items = evenly_spaced(items, math.ceil(task.latency_samples / prompts_per_item))
    sampled_item_ids = [item.id for item in sampled_items]
    sampled_prompt_ids = frozenset(prompt.id for item_id in sampled_item_ids for prompt in prompts_by_item[item_id])
    prepare = partial(_prepare, task, job_dir, prompts, sampled_prompt_ids)
    job = prepare()
    # A prompt's id in the job is a hash over everything its answer depends on; it does not depend on the batch size.
    job_ids = {
        item_id: [job.ids[prompt.id] for prompt in item_prompts] for item_id, item_prompts in prompts_by_item.items()
    }
    # Cached answers may have been generated in batches as large as those whose answers were discarded.
    readable_cache = None if job.discarded_batch_sizes() else task.cache
    answered_count = run_limited(restore_and_count_answers, job.folder, readable_cache, stop=stop)
    # Scoring uses no pages or images.
    items_to_score = [replace(item, page=None, images=(), links=()) for item in items]
    # Seconds of asking, measured outside of the sandbox, by which the times that a model reports are checked; 0 if everything
    # was answered by earlier runs.
    elapsed = 0.0
    while True:  # until scores do not depend on the batch size
        # Even if the cache or the shards of other machines answered all prompts, latency may not be measured yet.
        if answered_count < len(prompts) or not job.done_mark.exists():
            elapsed = _ask(task, job, answered_count, len(sampled_prompt_ids), on_progress, stop)
        on_progress("score", len(prompts), len(prompts))
        batch_size = int(job.environment()["batch_size"])
        # With 1.0 all scores may change, so that the loop ends. The batches of a remote server cannot be changed from here,
        # and each of its answers costs money.
        max_changes = 1.0 if task.remote or batch_size == 1 else task.max_score_changes
        scored = run_limited(
            score_answers,
            job.folder,
            task.benchmark,
            items_to_score,
            job_ids,
            sampled_item_ids,
            elapsed,
            max_changes,
            task.cache,  # to which the answers are added
            stop=stop,
        )
        answers_by_item = [[scored.answers[prompt_id] for prompt_id in ids] for ids in job_ids.values()]
        details = _details(items, answers_by_item, scored.scores)
        if failed := sum(score.status == "infra_error" for score in scored.scores):
            raise IncompleteRunError(
                _incomplete_message(job, failed, len(items)), details, uses_server=task.options.api is not None
            )
        if not scored.depends_on_batches:
            break
        job.discard_answers(batch_size)
        job = prepare()  # with a smaller batch size
        answered_count = 0
    invariance = scored.invariance
    if invariance and (discarded := job.discarded_batch_sizes()):
        invariance = invariance.evolve(batches_tried=discarded)
    result = build_result(
        task, items, scored, dataset, job.environment(), invariance, worker, gpu_memory=job.peak_gpu_memory()
    )
    if task.benchmark.drawn:  # its answers are published together with its seed, and can then be checked by this hash
        result = result.evolve(answers_sha256=answers_hash(answer_rows(details)))
    if task.request.custom_code:  # it could encode questions in the digits of its measures
        result = round_measures(result)
    return Evaluation(result, details)


def answer_shard(
    task: Task,
    items: Sequence[Item],
    job_dir: Path,
    *,
    on_progress: OnProgress = lambda *_: None,
    stop: threading.Event | None = None,
) -> None:
    """Ask the items of a shard, without scoring them. Their answers stay in `job_dir`.

    No latency samples are asked: those belong to the run over the whole set. Raises the same errors as `evaluate`.
    """
    prompts = [prompt for item in items for prompt in prompts_of(task, item)]
    job = _prepare(task, job_dir, prompts, frozenset())
    answered_count = run_limited(restore_and_count_answers, job.folder, None, stop=stop)
    if answered_count < len(job.ids):
        _ask(task, job, answered_count, 0, on_progress, stop)


def _ask(
    task: Task,
    job: Job,
    answered_count: int,
    latency_samples: int,
    on_progress: OnProgress,
    stop: threading.Event | None,
) -> float:
    """Run the inference process until all prompts are answered. Return the seconds that asking took."""
    sandbox = task.sandbox and not task.remote  # a remote API runs no model on this host
    return run_inference(
        job, answered_count, len(job.ids), latency_samples, on_progress, stop, sandbox=sandbox, devices=task.devices
    )


def _prepare(task: Task, job_dir: Path, prompts: Sequence[Prompt], sampled_prompt_ids: frozenset[str]) -> Job:
    """Write or update the job folder, with a smaller batch size if answers in larger batches were discarded.

    `sampled_prompt_ids` are the ids of the latency samples, which are asked again one at a time.
    """
    batch_size = task.options.batch_size
    if discarded := Job(job_dir).discarded_batch_sizes():
        batch_size = max(1, min(discarded) // BATCH_SIZE_DIVISOR)
    options = replace(
        task.options,
        engine=engine_location(task.options.engine),
        model=task.options.model.resolve(),
        adapter=task.options.adapter.resolve() if task.options.adapter else None,
        batch_size=batch_size,
    )
    # A server that is started here takes its way of sampling from the model's folder.
    if options.api and options.api.spawn and options.decoding == "greedy":
        if task.sandbox:
            make_readable(options.model)  # the view below holds links, and making it readable would not follow them
        options = replace(options, model=greedy_view(options.model, job_dir.resolve() / "model"))
    return Job.prepare(job_dir, options, prompts, sampled_prompt_ids)


def _incomplete_message(job: Job, failed: int, total: int) -> str:
    message = f"{failed} of {total} questions have no answer because of infrastructure failures"
    if reason := job.last_server_message():
        message += f" (last: {reason})"
    return f"{message}; run again to ask them again; log: {job.log}"


def _details(items: Sequence[Item], answers: Sequence[Sequence[Answer]], scores: Sequence[Score]) -> Details:
    """Return the answers and scores of each item, which are private.

    A row is `{"id", "answers", "status"}` and one key for each metric. It also has `raw` (the whole outputs) if an output
    is more than its answer, and `reasoned` if the model reasoned.
    """
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

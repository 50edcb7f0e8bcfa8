"""From a model and a benchmark to a result: prompts, the inference process, scores, one record."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from evaluator.data_types import Answer, Item, Score, unless_unanswered
from evaluator.engines import engine_location
from evaluator.engines.generation_config import greedy_view
from evaluator.errors import Details, IncompleteRunError
from evaluator.run.answer_cache import AnswerCache
from evaluator.run.job import Job
from evaluator.run.process import OnProgress, run_inference
from evaluator.run.result import batch_invariance, build_result
from evaluator.run.task import Task, evenly_spaced, prompts_of
from submissions.results import Dataset, EvalResult

BATCH_SIZE_DIVISOR = 8  # batches are so many times smaller after some that changed scores


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
    """Ask, score and build the result. Continues where an earlier run of the same job stopped.

    Raises EvaluationError where there can be no result, EvaluationStopped once `stop` is set.
    """
    ids = {item.id: [prompt.id for prompt in prompts_of(task, item)] for item in items}
    total = sum(map(len, ids.values()))
    sampled = evenly_spaced(items, -(-task.latency_samples // len(ids[items[0].id])))
    samples = [(item, ids[item.id]) for item in sampled]
    sample_ids = frozenset(own for _, own_ids in samples for own in own_ids)
    prepare = partial(_prepare, task, job_dir, items, sample_ids)
    job = prepare()
    if task.cache and not job.discarded_batch_sizes():
        AnswerCache(task.cache).fill(job)
    while True:
        run_inference(job, total, len(sample_ids), on_progress, stop, sandbox=task.sandbox and not task.remote)
        answers = job.answers()
        invariance = batch_invariance(task, samples, answers, job.latency_answers())
        batch_size = int(job.environment()["batch_size"])
        varies = invariance is not None and invariance.scores_changed > task.max_score_changes * invariance.n
        # A server elsewhere has batches that nobody here decides on, and each answer is paid for.
        if not varies or batch_size == 1 or task.remote:
            break
        job.discard_answers(batch_size)
        job = prepare()
    if task.cache:
        AnswerCache(task.cache).keep(job)
    on_progress("score", total, total)
    by_item = [[answers[own] for own in ids[item.id]] for item in items]
    scores = [unless_unanswered(s, own) for s, own in zip(task.benchmark.score(items, by_item), by_item, strict=True)]
    details = _details(items, by_item, scores)
    if failed := sum(score.status == "infra_error" for score in scores):
        raise IncompleteRunError(
            f"{failed} of {len(items)} questions have no answer, through no fault of the model; run again to ask them again",
            details,
        )
    if invariance and (discarded := job.discarded_batch_sizes()):
        invariance = invariance.evolve(batches_tried=discarded)
    result = build_result(task, items, scores, list(answers.values()), dataset, job, invariance, worker)
    return Evaluation(result, details)


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
        options = replace(options, model=greedy_view(options.model, job_dir.resolve() / "model"))
    return Job.prepare(job_dir, options, (p for item in items for p in prompts_of(task, item)), sample_ids)


def _details(items: Sequence[Item], answers: Sequence[Sequence[Answer]], scores: Sequence[Score]) -> Details:
    """What is private: each item's answers and scores."""
    details: Details = []
    for item, own, score in zip(items, answers, scores, strict=True):
        raw = [answer.raw for answer in own]
        details.append(
            {
                "id": item.id,
                "answers": [answer.text for answer in own],
                **({"raw": raw} if any(raw) else {}),
                "status": score.status,
                "em": score.em,
                "f1": score.f1,
                "em_strict": score.em_strict,
                **score.extra,
            }
        )
    return details

"""Functions that read, compare and score a model's answers. They run in the process of `evaluator.job.limited_process`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import ne
from pathlib import Path

from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import Answer, Item, Score, zero_if_unanswered
from evaluator.core.errors import EvaluationError
from evaluator.job.answer_cache import AnswerCache
from evaluator.job.folder import Job
from evaluator.job.limited_process import preload
from submissions.records.result import BatchInvariance
from submissions.texts.failure_codes import FailureCode

preload(__name__)

MIN_TIME_SHARE = 0.4  # of the elapsed time, which answers must claim
TIME_SLACK_S = 10.0  # seconds less than that share


@dataclass(frozen=True)
class ScoredAnswers:
    answers: dict[str, Answer]  # by the prompt's id in the job
    singly: dict[str, Answer]  # the latency samples, asked one at a time
    scores: list[Score]  # in the order of the items
    invariance: BatchInvariance | None
    varies: bool = False  # with the composition of batches, so that the answers are asked again


def count_answers(folder: Path, cache: Path | None) -> int:
    """Return how many prompts of a job are answered, after copying matching answers of other jobs from the cache."""
    job = Job(folder)
    known = job.answers()
    copied = AnswerCache(cache).fill(job, known) if cache else 0
    return copied + sum(answer.status != "infra_error" for answer in known.values())


def score_answers(
    folder: Path,
    benchmark: Benchmark,
    items: Sequence[Item],
    ids: Mapping[str, Sequence[str]],
    sampled: Sequence[str],
    elapsed: float,
    max_changes: float,
    cache: Path | None,
) -> ScoredAnswers:
    """Score a finished job, and keep its answers in a cache unless they vary.

    Args:
        ids: the prompt ids of each item
        sampled: ids of the items that were also asked one at a time
        elapsed: seconds that asking took, as measured outside of the sandbox
        max_changes: answers vary if a larger share of scores, from 0 to 1, differs between batches and one at a time

    Raises EvaluationError if the files do not have the format that the engine writes, or report times that cannot be.
    """
    job = Job(folder)
    answers = job.answers()
    singly = job.latency_answers()
    check_times([*answers.values(), *singly.values()], elapsed)
    if missing := sum(prompt_id not in answers for item in items for prompt_id in ids[item.id]):
        raise EvaluationError(FailureCode.MODEL_ERROR, f"{missing} questions have no answer")
    by_item = [[answers[prompt_id] for prompt_id in ids[item.id]] for item in items]
    scores = [zero_if_unanswered(s, given) for s, given in zip(benchmark.score(items, by_item), by_item, strict=True)]
    chosen = set(sampled)
    samples = [(item, ids[item.id]) for item in items if item.id in chosen]
    invariance = batch_invariance(benchmark, samples, answers, singly)
    varies = invariance is not None and (invariance.scores_changed or 0) > max_changes * invariance.n
    if cache and not varies:
        AnswerCache(cache).keep(job, answers.values())
    return ScoredAnswers(answers, singly, scores, invariance, varies)


def check_times(answers: Iterable[Answer], elapsed: float) -> None:
    """Check the answers' reported times, since a model's code can report any time.

    Raises EvaluationError if they add up to much less than `elapsed`, the seconds measured outside of the sandbox. The
    reported times do not include the warm-up and writing the answers.
    """
    claimed = sum(answer.seconds for answer in answers)
    if claimed < MIN_TIME_SHARE * elapsed - TIME_SLACK_S:
        message = f"the answers took {elapsed:.0f} s but report {claimed:.0f} s"
        raise EvaluationError(FailureCode.MODEL_ERROR, message)


def batch_invariance(
    benchmark: Benchmark,
    samples: Sequence[tuple[Item, Sequence[str]]],
    answers: Mapping[str, Answer],
    singly: Mapping[str, Answer],
) -> BatchInvariance | None:
    """Return how many answers and scores differ between asking in batches and asking one at a time.

    `samples` are items with the ids of their prompts. Return None if no item was asked one at a time.
    """
    measured = [(item, ids) for item, ids in samples if singly.keys() >= set(ids)]
    if not measured:
        return None
    items = [item for item, _ in measured]
    in_batches = [[answers[prompt_id] for prompt_id in ids] for _, ids in measured]
    one_by_one = [[singly[prompt_id] for prompt_id in ids] for _, ids in measured]
    scores = benchmark.score(items, in_batches)
    scores_alone = benchmark.score(items, one_by_one)
    return BatchInvariance(
        n=len(items),
        answers_changed=sum(map(ne, map(_texts, in_batches), map(_texts, one_by_one))),
        scores_changed=sum(one.values != alone.values for one, alone in zip(scores, scores_alone, strict=True)),
    )


def _texts(answers: Sequence[Answer]) -> list[str]:
    return [answer.text for answer in answers]

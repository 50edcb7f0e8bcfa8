"""Read, compare and score a model's answers.

`evaluate` runs `restore_and_count_answers` and `score_answers` through `run_limited`, because the answers are untrusted: a
model decides how long they are and how slow they are to score. Everything here therefore runs in a process of its own, with
limits on time and memory, and its arguments and results are pickled.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import Answer, Item, Score, zero_if_unanswered
from evaluator.core.errors import EvaluationError
from evaluator.job.answer_cache import AnswerCache
from evaluator.job.folder import Job
from evaluator.job.limited_process import preload
from submissions.records.result import BatchInvariance
from submissions.texts.failure_codes import FailureCode

preload(__name__)  # so that a new process does not import this module and the scoring rules again

# The times that answers report must add up to at least this share of the measured time, minus the slack.
MIN_TIME_SHARE = 0.4
TIME_SLACK_S = 10.0


@dataclass(frozen=True)
class ScoredAnswers:
    """The answers of a finished job, with their scores. Keys are the ids of prompts in the job."""

    answers: dict[str, Answer]  # asked in batches
    singly: dict[str, Answer]  # the latency samples, asked one at a time
    scores: list[Score]  # in the order of the items
    invariance: BatchInvariance | None  # None if no item was asked one at a time
    depends_on_batches: bool = False  # whether too many scores do, so that all must be asked in smaller batches


def restore_and_count_answers(folder: Path, cache: Path | None) -> int:
    """Return how many prompts of a job are answered, after copying matching answers of other jobs from the cache.

    `folder` is the job's, `cache` that of the AnswerCache, or None to use no cache. Prompts without an answer because of an
    infrastructure failure are not counted: they are asked again.
    """
    job = Job(folder)
    earlier = job.answers()
    copied = AnswerCache(cache).fill(job, earlier) if cache else 0
    return copied + sum(answer.status != "infra_error" for answer in earlier.values())


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
    """Score a finished job, and keep its answers in a cache unless they depend on the batches.

    Args:
        folder: the job's folder
        items: without pages and images, which scoring does not need
        ids: item id → ids of its prompts in the job
        sampled: ids of the items that were also asked one at a time
        elapsed: seconds that asking took, as measured outside of the sandbox
        max_changes: the share of scores, from 0 to 1, that may differ between answers in batches and one at a time
        cache: folder of the AnswerCache, or None to keep no answers

    Raises EvaluationError if the files do not have the format that the engine writes, an answer is missing, or the reported
    times are impossible.
    """
    job = Job(folder)
    answers = job.answers()
    singly = job.latency_answers()
    check_times([*answers.values(), *singly.values()], elapsed)
    if missing := sum(prompt_id not in answers for item in items for prompt_id in ids[item.id]):
        raise EvaluationError(FailureCode.MODEL_ERROR, f"{missing} questions have no answer")
    by_item = [[answers[prompt_id] for prompt_id in ids[item.id]] for item in items]
    scored = zip(benchmark.score(items, by_item), by_item, strict=True)
    scores = [zero_if_unanswered(score, item_answers) for score, item_answers in scored]
    sampled_ids = set(sampled)
    samples = [(item, ids[item.id]) for item in items if item.id in sampled_ids]
    invariance = batch_invariance(benchmark, samples, answers, singly)
    depends_on_batches = invariance is not None and (invariance.scores_changed or 0) > max_changes * invariance.n
    if cache and not depends_on_batches:
        AnswerCache(cache).keep(job, answers.values())
    return ScoredAnswers(answers, singly, scores, invariance, depends_on_batches)


def check_times(answers: Iterable[Answer], elapsed: float) -> None:
    """Check the answers' reported times, since a model's code can report any time.

    Raises EvaluationError if they add up to much less than `elapsed`, the seconds measured outside of the sandbox. They may
    be somewhat less, because they do not include the warm-up and the writing of answers. They may be more, because answers
    of earlier runs are among them.
    """
    reported = sum(answer.seconds for answer in answers)
    if reported < MIN_TIME_SHARE * elapsed - TIME_SLACK_S:
        message = f"the answers took {elapsed:.0f} s but report {reported:.0f} s"
        raise EvaluationError(FailureCode.MODEL_ERROR, message)


def batch_invariance(
    benchmark: Benchmark,
    samples: Sequence[tuple[Item, Sequence[str]]],
    answers: Mapping[str, Answer],
    singly: Mapping[str, Answer],
) -> BatchInvariance | None:
    """Return how many answers and scores differ between asking in batches and asking one at a time.

    `samples` are items with the ids of their prompts. An item counts if all of its prompts were answered both ways, without
    an infrastructure failure. Return None if no item counts.
    """
    measured = []
    for item, ids in samples:
        both = [given.get(prompt_id) for given in (answers, singly) for prompt_id in ids]
        if all(answer is not None and answer.status != "infra_error" for answer in both):
            measured.append((item, ids))
    if not measured:
        return None
    items = [item for item, _ in measured]
    in_batches = [[answers[prompt_id] for prompt_id in ids] for _, ids in measured]
    one_by_one = [[singly[prompt_id] for prompt_id in ids] for _, ids in measured]
    texts = zip(map(_texts, in_batches), map(_texts, one_by_one), strict=True)
    scores = zip(benchmark.score(items, in_batches), benchmark.score(items, one_by_one), strict=True)
    return BatchInvariance(
        n=len(items),
        answers_changed=sum(batched != single for batched, single in texts),
        scores_changed=sum(batched.values != single.values for batched, single in scores),
    )


def _texts(answers: Sequence[Answer]) -> list[str]:
    return [answer.text for answer in answers]

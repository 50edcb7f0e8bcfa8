"""What is done with a model's answers, in the process of `evaluator.job.limited_process`: read them, compare them, score them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import Answer, Item, Score, zero_if_unanswered
from evaluator.core.errors import EvaluationError
from evaluator.job.answer_cache import AnswerCache
from evaluator.job.folder import Job
from submissions.records.result import BatchInvariance
from submissions.texts.failure_codes import FailureCode


@dataclass(frozen=True)
class ScoredAnswers:
    answers: dict[str, Answer]  # by the ids that prompts have in the job
    singly: dict[str, Answer]  # the latency samples, asked one at a time
    scores: list[Score]  # in the order of the items
    invariance: BatchInvariance | None


def count_answers(folder: Path, cache: Path | None) -> int:
    """How many prompts of a job have their answer; those that were kept of other jobs are fetched first."""
    job = Job(folder)
    if cache:
        AnswerCache(cache).fill(job)
    return sum(answer.status != "infra_error" for answer in job.answers().values())


def keep_answers(folder: Path, cache: Path) -> None:
    AnswerCache(cache).keep(Job(folder))


def score_answers(
    folder: Path, benchmark: Benchmark, items: Sequence[Item], ids: Mapping[str, Sequence[str]], sampled: Sequence[str]
) -> ScoredAnswers:
    """Score a finished job. `ids` are the prompts of each item, `sampled` the items that were asked alone as well.

    Raises EvaluationError where the files are not as the engine writes them.
    """
    job = Job(folder)
    answers, singly = job.answers(), job.latency_answers()
    if missing := sum(own not in answers for item in items for own in ids[item.id]):
        raise EvaluationError(FailureCode.MODEL_ERROR, f"{missing} questions were passed over")
    by_item = [[answers[own] for own in ids[item.id]] for item in items]
    scores = [zero_if_unanswered(s, own) for s, own in zip(benchmark.score(items, by_item), by_item, strict=True)]
    chosen = set(sampled)
    samples = [(item, ids[item.id]) for item in items if item.id in chosen]
    return ScoredAnswers(answers, singly, scores, batch_invariance(benchmark, samples, answers, singly))


def batch_invariance(
    benchmark: Benchmark,
    samples: Sequence[tuple[Item, Sequence[str]]],
    answers: Mapping[str, Answer],
    singly: Mapping[str, Answer],
) -> BatchInvariance | None:
    """How the answers and scores of some items, each with its prompts' ids, differ when each is asked alone.

    None where none was.
    """
    measured = [(item, ids) for item, ids in samples if all(i in singly for i in ids)]
    if not measured:
        return None
    items = [item for item, _ in measured]
    pairs = [[[answered[i] for i in ids] for _, ids in measured] for answered in (answers, singly)]
    changed = sum([a.text for a in x] != [a.text for a in y] for x, y in zip(*pairs, strict=True))
    scored = [benchmark.score(items, own) for own in pairs]
    differ = sum(x.values != y.values for x, y in zip(*scored, strict=True))
    return BatchInvariance(n=len(items), answers_changed=changed, scores_changed=differ)

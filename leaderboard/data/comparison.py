"""Compare models on the same questions: differences with intervals, and which model is significantly ahead on what.

If a worker compared two results question by question, its paired test decides. The scores of single questions are private, so
other pairs and the parts are compared by independent intervals (Newcombe, Statistics in Medicine 17 (1998), method 10, here
with each score's own interval). These are wider than those of a paired test if both models fail on the same questions, so a
model reported as ahead is nearly always ahead under a paired test too.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.card import Card
from evaluator.statistics.intervals import Interval, difference_interval, wilson
from leaderboard.data.breakdown import Part, parts_of
from leaderboard.data.ranking import RankedRow, representative_row
from submissions.records.index_rows import BoardRow
from submissions.records.result import PairedScores

MAX_MODELS = 5
FAMILYWISE_ERROR = 0.05  # probability of any wrong "ahead" among the models of a benchmark, and again among its parts
Verdict = Literal["ahead", "same", "unknown"]
ReadPairs = Callable[[str], Sequence[PairedScores]]  # maps the key of a result to its paired scores


@dataclass(frozen=True)
class SharedBucket:
    axis: str
    bucket: str
    each: list[Part | None]  # in the order of the comparison's rows


@dataclass(frozen=True)
class Difference:
    """The score of the leader minus that of another model, in points."""

    leader: RankedRow
    other: RankedRow
    difference: float
    interval: Interval | None
    verdict: Verdict
    ahead: list[str]  # parts on which the leader is significantly ahead
    behind: list[str]
    paired: PairedScores | None = None  # the leader compared with the other, question by question


@dataclass(frozen=True)
class BaseDifference:
    """The score of a model minus that of its base model, in points."""

    difference: float
    interval: Interval | None


@dataclass(frozen=True)
class Comparison:
    """A comparison of models on one benchmark."""

    benchmark: str
    rows: list[RankedRow]  # best first, all on the same test set
    missing: list[str]  # models without a result on that test set
    differences: list[Difference]
    parts: list[SharedBucket]

    @property
    def card(self) -> Card:
        return BENCHMARKS[self.benchmark].card


def compare(
    boards: dict[str, list[RankedRow]], models: Sequence[str], read_pairs: ReadPairs = lambda _: ()
) -> list[Comparison]:
    """Return a comparison for each benchmark on which at least two of the models have a score on the same test set."""
    found = []
    for name, rows in boards.items():
        compared = _best_on_common_test_set(
            [r for r in rows if r.row.model in models and r.row.score is not None], name
        )
        if len(compared) < 2:
            continue
        parts = _parts(compared)
        present = {r.row.model for r in compared}
        found.append(
            Comparison(
                benchmark=name,
                rows=compared,
                missing=[model for model in models if model not in present],
                differences=[_difference(compared, other, parts, read_pairs) for other in range(1, len(compared))],
                parts=parts,
            )
        )
    return found


def base_difference(ranked: RankedRow, rows: Sequence[RankedRow]) -> BaseDifference | None:
    """Return the difference between a row and the row of its base model, with its 95 % interval if both are known.

    Return None if the base model was not measured on the same questions under the same conditions.
    """
    row = ranked.row
    score = ranked.row.score
    for other in rows:
        base = other.row
        against = other.row.score
        if base.model != row.base_model or _conditions(base) != _conditions(row) or score is None or against is None:
            continue
        bounds = _bounds(ranked, 0.95)
        theirs = _bounds(other, 0.95)
        interval = difference_interval((score, against), bounds, theirs) if bounds and theirs else None
        return BaseDifference(score - against, interval)
    return None


def _conditions(row: BoardRow) -> tuple[object, ...]:
    """Return the fields that must be equal for a model to be compared with its base model."""
    budgets = row.decoding, row.max_answer_tokens, row.max_reasoning_tokens
    return row.split, row.dataset, row.benchmark_version, row.thinking, row.headline, *budgets


def _best_on_common_test_set(rows: list[RankedRow], benchmark: str) -> list[RankedRow]:
    """Return the result that stands for each model on the test set that most models have a result on, measured ones first.

    If there are several such test sets, the ranked one is preferred.
    """
    ranked_split = BENCHMARKS[benchmark].card.split

    def test_set(row: BoardRow) -> tuple[str, str]:
        return row.split, "" if row.split == ranked_split else row.dataset  # the ranked split may have several copies

    models = {(r.row.model, test_set(r.row)) for r in rows}
    if not models:
        return []
    common = Counter(place for _, place in models)
    chosen = max(common, key=lambda place: (common[place], place[0] == ranked_split, place))
    by_model: dict[str, list[RankedRow]] = {}
    for r in rows:
        if test_set(r.row) == chosen:
            by_model.setdefault(r.row.model, []).append(r)
    found = [representative_row(own) for own in by_model.values()]
    return sorted(found, key=lambda r: (r.row.kind == "reported", -(r.row.score or 0.0)))


def _difference(
    rows: Sequence[RankedRow], other: int, parts: Sequence[SharedBucket], read_pairs: ReadPairs
) -> Difference:
    """Return the difference between the first row and another one, given by its index."""
    scores = rows[0].row.score or 0.0, rows[other].row.score or 0.0
    error = FAMILYWISE_ERROR / (len(rows) - 1)
    paired = _paired(rows[0].row, rows[other].row, read_pairs)
    same_rule = rows[0].row.headline == rows[other].row.headline
    if paired:
        interval: Interval | None = _widened(scores[0] - scores[1], paired.interval, 1 - error)
    elif not same_rule:
        interval = None  # scores under different rules are not compared
    else:
        bounds = [_bounds(r, 1 - error) for r in (rows[0], rows[other])]
        interval = difference_interval(scores, bounds[0], bounds[1]) if bounds[0] and bounds[1] else None
    surely_ahead = bool(interval and interval.low > 0)
    if paired:  # the p value is more precise than the interval, which is rounded outward
        surely_ahead = paired.sign > 0 and paired.p_at_most <= error
    metrics = {metric.name: metric for metric in BENCHMARKS[rows[0].row.benchmark].metrics}
    metric = metrics.get(rows[0].row.headline)
    # The parts of a result have no intervals of their own; these suit a mean of scores between 0 and 1.
    comparable = same_rule and metric is not None and metric.is_mean and metric.lowest == 0
    ahead, behind = _parts_ahead(parts, other, error) if comparable else ([], [])
    verdict: Verdict
    if interval is None:
        verdict = "unknown"
    elif surely_ahead:
        verdict = "ahead"
    else:
        verdict = "same"
    return Difference(rows[0], rows[other], scores[0] - scores[1], interval, verdict, ahead, behind, paired)


def _paired(leader: BoardRow, other: BoardRow, read_pairs: ReadPairs) -> PairedScores | None:
    """Return the paired comparison of two results, which is stored with the one that was published later."""
    for row, against in ((leader, other), (other, leader)):
        if any(key == against.key for key, *_ in row.paired):
            found = next((pair for pair in read_pairs(row.key) if pair.other == against.key), None)
            if found:
                return found if row is leader else found.seen_from_other(other.key)
    return None


def _parts_ahead(parts: Sequence[SharedBucket], other: int, error: float) -> tuple[list[str], list[str]]:
    """Return the parts on which the first row is significantly ahead of the other, and those on which it is behind."""
    pairs = [(part.bucket, part.each[0], part.each[other]) for part in parts]
    known = [(bucket, a, b) for bucket, a, b in pairs if a and b and a.n is not None and b.n is not None]
    ahead, behind = [], []
    for bucket, a, b in known:
        sure = 1 - error / len(known)
        low, high = difference_interval((a.score, b.score), _wilson(a, sure), _wilson(b, sure))
        if low > 0:
            ahead.append(bucket)
        elif high < 0:
            behind.append(bucket)
    return ahead, behind


def _bounds(ranked: RankedRow, confidence: float) -> Interval | None:
    """Return the headline score's 95 % interval, widened to another confidence."""
    score = ranked.row.score
    interval = ranked.row.interval
    if score is None or interval is None:
        return None
    return _widened(score, interval, confidence)


def _widened(score: float, interval: tuple[float, float], confidence: float) -> Interval:
    """Scale a 95 % interval to another confidence, assuming a normal distribution."""
    wider = NormalDist().inv_cdf((1 + confidence) / 2) / NormalDist().inv_cdf(0.975)
    return Interval(score - wider * (score - interval[0]), score + wider * (interval[1] - score))


def _wilson(part: Part, confidence: float) -> Interval:
    low, high = wilson(part.score / 100, part.n or 1, confidence)
    return Interval(100 * low, 100 * high)


def _parts(rows: Sequence[RankedRow]) -> list[SharedBucket]:
    """Return every bucket on which at least two of the rows have a score."""
    by_row = [parts_of(r.row) for r in rows]
    keys = dict.fromkeys(key for parts in by_row for key in parts)
    buckets = []
    for key in keys:
        each = [parts.get(key) for parts in by_row]
        if len(each) - each.count(None) > 1:
            buckets.append(SharedBucket(*key, each))
    return buckets

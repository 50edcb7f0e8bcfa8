"""Compare models that a visitor has chosen, on each benchmark: differences with intervals, and who is significantly ahead.

`compare` makes the data of the page /compare, `base_difference` the comparison with the base model on a model's page.

If a worker has compared two results question by question, its paired test decides. The board cannot do that itself, because
the scores of single questions are private. Other pairs, and the parts of the questions, are compared by independent intervals
(Newcombe, Statistics in Medicine 17 (1998), method 10, here with each score's own interval). These are wider than those of a
paired test if both models fail on the same questions, so a model that is shown as ahead is nearly always ahead under a paired
test too.
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
# Probability of any wrong "ahead" among the compared models of a benchmark, and again among the parts of its questions. It
# is divided by the number of comparisons (Bonferroni's correction).
FAMILYWISE_ERROR = 0.05
Verdict = Literal["ahead", "behind", "same", "unknown"]
ReadPairs = Callable[[str], Sequence[PairedScores]]  # maps the key of a result to its paired scores


@dataclass(frozen=True)
class SharedBucket:
    """A part of the questions on which at least two of the compared rows have a score."""

    axis: str
    bucket: str
    each: list[Part | None]  # the score of each row, in the order of the comparison's rows


@dataclass(frozen=True)
class Difference:
    """The score of the leader minus that of another model, in points."""

    leader: RankedRow
    other: RankedRow
    difference: float
    interval: Interval | None  # corrected for the number of compared models, so wider than 95 % if there are several
    # Whether the leader is significantly ahead; "unknown" if there is no interval. The leader has the best measured score,
    # if there is one, so it can only be behind a reported score.
    verdict: Verdict
    ahead: list[str]  # buckets on which the leader is significantly ahead
    behind: list[str]  # buckets on which it is significantly behind
    paired: PairedScores | None = None  # the paired test that decided, if there is one; the leader is "this result"


@dataclass(frozen=True)
class BaseDifference:
    """The score of a model minus that of its base model, in points."""

    difference: float
    interval: Interval | None  # 95 %; None if one of the scores has no interval


@dataclass(frozen=True)
class Comparison:
    """A comparison of models on one benchmark."""

    benchmark: str
    rows: list[RankedRow]  # measured rows, then reported ones, both best first; all on the same test set
    missing: list[str]  # models without a result on that test set
    differences: list[Difference]  # of the first row minus each other one, in the order of the rows
    parts: list[SharedBucket]

    @property
    def card(self) -> Card:
        return BENCHMARKS[self.benchmark].card


def compare(
    boards: dict[str, list[RankedRow]], models: Sequence[str], read_pairs: ReadPairs = lambda _: ()
) -> list[Comparison]:
    """Return a comparison for each benchmark on which at least two of the models have a score on the same test set."""
    comparisons = []
    for name, rows in boards.items():
        scored = [r for r in rows if r.row.model in models and r.row.score is not None and r.row.retired is None]
        compared = _best_on_common_test_set(scored, name)
        if len(compared) < 2:
            continue
        parts = _shared_buckets(compared)
        present = {r.row.model for r in compared}
        comparisons.append(
            Comparison(
                benchmark=name,
                rows=compared,
                missing=[model for model in models if model not in present],
                differences=[_difference(compared, index, parts, read_pairs) for index in range(1, len(compared))],
                parts=parts,
            )
        )
    return comparisons


def base_difference(ranked: RankedRow, rows: Sequence[RankedRow]) -> BaseDifference | None:
    """Return the difference between a row and the row of its base model, or None if there is none.

    That is the first of `rows` (best first) of the base model that has a score on the same questions under the same
    conditions.
    """
    row = ranked.row
    score = row.score
    if score is None:
        return None
    for candidate in rows:
        base = candidate.row
        base_score = None if base.retired else base.score
        if base.model != row.base_model or _conditions(base) != _conditions(row) or base_score is None:
            continue
        own_interval = _bounds(ranked, 0.95)
        base_interval = _bounds(candidate, 0.95)
        interval = None
        if own_interval and base_interval:
            interval = difference_interval((score, base_score), own_interval, base_interval)
        return BaseDifference(score - base_score, interval)
    return None


def _conditions(row: BoardRow) -> tuple[object, ...]:
    """Return the fields that must be equal for a model to be compared with its base model."""
    questions = row.split, row.dataset, row.benchmark_version
    generation = row.thinking, row.decoding, row.max_answer_tokens, row.max_reasoning_tokens
    return *questions, *generation, row.headline


def _best_on_common_test_set(rows: list[RankedRow], benchmark: str) -> list[RankedRow]:
    """Return one row for each model, on the test set that most of the models have a score on.

    If several test sets have that many models, the ranked one is preferred. Measured rows come first, then reported ones,
    both best first.
    """
    if not rows:
        return []
    ranked_split = BENCHMARKS[benchmark].card.split

    def test_set_of(row: BoardRow) -> tuple[str, str]:
        """Return the split and the id of its dataset. The ranked split is one test set, even if there are copies of it."""
        return row.split, "" if row.split == ranked_split else row.dataset

    models_and_sets = {(r.row.model, test_set_of(r.row)) for r in rows}
    model_counts = Counter(test_set for _, test_set in models_and_sets)
    # The name of the test set comes last, so that the choice does not depend on the order of the rows.
    common = max(model_counts, key=lambda test_set: (model_counts[test_set], test_set[0] == ranked_split, test_set))
    by_model: dict[str, list[RankedRow]] = {}
    for r in rows:
        if test_set_of(r.row) == common:
            by_model.setdefault(r.row.model, []).append(r)
    compared = [representative_row(own) for own in by_model.values()]
    return sorted(compared, key=lambda r: (r.row.kind == "reported", -(r.row.score or 0.0)))


def _difference(
    rows: Sequence[RankedRow], opponent_index: int, parts: Sequence[SharedBucket], read_pairs: ReadPairs
) -> Difference:
    """Return the difference between the leader, which is the first row, and another one of the rows."""
    leader = rows[0]
    opponent = rows[opponent_index]
    leader_score = leader.row.score or 0.0
    opponent_score = opponent.row.score or 0.0
    difference = leader_score - opponent_score
    error = FAMILYWISE_ERROR / (len(rows) - 1)
    has_same_metric = leader.row.headline == opponent.row.headline
    paired = _paired(leader.row, opponent.row, read_pairs)
    interval: Interval | None = None
    if paired:
        interval = _scaled(difference, paired.interval, 1 - error)
    elif has_same_metric:  # scores under different rules are not compared
        leader_interval = _bounds(leader, 1 - error)
        opponent_interval = _bounds(opponent, 1 - error)
        if leader_interval and opponent_interval:
            interval = difference_interval((leader_score, opponent_score), leader_interval, opponent_interval)
    verdict = _verdict(interval, paired, error)
    ahead: list[str] = []
    behind: list[str] = []
    if has_same_metric and _is_mean_of_shares(leader.row):
        ahead, behind = _buckets_ahead(parts, opponent_index, error)
    return Difference(leader, opponent, difference, interval, verdict, ahead, behind, paired)


def _verdict(interval: Interval | None, paired: PairedScores | None, error: float) -> Verdict:
    """Return whether the leader is significantly ahead. `error` is the probability of a wrong "ahead" or "behind"."""
    if interval is None:
        return "unknown"
    if paired:  # its p value is more precise than its interval, which is rounded outward
        if paired.p_at_most > error:
            return "same"
        return "ahead" if paired.sign > 0 else "behind"
    if interval.low > 0:
        return "ahead"
    if interval.high < 0:
        return "behind"
    return "same"


def _is_mean_of_shares(row: BoardRow) -> bool:
    """Return whether the headline is a mean of scores between 0 and 1, as `_wilson` assumes.

    The parts of a result have no intervals of their own, so they can be compared only then.
    """
    metrics = {metric.name: metric for metric in BENCHMARKS[row.benchmark].metrics}
    metric = metrics.get(row.headline)
    return metric is not None and metric.is_mean and metric.lowest == 0


def _paired(leader: BoardRow, opponent: BoardRow, read_pairs: ReadPairs) -> PairedScores | None:
    """Return the paired test of two results as seen from the leader, or None if they were not compared.

    A test is stored only in the record of the result that was published later. `BoardRow.paired` shows whether there is one,
    so that only that record is read.
    """
    for row, other in ((leader, opponent), (opponent, leader)):
        if any(key == other.key for key, *_ in row.paired):
            paired = next((pair for pair in read_pairs(row.key) if pair.other == other.key), None)
            if paired:
                return paired if row is leader else paired.seen_from_other(opponent.key)
    return None


def _buckets_ahead(parts: Sequence[SharedBucket], opponent_index: int, error: float) -> tuple[list[str], list[str]]:
    """Return the buckets on which the leader, which is the first row, is significantly ahead of another row, and behind it.

    `error` is the probability of any wrong verdict among all buckets.
    """
    pairs = [(part.bucket, part.each[0], part.each[opponent_index]) for part in parts]
    known = [(bucket, a, b) for bucket, a, b in pairs if a and b and a.n is not None and b.n is not None]
    ahead: list[str] = []
    behind: list[str] = []
    for bucket, a, b in known:
        confidence = 1 - error / len(known)
        low, high = difference_interval((a.score, b.score), _wilson(a, confidence), _wilson(b, confidence))
        if low > 0:
            ahead.append(bucket)
        elif high < 0:
            behind.append(bucket)
    return ahead, behind


def _bounds(ranked: RankedRow, confidence: float) -> Interval | None:
    """Return the interval of the headline score with this confidence, or None if its 95 % interval is unknown."""
    score = ranked.row.score
    interval = ranked.row.interval
    if score is None or interval is None:
        return None
    return _scaled(score, interval, confidence)


def _scaled(value: float, interval: tuple[float, float], confidence: float) -> Interval:
    """Scale the 95 % interval of a value to another confidence, assuming a normal distribution."""
    low, high = interval
    scale = NormalDist().inv_cdf((1 + confidence) / 2) / NormalDist().inv_cdf(0.975)
    return Interval(value - scale * (value - low), value + scale * (high - value))


def _wilson(part: Part, confidence: float) -> Interval:
    """Return Wilson's interval of the score on a part of the questions, in percent."""
    low, high = wilson(part.score / 100, part.n or 1, confidence)
    return Interval(100 * low, 100 * high)


def _shared_buckets(rows: Sequence[RankedRow]) -> list[SharedBucket]:
    """Return every bucket on which at least two of the rows have a score."""
    parts_by_row = [parts_of(r.row) for r in rows]
    keys = dict.fromkeys(key for parts in parts_by_row for key in parts)
    buckets = []
    for key in keys:
        each = [parts.get(key) for parts in parts_by_row]
        scored = len(each) - each.count(None)
        if scored >= 2:
            buckets.append(SharedBucket(key.axis, key.bucket, each))
    return buckets

"""Models side by side on the same questions: differences, how sure they are, and who is ahead where.

Where a worker has compared the two results question by question, its paired test decides. Whose answer was right on which
question is private, so for other pairs and for parts the differences are of independent intervals (Newcombe, Statistics in
Medicine 17 (1998), method 10, here with each score's own interval): wider than a paired test's where two models err on the
same questions. What is said to be ahead is ahead under that test too, or nearly always.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from evaluator.benchmarks import BENCHMARKS
from evaluator.statistics.intervals import Interval, difference_interval, wilson
from leaderboard.data.breakdown import Part, parts_of
from leaderboard.data.ranking import RankedRow
from submissions.records.index_rows import BoardRow
from submissions.records.result import PairedScores

MAX_MODELS = 5
ERROR = (
    0.05  # how often, over all that is said of one benchmark or of its parts, somebody may be called ahead who is not
)
Verdict = Literal["ahead", "same", "unknown"]
ReadPairs = Callable[[str], Sequence[PairedScores]]  # those of a result, by its key


@dataclass(frozen=True)
class SharedBucket:
    axis: str
    bucket: str
    each: list[Part | None]  # in the order of the comparison's rows


@dataclass(frozen=True)
class Difference:
    """The leader against another: its score minus the other's, in points."""

    leader: RankedRow
    other: RankedRow
    difference: float
    interval: Interval | None
    verdict: Verdict
    ahead: list[str]  # parts on which the leader is surely ahead
    behind: list[str]
    paired: PairedScores | None = None  # the leader beside the other, question by question


@dataclass(frozen=True)
class BaseDifference:
    """A model minus the one it was made from, in points."""

    difference: float
    interval: Interval | None


@dataclass(frozen=True)
class Comparison:
    benchmark: str
    rows: list[RankedRow]  # best first, all of one split
    missing: list[str]  # models without a result on it
    differences: list[Difference]
    parts: list[SharedBucket]


def compare(
    boards: dict[str, list[RankedRow]], models: Sequence[str], read_pairs: ReadPairs = lambda _: ()
) -> list[Comparison]:
    """A comparison for each benchmark that two of the models at least were measured on alike."""
    found = []
    for name, rows in boards.items():
        alike = _alike([r for r in rows if r.row.model in models and r.row.score is not None], name)
        if len(alike) < 2:
            continue
        parts = _parts(alike)
        found.append(
            Comparison(
                benchmark=name,
                rows=alike,
                missing=[model for model in models if all(r.row.model != model for r in alike)],
                differences=[_difference(alike, other, parts, read_pairs) for other in range(1, len(alike))],
                parts=parts,
            )
        )
    return found


def base_difference(ranked: RankedRow, rows: Sequence[RankedRow]) -> BaseDifference | None:
    """A row against that of the model it was made from; None where that was not measured on the same questions in the
    same mode. With the 95% interval, where both are known."""
    row, score = ranked.row, ranked.row.score
    for other in rows:
        base, against = other.row, other.row.score
        if base.model != row.base_model or _conditions(base) != _conditions(row) or score is None or against is None:
            continue
        bounds, theirs = _bounds(ranked, 0.95), _bounds(other, 0.95)
        interval = difference_interval((score, against), bounds, theirs) if bounds and theirs else None
        return BaseDifference(score - against, interval)
    return None


def _conditions(row: BoardRow) -> tuple[object, ...]:
    """What a model and the one it was made from must have in common to be compared."""
    budgets = row.decoding, row.max_answer_tokens, row.max_reasoning_tokens
    return row.split, row.dataset, row.benchmark_version, row.thinking, row.headline, *budgets


def _alike(rows: list[RankedRow], benchmark: str) -> list[RankedRow]:
    """Each model's best result on the test set that most of them have in common; the ranked one before others."""
    own = BENCHMARKS[benchmark].card.split

    def test_set(row: BoardRow) -> tuple[str, str]:
        return row.split, "" if row.split == own else row.dataset  # the ranked split is one, wherever it is kept

    models = {(r.row.model, test_set(r.row)) for r in rows}
    if not models:
        return []
    common = Counter(place for _, place in models)
    chosen = max(common, key=lambda place: (common[place], place[0] == own, place))
    best: dict[str, RankedRow] = {}
    for r in rows:
        if test_set(r.row) == chosen:
            best.setdefault(r.row.model, r)
    return list(best.values())


def _difference(
    rows: Sequence[RankedRow], other: int, parts: Sequence[SharedBucket], read_pairs: ReadPairs
) -> Difference:
    """The first row against another one."""
    scores = rows[0].row.score or 0.0, rows[other].row.score or 0.0
    error = ERROR / (len(rows) - 1)
    paired = _paired(rows[0].row, rows[other].row, read_pairs)
    same_rule = rows[0].row.headline == rows[other].row.headline
    if paired:
        interval: Interval | None = _widened(scores[0] - scores[1], paired.interval, 1 - error)
    elif not same_rule:
        interval = None  # nobody is surely ahead
    else:
        bounds = [_bounds(r, 1 - error) for r in (rows[0], rows[other])]
        interval = difference_interval(scores, bounds[0], bounds[1]) if bounds[0] and bounds[1] else None
    surely_ahead = bool(interval and interval.low > 0)
    if paired:  # its interval is rounded outward, its p value only a little
        surely_ahead = paired.sign > 0 and paired.p_at_most <= error
    ahead, behind = _parts_ahead(parts, other, error) if same_rule else ([], [])
    verdict: Verdict = "unknown" if interval is None else "ahead" if surely_ahead else "same"
    return Difference(rows[0], rows[other], scores[0] - scores[1], interval, verdict, ahead, behind, paired)


def _paired(leader: BoardRow, other: BoardRow, read_pairs: ReadPairs) -> PairedScores | None:
    """As whichever of the two results was published later has it."""
    for row, against in ((leader, other), (other, leader)):
        if any(key == against.key for key, *_ in row.paired):
            found = next((pair for pair in read_pairs(row.key) if pair.other == against.key), None)
            if found:
                return found if row is leader else found.seen_from_other(other.key)
    return None


def _parts_ahead(parts: Sequence[SharedBucket], other: int, error: float) -> tuple[list[str], list[str]]:
    """The parts on which the first row is surely ahead of the other, and surely behind it."""
    known = [
        (part.bucket, a, b)
        for part in parts
        if (a := part.each[0]) and (b := part.each[other]) and a.n is not None and b.n is not None
    ]
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
    """The headline's 95% interval, widened to the confidence wanted."""
    score, interval = ranked.row.score, ranked.row.interval
    if score is None or interval is None:
        return None
    return _widened(score, interval, confidence)


def _widened(score: float, interval: tuple[float, float], confidence: float) -> Interval:
    """A 95% interval at another confidence, as of a normal distribution."""
    wider = NormalDist().inv_cdf((1 + confidence) / 2) / NormalDist().inv_cdf(0.975)
    return Interval(score - wider * (score - interval[0]), score + wider * (interval[1] - score))


def _wilson(part: Part, confidence: float) -> Interval:
    low, high = wilson(part.score / 100, part.n or 1, confidence)
    return Interval(100 * low, 100 * high)


def _parts(rows: Sequence[RankedRow]) -> list[SharedBucket]:
    """Every bucket that two of them at least have a score of."""
    known = [parts_of(r.row) for r in rows]
    keys = dict.fromkeys(key for own in known for key in own)
    shared = [SharedBucket(*key, [own.get(key) for own in known]) for key in keys]
    return [part for part in shared if sum(own is not None for own in part.each) > 1]

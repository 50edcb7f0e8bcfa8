"""Find the results that an erratum moved, which means that their score or rank has changed, and record them in the erratum."""

from collections.abc import Callable, Sequence

from evaluator.benchmarks.base import Benchmark
from submissions.operator.retirement import is_retired
from submissions.records.errata import Erratum, Moved
from submissions.records.index_rows import BoardRow
from submissions.records.result import EvalResult
from submissions.store.base import Changes, Snapshot, Store, transact


def record_moves(
    store: Store,
    snapshot: Snapshot,
    benchmark: Benchmark,
    erratum: Erratum,
    rows: Sequence[BoardRow],
    not_rescored: int,
) -> list[Moved]:
    """Add to an erratum which results it has moved, and return them.

    `rows` are all results of the erratum's version in `snapshot`. `not_rescored` is the number of results that keep an
    earlier version.
    """
    scores_before: list[tuple[BoardRow, float]] = []
    for row in rows:
        before = _score_before(store, snapshot, row)
        if before is not None:
            scores_before.append((row, before))
    moved = moves(benchmark, scores_before, lambda key: is_retired(store, key, snapshot))
    complete = erratum.evolve(
        rescored=len(scores_before), not_rescored=not_rescored, moved=[move.model_dump() for move in moved]
    )

    def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
        return {complete.path: complete.to_bytes()}, f"Record who moved by {complete.version}", None

    if complete != erratum:
        transact(store, decide)
    return moved


def _score_before(store: Store, snapshot: Snapshot, row: BoardRow) -> float | None:
    """Return the headline that a result had in its version of before, or None if it has had no earlier version."""
    result = EvalResult.from_json(store.read(row.path, snapshot.head))
    return result.earlier[-1].scores.get(result.headline) if result.earlier else None


def moves(
    benchmark: Benchmark, rows: Sequence[tuple[BoardRow, float]], is_key_retired: Callable[[str], bool]
) -> list[Moved]:
    """Return the results whose score or rank has changed, those that fell most first.

    `rows` are results, each with its headline before the erratum in percent. Ranks are counted among those that are ranked:
    results of models that are not retired and that `Benchmark.ranks` accepts. The others have no rank.
    """
    compared = [(row, before, row.score) for row, before in rows if row.score is not None]
    ranked_keys: set[str] = set()
    scores_before: list[float] = []
    scores_after: list[float] = []
    for row, before, after in compared:
        is_ranked = benchmark.ranks(row.split, row.decoding, row.max_answer_tokens, row.max_reasoning_tokens)
        if row.role == "model" and is_ranked and not is_key_retired(row.key):
            ranked_keys.add(row.key)
            scores_before.append(before)
            scores_after.append(after)
    found: list[Moved] = []
    for row, before, after in compared:
        has_rank = row.key in ranked_keys
        move = Moved(
            key=row.key,
            model=row.model,
            before=before,
            after=after,
            rank_before=_rank(before, scores_before) if has_rank else None,
            rank_after=_rank(after, scores_after) if has_rank else None,
        )
        if (move.before, move.rank_before) != (move.after, move.rank_after):
            found.append(move)
    return sorted(found, key=lambda move: (move.after - move.before, move.model))


def _rank(score: float, scores: Sequence[float]) -> int:
    """Return the rank of a score, from 1. Equal scores have the same rank."""
    return 1 + sum(other > score for other in scores)

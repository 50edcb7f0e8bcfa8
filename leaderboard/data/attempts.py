"""Count evaluations by model, organisation and base model. The best score of many attempts is weaker evidence."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.data.ranking import Boards
from submissions.records.index_rows import BoardRow


@dataclass(frozen=True)
class Attempt:
    """The position of a result among all results of its model on the same test set, by date."""

    number: int  # from 1
    of: int


@dataclass(frozen=True)
class Attempts:
    """Number of results of an organisation's models, or of the models made from a base model."""

    name: str
    kind: str  # "organisation" or "base"
    results: int
    models: int
    benchmarks: dict[str, int]  # number of results by benchmark


def attempts_of(rows: Sequence[BoardRow]) -> dict[str, Attempt]:
    """Return the attempt of each measured result whose model has several on a benchmark's test set, by key.

    Reported results are not counted.
    """
    measured = [row for row in rows if row.kind == "verified" and row.role == "model"]
    counts = Counter(map(_test_of, measured))
    groups: dict[tuple[str, str, str], list[BoardRow]] = {}
    for row in measured:
        test = _test_of(row)
        if counts[test] > 1:
            groups.setdefault(test, []).append(row)
    found = {}
    for group in groups.values():
        for number, row in enumerate(sorted(group, key=lambda row: (row.date or 0.0, row.key)), 1):
            found[row.key] = Attempt(number, len(group))
    return found


def _test_of(row: BoardRow) -> tuple[str, str, str]:
    return row.model, row.split, row.benchmark_version


def all_attempts(boards: Boards) -> list[Attempts]:
    """Return the attempts of every organisation and base model with a measured result, most results first."""
    groups: dict[tuple[str, str], list[BoardRow]] = {}
    for ranked in boards.values():
        for row in (r.row for r in ranked):
            if row.kind != "verified" or row.role != "model":
                continue
            groups.setdefault(("organisation", row.model.partition("/")[0]), []).append(row)
            if row.base_model:
                groups.setdefault(("base", row.base_model), []).append(row)
    found = [
        Attempts(
            name,
            kind,
            len(rows),
            len({row.model for row in rows}),
            {benchmark: sum(row.benchmark == benchmark for row in rows) for benchmark in boards},
        )
        for (kind, name), rows in groups.items()
    ]
    return sorted(found, key=lambda one: (-one.results, one.name.casefold()))

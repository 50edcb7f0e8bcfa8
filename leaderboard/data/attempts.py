"""Count evaluations by model, organisation and base model. The best score of many attempts is weaker evidence."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from leaderboard.data.ranking import Boards
from submissions.records.index_rows import BoardRow
from submissions.records.operator import PrivateAttempts


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


# How many evaluations had no public result, by benchmark, model and split.
PrivateCounts = Mapping[tuple[str, str, str], int]


def private_counts(records: Iterable[PrivateAttempts]) -> PrivateCounts:
    """Return the numbers of private evaluations of models with a public row."""
    found = {}
    for record in records:
        for test_set, count in record.counts.items():
            benchmark, _, split = test_set.partition("/")
            found[benchmark, record.model_id, split] = count
    return found


def attempts_of(rows: Sequence[BoardRow], private: PrivateCounts) -> dict[str, Attempt]:
    """Return the attempt of each measured result whose model has several on a benchmark's test set, by key.

    Private evaluations count before the public ones. Reported results are not counted.
    """
    measured = [row for row in rows if row.kind == "verified" and row.role == "model"]
    counts = Counter(map(_test_of, measured))
    groups: dict[tuple[str, str, str], list[BoardRow]] = {}
    for row in measured:
        test = _test_of(row)
        if counts[test] > 1 or (row.benchmark, row.model, row.split) in private:
            groups.setdefault(test, []).append(row)
    found = {}
    for group in groups.values():
        before = private.get((group[0].benchmark, group[0].model, group[0].split), 0)
        for number, row in enumerate(sorted(group, key=lambda row: (row.date or 0.0, row.key)), 1):
            found[row.key] = Attempt(before + number, before + len(group))
    return found


def _test_of(row: BoardRow) -> tuple[str, str, str]:
    return row.model, row.split, row.benchmark_version


def all_attempts(boards: Boards, private: PrivateCounts) -> list[Attempts]:
    """Return the attempts of every organisation and base model with a measured result, most results first.

    Private evaluations of models with a public row count too.
    """
    groups: dict[tuple[str, str], list[BoardRow]] = {}
    for ranked in boards.values():
        for row in (r.row for r in ranked):
            if row.kind != "verified" or row.role != "model":
                continue
            groups.setdefault(("organisation", row.model.partition("/")[0]), []).append(row)
            if row.base_model:
                groups.setdefault(("base", row.base_model), []).append(row)
    by_model: Counter[tuple[str, str]] = Counter()  # by benchmark and model
    for (benchmark, model, _), count in private.items():
        by_model[benchmark, model] += count
    found = []
    for (kind, name), rows in groups.items():
        models = {row.model for row in rows}
        benchmarks = Counter(row.benchmark for row in rows)
        for benchmark in boards:
            benchmarks[benchmark] += sum(by_model[benchmark, model] for model in models)
        found.append(Attempts(name, kind, benchmarks.total(), len(models), {name: benchmarks[name] for name in boards}))
    return sorted(found, key=lambda one: (-one.results, one.name.casefold()))

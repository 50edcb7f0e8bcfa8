"""Count evaluations by model, organisation and base model. The best score of many attempts is weaker evidence.

An attempt here is an evaluation that gave a result. How often one request was tried (`EvalRequest.attempt`) is another number.

Each result shows which attempt of its model it is, such as "2 of 3" (`attempts_of`), and the page /record shows the totals of
organisations and base models (`all_attempts`). Evaluations whose results were not published count too (`PrivateCounts`).
"""

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
    of: int  # number of attempts


@dataclass(frozen=True)
class AttemptTotals:
    """The numbers of evaluations of an organisation's models, or of the models made from a base model."""

    name: str  # of the organisation or the base model
    kind: str  # "organisation" or "base"
    results: int  # including private evaluations
    models: int
    benchmarks: dict[str, int]  # number of results by benchmark


# The numbers of evaluations without a public result, by benchmark, model and split.
PrivateCounts = Mapping[tuple[str, str, str], int]


def private_counts(records: Iterable[PrivateAttempts]) -> PrivateCounts:
    """Return the numbers of private evaluations from the records of the store, which name a test set "BENCHMARK/SPLIT"."""
    counts = {}
    for record in records:
        for test_set, count in record.counts.items():
            benchmark, _, split = test_set.partition("/")
            counts[benchmark, record.model_id, split] = count
    return counts


def attempts_of(rows: Sequence[BoardRow], private: PrivateCounts) -> dict[str, Attempt]:
    """Return the attempt of each measured result of a benchmark, by key.

    Attempts are counted for each test set and version. Results whose model has only one attempt are left out, and reported
    results are not counted.

    The date and version of private evaluations are not known, so they are numbered before the public results of every
    version: after two of them, the first public result is attempt 3 of 3. The count may be too high, but hides none.
    """
    measured = [row for row in rows if row.kind == "verified" and row.role == "model"]
    results_of: dict[tuple[str, str, str], list[BoardRow]] = {}  # by model, split and version
    for row in measured:
        results_of.setdefault((row.model, row.split, row.benchmark_version), []).append(row)
    attempts = {}
    for results in results_of.values():
        first = results[0]
        private_count = private.get((first.benchmark, first.model, first.split), 0)
        total = private_count + len(results)
        if total == 1:
            continue
        results.sort(key=lambda row: (row.date or 0.0, row.key))
        for number, row in enumerate(results, start=private_count + 1):
            attempts[row.key] = Attempt(number, total)
    return attempts


def all_attempts(boards: Boards, private: PrivateCounts) -> list[AttemptTotals]:
    """Return the totals of every organisation and base model with a measured result, most results first."""
    groups: dict[tuple[str, str], list[BoardRow]] = {}
    for ranked in boards.values():
        for row in (r.row for r in ranked):
            if row.kind != "verified" or row.role != "model":
                continue
            groups.setdefault(("organisation", row.model.partition("/")[0]), []).append(row)
            if row.base_model:
                groups.setdefault(("base", row.base_model), []).append(row)
    private_by_model: Counter[tuple[str, str]] = Counter()  # by benchmark and model
    for (benchmark, model, _), count in private.items():
        private_by_model[benchmark, model] += count
    totals = []
    for (kind, name), rows in groups.items():
        models = {row.model for row in rows}
        counts = Counter(row.benchmark for row in rows)
        for benchmark in boards:
            counts[benchmark] += sum(private_by_model[benchmark, model] for model in models)
        by_benchmark = {benchmark: counts[benchmark] for benchmark in boards}
        totals.append(AttemptTotals(name, kind, counts.total(), len(models), by_benchmark))
    return sorted(totals, key=lambda total: (-total.results, total.name.casefold()))

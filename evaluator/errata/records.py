"""Read and add the errata of a test set: public records in the store, corrected answers in the private store."""

import secrets
from collections.abc import Sequence

from pydantic import ValidationError

from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import Item
from evaluator.core.errors import DataError, LeakError
from evaluator.datasets.corrections import Correction, Corrections
from evaluator.datasets.leak_check import check_public, folded
from evaluator.datasets.source import Source
from submissions.records.base import first_error
from submissions.records.errata import Erratum
from submissions.store.base import Changes, Snapshot, Store, transact
from submissions.store.private import PrivateStore

MIN_TOLD = 3  # characters of an answer that a reason may not have


def read_errata(store: Store, benchmark: str, split: str, snapshot: Snapshot | None = None) -> list[Erratum]:
    """Return the errata of a set in their order.

    Raises DataError if one cannot be read, because the results of the set would then have a wrong version, and StoreError
    if the store cannot be read.
    """
    snapshot = snapshot or store.snapshot()
    folder = Erratum.folder_of(benchmark, split)
    errata = []
    for path in sorted(path for path in snapshot.files if path.startswith(folder)):
        try:
            errata.append(Erratum.from_json(store.read(path, snapshot.head)))
        except ValueError as error:
            raise DataError(f"{path} cannot be read: {error}") from None
    return errata


def read_corrections(store: Store, private: PrivateStore, benchmark: str, split: str) -> Corrections:
    """Return the corrections of a set. Raises DataError if the private store lacks them, StoreError if a store fails."""
    return Corrections(tuple(_correction(one, private) for one in read_errata(store, benchmark, split)))


def _correction(erratum: Erratum, private: PrivateStore) -> Correction:
    """Return the private part of an erratum. Raises DataError if it is lost."""
    path = _path(erratum.correction)
    try:
        correction = Correction.from_json(private.read(path))
    except (KeyError, ValueError):
        correction = None
    if correction is None or correction.item != erratum.item:
        raise DataError(f"the private store lacks the correction of {erratum.benchmark} ({path}): restore it")
    return correction


def add_erratum(
    store: Store,
    private: PrivateStore,
    benchmark: Benchmark,
    source: Source,
    items: Sequence[Item],
    correction: Correction,
    reason: str,
) -> Corrections:
    """Record an erratum with its public reason, and return all corrections of the set.

    `items` are those of the uncorrected set. Raises DataError if the item does not exist or cannot have that answer, or
    the reason quotes the set; and StoreError if a store fails.
    """
    before = read_corrections(store, private, benchmark.name, source.split)
    after = Corrections((*before.made, correction))
    corrected = _corrected(benchmark, items, before, after)
    _check_reason(reason, correction, items)
    try:
        erratum = Erratum(
            benchmark=benchmark.name,
            split=source.split,
            number=len(after.made),
            correction=secrets.token_hex(16),
            item=correction.item,
            withdrawn=correction.answer is None,
            reason=reason,
            since=store.now(),
            version=after.version_of(benchmark),
        )
    except ValidationError as error:
        raise DataError(f"not an erratum: {first_error(error)}") from None
    try:
        check_public([erratum.to_bytes()], [*items, *corrected], source.path)
    except LeakError as error:
        raise DataError(f"the reason and the item's id are public, and they have {error}") from None

    def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
        if erratum.path in snapshot.files:
            raise DataError("somebody else has just added an erratum of this set; try again")
        return {erratum.path: erratum.to_bytes()}, f"Add erratum {erratum.version} of {benchmark.name}", None

    private.write(_path(erratum.correction), correction.to_json())  # first, because workers need it
    transact(store, decide)
    return after


def _check_reason(reason: str, correction: Correction, items: Sequence[Item]) -> None:
    """Raise DataError if what becomes public has the item's old or new answer."""
    told = folded(reason)
    old_answers = [item.answer for item in items if item.id == correction.item]
    for answer in (correction.answer or "", *old_answers):
        if len(folded(answer)) >= MIN_TOLD and folded(answer) in told:
            raise DataError("the reason is public, and it has the answer of the item")


def _corrected(benchmark: Benchmark, items: Sequence[Item], before: Corrections, after: Corrections) -> Sequence[Item]:
    """Return the corrected items.

    Raises DataError if the last correction names no item, changes nothing or gives an answer that is not possible.
    """
    last = after.made[-1]
    corrected = after.apply(benchmark, items)  # it raises DataError if the item or its answer is not possible
    if corrected == before.apply(benchmark, items):
        raise DataError(f"item {last.item!r} is withdrawn already" if last.answer is None else "nothing would change")
    return corrected


def _path(correction: str) -> str:
    """Return the path of a correction in the private store. Each has its own file, which nobody overwrites."""
    return f"errata/{correction}.json"

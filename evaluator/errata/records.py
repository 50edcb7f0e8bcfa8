"""Read and add the errata of a test set.

An erratum has two parts. The public one, an `Erratum` in the store, has the item's id, the reason and the new version of the
benchmark. The private one, a `Correction` in the private store, has the corrected answer, which must not become public with
the record. Workers read the corrections before they load a set, `hannun errata` adds them, and `rescore` applies them to
results that are published already.
"""

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

MIN_QUOTE = 3  # characters; the public reason may contain shorter answers, such as "3", which say little by themselves


def read_errata(store: Store, benchmark: str, split: str, snapshot: Snapshot | None = None) -> list[Erratum]:
    """Return the errata of a set, oldest first.

    Raises DataError if one cannot be read, because the results of the set would then have a wrong version, and StoreError
    if the store cannot be read.
    """
    snapshot = snapshot or store.snapshot()
    folder = Erratum.folder_of(benchmark, split)
    errata = []
    for path in sorted(path for path in snapshot.files if path.startswith(folder)):  # names are numbers: 0001.json, …
        try:
            errata.append(Erratum.from_json(store.read(path, snapshot.head)))
        except ValueError as error:
            raise DataError(f"{path} cannot be read: {error}") from None
    return errata


def read_corrections(store: Store, private: PrivateStore, benchmark: str, split: str) -> Corrections:
    """Return the corrections of a set, oldest first.

    Raises DataError if the private store lacks one of them, StoreError if a store fails.
    """
    errata = read_errata(store, benchmark, split)
    return Corrections(tuple(_read_correction(erratum, private) for erratum in errata))


def _read_correction(erratum: Erratum, private: PrivateStore) -> Correction:
    """Return the private part of an erratum. Raises DataError if it is lost."""
    path = _correction_path(erratum.correction)
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

    `items` are those of the set without any correction. Raises DataError if the item does not exist or cannot have that
    answer, if nothing would change, or if the reason quotes the set; and StoreError if a store fails.
    """
    before = read_corrections(store, private, benchmark.name, source.split)
    after = Corrections((*before.made, correction))
    corrected = _apply_checked(benchmark, items, before, after)
    _check_reason(reason, correction, items)
    try:
        erratum = Erratum(
            benchmark=benchmark.name,
            split=source.split,
            number=len(after.made),
            # A random file name, so that nobody overwrites another command's correction.
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

    # The private part is written first: a worker that sees the public part needs it at once.
    private.write(_correction_path(erratum.correction), correction.to_json())
    transact(store, decide)
    return after


def _check_reason(reason: str, correction: Correction, items: Sequence[Item]) -> None:
    """Raise DataError if the public reason quotes the item's old or new answer.

    `check_public` finds long pieces of the set only; an answer is often shorter.
    """
    folded_reason = folded(reason)
    old_answers = [item.answer for item in items if item.id == correction.item]
    for answer in (correction.answer or "", *old_answers):
        folded_answer = folded(answer)
        if len(folded_answer) >= MIN_QUOTE and folded_answer in folded_reason:
            raise DataError("the reason is public, and it has the answer of the item")


def _apply_checked(
    benchmark: Benchmark, items: Sequence[Item], before: Corrections, after: Corrections
) -> Sequence[Item]:
    """Return the items with all corrections of `after`, which has one more than `before`.

    Raises DataError if that last correction names no item, changes nothing or gives an answer that is not possible.
    """
    corrected = after.apply(benchmark, items)
    if corrected != before.apply(benchmark, items):
        return corrected
    last = after.made[-1]
    if last.answer is None:
        raise DataError(f"item {last.item!r} is withdrawn already")
    raise DataError("nothing would change")


def _correction_path(name: str) -> str:
    """Return the path of a correction in the private store."""
    return f"errata/{name}.json"

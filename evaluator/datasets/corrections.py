"""Correct a test set: give items another answer, or withdraw them.

The public record of an erratum does not have the new answer. Its `Correction`, in the private store, has it. All `Corrections`
of a set are a field of its `Source`; `load_items` applies them to the items that it loads. The set itself stays as it is, so
its hash, its prompts and the order of its choices do not change.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import Item
from evaluator.core.errors import DataError
from submissions.records.errata import version_with


@dataclass(frozen=True)
class Correction:
    """A correction of one item. A later one of the same item replaces it."""

    item: str  # its id
    answer: str | None  # the new gold answer; None: the item is withdrawn

    def to_json(self) -> bytes:
        return _CORRECTION.dump_json(self)

    @classmethod
    def from_json(cls, content: bytes) -> "Correction":
        """Parse what `to_json` wrote. Raises ValueError if it is something else."""
        return _CORRECTION.validate_json(content)


@dataclass(frozen=True)
class Corrections:
    """All corrections of a set, in the order in which they were made."""

    made: tuple[Correction, ...] = ()

    def version_of(self, benchmark: Benchmark) -> str:
        """Return the version of a benchmark whose set is corrected in this way: 2 corrections of "5" are "5+2"."""
        return version_with(benchmark.version, len(self.made))

    def first(self, count: int) -> "Corrections":
        """Return the first `count` corrections, which are those of the version "5+COUNT"."""
        return Corrections(self.made[:count])

    def apply(self, benchmark: Benchmark, items: Sequence[Item]) -> list[Item]:
        """Return the items with their corrected answers, without those that are withdrawn.

        Raises DataError if a correction names an item that the set does not have, or an answer that it cannot have.
        """
        answers = {correction.item: correction.answer for correction in self.made}  # the last one of each item
        if unknown := answers.keys() - {item.id for item in items}:
            raise DataError(f"{benchmark.name} has no item {min(unknown)!r}")
        corrected = []
        for item in items:
            if item.id not in answers:
                corrected.append(item)
            elif (answer := answers[item.id]) is not None:
                corrected.append(_corrected_item(benchmark, item, answer))
        if not corrected:
            raise DataError(f"{benchmark.name} would have no items left")
        return corrected

    def to_json(self) -> bytes:
        return _CORRECTIONS.dump_json(self.made, indent=1)

    @classmethod
    def from_json(cls, content: bytes) -> "Corrections":
        """Parse what `to_json` wrote. Raises ValueError if it is something else."""
        return cls(_CORRECTIONS.validate_json(content))


NO_CORRECTIONS = Corrections()
_CORRECTION = TypeAdapter(Correction)
_CORRECTIONS = TypeAdapter(tuple[Correction, ...])


def _corrected_item(benchmark: Benchmark, item: Item, answer: str) -> Item:
    """Return an item with another gold answer. Raises DataError if the item cannot have it."""
    try:
        return benchmark.corrected_item(item, answer)
    except ValueError as error:
        raise DataError(f"item {item.id!r}: {error}") from None

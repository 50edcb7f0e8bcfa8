"""Mappings of metrics to scores and intervals that take a fraction of the memory of a dict.

The board holds tens of thousands of rows, most of which have the same few metrics. A mapping here has its names in a tuple
that all rows share, and its numbers in an array.
"""

from array import array
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Annotated, Any, TypeVar

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

Names = tuple[str, ...]
T = TypeVar("T")
V = TypeVar("V", covariant=True)


@lru_cache(maxsize=1000)
def _shared(names: Names) -> Names:
    """Return one tuple for all rows with these names: the cache returns the tuple of the first call with equal names."""
    return names


class _Packed(Mapping[str, V]):
    """A mapping that cannot be changed. Its names are shared with others."""

    __slots__ = ("_names", "_numbers")
    _names: Names
    _numbers: "array[float]"  # one or two for each name, in the same order

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __eq__(self, other: object) -> bool:
        # Faster than the comparison of `Mapping`, for rows that share their names.
        if type(other) is type(self) and self._names is other._names:
            return bool(self._numbers == other._numbers)
        return super().__eq__(other)

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))  # equal mappings may have their names in another order


class PackedScores(_Packed[float]):
    """Scores in percent by metric."""

    __slots__ = ()

    def __init__(self, scores: Mapping[str, float]) -> None:
        self._names = _shared(tuple(scores))
        self._numbers = array("d", scores.values())

    def __getitem__(self, name: str) -> float:
        try:
            return self._numbers[self._names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    def get(self, name: str, default: T | None = None) -> float | T | None:  # type: ignore[override]  # as dict.get
        """Return a score. The board calls this most often, and for a missing name `Mapping.get` takes ten times as long."""
        return self._numbers[self._names.index(name)] if name in self._names else default

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _packing(cls, dict[str, float], handler)


class PackedIntervals(_Packed[tuple[float, float]]):
    """Intervals in percent by metric."""

    __slots__ = ()

    def __init__(self, intervals: Mapping[str, tuple[float, float]]) -> None:
        self._names = _shared(tuple(intervals))
        self._numbers = array("d", chain.from_iterable(intervals.values()))

    def __getitem__(self, name: str) -> tuple[float, float]:
        try:
            place = 2 * self._names.index(name)
        except ValueError:
            raise KeyError(name) from None
        return self._numbers[place], self._numbers[place + 1]

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _packing(cls, dict[str, tuple[float, float]], handler)


def _packing(kind: Any, plain: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
    """Return the schema of a field that is read from a mapping, kept packed, and written as a mapping."""
    pack = core_schema.no_info_after_validator_function(kind, handler.generate_schema(plain))
    return core_schema.union_schema(
        [core_schema.is_instance_schema(kind), pack],
        mode="left_to_right",
        serialization=core_schema.plain_serializer_function_ser_schema(dict),
    )


# Types of fields. Any mapping may be assigned; it is packed.
Scores = Annotated[Mapping[str, float], PackedScores]
Intervals = Annotated[Mapping[str, tuple[float, float]], PackedIntervals]
NO_SCORES = PackedScores({})
NO_INTERVALS = PackedIntervals({})

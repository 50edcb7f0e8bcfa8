"""A part of a set of questions. Light, for the command line names one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluator.core.data_types import Item


@dataclass(frozen=True)
class Shard:
    """One of several parts of a set, which processes or machines answer side by side."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def of(self, items: Sequence["Item"]) -> list["Item"]:
        """Its part: neighbours, and all items of a cluster, since those ask about the same image or page."""
        clusters = {cluster: place for place, cluster in enumerate(dict.fromkeys(item.cluster for item in items))}
        return [item for item in items if clusters[item.cluster] * self.count // len(clusters) == self.number]


def parse_shard(text: str) -> Shard:
    """A shard as it writes itself, `0/4` say. Raises ValueError."""
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and int(number) < int(count)):
        raise ValueError(f"{text!r} is no shard, as 0/4 is the first of four")
    return Shard(int(number), int(count))

"""Shards of a set of questions.

This module imports nothing heavy, because the command line parses shards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluator.core.data_types import Item


@dataclass(frozen=True)
class Shard:
    """One of several parts of a set, which processes or machines answer in parallel."""

    number: int  # from 0
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def of(self, items: Sequence["Item"]) -> list["Item"]:
        """Return the consecutive items of this shard.

        Clusters are not split, since their items ask about the same image or page.
        """
        in_order = dict.fromkeys(item.cluster for item in items)
        clusters = {cluster: place for place, cluster in enumerate(in_order)}
        return [item for item in items if clusters[item.cluster] * self.count // len(clusters) == self.number]


def parse_shard(text: str) -> Shard:
    """Parse a shard in the form `0/4`. Raises ValueError if the text is not one."""
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and int(number) < int(count)):
        raise ValueError(f"{text!r} is not a shard; 0/4 is the first of four")
    return Shard(int(number), int(count))

"""Split the items of a test set into shards, which several machines answer in parallel.

The command line parses shards (`--shard 0/4`), so this module imports nothing heavy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluator.core.data_types import Item


@dataclass(frozen=True)
class Shard:
    """One of several parts of a test set."""

    number: int  # from 0
    count: int  # of all shards

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def of(self, items: Sequence["Item"]) -> list["Item"]:
        """Return the items of this shard: consecutive clusters, about 1/`count` of all.

        Clusters are not split, since their items ask about the same image or page.
        """
        clusters = dict.fromkeys(item.cluster for item in items)  # without repetitions, in the order of the items
        shard_of_cluster = {cluster: place * self.count // len(clusters) for place, cluster in enumerate(clusters)}
        return [item for item in items if shard_of_cluster[item.cluster] == self.number]


def parse_shard(text: str) -> Shard:
    """Parse a shard in the form `0/4`. Raises ValueError if the text is not one."""
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and int(number) < int(count)):
        raise ValueError(f"{text!r} is not a shard; 0/4 is the first of four")
    return Shard(int(number), int(count))

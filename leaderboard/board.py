"""The board's rows: published results and those of the store, ranked, and kept fresh without blocking a reader."""

import logging
import threading
import time
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field, replace
from pathlib import Path

from evaluator.benchmarks import BENCHMARKS
from submissions.index import RowReader, Unreadable, board_reader, parse_record, queue_reader
from submissions.records import BoardRow, EvalResult, QueueRow, board_row
from submissions.store import Snapshot, Store, StoreError, blob_id

log = logging.getLogger(__name__)

PUBLISHED = Path(__file__).parent.parent / "assets/published"
FRESH = 1.0  # seconds between looks at the store's head


@dataclass(frozen=True)
class RankedRow:
    rank: int | None  # None: a reference, another split, or no score
    row: BoardRow
    best: int | None = None  # the ranks its interval allows: ahead of it only who is surely ahead,
    worst: int | None = None  # behind it only who is surely behind


@dataclass(frozen=True)
class View:
    """The store as of one head."""

    snapshot: Snapshot
    boards: dict[str, list[RankedRow]] = field(default_factory=dict)
    queue: list[QueueRow] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    paths: dict[str, str] = field(default_factory=dict)  # result key → path in the store


class Board:
    def __init__(self, store: Store, published: Path = PUBLISHED) -> None:
        self._store = store
        self._published_files: dict[str, Path] = {}
        self._published, self._broken = self._read_published(published)
        self._readers = board_reader(store), queue_reader(store)
        self._refreshing = threading.Lock()
        self._checked = 0.0
        self._view = self._read(store.head(), *self._readers)

    def view(self) -> View:
        """The newest view. Where another thread is just reading a newer one, the last one at once."""
        if time.monotonic() - self._checked >= FRESH and self._refreshing.acquire(blocking=False):
            try:
                head = self._store.head()
                if head != self._view.snapshot.head:
                    self._view = self._read(head, *self._readers)
                self._checked = time.monotonic()
            except StoreError as error:  # the last view is better than none
                log.warning("%s", error)
                self._checked = time.monotonic()
            finally:
                self._refreshing.release()
        return self._view

    def at(self, head: str) -> View:
        """The board as of a past commit of the store. Raises KeyError for an unknown one."""
        return self._read(head, board_reader(self._store), queue_reader(self._store))

    def result_json(self, key: str) -> bytes | None:
        """The bytes of a result record, published or evaluated."""
        if key in self._published_files:
            return self._published_files[key].read_bytes()
        view = self.view()
        return self._store.read(view.paths[key], view.snapshot.head) if key in view.paths else None

    def _read(self, head: str, board: RowReader[BoardRow], queue: RowReader[QueueRow]) -> View:
        snapshot = self._store.snapshot(head=head)
        results, unreadable = board.read(snapshot)
        requests, broken_requests = queue.read(snapshot)
        rows = [*self._published, *results]
        return View(
            snapshot=snapshot,
            boards={name: ranked([r for r in rows if r.benchmark == name], name) for name in BENCHMARKS},
            queue=sorted(requests, key=lambda r: (r.submitted_at, r.key), reverse=True),
            unreadable=[*self._broken, *unreadable, *broken_requests],
            paths={r.key: r.path for r in results},
        )

    def _read_published(self, folder: Path) -> tuple[list[BoardRow], list[Unreadable]]:
        rows: list[BoardRow] = []
        broken: list[Unreadable] = []
        for path in sorted(folder.glob("*/*.json")):
            content = path.read_bytes()
            try:
                result: EvalResult = parse_record(content, EvalResult)
            except ValueError as error:
                log.warning("published record %s is left out: %s", path, error)
                broken.append(Unreadable(path.name, str(error)))
                continue
            self._published_files[result.request_key] = path
            rows.append(board_row(result, str(path.relative_to(folder)), blob_id(content)))
        return rows, broken


def ranked(rows: list[BoardRow], benchmark: str) -> list[RankedRow]:
    """Rows by headline score, best first. Models measured on the benchmark's own split have ranks; ties share one."""
    card = BENCHMARKS[benchmark].card
    ordered = _by_score(rows, card.headline)
    ranks: list[RankedRow] = []
    place, last_score, last_rank = 0, None, 0
    for row in ordered:
        score = getattr(row, card.headline)
        if row.role != "model" or row.split != card.split or score is None:
            ranks.append(RankedRow(None, row))
            continue
        place += 1
        last_rank = last_rank if score == last_score else place
        last_score = score
        ranks.append(RankedRow(last_rank, row))
    return _with_ranges(ranks, card.headline)


def _with_ranges(rows: list[RankedRow], headline: str) -> list[RankedRow]:
    bounds = {r.row.key: _bounds(r.row, headline) for r in rows if r.rank}
    lows = sorted(low for low, _ in bounds.values())
    highs = sorted(high for _, high in bounds.values())

    def ranged(ranked: RankedRow) -> RankedRow:
        low, high = bounds.get(ranked.row.key, (None, None))
        if low is None or high is None or low == high:
            return ranked
        ahead = len(lows) - bisect_right(lows, high)
        behind = bisect_left(highs, low)
        return replace(ranked, best=ahead + 1, worst=len(bounds) - behind)

    return [ranged(r) for r in rows]


def _bounds(row: BoardRow, headline: str) -> tuple[float, float]:
    """The headline's interval; the bare score where none is known."""
    low, high, score = (getattr(row, f"{headline}{end}") for end in ("_low", "_high", ""))
    return (score, score) if low is None or high is None else (low, high)


def _by_score(rows: list[BoardRow], headline: str) -> list[BoardRow]:
    return sorted(
        rows, key=lambda r: (getattr(r, headline) is None, -(getattr(r, headline) or 0.0), r.model.casefold())
    )

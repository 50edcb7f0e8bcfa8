"""Make the `View` of a commit: read the store's records, rank the results, and reuse what has not changed since the last view.

The rows of a view are the results of the store and the published results of `assets`, which are read once at the start.
"""

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.annotations import with_annotations
from leaderboard.data.attempts import private_counts
from leaderboard.data.models import rank_models, summary
from leaderboard.data.ranking import Boards, ranked
from leaderboard.data.record import evaluated_after_reveal
from leaderboard.data.table import Table
from leaderboard.data.unseen import is_compared, unseen_changes, with_unseen_changes
from leaderboard.data.view import View
from submissions.records.errata import Erratum
from submissions.records.index_rows import BoardRow, board_row
from submissions.records.operator import Commitment, PrivateAttempts, Retirement
from submissions.records.result import EvalResult
from submissions.store.base import Snapshot, Store, blob_id
from submissions.store.index import Unreadable, board_reader, queue_reader
from submissions.store.record_reader import RecordReader

log = logging.getLogger(__name__)


class ViewReader:
    """Reads one snapshot of a store after the other. Not thread-safe."""

    def __init__(self, store: Store, published: Path) -> None:
        """Read the published results: `published` has a folder of result records for each benchmark."""
        self.published_files: dict[str, Path] = {}  # by result key
        self._published, self._unreadable_published = self._read_published(published)
        self._published_version = blob_id("".join(row.blob for row in self._published).encode())
        # Each reads only the records that have changed since its last snapshot.
        self._results = board_reader(store)
        self._requests = queue_reader(store)
        self._retirements = RecordReader(store, "retired", Retirement)
        self._commitments = RecordReader(store, "fresh", Commitment)
        self._attempts = RecordReader(store, "attempts", PrivateAttempts)
        self._errata = RecordReader(store, "errata", Erratum)

    def read(self, snapshot: Snapshot, last: View) -> View:
        """Return the view of a snapshot.

        Ranking takes long, so everything that depends only on unchanged rows is taken from `last`, the view of an earlier
        snapshot: the boards of benchmarks without new rows and, if no board has changed, the overall ranking and what `View`
        has computed.
        """
        results, unreadable_results = self._results.read(snapshot)
        requests, unreadable_requests = self._requests.read(snapshot)
        # A newer worker or command line may know more benchmarks than this board.
        results = [row for row in results if row.benchmark in BENCHMARKS]
        requests = [row for row in requests if row.benchmark in BENCHMARKS]
        errata = [erratum for erratum in self._errata.read(snapshot) if erratum.benchmark in BENCHMARKS]
        commitments = self._commitments.read(snapshot)
        retired = [*self._retirements.read(snapshot), *evaluated_after_reveal(results, commitments)]
        private_attempts = private_counts(self._attempts.read(snapshot))
        rows: dict[str, list[BoardRow]] = {name: [] for name in BENCHMARKS}
        for row in (*self._published, *results):
            rows[row.benchmark].append(row)

        # A benchmark is annotated and ranked again if its rows or any annotation have changed.
        annotations = (retired, commitments, errata, private_attempts)
        has_same_annotations = annotations == (last.retired, last.commitments, last.errata, last.private_attempts)
        reasons = {retirement.key: retirement.reason for retirement in retired if retirement.until is None}
        errata_counts = _errata_counts(errata)
        boards: Boards = {}
        changed: list[str] = []  # benchmarks
        for name, rows_of_benchmark in rows.items():
            if has_same_annotations and last.rows.get(name) == rows_of_benchmark:
                boards[name] = last.boards[name]
            else:
                changed.append(name)
                annotated = with_annotations(rows_of_benchmark, reasons, errata_counts.get(name, {}), private_attempts)
                boards[name] = ranked(annotated)

        # What depends on several boards, and is computed once all of them are ranked: the overall ranking, and how ranks change
        # on sets that a model cannot have seen. `with_unseen_changes` may also change rows of boards that were not ranked again.
        # A board in which it changes nothing stays the same list object.
        models = last.models
        shared_benchmarks = last.shared_benchmarks
        if changed:
            models, shared_benchmarks = rank_models(boards)
        unseen = last.unseen
        if any(map(is_compared, changed)):
            unseen = unseen_changes(models)
            boards = with_unseen_changes(boards, models, unseen)

        unreadable = [*self._unreadable_published, *unreadable_results, *unreadable_requests]
        version = last.version
        if changed or unreadable != last.unreadable:
            version = blob_id(f"{snapshot.head}{self._published_version}".encode())
        new_summaries = {name: summary(boards[name], name) for name in changed}
        view = View(
            snapshot=snapshot,
            rows=rows,
            tables=_tables(boards, last.tables),
            version=version,
            summaries=last.summaries | new_summaries,
            models=models,
            shared_benchmarks=shared_benchmarks,
            unseen=unseen,
            queue=sorted(requests, key=lambda r: (r.submitted_at, r.key), reverse=True),
            unreadable=unreadable,
            paths={r.key: r.path for r in results},
            retired=retired,
            commitments=commitments,
            errata=errata,
            private_attempts=private_attempts,
        )
        if not changed:
            view.take_over(last)
        return view

    def _read_published(self, folder: Path) -> tuple[list[BoardRow], list[Unreadable]]:
        """Return the rows of the published results, and those records that cannot be read. Fills `published_files`."""
        rows: list[BoardRow] = []
        unreadable: list[Unreadable] = []
        for path in sorted(folder.glob("*/*.json")):
            content = path.read_bytes()
            try:
                result = EvalResult.from_json(content)
            except ValueError as error:
                log.warning("published record %s is left out: %s", path, error)
                unreadable.append(Unreadable(path.name, str(error)))
                continue
            self.published_files[result.request_key] = path
            rows.append(board_row(result, str(path.relative_to(folder)), blob_id(content)))
        return rows, unreadable


def _tables(boards: Boards, last: Mapping[str, Table]) -> dict[str, Table]:
    """Return the tables of boards. Those of unchanged boards are kept, with everything that they have computed."""
    tables: dict[str, Table] = {}
    for name, board in boards.items():
        known = last.get(name)
        # A board that has not changed is still the same list object, see `ViewReader.read`.
        tables[name] = known if known and known.rows is board else Table(name, board)
    return tables


def _errata_counts(errata: Iterable[Erratum]) -> dict[str, dict[str, int]]:
    """Return the number of errata of each test set, by benchmark and split. Errata are numbered from 1."""
    counts: dict[str, dict[str, int]] = {}
    for erratum in errata:
        splits = counts.setdefault(erratum.benchmark, {})
        splits[erratum.split] = max(erratum.number, splits.get(erratum.split, 0))
    return counts

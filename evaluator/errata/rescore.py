"""Score stored answers again after an erratum, or when a benchmark has a new metric, without running a model.

`python -m evaluator errata add` and `errata rescore` call `Rescoring.run`. For each published result of the set it

1. reads the answers from the private store, and checks that they still give the scores that were published,
2. scores them on the corrected items,
3. publishes the result with its new scores, its old ones in `earlier`, and comparisons with other results,

and then records in the erratum which results changed their score or rank (`moves.py`). A result whose answers are lost keeps
the version of before, and has no rank any more.
"""

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evaluator.benchmarks.base import Benchmark
from evaluator.benchmarks.metrics import not_measured
from evaluator.core.data_types import Item, Score
from evaluator.core.errors import DataError, Details, EvaluationError, LeakError
from evaluator.datasets.leak_check import check_public
from evaluator.datasets.source import Source
from evaluator.errata.moves import record_moves
from evaluator.errata.new_scores import details_with_scores, result_with_scores
from evaluator.errata.records import read_errata
from evaluator.job.limited_process import run_limited
from evaluator.publication.item_scores import ItemScores
from evaluator.publication.private_records import read_details, read_item_scores, save_item_scores
from evaluator.publication.public_answers import public_answers
from evaluator.publication.published_pairs import with_pairs
from evaluator.results.answer_rows import score_details
from evaluator.results.build_result import scored_fields
from submissions.config.settings import Settings
from submissions.records.errata import Moved, errata_in, version_without
from submissions.records.index_rows import BoardRow
from submissions.records.result import EvalResult
from submissions.records.signed_statement import key_id, private_key, sign
from submissions.store.base import Changes, Snapshot, Store, transact
from submissions.store.index import board_reader, with_result
from submissions.store.private import PrivateStore
from submissions.texts.errors import SettingsError
from submissions.texts.failure_codes import FailureCode

log = logging.getLogger(__name__)


class CannotScoreError(Exception):
    """Raised with the reason why a result cannot be scored again."""


@dataclass(frozen=True)
class Rescored:
    """The outcome of `Rescoring.run`."""

    keys: Sequence[str]  # of the results that were scored again
    not_rescored: Mapping[str, str]  # key → reason, of the results that keep an earlier version
    moved: Sequence[Moved]  # results whose score or rank has changed


def check_signing_key(benchmark: Benchmark, source: Source, store: Store, settings: Settings) -> None:
    """Raise SettingsError if the results on a set are signed, but not with the key of this installation.

    Only one statement is checked.
    """
    snapshot = store.snapshot()
    rows, _unreadable = board_reader(store).read(snapshot)
    statements = [EvalResult.statement_path_of(row.key) for row in _measured(benchmark, source, rows)]
    signed = next((path for path in statements if path in snapshot.files), None)
    if signed and not _is_signed_with(store.read(signed, snapshot.head), settings):
        raise SettingsError("the results are signed: set HANNUN_SIGNING_KEY to the same key, to sign them again")


class Rescoring:
    """Score the results on a set again, so that all of them have the newest version and all metrics.

    A result of an earlier version gets the newest one. A result that has the newest version, but was published before the
    benchmark got a metric, gets this metric.

    `run` can be interrupted and repeated: results that need neither are skipped.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        source: Source,
        uncorrected_items: Sequence[Item],
        store: Store,
        private: PrivateStore,
        settings: Settings,
    ) -> None:
        """Prepare to score on the corrected items.

        `uncorrected_items` are the items as the files of the set have them. `source.corrections` must be all corrections that
        were made so far, because their number gives the newest version: after 2 corrections, version 3 is 3+2.
        """
        self._benchmark = benchmark
        self._source = source
        self._uncorrected_items = uncorrected_items
        self._items = source.corrections.apply(benchmark, uncorrected_items)
        self._version = source.corrections.version_of(benchmark)
        self._store = store
        self._private = private
        self._settings = settings
        self._reader = board_reader(store)
        self._secret = settings.details_key.get_secret_value().encode() if settings.details_key else None

    def check_answers(self) -> None:
        """Raise DataError if the set has results, but none can be scored again. All would lose their ranks then.

        It is called before an erratum is added, so `source.corrections` do not have the new one yet. It returns at the first
        result that can be scored again.
        """
        snapshot = self._store.snapshot()
        rows = [row for row in self._rows(snapshot) if row.benchmark_version == self._version]
        reasons = []
        for row in rows:
            try:
                self._read_verified(row, snapshot)
                return
            except CannotScoreError as error:
                reasons.append(str(error))
        if reasons:
            raise DataError(
                f"none of the {len(rows)} results could be scored again, so all would lose their ranks: {reasons[0]}; check "
                "HANNUN_PRIVATE_STORE and the set in HANNUN_DATA, or add --unranked"
            )

    def run(self, on_progress: Callable[[int, int], None] = lambda *_: None) -> Rescored:
        """Score all results again that are of an earlier version or lack a metric, then record who moved.

        Raises DataError if an erratum cannot be read, StoreError if a store fails, EvaluationError if scoring is killed.
        """
        snapshot = self._store.snapshot()
        rows = [
            row for row in self._rows(snapshot) if row.benchmark_version != self._version or self._lacks_metric(row)
        ]
        rescored: list[str] = []
        not_rescored: dict[str, str] = {}
        # Oldest first, as they were published: `with_pairs` compares a result with those that have the new version already.
        oldest_first = sorted(rows, key=lambda row: row.date or 0.0)
        for number, row in enumerate(oldest_first, 1):
            try:
                if self._rescore(row, snapshot):
                    rescored.append(row.key)
                else:
                    log.warning("%s (%s) keeps its scores: its answers give no further metric", row.key, row.model)
            except CannotScoreError as error:
                if row.benchmark_version != self._version:  # otherwise it keeps its rank and only lacks a metric
                    not_rescored[row.key] = str(error)
                log.warning("%s (%s) is not scored again: %s", row.key, row.model, error)
            on_progress(number, len(rows))
        return Rescored(rescored, not_rescored, self._record_moves(len(not_rescored)))

    def _rows(self, snapshot: Snapshot) -> list[BoardRow]:
        """Return the results on the set, whatever the number of errata in their versions."""
        rows, _unreadable = self._reader.read(snapshot)
        return _measured(self._benchmark, self._source, rows)

    def _lacks_metric(self, row: BoardRow) -> bool:
        """Return whether a result lacks a metric that can be computed.

        A metric may be missing for good, because no item has a value. `_rescore` then returns False.
        """
        computed = [metric.name for metric in self._benchmark.metrics if metric.aggregate is not not_measured]
        return any(name not in row.metrics for name in computed)

    def _read_verified(self, row: BoardRow, snapshot: Snapshot) -> tuple[EvalResult, Details]:
        """Return a result and its stored answers.

        Raises CannotScoreError if these do not give its published scores on the items that its version had. Then answers,
        items or scoring code have changed, so that new scores could not be compared with the old ones.
        """
        result = EvalResult.from_json(self._store.read(row.path, snapshot.head))
        if result.dataset.revision != self._source.revision:
            raise CannotScoreError("it was measured on other files of the set")
        # Each erratum is one correction: a result of version 3+1 was scored with the first one only.
        corrections_before = self._source.corrections.first(errata_in(row.benchmark_version))
        items_before = corrections_before.apply(self._benchmark, self._uncorrected_items)
        needed = {item.id for item in (*items_before, *self._items)}
        details = read_details(self._private, row.key, needed, self._secret)
        if details is None:
            raise CannotScoreError("its answers are not stored")
        published = result.results[self._benchmark.name]
        recomputed = self._results_of(items_before, details)
        if any(recomputed.get(name) != score for name, score in published.items()):
            raise CannotScoreError("its stored answers do not give its published scores with this release")
        return result, details

    def _rescore(self, row: BoardRow, snapshot: Snapshot) -> bool:
        """Score one result again and publish it.

        Return whether it was published: not if it has the newest version and its answers give no further metric. Raises
        CannotScoreError.
        """
        before, details = self._read_verified(row, snapshot)
        scores = self._scores(self._items, details)
        after = result_with_scores(before, self._benchmark, self._items, scores, self._version, self._store)
        name = self._benchmark.name
        gains_metric = bool(after.results[name].keys() - before.results[name].keys())
        if row.benchmark_version == self._version and not gains_metric:
            return False
        try:
            # Against all questions and answers as they are in the files of the set, also those that errata have removed.
            check_public([after.to_bytes()], self._uncorrected_items, self._source.path)
        except LeakError as error:
            raise CannotScoreError(f"its record would reveal {error}") from error
        item_scores = self._save_item_scores(row.key, scores)
        if item_scores:
            after = with_pairs(after, item_scores, self._store, self._private)
        if not self._publish(row, after, details_with_scores(details, scores)):
            raise CannotScoreError("another command has scored it again meanwhile")
        return True

    def _scores(self, items: Sequence[Item], details: Details) -> list[Score]:
        """Return the scores of stored answers, computed in a process with limits: a model decides how long they are.

        Raises CannotScoreError if that takes too much time or memory, or if the stored answers are malformed.
        """
        bare = [replace(item, page=None, images=(), links=()) for item in items]  # scoring uses no pages or images
        try:
            return run_limited(score_details, self._benchmark, bare, details)
        except EvaluationError as error:
            if error.code is FailureCode.PROCESS_KILLED:  # says nothing about this result
                raise
            raise CannotScoreError(f"its answers cannot be scored: {error}") from error
        except RuntimeError as error:  # with the traceback of the process
            reason = str(error).strip().splitlines()[-1]
            raise CannotScoreError(f"its stored answers cannot be read: {reason}") from error

    def _results_of(self, items: Sequence[Item], details: Details) -> dict[str, float]:
        """Return the metrics of stored answers in percent, rounded as they are published."""
        fields = scored_fields(self._benchmark, items, self._scores(items, details))
        results: dict[str, float] = fields["results"][self._benchmark.name]
        return results

    def _save_item_scores(self, key: str, scores: Sequence[Score]) -> ItemScores | None:
        """Replace the item scores of a result and return them, or None if the headline is not a mean over items."""
        earlier = read_item_scores(self._private, key)
        submitter = earlier.submitter if earlier else ""
        rows: Details = [dict(score.values) for score in scores]
        item_scores = ItemScores.of(self._benchmark, self._items, rows, submitter)
        if item_scores:
            save_item_scores(self._private, key, item_scores)
        return item_scores

    def _publish(self, row: BoardRow, result: EvalResult, details: Details) -> bool:
        """Publish a result, with its statement and the answers to sample items if it has them.

        Return whether its record was still the one that was scored again; if not, nothing is changed.
        """
        key = self._settings.signing_key
        statement = sign(result, key.get_secret_value()) if key else None
        answers = public_answers(self._benchmark, self._source, details)

        def decide(snapshot: Snapshot) -> tuple[Changes, str, bool]:
            if snapshot.files.get(row.path) != row.blob:
                return {}, "", False
            changes = dict(with_result(self._store, snapshot, result))
            if statement:
                changes[result.statement_path_of(row.key)] = statement
            if answers:
                changes[result.answers_path_of(row.key)] = answers
            return changes, f"Score {row.key} again: {self._version}", True

        return transact(self._store, decide)

    def _record_moves(self, not_rescored: int) -> list[Moved]:
        """Add to the erratum of this version which results moved, and return them.

        All results of the version are compared with their scores of before, not only those of this run, because an
        interrupted run has scored some of them.
        """
        snapshot = self._store.snapshot()
        errata = read_errata(self._store, self._benchmark.name, self._source.split, snapshot)
        recorded = next((erratum for erratum in errata if erratum.version == self._version), None)
        if recorded is None:
            return []
        rows = [row for row in self._rows(snapshot) if row.benchmark_version == self._version]
        return record_moves(self._store, snapshot, self._benchmark, recorded, rows, not_rescored)


def _measured(benchmark: Benchmark, source: Source, rows: Iterable[BoardRow]) -> list[BoardRow]:
    """Return the results on a set that were measured here with the current prompt and scoring rule.

    The number of errata in their versions does not matter: `3` and `3+2` are the same rule.
    """
    return [
        row
        for row in rows
        if row.benchmark == benchmark.name
        and row.split == source.split
        and row.kind == "verified"
        and version_without(row.benchmark_version) == benchmark.version
    ]


def _is_signed_with(envelope: bytes, settings: Settings) -> bool:
    """Return whether the installation's key has signed a statement."""
    if settings.signing_key is None:
        return False
    own = key_id(private_key(settings.signing_key.get_secret_value()).public_key())
    return own in [signature.get("keyid") for signature in json.loads(envelope)["signatures"]]

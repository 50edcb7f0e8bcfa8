"""Score stored answers again after an erratum, or when a benchmark has a new metric, without running a model.

`hannun errata add` and `hannun errata rescore` call `Rescoring.run`. For each published result of the set it

1. reads the answers from the private store, and checks that they still give the scores that were published,
2. scores them on the corrected items,
3. publishes the result with its new scores, its old ones in `earlier`, and comparisons with other results,

and then records in the erratum which results changed their score or rank. A result whose answers are lost keeps the version
of before, and has no rank any more.
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
from evaluator.errata.records import read_errata
from evaluator.job.limited_process import run_limited
from evaluator.publication.item_scores import ItemScores
from evaluator.publication.private_records import read_details, read_item_scores, save_item_scores
from evaluator.publication.public_answers import public_answers
from evaluator.publication.published_pairs import with_pairs
from evaluator.results.answer_rows import score_details
from evaluator.results.build_result import round_measures, scored_fields
from submissions.config.settings import Settings
from submissions.operator.retirement import is_retired
from submissions.records.errata import Moved, errata_in, version_without
from submissions.records.index_rows import BoardRow
from submissions.records.result import Earlier, EvalResult
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
    """Bring all results on a set to its newest errata, and give results of the newest version metrics that they lack.

    It can be interrupted and repeated: results that have the newest version and all metrics are skipped.
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
        """Apply the corrections of `source`, which must have all of the set, to the items as they are stored."""
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

        It is called before an erratum is added, on a source without the new erratum. It returns at the first result that can
        be scored again.
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
                self._rescore(row, snapshot)
                rescored.append(row.key)
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

        A metric may be missing for good, because no item has a value. `_rescore` then raises CannotScoreError.
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
        corrections = self._source.corrections.first(errata_in(row.benchmark_version))
        items_before = corrections.apply(self._benchmark, self._uncorrected_items)
        needed = {item.id for item in (*items_before, *self._items)}
        details = read_details(self._private, row.key, needed, self._secret)
        if details is None:
            raise CannotScoreError("its answers are not stored")
        published = result.results[self._benchmark.name]
        recomputed = self._results_of(items_before, details)
        if any(recomputed.get(name) != score for name, score in published.items()):
            raise CannotScoreError("its stored answers do not give its published scores with this release")
        return result, details

    def _rescore(self, row: BoardRow, snapshot: Snapshot) -> None:
        """Score one result again and publish it. Raises CannotScoreError."""
        before, details = self._read_verified(row, snapshot)
        scores = self._scores(self._items, details)
        after = _result_with_scores(before, self._benchmark, self._items, scores, self._version, self._store)
        name = self._benchmark.name
        gains_metric = bool(after.results[name].keys() - before.results[name].keys())
        if row.benchmark_version == self._version and not gains_metric:
            raise CannotScoreError("its answers give no further metric")
        try:
            # Against all questions and answers as they are in the files of the set, also those that errata have removed.
            check_public([after.to_bytes()], self._uncorrected_items, self._source.path)
        except LeakError as error:
            raise CannotScoreError(f"its record would reveal {error}") from error
        item_scores = self._save_item_scores(row.key, scores)
        if item_scores:
            after = with_pairs(after, item_scores, self._store, self._private)
        if not self._publish(row, after, _details_with_scores(details, scores)):
            raise CannotScoreError("another command has scored it again meanwhile")

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
        scores_before: list[tuple[BoardRow, float]] = []
        for row in self._rows(snapshot):
            if row.benchmark_version != self._version:
                continue
            before = self._score_before(row, snapshot)
            if before is not None:
                scores_before.append((row, before))
        moved = moves(self._benchmark, scores_before, lambda key: is_retired(self._store, key, snapshot))
        erratum = recorded.evolve(
            rescored=len(scores_before), not_rescored=not_rescored, moved=[move.model_dump() for move in moved]
        )

        def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
            return {erratum.path: erratum.to_bytes()}, f"Record who moved by {erratum.version}", None

        if erratum != recorded:
            transact(self._store, decide)
        return moved

    def _score_before(self, row: BoardRow, snapshot: Snapshot) -> float | None:
        """Return the headline that a result of the newest version had before, or None if it has had no earlier version."""
        result = EvalResult.from_json(self._store.read(row.path, snapshot.head))
        return result.earlier[-1].scores.get(result.headline) if result.earlier else None


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


def moves(
    benchmark: Benchmark, rows: Sequence[tuple[BoardRow, float]], is_key_retired: Callable[[str], bool]
) -> list[Moved]:
    """Return the results whose score or rank has changed, those that fell most first.

    `rows` are results, each with its headline before the erratum in percent. Ranks are counted among those that are ranked:
    results of models that are not retired and that `Benchmark.ranks` accepts. The others have no rank.
    """
    compared = [(row, before, row.score) for row, before in rows if row.score is not None]
    ranked_keys: set[str] = set()
    scores_before: list[float] = []
    scores_after: list[float] = []
    for row, before, after in compared:
        is_ranked = benchmark.ranks(row.split, row.decoding, row.max_answer_tokens, row.max_reasoning_tokens)
        if row.role == "model" and is_ranked and not is_key_retired(row.key):
            ranked_keys.add(row.key)
            scores_before.append(before)
            scores_after.append(after)
    found: list[Moved] = []
    for row, before, after in compared:
        has_rank = row.key in ranked_keys
        move = Moved(
            key=row.key,
            model=row.model,
            before=before,
            after=after,
            rank_before=_rank(before, scores_before) if has_rank else None,
            rank_after=_rank(after, scores_after) if has_rank else None,
        )
        if (move.before, move.rank_before) != (move.after, move.rank_after):
            found.append(move)
    return sorted(found, key=lambda move: (move.after - move.before, move.model))


def _rank(score: float, scores: Sequence[float]) -> int:
    """Return the rank of a score, from 1. Equal scores have the same rank."""
    return 1 + sum(other > score for other in scores)


def _details_with_scores(details: Details, scores: Iterable[Score]) -> Details:
    """Return stored answers with their new scores. Items that have no score any more are left out."""
    by_id = {row["id"]: row for row in details}
    return [{**by_id[score.id], **score.values} for score in scores]


def _result_with_scores(
    before: EvalResult,
    benchmark: Benchmark,
    items: Sequence[Item],
    scores: Sequence[Score],
    version: str,
    store: Store,
) -> EvalResult:
    """Return a result with its new scores and without its comparisons. Its old scores are kept in `earlier`.

    A result that only gains a metric keeps its version, so nothing is added to `earlier`.
    """
    name = benchmark.name
    earlier = list(before.earlier)
    if before.versions[name] != version:
        earlier.append(Earlier(version=before.versions[name], scores=before.results[name], until=store.now()))
    asked = before.n_samples[name].get("original")
    after = before.evolve(
        **scored_fields(benchmark, items, scores),
        versions={name: version},
        dataset=before.dataset.evolve(n=len(items)).model_dump(),
        n_samples={name: {"original": asked, "effective": len(items)}},
        reasoning=_reasoning(before, benchmark, scores),
        earlier=[entry.model_dump() for entry in earlier],
        paired=[],  # of the old scores; `with_pairs` adds new ones
    )
    # Custom code could encode information in digits (`round_measures`), and the tokens per correct answer are new.
    return round_measures(after) if before.config.custom_code else after


def _reasoning(before: EvalResult, benchmark: Benchmark, scores: Sequence[Score]) -> dict[str, object] | None:
    """Return the lengths of reasoning with new tokens per correct answer, or None if the model does not reason.

    The tokens of single answers are not stored, so the tokens per correct answer are computed from their published mean per
    answer: mean × items / correct items. That is what `build_result` computes from the sum of all tokens, because the
    number of answers per item cancels out.
    """
    if before.reasoning is None:
        return None
    right = round(sum(score.values[benchmark.item_metric.name] for score in scores))
    per_right = round(before.reasoning.tokens_mean * len(scores) / right, 1) if right else None
    return before.reasoning.evolve(tokens_per_right=per_right).model_dump()

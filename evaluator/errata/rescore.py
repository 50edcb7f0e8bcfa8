"""Score stored answers again after an erratum, or when a benchmark has a new metric, without running a model."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import Item, Score
from evaluator.core.errors import DataError, Details
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

log = logging.getLogger(__name__)


class CannotScoreError(Exception):
    """Raised with the reason why a result cannot be scored again."""


@dataclass(frozen=True)
class Rescored:
    """What a set's results became: the keys of those scored again, and why others belong to an earlier version."""

    keys: Sequence[str]
    left: Mapping[str, str]  # key → reason
    moved: Sequence[Moved]


def check_signing_key(benchmark: Benchmark, source: Source, store: Store, settings: Settings) -> None:
    """Raise SettingsError if the results on a set are signed and there is no key to sign them again."""
    snapshot = store.snapshot()
    rows = _measured(benchmark, source, board_reader(store).read(snapshot)[0])
    statements = [EvalResult.statement_path_of(row.key) for row in rows]
    signed = next((path for path in statements if path in snapshot.files), None)
    if signed and not _is_signed_with(store.read(signed, snapshot.head), settings):
        raise SettingsError("the results are signed: set HANNUN_SIGNING_KEY to the same key, to sign them again")


class Rescoring:
    """Bring all results on a set to its newest errata. It can be interrupted and repeated."""

    def __init__(
        self,
        benchmark: Benchmark,
        source: Source,
        asked: Sequence[Item],
        store: Store,
        private: PrivateStore,
        settings: Settings,
    ) -> None:
        """Prepare it. `source` has all corrections of the set, `asked` are its items without them."""
        self._benchmark = benchmark
        self._source = source
        self._asked = asked
        self._items = source.corrections.apply(benchmark, asked)
        self._version = source.corrections.version_of(benchmark)
        self._store = store
        self._private = private
        self._settings = settings
        self._reader = board_reader(store)
        self._secret = settings.details_key.get_secret_value().encode() if settings.details_key else None

    def check_answers(self) -> None:
        """Raise DataError if the set has results and none of them could be scored again: all would lose their ranks."""
        snapshot = self._store.snapshot()
        rows = [row for row in self._rows(snapshot) if row.benchmark_version == self._version]
        reasons = []
        for row in rows:
            try:
                self._stored(row, snapshot)
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

        Raises DataError if an erratum cannot be read, StoreError if a store fails.
        """
        snapshot = self._store.snapshot()
        rows = [row for row in self._rows(snapshot) if row.benchmark_version != self._version or self._lacks(row)]
        done: list[str] = []
        left: dict[str, str] = {}
        for number, row in enumerate(sorted(rows, key=lambda row: row.date or 0.0), 1):
            try:
                self._rescore(row, snapshot)
                done.append(row.key)
            except CannotScoreError as error:
                if row.benchmark_version != self._version:
                    left[row.key] = str(error)
                log.warning("%s (%s) is not scored again: %s", row.key, row.model, error)
            on_progress(number, len(rows))
        return Rescored(done, left, self._record_moves(len(left)))

    def _rows(self, snapshot: Snapshot) -> list[BoardRow]:
        return _measured(self._benchmark, self._source, self._reader.read(snapshot)[0])

    def _lacks(self, row: BoardRow) -> bool:
        """Return whether a result lacks a metric that the benchmark declares. Not every result can have all of them."""
        return any(metric.name not in row.metrics for metric in self._benchmark.metrics if metric.is_mean)

    def _stored(self, row: BoardRow, snapshot: Snapshot) -> tuple[EvalResult, Details]:
        """Return a result and its stored answers. Raises CannotScoreError if they do not give its published scores."""
        result = EvalResult.from_json(self._store.read(row.path, snapshot.head))
        if result.dataset.revision != self._source.revision:
            raise CannotScoreError("it was measured on other files of the set")
        corrections = self._source.corrections.first(errata_in(row.benchmark_version))
        items_before = corrections.apply(self._benchmark, self._asked)
        needed = {item.id for item in (*items_before, *self._items)}
        details = read_details(self._private, row.key, needed, self._secret)
        if details is None:
            raise CannotScoreError("its answers are not stored")
        known = result.results[self._benchmark.name]
        again = self._fields(items_before, details)
        if any(again.get(name) != score for name, score in known.items()):
            raise CannotScoreError("its stored answers do not give its published scores with this release")
        return result, details

    def _rescore(self, row: BoardRow, snapshot: Snapshot) -> None:
        """Score one result again and publish it. Raises CannotScoreError."""
        before, details = self._stored(row, snapshot)
        scores = self._scores(self._items, details)
        after = _rescored(before, self._benchmark, self._items, scores, self._version, self._store)
        name = self._benchmark.name
        if row.benchmark_version == self._version and after.results[name].keys() <= before.results[name].keys():
            raise CannotScoreError("its answers give no further metric")
        check_public([after.to_bytes()], self._asked, self._source.path)
        own = self._save_item_scores(row.key, scores)
        if own:
            after = with_pairs(after, own, self._store, self._private)
        if not self._publish(row, after, self._right(details, scores)):
            raise CannotScoreError("another command has scored it again meanwhile")

    def _scores(self, items: Sequence[Item], details: Details) -> list[Score]:
        bare = [replace(item, page=None, images=(), links=()) for item in items]  # scoring uses no pages or images
        return run_limited(score_details, self._benchmark, bare, details)

    def _fields(self, items: Sequence[Item], details: Details) -> dict[str, float]:
        """Return the published metrics of stored answers."""
        fields = scored_fields(self._benchmark, items, self._scores(items, details))
        results: dict[str, float] = fields["results"][self._benchmark.name]
        return results

    def _right(self, details: Details, scores: Iterable[Score]) -> Details:
        """Return the answers with their new scores."""
        by_id = {row["id"]: row for row in details}
        return [{**by_id[score.id], **score.values} for score in scores]

    def _save_item_scores(self, key: str, scores: Sequence[Score]) -> ItemScores | None:
        known = read_item_scores(self._private, key)
        rows: Details = [dict(score.values) for score in scores]
        own = ItemScores.of(self._benchmark, self._items, rows, known.submitter if known else "")
        if own:
            save_item_scores(self._private, key, own)
        return own

    def _publish(self, row: BoardRow, result: EvalResult, details: Details) -> bool:
        """Publish a result. Return whether its record was still the one that was scored again."""
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

    def _record_moves(self, left: int) -> list[Moved]:
        """Add to the erratum of this version which results moved, by their scores of before and now."""
        snapshot = self._store.snapshot()
        every = read_errata(self._store, self._benchmark.name, self._source.split, snapshot)
        errata = [one for one in every if one.version == self._version]
        if not errata:
            return []
        now = [row for row in self._rows(snapshot) if row.benchmark_version == self._version]
        compared = [(row, self._score_before(row, snapshot)) for row in now]
        pairs = [(row, before) for row, before in compared if before is not None]
        moved = moves(self._benchmark, pairs, lambda key: is_retired(self._store, key, snapshot))
        erratum = errata[-1].evolve(rescored=len(pairs), not_rescored=left, moved=[one.model_dump() for one in moved])

        def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
            return {erratum.path: erratum.to_bytes()}, f"Record who moved by {erratum.version}", None

        if erratum != errata[-1]:
            transact(self._store, decide)
        return moved

    def _score_before(self, row: BoardRow, snapshot: Snapshot) -> float | None:
        """Return the headline of a result before the newest erratum, or None if it was measured since then."""
        result = EvalResult.from_json(self._store.read(row.path, snapshot.head))
        return result.earlier[-1].scores.get(result.headline) if result.earlier else None


def _measured(benchmark: Benchmark, source: Source, rows: Iterable[BoardRow]) -> list[BoardRow]:
    """Return the results on a set that were measured here with the current prompt and scoring rule."""
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


def moves(benchmark: Benchmark, pairs: Sequence[tuple[BoardRow, float]], retired: Callable[[str], bool]) -> list[Moved]:
    """Return the results whose score or rank has changed, those that fell most first.

    `pairs` are results with their scores of before.
    """
    compared = [(row, before, row.score) for row, before in pairs if row.score is not None]
    ranked = {
        row.key: (before, after)
        for row, before, after in compared
        if row.role == "model"
        and benchmark.ranks_decoding(row.decoding, row.max_answer_tokens, row.max_reasoning_tokens)
        and not retired(row.key)
    }
    befores = [before for before, _ in ranked.values()]
    afters = [after for _, after in ranked.values()]
    found = []
    for row, before, after in compared:
        has_rank = row.key in ranked
        one = Moved(
            key=row.key,
            model=row.model,
            before=before,
            after=after,
            rank_before=_rank(before, befores) if has_rank else None,
            rank_after=_rank(after, afters) if has_rank else None,
        )
        if (one.before, one.rank_before) != (one.after, one.rank_after):
            found.append(one)
    return sorted(found, key=lambda one: (one.after - one.before, one.model))


def _rank(score: float, scores: Sequence[float]) -> int:
    return 1 + sum(other > score for other in scores)


def _rescored(
    before: EvalResult,
    benchmark: Benchmark,
    items: Sequence[Item],
    scores: Sequence[Score],
    version: str,
    store: Store,
) -> EvalResult:
    """Return a result with its new scores. Its old ones are kept in `earlier`."""
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
        earlier=[one.model_dump() for one in earlier],
        paired=[],
    )
    return round_measures(after) if before.config.custom_code else after


def _reasoning(before: EvalResult, benchmark: Benchmark, scores: Sequence[Score]) -> dict[str, object] | None:
    if before.reasoning is None:
        return None
    right = round(sum(score.values[benchmark.item_metric.name] for score in scores))
    per_right = round(before.reasoning.tokens_mean * len(scores) / right, 1) if right else None
    return before.reasoning.evolve(tokens_per_right=per_right).model_dump()

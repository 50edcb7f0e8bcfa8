"""Collect everything that anybody needs to check the scores of a quarter, for `ko-fresh collect` and `ko-fresh reveal`.

This is called the books of the quarter: the commitment, the drawn set, the results on it, and all answers of these results.
`books.py` describes them. Here they are read from an installation's stores.
"""

from collections.abc import Sequence

from evaluator.core.errors import DataError
from evaluator.errata.records import read_corrections
from evaluator.fresh.seed import commitment, drawn_set
from evaluator.publication.private_records import read_details
from evaluator.quarters.books import BENCHMARK, Books, by_score
from evaluator.results.answer_rows import AnswerRow, answer_rows
from submissions.config.settings import Settings
from submissions.operator.retirement import is_retired
from submissions.records.operator import Commitment
from submissions.records.result import EvalResult
from submissions.store.base import Snapshot, Store
from submissions.store.index import board_reader
from submissions.store.open import open_private_store, open_store


def collect(quarter: str, settings: Settings) -> Books:
    """Return the books of a quarter from this installation's stores.

    The results are those on the committed set, scored by the current rule, that are not retired and were finished before the
    seed was revealed. Raises DataError if nothing was committed to, the quarter is that of another release, or the answers
    of a result are lost; SettingsError if the set can no longer be drawn; and StoreError if a store fails.
    """
    if quarter != BENCHMARK.card.split:
        raise DataError(
            f"this release draws and scores {BENCHMARK.card.split}: use the release that measured {quarter}"
        )
    store = open_store(settings.store, settings)
    private = open_private_store(settings)
    snapshot = store.snapshot()
    # Raises DataError if there is none. Without this check, `drawn_set` would commit to a set, and collecting must not.
    commitment(store, quarter, snapshot)
    folder, set_sha256 = drawn_set(quarter, settings)
    committed = commitment(store, quarter)  # read after `drawn_set`, which may have added the hash of the set
    corrections = read_corrections(store, private, BENCHMARK.name, quarter)
    version = corrections.version_of(BENCHMARK)
    results = _results(store, snapshot, committed, version, set_sha256)
    ids = [item.id for item in BENCHMARK.load(folder)]
    # A result that was measured after an item was withdrawn has no answer to it. If an answer to an item is missing that was
    # corrected, but still counts, `book_differences` reports that.
    may_lack_answer = {correction.item for correction in corrections.made}
    secret = settings.details_key.get_secret_value().encode() if settings.details_key else None
    answers: dict[str, Sequence[AnswerRow]] = {}
    lost: list[str] = []
    for result in results:
        key = result.request_key
        details = read_details(private, key, ids, secret, optional=may_lack_answer)
        if details is None:
            lost.append(key)
        else:
            answers[key] = answer_rows(details)
    if lost:
        raise DataError(
            f"the answers of {', '.join(lost)} are not in the private store: restore it, or retire these results"
        )
    return Books(committed, folder, sorted(results, key=by_score), answers, corrections)


def _results(
    store: Store, snapshot: Snapshot, committed: Commitment, version: str, set_sha256: str
) -> list[EvalResult]:
    """Return the results of a quarter that belong to its books. `version` is that of the current rule with all errata."""
    results: list[EvalResult] = []
    rows, _unreadable = board_reader(store).read(snapshot)
    for row in rows:
        measured = row.benchmark, row.benchmark_version, row.split, row.kind
        if measured != (BENCHMARK.name, version, committed.quarter, "verified"):
            continue
        if is_retired(store, row.key, snapshot):
            continue
        result = EvalResult.read_known(store.read(row.path, snapshot.head))
        is_on_committed_set = result.dataset.revision == set_sha256[:40]  # as `open_source` records it
        finished_at = result.date or 0.0
        is_late = committed.revealed_at is not None and finished_at > committed.revealed_at.timestamp()
        if is_on_committed_set and not is_late:
            results.append(result)
    return results

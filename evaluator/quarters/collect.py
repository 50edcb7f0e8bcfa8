"""Collect the books of a quarter from an installation's stores, for `ko-fresh collect` and `ko-fresh reveal`."""

from collections.abc import Sequence

from evaluator.core.errors import DataError
from evaluator.errata.records import read_corrections
from evaluator.fresh.seed import commitment, drawn_set
from evaluator.publication.private_records import read_details
from evaluator.quarters.books import BENCHMARK, Books, by_score
from evaluator.results.answer_rows import AnswerRow, answer_rows
from submissions.config.settings import Settings
from submissions.operator.retirement import is_retired
from submissions.records.result import EvalResult
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
    commitment(store, quarter, snapshot)  # raises DataError if there is none; `drawn_set` would publish a new one
    folder, set_sha256 = drawn_set(quarter, settings)
    public = commitment(store, quarter)  # again, because `drawn_set` may have added the hash of the set
    secret = settings.details_key.get_secret_value().encode() if settings.details_key else None
    ids = [item.id for item in BENCHMARK.load(folder)]
    corrections = read_corrections(store, private, BENCHMARK.name, quarter)
    # A result that was measured after an item was withdrawn has no answer to it. If an answer to another corrected item is
    # missing, `book_differences` reports that.
    corrected_ids = {correction.item for correction in corrections.made}
    results: list[EvalResult] = []
    answers: dict[str, Sequence[AnswerRow]] = {}
    lost: list[str] = []
    for row in board_reader(store).read(snapshot)[0]:
        measured = row.benchmark, row.benchmark_version, row.split, row.kind
        if measured != (BENCHMARK.name, corrections.version_of(BENCHMARK), quarter, "verified"):
            continue
        result = EvalResult.read_known(store.read(row.path, snapshot.head))
        late = public.revealed_at is not None and (result.date or 0.0) > public.revealed_at.timestamp()
        is_other_set = result.dataset.revision != set_sha256[:40]  # see `open_source`
        if late or is_other_set or is_retired(store, row.key, snapshot):
            continue
        if (details := read_details(private, row.key, ids, secret, optional=corrected_ids)) is None:
            lost.append(row.key)
            continue
        results.append(result)
        answers[row.key] = answer_rows(details)
    if lost:
        raise DataError(
            f"the answers of {', '.join(lost)} are not in the private store: restore it, or retire these results"
        )
    return Books(public, folder, sorted(results, key=by_score), answers, corrections)

"""Compare a new result with published ones, as its `paired` field shows them."""

import logging

from evaluator.publication.item_scores import MAX_PAIRS, ItemScores, are_related, opponents, paired_scores
from evaluator.publication.private_records import read_item_scores
from submissions.records.result import EvalResult, PairedScores
from submissions.store.base import Store
from submissions.store.index import board_reader
from submissions.store.private import PrivateStore

log = logging.getLogger(__name__)


def with_pairs(result: EvalResult, own: ItemScores, store: Store, private: PrivateStore) -> EvalResult:
    """Return the result with its comparisons to published results, MAX_PAIRS at most.

    `own` are the item scores of the result. Raises StoreError.
    """
    rows, _ = board_reader(store).read(store.snapshot())
    pairs: list[PairedScores] = []
    for row in opponents(result, rows):
        if len(pairs) == MAX_PAIRS:
            break
        # The other submitter is stored with the item scores. What the row shows is checked first, to save reading them.
        if are_related(result, own.submitter, row, other_submitter=""):
            continue
        other = read_item_scores(private, row.key)
        if other is None or are_related(result, own.submitter, row, other.submitter):
            continue
        if pair := paired_scores(own, other, row.key):
            pairs.append(pair)
    log.info("compared %s with %d results", result.request_key, len(pairs))
    return result.evolve(paired=[pair.model_dump() for pair in pairs])

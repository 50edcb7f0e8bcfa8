"""A new result beside those that are published already."""

import logging

from evaluator.benchmarks import BENCHMARKS
from evaluator.private_records import read_item_scores
from evaluator.run.paired import ItemScores, opponents, paired_scores
from submissions.results import EvalResult
from submissions.store.base import Store
from submissions.store.index import board_reader
from submissions.store.private import PrivateStore

log = logging.getLogger(__name__)


def with_pairs(result: EvalResult, own: ItemScores, store: Store, private: PrivateStore) -> EvalResult:
    """The result with its paired scores. Raises StoreError."""
    rows, _ = board_reader(store).read(store.snapshot())
    headline = BENCHMARKS[result.benchmark].card.headline
    pairs = []
    for row in opponents(result, rows, headline):
        other = read_item_scores(private, row.key)
        if other and (pair := paired_scores(own, other, row.key)):
            pairs.append(pair)
    log.info("compared %s with %d results", result.request_key, len(pairs))
    return result.evolve(paired=[pair.model_dump() for pair in pairs])

"""Compare models on the same questions, from their private scores of single items.

`ItemScores` are kept in the private store, one Parquet file per result. When a result is published, `published_pairs`
chooses opponents here, reads their item scores and publishes a coarse `PairedScores` for each pair. It is coarse because
exact comparisons would reveal which answers are correct (docs/security.md).
"""

import hashlib
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import Item
from evaluator.core.errors import Details
from evaluator.statistics.paired import paired_comparison
from submissions.records.index_rows import BoardRow
from submissions.records.result import EvalResult, PairedScores

MAX_PAIRS = 10  # published pairs per result
P_LEVELS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 1.0)  # published p values are rounded up to one of these
# (number of items, step in percentage points): intervals on sets with fewer items are rounded outward to this step.
INTERVAL_STEPS = ((500, 5), (2000, 2), (10**9, 1))
RESAMPLES = 2000  # bootstrap resamples per pair, fewer than by default: intervals are rounded to whole points


@dataclass(frozen=True, eq=False)
class ItemScores:
    """The headline score of a model on each item, sorted by id. Every array has shape (n,)."""

    ids: npt.NDArray[np.str_]  # hashes of the items, see `_item_hash`
    scores: npt.NDArray[np.float64]  # from 0 to 1
    clusters: npt.NDArray[np.str_]  # items with the same value share a document or image, and are resampled together
    submitter: str = ""  # pseudonym of the person who submitted the model

    @classmethod
    def of(
        cls, benchmark: Benchmark, items: Sequence[Item], details: Details, submitter: str = ""
    ) -> "ItemScores | None":
        """Return the scores of an evaluation, or None if the benchmark's headline is not a mean over items.

        `details` are in the order of the items. An item whose row lacks the headline does not count for it and is left out.
        """
        headline = benchmark.card.headline
        if not benchmark.metric(headline).is_mean:
            return None
        ids = [_item_hash(item) for item in items]
        scored = [n for n in range(len(items)) if headline in details[n]]
        order = sorted(scored, key=lambda n: ids[n])
        scores = [float(details[n][headline]) for n in order]
        clusters = [items[n].cluster or items[n].id for n in order]
        return cls(np.array([ids[n] for n in order]), np.array(scores), np.array(clusters), submitter)

    def to_parquet(self) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns: dict[str, Any] = {"id": self.ids, "score": self.scores, "cluster": self.clusters}
        table = pa.table({name: pa.array(values) for name, values in columns.items()})
        buffer = io.BytesIO()
        pq.write_table(table.replace_schema_metadata({"submitter": self.submitter}), buffer)
        return buffer.getvalue()

    @classmethod
    def from_parquet(cls, content: bytes) -> "ItemScores":
        """Parse the content of a Parquet file. Raises ValueError or KeyError if it does not hold item scores."""
        import pyarrow.parquet as pq

        try:
            table = pq.read_table(io.BytesIO(content))
        except OSError as error:  # of a damaged part
            raise ValueError(str(error)) from error
        ids, scores, clusters = (table.column(name).to_numpy() for name in ("id", "score", "cluster"))
        submitter = (table.schema.metadata or {}).get(b"submitter", b"").decode()
        return cls(ids.astype(str), scores.astype(np.float64), clusters.astype(str), submitter)


def _item_hash(item: Item) -> str:
    """Return a hash of the item's id, question and gold answer.

    It changes when the gold answer is corrected, since models are compared only on items that were scored alike.
    """
    return hashlib.sha256(f"{item.id}\n{item.question}\n{item.answer}".encode()).hexdigest()[:16]


def paired_scores(own: ItemScores, other: ItemScores, key: str) -> PairedScores | None:
    """Return the comparison with `other`, the item scores of the result with this key, as it is published.

    Return None if the two did not answer the same questions. An interval of -3.1 to 1.2 points on 300 items becomes -5 to 5.
    """
    if not np.array_equal(own.ids, other.ids):
        return None
    compared = paired_comparison(own.scores, other.scores, own.clusters.tolist(), RESAMPLES)
    step = next(points for below, points in INTERVAL_STEPS if len(own.ids) < below)
    # In steps. Rounded first, because 15.000000000000002 must not be rounded up to 16 steps.
    low, high = (round(100 * end / step, 9) for end in compared.interval)
    return PairedScores(
        other=key,
        interval=(step * math.floor(low), step * math.ceil(high)),
        p_at_most=rounded_up(compared.p_value),
    )


def rounded_up(p_value: float) -> float:
    """Return the p value rounded up to the next of P_LEVELS, as it is published: 0.003 -> 0.01."""
    return next(level for level in P_LEVELS if p_value <= level)


def are_related(result: EvalResult, submitter: str, row: BoardRow, other_submitter: str) -> bool:
    """Return whether two results have the same submitter, owner or model family.

    Such pairs are not published: somebody who controls the answers of both models would learn from each pair which answers
    are correct. Submitters are pseudonyms; an empty one is unknown and is nobody's.
    """
    config = result.config
    if submitter and submitter == other_submitter:
        return True
    if config.organisation and config.organisation == row.organisation:
        return True
    if _owner(config.model_name) == _owner(row.model):
        return True
    return not _family(config.model_name, config.base_model).isdisjoint(_family(row.model, row.base_model))


def _owner(model: str) -> str:
    """Return the owner of a model ID in lower case, because names on the Hub are case-insensitive: Org/name -> org."""
    return model.partition("/")[0].lower()


def _family(*models: str | None) -> set[str]:
    """Return the IDs of a model and the model that it was made from in lower case, without a missing one."""
    return {model.lower() for model in models if model}


def opponents(result: EvalResult, rows: Iterable[BoardRow]) -> list[BoardRow]:
    """Return the results to compare a new one with: the leader, humans and baselines, then the others by distance in score.

    Only results that were measured here on the same version of the same test set are compared. Each is returned once.

    The caller publishes at most MAX_PAIRS of them, so that the information that pairs leak about single questions grows with
    the number of results, not with its square. A pair is compared when the later of the two results is published.
    """
    benchmark = result.benchmark
    headline = result.headline
    score = result.results[benchmark].get(headline)
    if score is None:
        return []
    test_set = benchmark, result.versions[benchmark], result.dataset.split, result.dataset.id, result.dataset.n
    comparable = [
        row
        for row in rows
        if (row.benchmark, row.benchmark_version, row.split, row.dataset, row.n) == test_set
        and row.kind == "verified"
        and row.key != result.request_key
        and row.metrics.get(headline) is not None
    ]
    best_first = sorted(comparable, key=lambda row: (-row.metrics[headline], row.key))
    leader = best_first[:1]
    references = [row for row in best_first if row.role != "model"]  # humans and baselines
    nearest_first = sorted(best_first, key=lambda row: abs(row.metrics[headline] - score))
    # A dict keeps the first place of each key.
    by_key = {row.key: row for row in (*leader, *references, *nearest_first)}
    return list(by_key.values())

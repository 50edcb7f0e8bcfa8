"""Which of two models is better on the same questions, from each one's private scores of single items."""

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

MAX_PAIRS = 10  # of a result
P_LEVELS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 1.0)  # what a p value is rounded up to
# Points that an interval is rounded outward to, by the number of items below which that holds.
INTERVAL_STEPS = ((500, 5), (2000, 2), (10**9, 1))
RESAMPLES = 2000  # of a pair's interval: a result has dozens


@dataclass(frozen=True, eq=False)
class ItemScores:
    """What a model earned on each item, in the order of the ids; shape (n,) each."""

    ids: npt.NDArray[np.str_]
    scores: npt.NDArray[np.float64]  # of the headline, from 0 to 1
    clusters: npt.NDArray[np.str_]
    submitter: str = ""  # the pseudonym of who submitted the model

    @classmethod
    def of(
        cls, benchmark: Benchmark, items: Sequence[Item], details: Details, submitter: str = ""
    ) -> "ItemScores | None":
        """Return the scores of an evaluation, None for a benchmark whose headline is not a mean over items."""
        headline = benchmark.card.headline
        if not benchmark.metric(headline).is_mean:
            return None
        ids = [_identity(item) for item in items]
        order = sorted((n for n in range(len(items)) if headline in details[n]), key=ids.__getitem__)
        return cls(
            np.array([ids[n] for n in order]),
            np.array([float(details[n][headline]) for n in order]),
            np.array([items[n].cluster or items[n].id for n in order]),
            submitter,
        )

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
        """Raises ValueError, KeyError where the content is something else."""
        import pyarrow.parquet as pq

        table = pq.read_table(io.BytesIO(content))
        ids, scores, clusters = (table.column(name).to_numpy() for name in ("id", "score", "cluster"))
        submitter = (table.schema.metadata or {}).get(b"submitter", b"").decode()
        return cls(ids.astype(str), scores.astype(np.float64), clusters.astype(str), submitter)


def _identity(item: Item) -> str:
    """Another one once its gold answer is mended: models are compared on the same questions, scored alike."""
    return hashlib.sha256(f"{item.id}\n{item.question}\n{item.answer}".encode()).hexdigest()[:16]


def paired_scores(own: ItemScores, other: ItemScores, key: str) -> PairedScores | None:
    """Return a result beside another, whose key is given; None if they are not of the same questions."""
    if not np.array_equal(own.ids, other.ids):
        return None
    compared = paired_comparison(own.scores, other.scores, own.clusters.tolist(), RESAMPLES)
    step = next(step for below, step in INTERVAL_STEPS if len(own.ids) < below)
    low, high = (100 * end / step for end in compared.interval)
    return PairedScores(
        other=key,
        interval=(step * math.floor(low), step * math.ceil(high)),
        p_at_most=rounded_up(compared.p_value),
    )


def rounded_up(p_value: float) -> float:
    """Return the p value as it is published."""
    return next(level for level in P_LEVELS if p_value <= level)


def are_related(result: EvalResult, submitter: str, row: BoardRow, other_submitter: str) -> bool:
    """Return whether two results may be of one hand: one submitter, owner or family of models.

    Such pairs are not published: whoever chooses the answers of both would learn from each pair which of them are right.
    """
    config = result.config
    family = {config.model_name, config.base_model} - {None}
    return bool(
        (submitter and submitter == other_submitter)
        or (config.organisation and config.organisation == row.organisation)
        or config.model_name.partition("/")[0].lower() == row.model.partition("/")[0].lower()
        or {row.model, row.base_model} & family
    )


def opponents(result: EvalResult, rows: Iterable[BoardRow]) -> list[BoardRow]:
    """Return the results that a new one is compared with: the leader, baselines, and its neighbours in rank.

    The nearest come first, and no more than MAX_PAIRS: what pairs tell of single questions grows with the number of results,
    not with its square. A pair is compared when the later of the two is published.
    """
    benchmark, scores = result.benchmark, result.results[result.benchmark]
    headline = result.headline
    score = scores.get(headline)
    if score is None:
        return []
    test_set = benchmark, result.versions[benchmark], result.dataset.split, result.dataset.id, result.dataset.n
    alike = [
        row
        for row in rows
        if (row.benchmark, row.benchmark_version, row.split, row.dataset, row.n) == test_set
        and row.kind == "verified"
        and row.key != result.request_key
        and row.metrics.get(headline) is not None
    ]
    alike.sort(key=lambda row: (-(row.metrics.get(headline) or 0.0), row.key))
    near = sorted(alike, key=lambda row: abs((row.metrics.get(headline) or 0.0) - score))
    chosen = [*alike[:1], *(row for row in alike if row.role != "model"), *near]
    return list({row.key: row for row in chosen}.values())

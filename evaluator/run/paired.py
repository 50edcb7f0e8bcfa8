"""Which of two models is better on the same questions, from each one's private scores of single items."""

import hashlib
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.benchmarks.base import Benchmark
from evaluator.data_types import Item
from evaluator.errors import Details
from evaluator.run.bootstrap import paired_comparison
from submissions.results import EvalResult, PairedScores
from submissions.rows import BoardRow

TOP = 50  # ranks of which every pair is compared
NEIGHBOURS = 5  # ranks above, and as many below
MAX_PAIRS = 100
RIGHT = 0.5  # an item that is asked several times is right where more than half of its answers are
RESAMPLES = 2000  # of a pair's interval: a result has dozens


@dataclass(frozen=True, eq=False)
class ItemScores:
    """What a model earned on each item, in the order of the ids; shape (n,) each."""

    ids: npt.NDArray[np.str_]
    right: npt.NDArray[np.bool_]
    scores: npt.NDArray[np.float64]  # of the headline, from 0 to 1
    clusters: npt.NDArray[np.str_]

    @classmethod
    def of(cls, benchmark: Benchmark, items: Sequence[Item], details: Details) -> "ItemScores | None":
        """None for a benchmark whose headline is no mean over items."""
        headline = benchmark.card.headline
        if headline != "em" and not (headline == "f1" and benchmark.f1_is_mean):
            return None
        ids = [_identity(item) for item in items]
        order = sorted(range(len(items)), key=ids.__getitem__)
        return cls(
            np.array([ids[n] for n in order]),
            np.array([details[n]["em"] > RIGHT for n in order]),
            np.array([float(details[n][headline]) for n in order]),
            np.array([items[n].cluster or items[n].id for n in order]),
        )

    def to_parquet(self) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns: dict[str, Any] = {"id": self.ids, "right": self.right, "score": self.scores, "cluster": self.clusters}
        buffer = io.BytesIO()
        pq.write_table(pa.table({name: pa.array(values) for name, values in columns.items()}), buffer)
        return buffer.getvalue()

    @classmethod
    def from_parquet(cls, content: bytes) -> "ItemScores":
        """Raises ValueError, KeyError where the content is something else."""
        import pyarrow.parquet as pq

        table = pq.read_table(io.BytesIO(content))
        ids, right, scores, clusters = (table.column(name).to_numpy() for name in ("id", "right", "score", "cluster"))
        return cls(ids.astype(str), right.astype(bool), scores.astype(np.float64), clusters.astype(str))


def _identity(item: Item) -> str:
    """Another one once its gold answer is mended: models are compared on the same questions, scored alike."""
    return hashlib.sha256(f"{item.id}\n{item.question}\n{item.answer}".encode()).hexdigest()[:16]


def paired_scores(own: ItemScores, other: ItemScores, key: str) -> PairedScores | None:
    """A result beside another, whose key is given; None where they are not of the same questions."""
    if not np.array_equal(own.ids, other.ids):
        return None
    compared = paired_comparison(own.scores, other.scores, own.clusters.tolist(), RESAMPLES)
    low, high = compared.interval
    return PairedScores(
        other=key,
        both=int((own.right & other.right).sum()),
        this_only=int((own.right & ~other.right).sum()),
        other_only=int((~own.right & other.right).sum()),
        neither=int((~own.right & ~other.right).sum()),
        difference=round(100 * compared.difference, 4),
        interval=(round(100 * low, 4), round(100 * high, 4)),
        p_value=compared.p_value,
    )


def opponents(result: EvalResult, rows: Iterable[BoardRow], headline: str) -> list[BoardRow]:
    """The results that a new one is compared with: its neighbours in rank, baselines, its own family, the leader, and
    within the first ranks all of them. A pair is compared when the later of the two is published."""
    benchmark, scores = result.benchmark, result.results[result.benchmark]
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
        and row.metric(headline) is not None
    ]
    alike.sort(key=lambda row: (-(row.metric(headline) or 0.0), row.key))
    place = sum((row.metric(headline) or 0.0) > score for row in alike)
    near = alike[:TOP] if place < TOP else alike[:1]
    near += alike[max(0, place - NEIGHBOURS) : place + NEIGHBOURS]
    config = result.config
    family = {config.model_name, config.base_model} - {None}
    near += [row for row in alike if row.role != "model" or {row.model, row.base_model} & family]
    return list({row.key: row for row in near}.values())[:MAX_PAIRS]

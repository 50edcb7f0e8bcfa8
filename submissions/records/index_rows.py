"""Define flat rows that summarise results and requests, for the board and the queue view.

The index stores them in segments (`submissions.store.index`), so the names and types of their fields are part of the format
of the store.
"""

import json
from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from submissions.records.base import Key, Label, Name, Time
from submissions.records.options import ResultKind
from submissions.records.packed_scores import NO_INTERVALS, NO_SCORES, Intervals, Scores
from submissions.records.request import EvalRequest, Status
from submissions.records.result import SINGLE_PROTOCOL, Bucket, EvalResult, Latency


class BucketScore(NamedTuple):
    """The headline score of a part of a result in percent (None for a count of answers), and its number of items."""

    score: float | None
    n: int | None


Breakdown = Mapping[str, Mapping[str, BucketScore]]  # by axis and bucket; not to be changed, because rows share it


@lru_cache(maxsize=1000)
def _unpack(packed: bytes) -> Breakdown:
    """Return the breakdown that `_pack` has packed: {"kind":{"chart":[40.0,9]}} is 40 % on the 9 items of kind chart."""
    axes: dict[str, dict[str, list[Any]]] = json.loads(packed)
    return {axis: {name: BucketScore(*pair) for name, pair in buckets.items()} for axis, buckets in axes.items()}


@dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
class BoardRow:
    """The fields of a result that the board needs, stored as a row of a segment below `index/board/`.

    This is a dataclass with slots, because the board holds tens of thousands of rows in memory and a pydantic model takes
    three times as much.
    """

    path: str
    blob: str  # git blob id of the record; the row is stale if the record has another one
    key: Key
    benchmark: Name
    benchmark_version: str
    model: Label
    revision: str | None = None
    organisation: Label | None = None
    role: str
    params: int | None = None
    license: Label | None = None
    precision: str | None = None
    split: str
    dataset: str
    n: int | None = None  # number of items
    headline: str  # the metric that ranks the row
    metrics: Scores = NO_SCORES  # in percent
    intervals: Intervals = NO_INTERVALS  # 95 %, in percent
    latency_ms: float | None = None  # of verified results, see `_typical_ms`
    hardware: Label | None = None
    gpu_memory_gb: float | None = None  # peak for one question at a time, see Latency
    date: float | None = None  # of the evaluation, in seconds since 1970
    released: str | None = None  # month of the model's release, such as 2025-11
    outcome: str
    kind: ResultKind
    source: Label | None = None
    source_url: str | None = None
    packed_breakdown: bytes = b"{}"  # see `breakdown`; unpacked, those of 60,000 rows would take 100 MB more
    weights: str | None = None
    thinking: str | None = None
    base_model: str | None = None
    custom_code: bool | None = None
    requested_revision: str | None = None
    server: Label | None = None
    decoding: str | None = None
    max_answer_tokens: int | None = None
    max_reasoning_tokens: int | None = None
    reasoning_tokens: float | None = None  # per answer
    reasoning_per_right: float | None = None  # tokens per correct answer
    usd_per_1000: float | None = None  # per 1,000 questions: the API's price, or device time at the operator's price
    tokens_per_answer: float | None = None  # completion tokens per item, including reasoning
    published_as: Label | None = None
    # Comparisons with other results on the same items: the other's key; 1 if this one is ahead, -1 if it is behind, else 0;
    # and an upper bound of the p value.
    paired: tuple[tuple[str, int, float], ...] = ()

    # Computed by the board, and not stored in segments.
    retired: str | None = None  # why the result has no rank any more
    attempt: tuple[int, int] | None = None  # (k, n): the k-th of n results of its model on this test set
    reproduction: str | None = None  # see leaderboard.data.reproductions
    errata: int = 0  # number of errata of the row's test set until now
    asked_before: int | None = None  # of a row of an API: how often its provider had been asked this set before
    # On a public set: the model's rank on unseen questions minus its rank here, and the lowest and highest difference
    # that the ranges of both ranks allow.
    unseen_change: tuple[int, int, int] | None = None

    @property
    def is_sample(self) -> bool:
        """Return whether the row is a trial on the sample set, which does not measure a model."""
        return self.split.startswith("sample")

    @property
    def breakdown(self) -> Breakdown:
        """The headline scores of the parts of the questions."""
        return _unpack(self.packed_breakdown)

    @property
    def score(self) -> float | None:
        """Return the headline score in percent, or None if it is unknown."""
        return self.metrics.get(self.headline)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the 95 % interval of the headline score in percent, or None if it is unknown."""
        return self.intervals.get(self.headline)


def board_row(result: EvalResult, path: str, blob: str) -> BoardRow:
    """Summarise a result. `path` and `blob` locate its record."""
    scores = result.results[result.benchmark]
    headline = result.headline
    return BoardRow(
        path=path,
        blob=blob,
        key=result.request_key,
        benchmark=result.benchmark,
        benchmark_version=result.versions[result.benchmark],
        model=result.config.model_name,
        revision=result.config.model_sha,
        organisation=result.config.organisation,
        role=result.config.role,
        params=result.config.params,
        weights=result.config.weights,
        license=result.config.license,
        precision=result.config.model_dtype,
        split=result.dataset.split,
        dataset=result.dataset.id,
        n=result.dataset.n,
        headline=headline,
        metrics={name: value for name, value in scores.items() if value is not None},
        intervals=result.intervals,
        date=result.date,
        released=result.config.released,
        outcome=result.outcome,
        kind=result.provenance.kind,
        source=result.provenance.source,
        source_url=result.provenance.source_url,
        packed_breakdown=_pack(result),
        thinking=result.config.thinking,
        base_model=result.config.base_model,
        custom_code=result.config.custom_code or None,  # None, the default, takes no room in a segment
        requested_revision=result.config.requested_revision,
        server=result.config.server,
        usd_per_1000=_usd_per_1000(result),
        tokens_per_answer=_tokens_per_answer(result),
        published_as=result.config.published_as,
        paired=tuple((p.other, p.sign, p.p_at_most) for p in result.paired),
        **_latency_fields(result),
        **_generation_fields(result),
    )


def _latency_fields(result: EvalResult) -> dict[str, Any]:
    """Return the latency, the hardware and the GPU memory.

    A reported latency is left out, because it cannot be compared with ours. It is only in the record.
    """
    latency = result.latency
    if latency is None:
        return {}
    found: dict[str, Any] = {"hardware": latency.hardware, "gpu_memory_gb": latency.gpu_memory_gb}
    if result.provenance.kind == "verified":
        found["latency_ms"] = _typical_ms(latency)
    return found


def _generation_fields(result: EvalResult) -> dict[str, Any]:
    """Return how answers were generated, with how much reasoning."""
    found: dict[str, Any] = {}
    if generation := result.generation:
        found["decoding"] = generation.decoding
        found["max_answer_tokens"] = generation.max_answer_tokens
        found["max_reasoning_tokens"] = generation.max_reasoning_tokens
    if reasoning := result.reasoning:
        found["reasoning_tokens"] = reasoning.tokens_mean
        found["reasoning_per_right"] = reasoning.tokens_per_right
    return found


def _usd_per_1000(result: EvalResult) -> float | None:
    cost = result.cost
    items = _items_of_cost(result)
    if cost is None or cost.total is None or cost.currency != "USD" or not items:
        return None
    return round(1000 * cost.total / items, 4)


def _items_of_cost(result: EvalResult) -> int | None:
    """Return how many items the cost of a result is for. Those that an erratum withdrew later were answered, too."""
    if result.cost and result.cost.items:
        return result.cost.items
    return result.dataset.n  # of a record of an earlier release


def _tokens_per_answer(result: EvalResult) -> float | None:
    """Return the completion tokens per item. An item in several prompts counts once, with the tokens of all its answers."""
    items = _items_of_cost(result)
    if result.cost is None or result.cost.completion_tokens is None or not items:
        return None
    return round(result.cost.completion_tokens / items, 1)


def _pack(result: EvalResult) -> bytes:
    """Return the breakdown of the headline as compact JSON."""
    headline = result.headline
    axes: dict[str, dict[str, tuple[float | None, int | None]]] = {}
    for axis, buckets in result.breakdown.items():
        shown = {name: bucket for name, bucket in buckets.items() if _is_shown(bucket, headline)}
        axes[axis] = {name: (bucket.scores.get(headline), bucket.n) for name, bucket in shown.items()}
    return json.dumps(axes, ensure_ascii=False, separators=(",", ":")).encode()


def _is_shown(bucket: Bucket, headline: str) -> bool:
    """Return whether a bucket is shown: it has the headline, or it has no score at all, because it only counts answers."""
    return headline in bucket.scores or not bucket.scores


def _typical_ms(latency: Latency) -> float:
    """Return the median if questions were asked one at a time, else the mean."""
    if latency.protocol == SINGLE_PROTOCOL and latency.p50_ms is not None:
        return latency.p50_ms
    return latency.mean_ms


@dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
class QueueRow:
    """The fields of a request that the queue view needs, stored as a row of a segment below `index/queue/`."""

    blob: str
    key: Key
    model_id: str
    revision: str
    precision: str
    benchmark: str
    params: int | None = None
    thinking: str | None = None
    custom_code: bool | None = None
    submitted_by: str
    owner_mark: str | None = None
    submitted_at: Time
    status: Status
    attempt: int
    started_at: Time | None = None
    finished_at: Time | None = None
    failure_stage: str | None = None
    failure_code: str | None = None

    @property
    def path(self) -> str:
        return EvalRequest.path_of(self.key, self.status)


def queue_row(request: EvalRequest, blob: str) -> QueueRow:
    """Summarise a request. `blob` is the git blob id of its record."""
    copied = {field.name for field in fields(QueueRow)} - {"blob", "failure_stage", "failure_code"}
    values = request.model_dump(include=copied)
    if failure := request.failure:
        values |= {"failure_stage": failure.stage, "failure_code": failure.code}
    return QueueRow(blob=blob, **values)

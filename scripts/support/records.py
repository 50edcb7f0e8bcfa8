"""Build valid requests and results for tests, and send them through a queue."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NoReturn

from evaluator.benchmarks import BENCHMARKS
from submissions.queue.queue import Queue
from submissions.records.errata import Erratum
from submissions.records.request import EvalRequest, request_key
from submissions.records.result import Dataset, EvalResult, Latency, Provenance, ResultConfig
from submissions.store.base import Store
from submissions.texts.errors import StoreUnavailableError

Make = Callable[..., EvalRequest]
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def request_numbered(number: int, **fields: object) -> EvalRequest:
    """Return a valid request. Each number has another model, unless `fields` sets the model."""
    model_id = str(fields.pop("model_id", f"owner/model-{number}"))
    benchmark = str(fields.pop("benchmark", "korquad-2"))
    revision = f"{number:040x}"
    return EvalRequest.model_validate(
        {
            "key": request_key(model_id, revision, "float32", benchmark, "1"),
            "model_id": model_id,
            "requested_revision": "main",
            "revision": revision,
            "precision": "float32",
            "benchmark": benchmark,
            "benchmark_version": "1",
            "engine": "extractive",
            "model_type": "bert",
            "submitted_by": "someone",
            "submitted_at": NOW,
            **fields,
        }
    )


def result_of(request: EvalRequest, em: float = 50.0) -> EvalResult:
    """Return a minimal result of a request."""
    name = request.benchmark
    headline = BENCHMARKS[request.benchmark].card.headline
    return EvalResult(
        request_key=request.key,
        config=ResultConfig(model_name=request.model_id, model_sha=request.revision, model_dtype="float32"),
        results={name: {"em": em, "f1": em, headline: em}},
        headline=headline,
        versions={name: BENCHMARKS[name].version},
        n_samples={name: {"original": 2, "effective": 2}},
        date=NOW.timestamp(),
        dataset=Dataset(id="samples", revision=None, split="sample", n=2),
        latency=Latency(protocol="total/questions", mean_ms=1.0),
        provenance=Provenance(kind="verified", worker="w"),
    )


def claimed(queue: Queue, now: datetime = NOW) -> EvalRequest:
    """Return the request that a worker gets next."""
    request = queue.claim("w", now)
    assert request is not None
    return request


def published(store: Store, request: EvalRequest, em: float = 50.0, **changes: Any) -> EvalResult:
    """Submit a request, publish a minimal result with these changes, and return the result."""
    queue = Queue(store)
    queue.submit(request)
    running = claimed(queue)
    result = result_of(running, em).evolve(**changes)
    queue.publish(running, result, NOW)
    return result


def erratum_of(benchmark: str, **fields: object) -> Erratum:
    """Return the first erratum of a benchmark's ranked test set: an item that is withdrawn."""
    made = {
        "benchmark": benchmark,
        "split": BENCHMARKS[benchmark].card.split,
        "number": 1,
        "correction": "0" * 32,
        "item": "item-7",
        "withdrawn": True,
        "reason": "two of its choices are right",
        "since": NOW,
        "version": f"{BENCHMARKS[benchmark].version}+1",
        "rescored": 1,
        **fields,
    }
    return Erratum.model_validate(made)


def unreachable(*_: object) -> NoReturn:
    """Raise like a store that is out of reach."""
    raise StoreUnavailableError("the store is out of reach")

"""The latency of a result: mean, median (p50) and p95, by one of two protocols."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.core.data_types import Answer
from evaluator.results.task import Task
from submissions.records.result import SINGLE_PROTOCOL, Latency

# (preprocessing + inference) / questions over the whole run in batches. No protocol includes loading the model.
TOTAL_PROTOCOL = "total/questions"


def build_latency(
    task: Task,
    answers: Sequence[Answer],
    singly: Sequence[Answer],
    environment: Mapping[str, Any],
    gpu_memory: int | None = None,
) -> Latency:
    """Return the latency over the samples asked one at a time, and the GPU memory (bytes) that they needed at most.

    If the benchmark's protocol is "total", or there are no samples, the mean is over the whole run in batches. Number,
    median and p95 are always of the questions asked singly, if there are any.
    """
    single = [answer.seconds for answer in singly]
    whole = [answer.seconds for answer in answers]
    is_total = task.benchmark.latency_protocol == "total" or not single
    mean = statistics.fmean(whole if is_total else single)
    ordered = sorted(single or whole)
    return Latency(
        protocol=TOTAL_PROTOCOL if is_total else SINGLE_PROTOCOL,
        n=len(ordered),
        mean_ms=_ms(mean),
        p50_ms=_ms(statistics.median(ordered)),
        p95_ms=_ms(ordered[math.ceil(0.95 * len(ordered)) - 1]),  # nearest-rank percentile
        hardware=environment.get("hardware", "remote server"),
        calibration_ms=environment.get("calibration_ms"),
        gpu_memory_gb=round(gpu_memory / 2**30, 2) if gpu_memory else None,
    )


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 3)

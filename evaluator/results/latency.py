"""Compute the latency of a result: mean, median (p50) and p95, by one of two protocols.

A benchmark's `latency_protocol` chooses: "single" times questions that are asked one at a time, "total" divides the time of
the whole run by its questions, as the makers of KorQuAD 2.0 do.
"""

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
    """Return the latency over the samples asked one at a time, and the GPU memory that they needed at most.

    If the benchmark's protocol is "total", or there are no samples, the mean is over the whole run in batches. Number,
    median and p95 are always of the questions asked one at a time, if there are any.

    Args:
        answers: of the whole run, asked in batches; at least one
        singly: of the latency samples, asked one at a time
        environment: what the inference process reports; `hardware` and `calibration_ms` are read
        gpu_memory: in bytes, or None if it is unknown or no GPU was used
    """
    seconds_alone = [answer.seconds for answer in singly]
    seconds_in_batches = [answer.seconds for answer in answers]
    is_total = task.benchmark.latency_protocol == "total" or not seconds_alone
    mean = statistics.fmean(seconds_in_batches if is_total else seconds_alone)
    ordered = sorted(seconds_alone or seconds_in_batches)
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

"""Estimate the time of an evaluation from the device's arithmetic and memory speed, corrected by past runs of this board.

A question costs the arithmetic of its prompt once, and one pass over the weights for each new token. A batch shares that pass
(Pope et al. 2022, "Efficiently Scaling Transformer Inference", sections 2 and 3.3).
"""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluator.benchmarks import BENCHMARKS
from submissions.hub_models.model_facts import memory_needed
from submissions.records.result import EvalResult

EFFICIENCY = 0.35  # share of the peak FLOPS that prompts reach
LOAD_SPEED = 1e9  # bytes per second from disk to device
ITEM_OVERHEAD_S = 0.01  # seconds to decode an item's image and to store its answer
BATCH_SIZE = 32
LATENCY_SAMPLES = 100
REASONING_TOKENS = 1500  # per answer of a model that reasons


@dataclass(frozen=True)
class DeviceSpeed:
    """Speed and memory of a device, from its maker's data sheet."""

    name: str  # one word of the name that the driver reports
    flops: float  # per second, bfloat16, dense
    bandwidth: float  # bytes per second
    memory: int  # bytes


# From the makers' data sheets. The CPU has 16 cores with AVX-512.
DEVICES = (
    DeviceSpeed("T4", 65e12, 320e9, 16 * 10**9),
    DeviceSpeed("L4", 121e12, 300e9, 24 * 10**9),
    DeviceSpeed("A10G", 70e12, 600e9, 24 * 10**9),
    DeviceSpeed("L40S", 362e12, 864e9, 48 * 10**9),
    DeviceSpeed("A100", 312e12, 2.0e12, 80 * 10**9),
    DeviceSpeed("H100", 989e12, 3.35e12, 80 * 10**9),
    DeviceSpeed("H200", 989e12, 4.8e12, 141 * 10**9),
    DeviceSpeed("CPU", 1.5e12, 100e9, 128 * 10**9),
)


@dataclass(frozen=True)
class Estimate:
    benchmark: str
    devices: int
    seconds: float  # from the start to the result
    error: float | None  # nine of ten past runs took at most this many times longer or shorter
    runs: int  # past runs that the estimate was corrected by

    @property
    def device_hours(self) -> float:
        return self.devices * self.seconds / 3600


def device_named(name: str) -> DeviceSpeed | None:
    """Return the device whose name is a word of `name`, or None if it is unknown.

    For example, `NVIDIA A100-SXM4-80GB` is an A100. A CPU is named by its processor and cores, `… × 16`.
    """
    words = ("CPU" if " × " in name else name).upper().replace("-", " ").split()
    return next((device for device in DEVICES if device.name in words), None)


def answer_seconds(
    params: int, weight_bytes: int, benchmark: str, device: DeviceSpeed, devices: int, *, reasons: bool, batch: int
) -> float:
    """Return the seconds of one question that is asked in batches of `batch`, before the correction by past runs."""
    bench = BENCHMARKS[benchmark]
    new = bench.answer_tokens + (REASONING_TOKENS if reasons else 0)
    arithmetic = 2 * params * bench.prompt_tokens / (EFFICIENCY * device.flops * devices)
    step = max(weight_bytes / (device.bandwidth * devices), 2 * params * batch / (EFFICIENCY * device.flops * devices))
    return arithmetic + new * step / batch + ITEM_OVERHEAD_S


def estimate(
    params: int,
    weight_bytes: int,
    benchmark: str,
    device: DeviceSpeed,
    *,
    reasons: bool = False,
    past: Iterable[EvalResult] = (),
) -> Estimate:
    """Estimate the evaluation of a model on a benchmark.

    `weight_bytes` is the size of the weights in the precision that they are run in. `past` are earlier results that the
    estimate is corrected by.
    """
    needed = memory_needed(None, "bfloat16", weight_bytes) or 0
    devices = max(1, -(-needed // device.memory))

    def seconds(batch: int) -> float:
        return answer_seconds(params, weight_bytes, benchmark, device, devices, reasons=reasons, batch=batch)

    ratios = past_ratios(past, benchmark, device)
    factor = statistics.median(ratios) if ratios else 1.0
    answering = BENCHMARKS[benchmark].card.n * seconds(BATCH_SIZE) + LATENCY_SAMPLES * seconds(1)
    return Estimate(
        benchmark, devices, weight_bytes / LOAD_SPEED + factor * answering, error_factor(ratios, factor), len(ratios)
    )


def past_ratios(past: Iterable[EvalResult], benchmark: str, device: DeviceSpeed) -> list[float]:
    """Return measured seconds divided by estimated seconds, for each past run of the benchmark on such a device."""
    ratios = []
    for result in past:
        known = device_named((result.latency and result.latency.hardware) or "")
        taken = result.total_evaluation_time_seconds
        params = result.config.params
        if result.benchmark != benchmark or known != device or not taken or not params or not result.dataset.n:
            continue
        devices = (result.cost.devices if result.cost else None) or 1
        reasons = result.reasoning is not None
        one = answer_seconds(
            params, _weight_bytes(result, params), benchmark, device, devices, reasons=reasons, batch=BATCH_SIZE
        )
        ratios.append(taken / (result.dataset.n * one))
    return ratios


def _weight_bytes(result: EvalResult, params: int) -> int:
    return params * (4 if result.config.model_dtype == "float32" else 2)


def error_factor(ratios: Sequence[float], factor: float) -> float | None:
    """Return the factor within which nine of ten ratios agree with `factor`, or None for fewer than three ratios."""
    if len(ratios) < 3:
        return None
    off = sorted(max(ratio / factor, factor / ratio) for ratio in ratios)
    return off[min(len(off) - 1, int(0.9 * len(off)))]

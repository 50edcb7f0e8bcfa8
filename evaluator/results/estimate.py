"""What an evaluation will take: a model of the device's arithmetic and memory, corrected by the board's own past runs.

A question costs the prompt's arithmetic once, and for each new token one pass over the weights, which a batch shares
(Pope et al. 2022, "Efficiently Scaling Transformer Inference", sections 2 and 3.3).
"""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluator.benchmarks import BENCHMARKS
from submissions.hub_models.model_facts import memory_needed
from submissions.records.result import EvalResult

EFFICIENCY = 0.35  # of the peak that a prompt's arithmetic reaches
LOADING = 1e9  # bytes a second, from disk to device
OVERHEAD = 0.01  # seconds an item: its image decoded, its answer kept
BATCH = 32
LATENCY_SAMPLES = 100
REASONING_TOKENS = 1500  # of a model that reasons, an answer


@dataclass(frozen=True)
class DeviceSpeed:
    """As its maker's data sheet has it."""

    name: str  # a word of the name that the driver tells
    flops: float  # a second, bfloat16, dense
    bandwidth: float  # bytes a second
    memory: int  # bytes


# source: the makers' data sheets; a CPU's row is of 16 cores with AVX-512
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
    runs: int  # that it was compared with

    @property
    def device_hours(self) -> float:
        return self.devices * self.seconds / 3600


def device_named(name: str) -> DeviceSpeed | None:
    """The device in this name, as `NVIDIA A100-SXM4-80GB` has the A100; None where none is known. A CPU's name is that of the
    processor and its cores, `… × 16`."""
    words = ("CPU" if " × " in name else name).upper().replace("-", " ").split()
    return next((device for device in DEVICES if device.name in words), None)


def answer_seconds(
    params: int, weight_bytes: int, benchmark: str, device: DeviceSpeed, devices: int, *, reasons: bool, batch: int
) -> float:
    """Of one question, asked in batches."""
    own = BENCHMARKS[benchmark]
    new = own.answer_tokens + (REASONING_TOKENS if reasons else 0)
    arithmetic = 2 * params * own.prompt_tokens / (EFFICIENCY * device.flops * devices)
    step = max(weight_bytes / (device.bandwidth * devices), 2 * params * batch / (EFFICIENCY * device.flops * devices))
    return arithmetic + new * step / batch + OVERHEAD


def estimate(
    params: int,
    weight_bytes: int,
    benchmark: str,
    device: DeviceSpeed,
    *,
    reasons: bool = False,
    past: Iterable[EvalResult] = (),
) -> Estimate:
    """For a model of that many parameters, and its weights as they are run."""
    needed = memory_needed(None, "bfloat16", weight_bytes) or 0
    devices = max(1, -(-needed // device.memory))

    def model(batch: int) -> float:
        return answer_seconds(params, weight_bytes, benchmark, device, devices, reasons=reasons, batch=batch)

    ratios = past_ratios(past, benchmark, device)
    factor = statistics.median(ratios) if ratios else 1.0
    answering = BENCHMARKS[benchmark].card.n * model(BATCH) + LATENCY_SAMPLES * model(1)
    return Estimate(
        benchmark, devices, weight_bytes / LOADING + factor * answering, spread(ratios, factor), len(ratios)
    )


def past_ratios(past: Iterable[EvalResult], benchmark: str, device: DeviceSpeed) -> list[float]:
    """Of runs on such a device: the seconds that they took, over those of the model."""
    ratios = []
    for result in past:
        known = device_named((result.latency and result.latency.hardware) or "")
        taken, params = result.total_evaluation_time_seconds, result.config.params
        if result.benchmark != benchmark or known != device or not taken or not params or not result.dataset.n:
            continue
        devices = (result.cost.devices if result.cost else None) or 1
        reasons = result.reasoning is not None
        one = answer_seconds(
            params, _weight_bytes(result, params), benchmark, device, devices, reasons=reasons, batch=BATCH
        )
        ratios.append(taken / (result.dataset.n * one))
    return ratios


def _weight_bytes(result: EvalResult, params: int) -> int:
    return params * (4 if result.config.model_dtype == "float32" else 2)


def spread(ratios: Sequence[float], factor: float) -> float | None:
    """How far nine of ten are from the corrected model, as a factor; None for less than three."""
    if len(ratios) < 3:
        return None
    off = sorted(max(ratio / factor, factor / ratio) for ratio in ratios)
    return off[min(len(off) - 1, int(0.9 * len(off)))]

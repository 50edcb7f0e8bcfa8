"""Estimate the time of an evaluation from the device's arithmetic and memory speed, corrected by past runs of this board.

`python -m evaluator estimate` calls `estimate` for each benchmark.

A question costs the arithmetic of its prompt once, and one pass over the weights for each new token. A batch shares that
pass (Pope et al. 2022, "Efficiently Scaling Transformer Inference", sections 2 and 3.3).
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluator.benchmarks import BENCHMARKS
from submissions.hub_models.model_facts import memory_for_weights
from submissions.records.result import EvalResult

# Assumptions about a run. The median of past runs corrects the time of answering, but not that of loading.
EFFICIENCY = 0.35  # share of the peak FLOPS that prompts reach
LOAD_SPEED = 1e9  # bytes per second from disk to device
ITEM_OVERHEAD_S = 0.01  # seconds to decode an item's image and to store its answer
BATCH_SIZE = 32  # questions
LATENCY_SAMPLES = 100  # questions that are asked again one at a time, as many as `Task.latency_samples`
REASONING_TOKENS = 1500  # per answer of a model that reasons
FLOPS_PER_PARAM = 2  # a multiplication and an addition for each token

MIN_RUNS_FOR_ERROR = 3  # past runs; fewer say nothing of how far an estimate may be off
ERROR_QUANTILE = 0.9  # share of past runs that agree with the estimate within its error


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
    """The estimated time of one evaluation."""

    benchmark: str
    devices: int  # as many as the weights need
    seconds: float  # from the start to the result
    error: float | None  # see `error_factor`
    runs: int  # past runs that the estimate was corrected by

    @property
    def device_hours(self) -> float:
        return self.devices * self.seconds / 3600


def device_named(name: str) -> DeviceSpeed | None:
    """Return the device whose name is a word of `name`, as its driver reports it, or None if it is unknown.

    For example, `NVIDIA A100-SXM4-80GB` is an A100. A name with `×`, such as `AMD EPYC 9B14 × 16`, is a processor with its
    number of cores, so the device is the CPU.
    """
    is_cpu = " × " in name
    words = ["CPU"] if is_cpu else name.upper().replace("-", " ").split()
    return next((device for device in DEVICES if device.name in words), None)


def answer_seconds(
    params: int, weight_bytes: int, benchmark: str, device: DeviceSpeed, devices: int, *, reasons: bool, batch: int
) -> float:
    """Return the seconds of one question that is asked in batches of `batch`, before the correction by past runs.

    `weight_bytes` is the size of the weights in the precision that they are run in, `reasons` whether the model reasons.
    """
    bench = BENCHMARKS[benchmark]
    new_tokens = bench.answer_tokens + (REASONING_TOKENS if reasons else 0)
    flops = EFFICIENCY * device.flops * devices
    prefill = FLOPS_PER_PARAM * params * bench.prompt_tokens / flops
    # One token for each question of the batch takes the reading of all weights or the arithmetic, whichever is slower.
    reading = weight_bytes / (device.bandwidth * devices)
    arithmetic = FLOPS_PER_PARAM * params * batch / flops
    decoding = new_tokens * max(reading, arithmetic) / batch
    return prefill + decoding + ITEM_OVERHEAD_S


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

    `weight_bytes` is the size of the weights in the precision that they are run in. `past` are earlier results, of which
    those of the same benchmark on the same kind of device correct the estimate by the median of their `past_ratios`.
    """
    devices = max(1, math.ceil(memory_for_weights(weight_bytes) / device.memory))

    def seconds(batch: int) -> float:
        return answer_seconds(params, weight_bytes, benchmark, device, devices, reasons=reasons, batch=batch)

    ratios = past_ratios(past, benchmark, device)
    factor = statistics.median(ratios) if ratios else 1.0
    loading = weight_bytes / LOAD_SPEED
    answering = BENCHMARKS[benchmark].card.n * seconds(BATCH_SIZE) + LATENCY_SAMPLES * seconds(1)
    return Estimate(
        benchmark=benchmark,
        devices=devices,
        seconds=loading + factor * answering,
        error=error_factor(ratios, factor),
        runs=len(ratios),
    )


def past_ratios(past: Iterable[EvalResult], benchmark: str, device: DeviceSpeed) -> list[float]:
    """Return measured seconds divided by estimated seconds, for each past run of the benchmark on such a device.

    Runs on other devices, and those of which the time or the size of the model is unknown, are skipped.
    """
    ratios = []
    for result in past:
        hardware = result.latency.hardware if result.latency else None
        measured = result.total_evaluation_time_seconds  # of answering in batches, without loading
        params = result.config.params
        if result.benchmark != benchmark or device_named(hardware or "") != device:
            continue
        if not measured or not params or not result.dataset.n:
            continue
        estimated = answer_seconds(
            params,
            _weight_bytes(result, params),
            benchmark,
            device,
            devices=(result.cost.devices if result.cost else None) or 1,
            reasons=result.reasoning is not None,
            batch=BATCH_SIZE,
        )
        ratios.append(measured / (result.dataset.n * estimated))
    return ratios


def _weight_bytes(result: EvalResult, params: int) -> int:
    """Return about how many bytes the weights of a past run had.

    Quantised weights count as 16 bits each, because a record does not have the size of the model's files.
    """
    return params * (4 if result.config.model_dtype == "float32" else 2)


def error_factor(ratios: Sequence[float], factor: float) -> float | None:
    """Return the factor within which nine of ten past runs agree with the estimate. They may be longer or shorter.

    `ratios` are those of `past_ratios`, and `factor` is their median. The ratios 1, 2 and 6 are off from their median by the
    factors 2, 1 and 3, so 3 is returned. Return None for fewer than MIN_RUNS_FOR_ERROR ratios.
    """
    if len(ratios) < MIN_RUNS_FOR_ERROR:
        return None
    off = sorted(max(ratio / factor, factor / ratio) for ratio in ratios)
    return off[math.ceil(ERROR_QUANTILE * len(off)) - 1]

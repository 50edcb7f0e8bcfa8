"""The machine that runs inference: its device, library versions and speed."""

import platform
import sys
import time
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from evaluator.engines.options import EngineOptions
from submissions.config.machine import core_count

CALIBRATION_ROUNDS = 5
LIBRARIES = ("torch", "transformers", "tokenizers", "pillow", "torchvision")  # their versions can change answers


def best_device() -> str:
    """Return the torch device type to use: "cuda" or "cpu"."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def torch_environment(_: EngineOptions) -> dict[str, str | float]:
    """Return versions, hardware and calibration time: `Engine.environment` of engines that run on torch."""
    import torch

    return {
        "python": platform.python_version(),
        **library_versions(LIBRARIES),
        "hardware": torch.cuda.get_device_name() if torch.cuda.is_available() else f"{_cpu_name()} × {core_count()}",
        "calibration_ms": calibration_ms(),
    }


def reset_peak_gpu_memory() -> None:
    """Start to measure the peak of GPU memory again, without what earlier batches left in the allocator's cache."""
    torch = _loaded_torch()
    if torch is None or not torch.cuda.is_initialized():
        return
    torch.cuda.empty_cache()  # else the cache would be part of the reserved memory, which `peak_gpu_memory` returns
    for device in range(torch.cuda.device_count()):
        torch.cuda.reset_peak_memory_stats(device)


def peak_gpu_memory() -> int | None:
    """Return the peak of GPU memory that this process has reserved since the last reset: bytes, summed over all devices.

    Return None if the process runs nothing on a GPU, for example because a server answers. The driver's own memory,
    about 0.5 GB for each device, is not counted.
    """
    torch = _loaded_torch()
    if torch is None or not torch.cuda.is_initialized():
        return None
    return sum(int(torch.cuda.max_memory_reserved(device)) for device in range(torch.cuda.device_count()))


def _loaded_torch() -> Any:
    """Return torch if an engine has imported it, else None. Importing it takes seconds."""
    return sys.modules.get("torch")


def library_versions(names: Iterable[str]) -> dict[str, str]:
    """Return the version of each package, or "none" if it is not installed."""
    versions = {}
    for name in names:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "none"
    return versions


def calibration_ms() -> float:
    """Return the median milliseconds of a small transformer on this machine's device.

    It always has 4 layers of width 256, and its input 8 × 128 tokens; only their shapes matter for the time. Results record
    it as a measure of the hardware's speed.
    """
    import torch

    device = best_device()
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).eval().to(device)
    inputs = torch.zeros(8, 128, 256, device=device)
    times = []
    with torch.inference_mode():
        for _ in range(CALIBRATION_ROUNDS):
            started = time.perf_counter()
            model(inputs).sum().item()  # waits for the device
            times.append(time.perf_counter() - started)
    return round(1000 * sorted(times)[len(times) // 2], 3)


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()

"""Find the GPUs and the memory of this machine without importing torch, by `nvidia-smi`."""

import os
import subprocess
from dataclasses import dataclass
from functools import cache
from itertools import takewhile

from submissions.config.machine import memory_bytes

# Prints a line for each GPU, with its memory in MiB: `0, GPU-5e1f…, 81559, NVIDIA H100 80GB HBM3`.
QUERY = ("nvidia-smi", "--query-gpu=index,uuid,memory.total,name", "--format=csv,noheader,nounits")


@dataclass(frozen=True)
class Device:
    """A GPU that this process may use. If `nvidia-smi` does not list it, only its name is known."""

    name: str  # in CUDA_VISIBLE_DEVICES: its index or its UUID
    memory: int | None = None  # bytes
    uuid: str | None = None  # the same, whichever name is used


@cache
def visible_devices() -> list[Device]:
    """Return the GPUs that this process may use: all, or those that CUDA_VISIBLE_DEVICES lists before an invalid name.

    "0,2" are two, "-1" are none, and "0,-1,1" is one.
    """
    gpus = _gpus()
    if (chosen := os.environ.get("CUDA_VISIBLE_DEVICES")) is None:
        return [Device(gpu.index, gpu.memory, gpu.uuid) for gpu in gpus]
    by_name = {name: gpu for gpu in gpus for name in (gpu.index, gpu.uuid)}
    names = takewhile(lambda name: name not in ("", "-1"), map(str.strip, chosen.split(",")))
    devices = []
    for name in names:
        gpu = by_name.get(name)
        devices.append(Device(name, gpu.memory, gpu.uuid) if gpu else Device(name))
    return devices


def device_names() -> list[str]:
    """Return the model names of this machine's GPUs, as the driver reports them."""
    return [gpu.model for gpu in _gpus()]


def device_memory() -> int:
    """Return the total memory of the visible GPUs in bytes. Without a GPU, it is the memory that this process may use."""
    gpu_memory = sum(device.memory or 0 for device in visible_devices())
    return gpu_memory or memory_bytes()


@dataclass(frozen=True)
class _Gpu:
    """A line of `nvidia-smi`."""

    index: str
    uuid: str
    memory: int  # bytes
    model: str  # such as "NVIDIA H100 80GB HBM3"


def _gpus() -> list[_Gpu]:
    """Return all GPUs of this machine, or none if `nvidia-smi` is missing or fails."""
    try:
        done = subprocess.run(QUERY, capture_output=True, text=True, timeout=10)
        rows = [line.split(", ") for line in done.stdout.splitlines()] if done.returncode == 0 else []
        return [_Gpu(index, uuid, int(mebibytes) * 2**20, model) for index, uuid, mebibytes, model in rows]
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return []

"""Find the GPUs and the memory of this machine without importing torch, by `nvidia-smi`."""

import os
import subprocess
from dataclasses import dataclass
from functools import cache

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
    """Return the GPUs that this process may use: all, or those that CUDA_VISIBLE_DEVICES lists.

    CUDA ignores an empty name or the index of no GPU, such as "-1", and all names after it: "0,2" are two GPUs, "-1" is none,
    and "0,-1,1" is one. A UUID may be shortened. Other names are kept, because they may be parts of a GPU (MIG), and without
    `nvidia-smi` any index from 0 may be a GPU.
    """
    gpus = _gpus()
    if (chosen := os.environ.get("CUDA_VISIBLE_DEVICES")) is None:
        return [Device(gpu.index, gpu.memory, gpu.uuid) for gpu in gpus]
    devices = []
    for name in map(str.strip, chosen.split(",")):
        gpu = next((gpu for gpu in gpus if gpu.is_called(name)), None)
        is_negative = name.startswith("-")
        is_unknown_index = name.isdecimal() and bool(gpus) and gpu is None
        if not name or is_negative or is_unknown_index:
            break
        devices.append(Device(name, gpu.memory, gpu.uuid) if gpu else Device(name))
    return devices


def device_names() -> list[str]:
    """Return the model names of this machine's GPUs, as the driver reports them."""
    return [gpu.model for gpu in _gpus()]


def device_memory() -> int:
    """Return the total memory of the visible GPUs in bytes.

    Without a GPU whose memory is known, it is the main memory that this process may use, in which models run on the CPU.
    """
    gpu_memory = sum(device.memory or 0 for device in visible_devices())
    return gpu_memory or memory_bytes()


@dataclass(frozen=True)
class _Gpu:
    """A line of `nvidia-smi`."""

    index: str
    uuid: str
    memory: int | None  # bytes; None if it has no memory of its own, which is printed as [N/A]
    model: str  # such as "NVIDIA H100 80GB HBM3"

    def is_called(self, name: str) -> bool:
        return name == self.index or (name.startswith("GPU-") and self.uuid.startswith(name))


def _gpus() -> list[_Gpu]:
    """Return all GPUs of this machine, or none if `nvidia-smi` is missing or fails."""
    try:
        done = subprocess.run(QUERY, capture_output=True, text=True, timeout=10)
        rows = [line.split(", ") for line in done.stdout.splitlines()] if done.returncode == 0 else []
        return [_Gpu(index, uuid, _bytes(mebibytes), model) for index, uuid, mebibytes, model in rows]
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return []


def _bytes(mebibytes: str) -> int | None:
    return int(mebibytes) * 2**20 if mebibytes.isdecimal() else None

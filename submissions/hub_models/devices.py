"""Find the GPUs and the memory of this machine without importing torch."""

import os
import subprocess
from dataclasses import dataclass
from functools import cache

from submissions.config.machine import memory_bytes

QUERY = ("nvidia-smi", "--query-gpu=index,uuid,memory.total,name", "--format=csv,noheader,nounits")


@dataclass(frozen=True)
class Device:
    """A GPU. `name` is its name in CUDA_VISIBLE_DEVICES."""

    name: str
    memory: int | None = None  # bytes
    uuid: str | None = None  # does not depend on the name


@cache
def visible_devices() -> list[Device]:
    """Return the GPUs that this process may use."""
    gpus = _gpus()
    by_name = {name: device for device in gpus for name in (device.name, device.uuid)}
    if (chosen := os.environ.get("CUDA_VISIBLE_DEVICES")) is None:
        return [Device(device.name, device.memory, device.uuid) for device in gpus]
    names = [name for name in map(str.strip, chosen.split(",")) if name and name != "-1"]
    devices = []
    for name in names:
        found = by_name.get(name)
        devices.append(Device(name, found.memory, found.uuid) if found else Device(name))
    return devices


def device_names() -> list[str]:
    """Return the model names of this machine's GPUs, as the driver reports them."""
    return [device.model for device in _gpus()]


def device_memory() -> int:
    """Return the total memory of the visible GPUs in bytes. Without a GPU, it is the memory that this process may use."""
    gpu_memory = sum(device.memory or 0 for device in visible_devices())
    return gpu_memory or memory_bytes()


@dataclass(frozen=True)
class _Gpu:
    name: str  # its index
    uuid: str
    memory: int  # bytes
    model: str


def _gpus() -> list[_Gpu]:
    try:
        done = subprocess.run(QUERY, capture_output=True, text=True, timeout=10)
        rows = [line.split(", ") for line in done.stdout.splitlines()] if done.returncode == 0 else []
        return [_Gpu(index, uuid, int(mebibytes) * 2**20, model) for index, uuid, mebibytes, model in rows]
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return []

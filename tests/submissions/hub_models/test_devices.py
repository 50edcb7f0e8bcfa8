"""Test which GPUs a process may use. `nvidia-smi` is replaced by a program that prints what the real one does."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from submissions.hub_models.devices import Device, device_memory, visible_devices

TWO_GPUS = "0, GPU-aaaa-1, 81559, NVIDIA H100 80GB HBM3\n1, GPU-bbbb-2, 40960, NVIDIA A100-SXM4-40GB\n"


@pytest.fixture(autouse=True)
def _two_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\nprintf '{TWO_GPUS}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    visible_devices.cache_clear()
    yield
    visible_devices.cache_clear()


@pytest.mark.parametrize(
    ("chosen", "uuids"),
    [
        (None, ["GPU-aaaa-1", "GPU-bbbb-2"]),
        ("1", ["GPU-bbbb-2"]),
        ("1, 0", ["GPU-bbbb-2", "GPU-aaaa-1"]),
        ("0,9,1", ["GPU-aaaa-1"]),  # CUDA ignores what follows an index of no GPU
        ("0,-1,1", ["GPU-aaaa-1"]),
        ("-1", []),
        ("0,-2,1", ["GPU-aaaa-1"]),
        ("", []),
        ("GPU-bbbb-2", ["GPU-bbbb-2"]),
        ("GPU-bbbb", ["GPU-bbbb-2"]),
        ("MIG-cccc-3", [None]),
    ],
)
def test_visible_devices_are_those_of_cuda(
    chosen: str | None, uuids: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    if chosen is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)
    assert [device.uuid for device in visible_devices()] == uuids


def test_gpu_without_memory_of_its_own_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "0, GPU-cccc-3, [N/A], NVIDIA GB10"
    (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\nprintf '{line}\n'\n")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert visible_devices() == [Device("0", None, "GPU-cccc-3")]


def test_device_memory_is_that_of_a_shortened_uuid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-bbbb")
    assert device_memory() == 40_960 * 2**20

"""The files, folders and devices that are visible inside a sandbox. `policy.py` chooses a layout, `bubblewrap.py` builds it."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from submissions.config.paths import ROOT
from submissions.hub_models.architectures import ARCHITECTURES

SCRATCH_FOLDERS = ("/tmp", "/dev/shm")  # noqa: S108 - in memory, inside; /dev/shm is needed for locks between processes
SCRATCH_BYTES = 2**30  # of each scratch folder
# The parts of the system that programs need. From /etc only what is needed to find libraries.
SYSTEM_PATHS = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
DEVICE_PATTERN = "nvidia*"  # in /dev
# The list of processors and memory nodes. vLLM on a CPU asks the program lscpu, which reads it here.
PROCESSOR_PATHS = ("/sys/devices/system/cpu", "/sys/devices/system/node")
CODE_FOLDERS = ("evaluator", "submissions")
NOBODY = 65534  # user id inside the sandbox; if the worker is root, an evaluation may have another (`policy.new_user`)


@dataclass(frozen=True)
class Layout:
    """Everything that is visible inside a sandbox. Paths are the same as outside."""

    shown: Sequence[Path]  # files and folders, read-only
    devices: Sequence[Path]
    writable: Path  # the only folder on the disk that can be written
    scratch: Mapping[str, int]  # in-memory folders: path → size in bytes
    environment: Mapping[str, str]
    folder: Path  # working folder of the command


def minimal_layout(writable: Path, environment: Mapping[str, str]) -> Layout:
    """Return the layout of a sandbox with the system, Python and this project's code, without a model."""
    return Layout(
        shown=[*_existing(SYSTEM_PATHS), *_code_paths()],
        devices=[],
        writable=writable,
        scratch={},
        environment=environment,
        folder=ROOT,
    )


def full_layout(visible: Sequence[Path], writable: Path, environment: Mapping[str, str]) -> Layout:
    """Return the layout of a sandbox that also has GPUs, scratch folders and the `visible` files of one evaluation."""
    devices = sorted(Path("/dev").glob(DEVICE_PATTERN))
    return Layout(
        shown=[
            *_existing(SYSTEM_PATHS),
            *_existing(("/sys",) if devices else PROCESSOR_PATHS),
            *_code_paths(),
            *visible,
        ],
        devices=devices,
        writable=writable,
        scratch=dict.fromkeys(SCRATCH_FOLDERS, SCRATCH_BYTES),
        environment=environment,
        folder=ROOT,
    )


def _existing(paths: Sequence[str]) -> list[Path]:
    return [Path(path) for path in paths if Path(path).exists()]


def _code_paths() -> Iterator[Path]:
    """Yield the paths of this project's packages, of the list of architectures (read by engines), and of Python."""
    yield from (ROOT / package for package in CODE_FOLDERS)
    yield ARCHITECTURES
    for prefix in dict.fromkeys((sys.prefix, sys.base_prefix)):
        if not Path(prefix).is_relative_to("/usr"):
            yield Path(prefix)

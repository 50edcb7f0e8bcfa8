"""Check the machine: disk, memory, sandbox, GPUs, and the versions of packages."""

import os
import re
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement

from evaluator.core.errors import SandboxError
from evaluator.doctor.findings import Finding, Options, fault, ok, skipped
from evaluator.sandbox.policy import try_sandbox
from submissions.config.machine import core_count, memory_bytes
from submissions.config.paths import ROOT, nearest_existing
from submissions.config.settings import Settings
from submissions.queue.queue import Queue
from submissions.records.request import Status
from submissions.store.open import open_store
from submissions.texts.errors import StoreError

MIN_DISK_BYTES = 10_000_000_000  # the alarm of docs/operate.md
MIN_BOARD_BYTES = 400_000_000
MIN_MEMORY_BYTES = 3_000_000_000  # a worker with a tiny model
LOCKS = ("requirements.lock", "evaluator/requirements.lock")


def check_disk(settings: Settings, _: Options) -> Iterator[Finding]:
    folder = settings.work_dir.absolute()
    existing = nearest_existing(folder)
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        remedy = "name a folder that this user may write in HANNUN_WORK_DIR"
        yield fault("work folder", f"{folder}: {existing} is not a folder that this user may write", remedy)
        return
    free = shutil.disk_usage(existing).free
    said = f"{free / 1e9:,.0f} GB are free at {existing}"
    if free < MIN_DISK_BYTES:
        yield fault("disk", said, "free space, lower HANNUN_MAX_CACHE_BYTES, or move HANNUN_WORK_DIR")
    else:
        yield ok("disk", said)


def has_worker() -> bool:
    """Return whether this environment can evaluate models: a board's image has no torch."""
    return find_spec("torch") is not None


def check_memory(_: Settings, __: Options) -> Iterator[Finding]:
    memory = memory_bytes()
    said = f"{memory / 1e9:,.1f} GB of memory and {core_count()} cores may be used"
    if memory < (MIN_MEMORY_BYTES if has_worker() else MIN_BOARD_BYTES):
        yield fault("memory", said, "raise the container's memory limit, or use a larger machine")
    else:
        yield ok("memory", said)


def check_sandbox(settings: Settings, options: Options) -> Iterator[Finding]:
    if not has_worker():
        yield skipped("sandbox", "this environment has no worker")
        return
    try:
        try_sandbox()
        yield ok("sandbox", "bubblewrap can build it")
    except SandboxError as error:
        reason, separator, remedy = str(error).rpartition("; ")
        if not separator:
            reason, _, remedy = str(error).rpartition(": ")
        yield fault("sandbox", reason, remedy)


def check_gpu(settings: Settings, _: Options) -> Iterator[Finding]:
    """Check that torch uses the GPUs that are there, and that the largest pending model fits."""
    present = sorted(Path("/dev").glob("nvidia[0-9]*"))
    try:
        import torch
    except ImportError:
        yield skipped("gpu", "torch is not installed: this environment has no worker")
        return
    if not torch.cuda.is_available():
        if present:
            said = f"{len(present)} GPUs are there, but torch {torch.__version__} cannot use them"
            yield fault("gpu", said, "install the CUDA build (make serve TORCH=torch==…) and a driver that supports it")
        else:
            yield skipped("gpu", "this machine has no GPU")
        return
    free = total = 0
    for number in range(torch.cuda.device_count()):
        free_here, total_here = torch.cuda.mem_get_info(number)
        free += free_here
        total += total_here
        yield ok(
            "gpu", f"{torch.cuda.get_device_name(number)}, CUDA {torch.version.cuda}, {free_here / 1e9:.0f} GB free"
        )
    yield from _check_largest(settings, free)


def _check_largest(settings: Settings, free: int) -> Iterator[Finding]:
    """Compare the free memory with the largest model that waits."""
    from submissions.hub_models.model_facts import memory_needed

    try:
        queue = Queue(open_store(settings.store, settings))
        waiting = [queue.get(row.key) for row in queue.rows() if row.status == Status.PENDING]
    except StoreError:
        return  # `check_store` reports it
    needs = {one.model_id: memory_needed(one.params, one.precision) or 0 for one in waiting}
    largest = max(needs, key=lambda name: needs[name], default=None)
    if largest is None:
        return
    said = f"{largest}, the largest pending model, needs {needs[largest] / 1e9:.0f} GB; {free / 1e9:.0f} GB are free"
    if needs[largest] > free:
        yield fault("gpu memory", said, "end what else uses the GPUs, or evaluate it on a larger machine")
    else:
        yield ok("gpu memory", said)


def check_versions(_: Settings, __: Options) -> Iterator[Finding]:
    """Compare the installed packages with the lock files, as far as they are installed."""
    differing = []
    count = 0
    for name, wanted in _locked().items():
        try:
            installed = version(name)
        except PackageNotFoundError:
            continue  # a board has no packages of the worker
        count += 1
        if installed != wanted:
            differing.append(f"{name} {installed} instead of {wanted}")
    if differing:
        remedy = "install the lock files again: make serve does, and so does building the image"
        yield fault("versions", f"{len(differing)} packages differ: {', '.join(differing[:3])}", remedy)
    else:
        yield ok("versions", f"{count} packages are those of the lock files")


def _locked() -> dict[str, str]:
    """Return the version of each package that the lock files name for this machine."""
    locked: dict[str, str] = {}
    for name in LOCKS:
        path = ROOT / name
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        for line in re.findall(r"^([A-Za-z0-9].*?) \\$", text, re.MULTILINE):
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate():
                locked[requirement.name] = str(requirement.specifier).removeprefix("==")
    return locked

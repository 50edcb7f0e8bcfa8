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
from submissions.records.request import EvalRequest, Status
from submissions.store.open import open_store
from submissions.texts.errors import QueueError, StoreError

MIN_DISK_BYTES = 10_000_000_000  # free; the same as the alarm of docs/operate.md
# Memory of a board alone, and of a worker that evaluates a tiny model.
MIN_BOARD_BYTES = 400_000_000
MIN_WORKER_BYTES = 3_000_000_000
LOCKS = ("requirements.lock", "evaluator/requirements.lock")
# The first line of a package in a lock file, before the lines of its hashes. It may have a marker:
# "accelerate==1.15.0 \" or "audioop-lts==0.2.2 ; python_full_version >= '3.13' \"
LOCKED_PACKAGE = re.compile(r"^([A-Za-z0-9].*?) \\$", re.MULTILINE)


def check_disk(settings: Settings, _: Options) -> Iterator[Finding]:
    """Check that the worker's folder can be written or created, and that its disk has room for a model."""
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
    if memory < (MIN_WORKER_BYTES if has_worker() else MIN_BOARD_BYTES):
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
        # The message is "REASON; REMEDY", or "bubblewrap is missing: apt-get install bubblewrap".
        reason, separator, remedy = str(error).rpartition("; ")
        if not separator:
            reason, _, remedy = str(error).rpartition(": ")
        yield fault("sandbox", reason, remedy)


def check_gpu(settings: Settings, _: Options) -> Iterator[Finding]:
    """Check that torch uses the GPUs that are there, and that the largest pending model fits."""
    devices = sorted(Path("/dev").glob("nvidia[0-9]*"))
    try:
        import torch
    except ImportError:
        yield skipped("gpu", "torch is not installed: this environment has no worker")
        return
    if not torch.cuda.is_available():
        if devices:
            said = f"{len(devices)} GPUs are there, but torch {torch.__version__} cannot use them"
            yield fault("gpu", said, "install the CUDA build (make serve TORCH=torch==…) and a driver that supports it")
        else:
            yield skipped("gpu", "this machine has no GPU")
        return
    free_bytes = 0  # of all GPUs together, over which a large model is spread
    for number in range(torch.cuda.device_count()):
        free_of_device, _ = torch.cuda.mem_get_info(number)
        free_bytes += free_of_device
        name = torch.cuda.get_device_name(number)
        yield ok("gpu", f"{name}, CUDA {torch.version.cuda}, {free_of_device / 1e9:.0f} GB free")
    yield from _check_largest_pending(settings, free_bytes)


def _check_largest_pending(settings: Settings, free_bytes: int) -> Iterator[Finding]:
    """Compare the free memory of the GPUs with the largest model that waits in the queue."""
    from submissions.hub_models.model_facts import memory_needed

    try:
        queue = Queue(open_store(settings.store, settings))
        pending = [queue.get(row.key) for row in queue.rows() if row.status == Status.PENDING]
    except (StoreError, QueueError):  # `check_store` reports it, or a request has been withdrawn meanwhile
        return

    def needed_bytes(request: EvalRequest) -> int:
        return memory_needed(request.params, request.precision) or 0

    largest = max(pending, key=needed_bytes, default=None)
    if largest is None:
        return
    needed = needed_bytes(largest)
    if not needed:
        return  # models of unknown size
    said = f"{largest.model_id}, the largest pending model, needs {needed / 1e9:.0f} GB; {free_bytes / 1e9:.0f} GB are free"
    if needed > free_bytes:
        yield fault("gpu memory", said, "end what else uses the GPUs, or evaluate it on a larger machine")
    else:
        yield ok("gpu memory", said)


def check_versions(_: Settings, __: Options) -> Iterator[Finding]:
    """Compare the installed packages with the lock files, as far as they are installed."""
    differing = []
    count = 0
    for name, locked in _locked_versions().items():
        try:
            installed = version(name)
        except PackageNotFoundError:
            continue  # a board has no packages of the worker
        count += 1
        if installed != locked:
            differing.append(f"{name} {installed} instead of {locked}")
    if differing:
        remedy = "install the lock files again: make serve does, and so does building the image"
        yield fault("versions", f"{len(differing)} packages differ: {', '.join(differing[:3])}", remedy)
    else:
        yield ok("versions", f"{count} packages are those of the lock files")


def _locked_versions() -> dict[str, str]:
    """Return the version of each package that the lock files name for this machine: {"accelerate": "1.15.0"}.

    A lock file that is not installed here is skipped.
    """
    locked: dict[str, str] = {}
    for name in LOCKS:
        path = ROOT / name
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        for line in LOCKED_PACKAGE.findall(text):
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate():
                locked[requirement.name] = str(requirement.specifier).removeprefix("==")
    return locked

"""Limits on all processes of a sandbox together: a control group, where this machine lets us make one.

A limit on the data of each process does not count what processes share, nor their number times their size.

source: docs.kernel.org/admin-guide/cgroup-v2.html, cgroup-v1/memory.html, cgroup-v1/pids.html
"""

import errno
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from uuid import uuid4

MOUNTS = Path("/proc/self/mountinfo")
OWN = Path("/proc/self/cgroup")
EMPTY_WITHIN_S = 5.0  # seconds for the last process of a group to be gone
# Joins the groups whose files of processes come before the command, and becomes the command: never without its limits.
_JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"'


@dataclass(frozen=True)
class ControlGroup:
    """Folders of the kernel's: one in version 2, one for each controller in version 1, none where it cannot be made."""

    folders: tuple[Path, ...]
    version: str  # as a result tells it

    def joined(self, command: Sequence[str]) -> list[str]:
        """The command line that runs a command in the group."""
        if not self.folders:
            return list(command)
        return ["/bin/sh", "-c", _JOIN, "sh", *(f"{folder}/cgroup.procs" for folder in self.folders), "--", *command]

    def has_run_out_of_memory(self) -> bool:
        """Return whether the kernel has killed a process of the group because of its memory limit."""
        for folder in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with suppress(OSError):
                    counts = dict(line.split() for line in (folder / name).read_text().splitlines())
                    if int(counts.get("oom_kill", 0)):
                        return True
        return False


NONE = ControlGroup((), "none")


@contextmanager
def control_group(memory: int, processes: int) -> Iterator[ControlGroup]:
    """A group for the time of an evaluation: bytes, pages of files that can be dropped included, and processes with threads."""
    group = _made(memory, processes)
    try:
        yield group
    finally:
        for folder in group.folders:
            _remove(folder)


def _made(memory: int, processes: int) -> ControlGroup:
    name = f"hannun-{os.getpid()}-{uuid4().hex[:12]}"
    limits = {"memory": {"memory.limit_in_bytes": memory}, "pids": {"pids.max": processes}}
    folders: list[Path] = []
    try:
        if unified := _unified():
            _remove_dead(unified)
            folders = [unified / name]
            _make(folders[0], {"memory.max": memory, "memory.swap.max": 0, "pids.max": processes})
            return ControlGroup(tuple(folders), "v2")
        for controller, values in limits.items():
            _remove_dead(_of_version_1(controller))
            folders.append(_of_version_1(controller) / name)
            _make(folders[-1], values)
        return ControlGroup(tuple(folders), "v1")
    except (OSError, KeyError):
        for folder in folders:
            _remove(folder)
        return NONE


def _make(folder: Path, limits: dict[str, int]) -> None:
    folder.mkdir()
    for file, limit in limits.items():
        if file == "memory.swap.max" and not (folder / file).exists():
            continue  # a kernel without swap
        with (folder / file).open("r+") as setting:  # never made: a folder without the controller is not limited
            setting.write(str(limit))


def _remove_dead(parent: Path) -> None:
    """Groups of workers that were killed; what still ran in them ends."""
    for folder in parent.glob("hannun-*-*"):
        process = folder.name.split("-")[1]
        if process.isdecimal() and not Path(f"/proc/{process}").exists():
            _remove(folder)


def _unified() -> Path | None:
    """Where a group of version 2 with memory and processes can be made: beside our own, which holds processes itself."""
    path = next((line[3:] for line in OWN.read_text().splitlines() if line.startswith("0::")), None)
    mount = _mounts().get("cgroup2")
    if path is None or mount is None:
        return None
    for folder in (mount / path.lstrip("/"), (mount / path.lstrip("/")).parent):
        with suppress(OSError):
            if {"memory", "pids"} <= set((folder / "cgroup.subtree_control").read_text().split()):
                return folder
    return None


def _of_version_1(controller: str) -> Path:
    """Our own group of this controller. Raises KeyError."""
    paths = {line.split(":", 2)[1]: line.split(":", 2)[2] for line in OWN.read_text().splitlines()}
    return _mounts()[controller] / paths[controller].lstrip("/")


@cache
def _mounts() -> dict[str, Path]:
    """By `cgroup2`, or the controller of version 1."""
    found: dict[str, Path] = {}
    for line in MOUNTS.read_text().splitlines():
        words = line.split()
        kind, options = words[words.index("-") + 1], words[-1].split(",")
        if kind == "cgroup2":
            found[kind] = Path(words[4])
        elif kind == "cgroup":
            found |= dict.fromkeys(options, Path(words[4]))
    return found


def _remove(folder: Path) -> None:
    """With what still runs in it."""
    until = time.monotonic() + EMPTY_WITHIN_S
    while time.monotonic() < until:
        with suppress(OSError):
            for process in (folder / "cgroup.procs").read_text().split():
                os.kill(int(process), signal.SIGKILL)
        try:
            folder.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno != errno.EBUSY:
                return
            time.sleep(0.02)  # its last process is on its way out

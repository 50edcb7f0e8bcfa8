"""Limit the memory and number of all processes of a sandbox together with a control group, if one can be created here.

A limit on the data of each process does not count shared memory and does not bound the sum over processes.

Source: docs.kernel.org/admin-guide/cgroup-v2.html, cgroup-v1/memory.html, cgroup-v1/pids.html
"""

import errno
import logging
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from submissions.config.machine import V2, limit_reached, memory_groups, oom_kills, own_groups

log = logging.getLogger(__name__)

REMOVE_TIMEOUT_SECONDS = 5.0  # for the last process of a group to exit
# Arguments: `cgroup.procs` files, "--", a command. Joins the groups, then execs the command; exits if it cannot join. If
# the memory of the machine or the container runs out, the kernel kills the command first, and not the worker.
_JOIN = (
    "echo 1000 > /proc/self/oom_score_adj; "
    'while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@"'
)


@dataclass(frozen=True)
class ControlGroup:
    """A control group and its folders in the cgroup file system.

    Version 2 has one folder, version 1 has one for each controller. There are none if the group could not be created.
    """

    folders: tuple[Path, ...]
    version: str  # "v1", "v2" or "none"; stored in results
    # If the kernel kills a process in one of these groups, it is assumed that the command ran out of memory. They are
    # `folders`, or if there are none, the group that the worker itself is in, if that is visible.
    watched: tuple[Path, ...] = ()
    kills_before: int = 0  # in the watched groups, before the command began

    def wrap_command(self, command: Sequence[str]) -> list[str]:
        """Return the command line that runs a command in the group."""
        return ["/bin/sh", "-c", _JOIN, "sh", *(f"{folder}/cgroup.procs" for folder in self.folders), "--", *command]

    def has_run_out_of_memory(self) -> bool:
        """Return whether the kernel has killed a process because memory ran out.

        Without a group of its own, any process of the worker's container or service counts.
        """
        return sum(map(oom_kills, self.watched)) > self.kills_before

    def has_reached_its_limit(self) -> bool:
        """Return whether the command itself took more than its limit. Without a group of its own that is unknown: False."""
        return any(map(limit_reached, self.folders))


NO_GROUP = ControlGroup((), "none")


@contextmanager
def control_group(memory: int, processes: int) -> Iterator[ControlGroup]:
    """Create a control group for one evaluation, and remove it afterwards.

    `memory` is in bytes and includes the reclaimable page cache; `processes` counts threads too. If no group can be
    created, one without folders is yielded.
    """
    group = _create_group(memory, processes)
    try:
        yield group
    finally:
        for folder in group.folders:
            _remove(folder)


def _create_group(memory: int, processes: int) -> ControlGroup:
    """Create a group of version 2 if its controllers are in use here, else of version 1.

    A machine uses each controller in one version only, so the other version is not tried if creating a group fails. Then
    a group without folders is returned, as in most containers, where the file system of control groups is read-only.
    """
    name = f"hannun-{os.getpid()}-{uuid4().hex[:12]}"  # as `_remove_orphans` expects it
    limits: list[tuple[Path, dict[str, int]]] = []  # each folder to create, with its limits
    try:
        if parent := _v2_parent():
            version = "v2"
            limits = [(parent / name, {"memory.max": memory, "memory.swap.max": 0, "pids.max": processes})]
        else:
            version = "v1"
            limits = [
                (_v1_group("memory") / name, {"memory.limit_in_bytes": memory}),
                (_v1_group("pids") / name, {"pids.max": processes}),
            ]
        for folder, values in limits:
            _remove_orphans(folder.parent)
            _create_folder(folder, values)
    except OSError as error:
        log.info("no control group can be created: %s", error)
        for folder, _ in limits:
            _remove(folder)
        own_group = tuple(memory_groups()[:1])
        return ControlGroup((), "none", watched=own_group, kills_before=sum(map(oom_kills, own_group)))
    folders = tuple(folder for folder, _ in limits)
    return ControlGroup(folders, version, watched=folders)


def _create_folder(folder: Path, limits: dict[str, int]) -> None:
    """Create a group's folder and set its limits, given by the names of their files. Raises OSError if that fails."""
    folder.mkdir()
    for file, limit in limits.items():
        if file == "memory.swap.max" and not (folder / file).exists():
            continue  # a kernel without swap
        # "r+" fails if the file does not exist: then the controller is missing and nothing would be limited.
        with (folder / file).open("r+") as setting:
            setting.write(str(limit))


def _remove_orphans(parent: Path) -> None:
    """Remove the groups of workers that were killed, and end the processes in them."""
    for folder in parent.glob("hannun-*-*"):
        process = folder.name.split("-")[1]
        if process.isdecimal() and not Path(f"/proc/{process}").exists():
            _remove(folder)


def _v2_parent() -> Path | None:
    """Return the folder in which a version 2 group with memory and pids controllers can be created, or None.

    That is usually the parent of this process's group: a group that contains processes cannot have limited children.
    """
    own_and_parent = own_groups(V2)[:2]
    for folder in own_and_parent:
        with suppress(OSError):
            if {"memory", "pids"} <= set((folder / "cgroup.subtree_control").read_text().split()):
                return folder
    return None


def _v1_group(controller: str) -> Path:
    """Return the folder of this process's version 1 group. Raises FileNotFoundError if the controller is not mounted."""
    groups = own_groups(controller)
    if not groups:
        raise FileNotFoundError(f"the controller {controller} is not mounted")
    return groups[0]


def _remove(folder: Path) -> None:
    """Kill the processes in a group and remove its folder.

    A group with processes of another PID namespace belongs to a worker in another container, and is left. The kernel lists
    such a process as 0, for which `os.kill` would end this process's own group of processes.
    """
    deadline = time.monotonic() + REMOVE_TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError):
            processes = [int(line) for line in (folder / "cgroup.procs").read_text().split()]
            if 0 in processes:
                return
            for process in processes:
                os.kill(process, signal.SIGKILL)
        try:
            folder.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno != errno.EBUSY:
                return
            time.sleep(0.02)  # its last process is still exiting

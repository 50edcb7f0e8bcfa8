"""Find the memory and the cores that this process may use: all of the machine, or fewer in a container or a service.

Linux limits them by control groups. Each group is a folder in a tree that is mounted as a file system, and its limits are
files in that folder. In version 1 there is a tree for each controller (`memory`, `cpu`), in version 2 one tree for all.

Source: docs.kernel.org/admin-guide/cgroup-v2.html, cgroup-v1/memory.html, proc_pid_mountinfo(5), cgroups(7)
"""

import math
import os
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

MOUNTS = Path("/proc/self/mountinfo")
OWN_GROUPS = Path("/proc/self/cgroup")
V2 = "cgroup2"  # the name of the one tree of version 2; a tree of version 1 has the name of its controller


class _Mount(NamedTuple):
    """Where a tree of groups is mounted."""

    folder: Path
    root: PurePosixPath  # the group that is seen at `folder`: in a container it need not be the top of the tree


def own_groups(hierarchy: str) -> list[Path]:
    """Return the folders of this process's control group and of those that contain it, innermost first.

    `hierarchy` is V2 or a controller of version 1. The list is empty if it is not mounted.
    """
    mount = _mounts().get(hierarchy)
    own = _own_paths().get(hierarchy)
    if mount is None or own is None:
        return []
    # A container may not see the group of its process, whose path then begins with "/..", as in `0::/../../outside`. The
    # outermost group that it sees is then the best answer.
    is_visible = own.is_relative_to(mount.root) and ".." not in own.parts
    folder = mount.folder / own.relative_to(mount.root) if is_visible else mount.folder
    return [group for group in (folder, *folder.parents) if group.is_relative_to(mount.folder)]


def memory_groups() -> list[Path]:
    """Return the groups that limit this process's memory, innermost first."""
    return own_groups("memory") or own_groups(V2)


def memory_bytes() -> int:
    """Return the memory of the machine, or the smallest limit of a control group, in bytes."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for folder in memory_groups():
        for name in ("memory.max", "memory.limit_in_bytes"):
            with suppress(OSError, ValueError):  # no such file, or "max"
                sizes.append(int((folder / name).read_text()))
    return min(sizes)


def core_count() -> int:
    """Return how many cores this process may use, rounded up: half a core counts as one."""
    counts = [len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1]
    for folder in own_groups("cpu") or own_groups(V2):
        with suppress(OSError, ValueError):  # no such file, or no limit
            quota, period = _cpu_quota(folder)
            counts.append(max(1, math.ceil(quota / period)))
    return min(counts)


def oom_kills(folder: Path) -> int:
    """Return how many processes of a control group the kernel has killed because memory ran out."""
    for name in ("memory.events", "memory.oom_control"):
        with suppress(OSError):
            counts = dict(line.split() for line in (folder / name).read_text().splitlines())
            return int(counts.get("oom_kill", 0))
    return 0


def limit_reached(folder: Path) -> bool:
    """Return whether a control group has reached its own limit of memory, rather than that of a group around it."""
    with suppress(OSError):
        # "oom" counts how often memory ran out at this group's limit; "oom_kill" also counts kills for other limits.
        counts = dict(line.split() for line in (folder / "memory.events").read_text().splitlines())
        return int(counts.get("oom", 0)) > 0
    with suppress(OSError, ValueError):  # version 1: how often this group's memory reached its limit
        return int((folder / "memory.failcnt").read_text()) > 0
    return False


def _cpu_quota(folder: Path) -> tuple[int, int]:
    """Return how long a group may run in each period, and the period, in microseconds: (200_000, 100_000) is two cores.

    Raises ValueError if it has no limit.
    """
    if (file := folder / "cpu.max").exists():
        quota, period = file.read_text().split()
    else:
        quota = (folder / "cpu.cfs_quota_us").read_text()
        period = (folder / "cpu.cfs_period_us").read_text()
    # Without a limit, the quota is "-1" in version 1, and "max" in version 2, for which int() raises ValueError.
    if int(quota) < 0:
        raise ValueError("no limit")
    return int(quota), int(period)


def _mounts() -> dict[str, _Mount]:
    """Return the mount of each tree, by V2 or by controller.

    A line is `ID PARENT DEVICE ROOT FOLDER OPTIONS … - KIND SOURCE SUPER_OPTIONS`. In version 1, the last field names the
    controllers of the tree, among other options:

        24 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw
        33 24 0:29 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory
    """
    own = _own_paths()
    found: dict[str, _Mount] = {}
    for line in _lines(MOUNTS):
        words = line.split()
        kind = words[words.index("-") + 1]
        if kind == V2:
            hierarchies = [V2]
        elif kind == "cgroup":
            hierarchies = words[-1].split(",")
        else:
            continue
        mount = _Mount(folder=Path(words[4]), root=PurePosixPath(words[3]))
        for hierarchy in hierarchies:
            # Of several mounts, one shows the group of this process. Others may show a part of the tree without it.
            shows_own = own.get(hierarchy, PurePosixPath()).is_relative_to(mount.root)
            if hierarchy not in found or shows_own:
                found[hierarchy] = mount
    return found


def _own_paths() -> dict[str, PurePosixPath]:
    """Return the path of this process's group in each tree, by V2 or by controller.

    A line is `NUMBER:CONTROLLERS:PATH`, as in `4:memory:/docker/3f1c`. Version 2 names no controllers: `0::/user.slice`.
    """
    found: dict[str, PurePosixPath] = {}
    for line in _lines(OWN_GROUPS):
        _, controllers, path = line.split(":", 2)
        hierarchies = controllers.split(",") if controllers else [V2]
        for hierarchy in hierarchies:
            found[hierarchy] = PurePosixPath(path)
    return found


def _lines(file: Path) -> list[str]:
    """Return the lines of a file of the kernel, or none on a system that has no such file."""
    try:
        return file.read_text().splitlines()
    except FileNotFoundError:
        return []

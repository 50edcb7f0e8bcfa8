"""Test that limits of control groups are found, in the layouts that containers and services show."""

import os
from pathlib import Path

import pytest

from submissions.config import machine

V2_MOUNT = "30 23 0:26 {root} {place} rw,nosuid - cgroup2 cgroup2 rw\n"
V1_MOUNT = "35 31 0:32 {root} {place} rw - cgroup cgroup rw,{controllers}\n"


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder in the place of the file system of control groups."""
    monkeypatch.setattr(machine, "MOUNTS", tmp_path / "mountinfo")
    monkeypatch.setattr(machine, "OWN_GROUPS", tmp_path / "cgroup")
    (tmp_path / "groups").mkdir()
    return tmp_path / "groups"


def set_up(groups: Path, mounts: str, own: str, files: dict[str, str]) -> None:
    (groups.parent / "mountinfo").write_text(mounts)
    (groups.parent / "cgroup").write_text(own)
    for name, text in files.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(text)


def test_container_with_namespace_has_limits_at_mount(groups: Path) -> None:
    files = {"memory.max": "2147483648\n", "cpu.max": "100000 100000\n", "memory.events": "low 0\noom 1\noom_kill 3\n"}
    set_up(groups, V2_MOUNT.format(root="/", place=groups), "0::/\n", files)
    assert machine.memory_bytes() == 2**31 and machine.core_count() == 1
    assert machine.oom_kills(machine.memory_groups()[0]) == 3


def test_smallest_limit_of_containing_groups_counts(groups: Path) -> None:
    files = {
        "a.slice/memory.max": "1000000\n",
        "a.slice/b.service/memory.max": "max\n",
        "a.slice/b.service/cpu.max": "max 100000\n",
        "memory.max": "3000000\n",
    }
    set_up(groups, V2_MOUNT.format(root="/", place=groups), "0::/a.slice/b.service\n", files)
    assert machine.memory_bytes() == 1_000_000
    assert machine.core_count() == len(os.sched_getaffinity(0))


def test_mount_that_shows_own_group_is_read(groups: Path) -> None:
    mounts = V2_MOUNT.format(root="/", place=groups) + V2_MOUNT.format(root="/user.slice", place=groups / "elsewhere")
    files = {"a.slice/memory.max": "1000000\n", "elsewhere/memory.max": "5000\n", "memory.max": "3000000\n"}
    set_up(groups, mounts, "0::/a.slice\n", files)
    assert machine.memory_bytes() == 1_000_000


@pytest.mark.parametrize(
    ("file", "text", "own"),
    [
        ("memory.events", "max 9\noom 0\noom_kill 1\n", False),  # the machine's memory ran out
        ("memory.events", "max 9\noom 1\noom_kill 1\n", True),
        ("memory.failcnt", "0\n", False),
        ("memory.failcnt", "12\n", True),
        ("other", "", False),
    ],
)
def test_limit_of_a_group_is_told_from_one_around_it(tmp_path: Path, file: str, text: str, own: bool) -> None:
    (tmp_path / file).write_text(text)
    assert machine.limit_reached(tmp_path) == own


@pytest.mark.parametrize("root", ["/docker/0123", "/"])
def test_version_1_container_without_namespace(groups: Path, root: str) -> None:
    """The group has its path on the host, and the container sees it at the mount point or below it."""
    inside = "" if root != "/" else "docker/0123/"
    files = {
        f"{inside}memory.limit_in_bytes": "536870912\n",
        f"{inside}memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
        f"{inside}cpu.cfs_quota_us": "50000\n",
        f"{inside}cpu.cfs_period_us": "100000\n",
    }
    mounts = "".join(
        V1_MOUNT.format(root=root, place=groups, controllers=controllers) for controllers in ("memory", "cpu,cpuacct")
    )
    set_up(groups, mounts, "4:memory:/docker/0123\n1:cpu,cpuacct:/docker/0123\n0::/\n", files)
    assert machine.memory_bytes() == 2**29 and machine.core_count() == 1
    assert machine.oom_kills(machine.memory_groups()[0]) == 1


def test_system_without_proc_has_no_limit(groups: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    assert machine.memory_bytes() == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert machine.core_count() == os.cpu_count() and machine.memory_groups() == []


@pytest.mark.parametrize(
    ("mounts", "own"),
    [
        ("", ""),
        (V2_MOUNT.format(root="/", place="/nowhere"), "0::/../../outside\n"),
        (V2_MOUNT.format(root="/other", place="/nowhere"), "0::/group\n"),
    ],
)
def test_machine_without_readable_groups_has_no_limit(groups: Path, mounts: str, own: str) -> None:
    set_up(groups, mounts, own, {})
    assert machine.memory_bytes() == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert machine.core_count() == len(os.sched_getaffinity(0))

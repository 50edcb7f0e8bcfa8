"""Test that a sandbox that cannot be built names what to allow, in the container that it is in."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator.sandbox import remedies
from evaluator.sandbox.remedies import Obstacle, obstacle_of, remedy
from submissions.config.paths import ASSETS, ROOT

MESSAGES = {
    "bwrap: No permissions to create new namespace, likely because the kernel does not allow it": Obstacle.SYSTEM_CALLS,
    "bwrap: Creating new namespace failed: Operation not permitted": Obstacle.SYSTEM_CALLS,
    "bwrap: Can't set hostname to sandbox: Operation not permitted": Obstacle.SYSTEM_CALLS,
    "bwrap: Can't mount proc on /newroot/proc: Operation not permitted": Obstacle.MASKED_PROC,
    "bwrap: setting up uid map: Read-only file system": Obstacle.MASKED_PROC,
    "bwrap: setting up uid map: Permission denied": Obstacle.APPARMOR,
    "bwrap: Failed to make / slave: Permission denied": Obstacle.APPARMOR,
    "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)": (
        Obstacle.NAMESPACE_LIMIT
    ),
}
BUILD = "from evaluator.sandbox.policy import try_sandbox; try_sandbox()"


@pytest.mark.parametrize("message", MESSAGES)
def test_message_names_obstacle(message: str) -> None:
    assert obstacle_of(message) == MESSAGES[message]


@pytest.mark.parametrize(
    ("runtime", "option"),
    [
        ("Docker", "systempaths=unconfined"),
        ("Podman", "unmask=/proc/*"),
        ("Kubernetes", "procMount: Unmasked"),
        ("", "all of /proc"),
    ],
)
def test_remedy_depends_on_container(monkeypatch: pytest.MonkeyPatch, runtime: str, option: str) -> None:
    monkeypatch.setattr(remedies, "container_runtime", lambda: runtime)
    assert option in remedy("bwrap: Can't mount proc on /newroot/proc: Operation not permitted")
    assert all(remedy(message) for message in MESSAGES)


@pytest.mark.integration
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mask a part of /proc")
def test_masked_proc_is_named() -> None:
    """Mask a part of /proc like a container, and build a sandbox as root of a user namespace."""
    masked = 'mount -t tmpfs none /proc/irq && exec unshare --user --map-root-user --mount "$@"'
    command = ["unshare", "--mount", "sh", "-ec", masked, "sh", sys.executable, "-c", BUILD]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "KUBERNETES_SERVICE_HOST": "10.0.0.1"}
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    error = done.stderr.splitlines()[-1]
    assert done.returncode and "in this Kubernetes container" in error and "procMount: Unmasked" in error


def test_seccomp_profile_is_narrow() -> None:
    profile = json.loads((ASSETS / "deploy/seccomp.json").read_text(encoding="utf-8"))
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    # Runtimes of Kubernetes ignore these fields of Docker's own profile, and would allow what they guard.
    assert not {"includes", "excludes"} & {key for rule in profile["syscalls"] for key in rule}
    allowed = [rule for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW"]
    names = {name for rule in allowed if "args" not in rule for name in rule["names"]}
    assert {"mount", "umount2", "pivot_root", "sethostname"} <= names  # what bubblewrap needs
    refused = {"bpf", "kexec_load", "init_module", "finit_module", "open_by_handle_at", "setns", "reboot", "swapon"}
    refused |= {"unshare", "clone", "clone3", "keyctl", "userfaultfd", "perf_event_open", "fsopen", "move_mount"}
    assert not refused & names


def test_container_runtime_is_told_by_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    for path, runtime in (("/.dockerenv", "Docker"), ("/run/.containerenv", "Podman"), ("/nothing", "")):
        monkeypatch.setattr(Path, "exists", lambda self, path=path: str(self) == path)
        assert remedies.container_runtime() == runtime
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    assert remedies.container_runtime() == "Kubernetes"

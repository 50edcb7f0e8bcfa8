"""Say what a machine or a container must allow before a sandbox can be built in it.

The error messages are those of bubblewrap 0.8 and util-linux 2.38, as seen in Docker 20.10 and Podman 4.3.
"""

import os
from enum import Enum
from pathlib import Path


class Obstacle(Enum):
    """What keeps a sandbox from being built."""

    SYSTEM_CALLS = "the system calls for namespaces are refused"
    MASKED_PROC = "parts of /proc are masked"
    APPARMOR = "AppArmor forbids mounts or user namespaces"
    NAMESPACE_LIMIT = "no more namespaces may be created"


# The first part of an error message that is found decides.
_SIGNS = (
    ("mount proc", Obstacle.MASKED_PROC),
    ("/proc: permission denied", Obstacle.MASKED_PROC),
    ("ENOSPC", Obstacle.NAMESPACE_LIMIT),
    ("No space left on device", Obstacle.NAMESPACE_LIMIT),
    ("uid map", Obstacle.APPARMOR),
    ("make / slave", Obstacle.APPARMOR),
    ("Permission denied", Obstacle.APPARMOR),
)
_SECCOMP = "--security-opt seccomp=assets/deploy/seccomp.json"
_APPARMOR = "--security-opt apparmor=unconfined"
_NAMESPACE_LIMIT = "on the host: sysctl user.max_user_namespaces=65536"
_REMEDIES = {
    "Docker": {
        Obstacle.SYSTEM_CALLS: f"start the container with {_SECCOMP}",
        Obstacle.MASKED_PROC: "start the container with --security-opt systempaths=unconfined",
        Obstacle.APPARMOR: f"start the container with {_APPARMOR}",
        Obstacle.NAMESPACE_LIMIT: _NAMESPACE_LIMIT,
    },
    "Podman": {
        Obstacle.SYSTEM_CALLS: f"start the container with {_SECCOMP}",
        Obstacle.MASKED_PROC: "start the container with --security-opt unmask=/proc/*",
        Obstacle.APPARMOR: f"start the container with {_APPARMOR}",
        Obstacle.NAMESPACE_LIMIT: _NAMESPACE_LIMIT,
    },
    "Kubernetes": {
        Obstacle.SYSTEM_CALLS: "set seccompProfile: {type: Unconfined} in the container's securityContext",
        Obstacle.MASKED_PROC: "set procMount: Unmasked in the container's securityContext, and hostUsers: false in the pod",
        Obstacle.APPARMOR: "set appArmorProfile: {type: Unconfined} in the container's securityContext",
        Obstacle.NAMESPACE_LIMIT: _NAMESPACE_LIMIT.replace("host", "node"),
    },
    "": {
        Obstacle.SYSTEM_CALLS: "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1), or run as root",
        Obstacle.MASKED_PROC: "show all of /proc: in a container, with its option for unmasked system paths",
        Obstacle.APPARMOR: "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or run as root",
        Obstacle.NAMESPACE_LIMIT: _NAMESPACE_LIMIT.removeprefix("on the host: "),
    },
}


def container_runtime() -> str:
    """Return "Kubernetes", "Podman" or "Docker" if this process is in a container of it, otherwise an empty string."""
    if "KUBERNETES_SERVICE_HOST" in os.environ:
        return "Kubernetes"
    if Path("/run/.containerenv").exists():
        return "Podman"
    return "Docker" if Path("/.dockerenv").exists() else ""


def obstacle_of(message: str) -> Obstacle:
    """Return the cause of an error message of bubblewrap or unshare."""
    return next((cause for sign, cause in _SIGNS if sign.lower() in message.lower()), Obstacle.SYSTEM_CALLS)


def remedy(message: str) -> str:
    """Return what to do about an error message of bubblewrap or unshare, in the container that this process is in."""
    runtime, obstacle = container_runtime(), obstacle_of(message)
    if runtime and os.geteuid() == 0 and obstacle == Obstacle.SYSTEM_CALLS:
        return "run the container as the user of the image, not as root"
    return _REMEDIES[runtime][obstacle]

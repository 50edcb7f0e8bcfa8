"""Find out what a machine or a container must allow before a sandbox can be built in it.

The error messages are those of bubblewrap 0.8, as seen in Docker 20.10 and Podman 4.3.
"""

import os
from enum import Enum, auto
from pathlib import Path


class Obstacle(Enum):
    """What keeps a sandbox from being built."""

    SYSTEM_CALLS = auto()  # those for namespaces and mounts are refused
    MASKED_PROC = auto()  # parts of /proc are masked, or it is read-only
    APPARMOR = auto()  # it forbids mounts or user namespaces
    NAMESPACE_LIMIT = auto()  # no more namespaces may be created


# Parts of error messages, with their cause. The first one that a message contains decides: "setting up uid map: Read-only
# file system" is about /proc.
_SIGNS = (
    ("mount proc", Obstacle.MASKED_PROC),
    ("Read-only file system", Obstacle.MASKED_PROC),
    ("ENOSPC", Obstacle.NAMESPACE_LIMIT),
    ("uid map", Obstacle.APPARMOR),
    ("make / slave", Obstacle.APPARMOR),
    ("Permission denied", Obstacle.APPARMOR),
)
_MORE_NAMESPACES = "sysctl user.max_user_namespaces=65536"
_CONTAINER = {
    Obstacle.SYSTEM_CALLS: "start the container with --security-opt seccomp=assets/deploy/seccomp.json",
    Obstacle.APPARMOR: "start the container with --security-opt apparmor=unconfined",
    Obstacle.NAMESPACE_LIMIT: f"on the host: {_MORE_NAMESPACES}",
}
# What to do about each obstacle, by the runtime of the container. "" is no container, or one of another runtime.
_REMEDIES = {
    "Docker": _CONTAINER | {Obstacle.MASKED_PROC: "start the container with --security-opt systempaths=unconfined"},
    "Podman": _CONTAINER | {Obstacle.MASKED_PROC: "start the container with --security-opt 'unmask=/proc/*'"},
    "Kubernetes": {
        Obstacle.SYSTEM_CALLS: "set seccompProfile: {type: Unconfined} in the container's securityContext",
        Obstacle.MASKED_PROC: "set procMount: Unmasked in the container's securityContext, and hostUsers: false in the pod",
        Obstacle.APPARMOR: "set appArmorProfile: {type: Unconfined} in the container's securityContext",
        Obstacle.NAMESPACE_LIMIT: f"on the node: {_MORE_NAMESPACES}",
    },
    "": {
        Obstacle.SYSTEM_CALLS: "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1), or run as root",
        Obstacle.MASKED_PROC: "show all of /proc: in a container, with its option for unmasked system paths",
        Obstacle.APPARMOR: "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or run as root",
        Obstacle.NAMESPACE_LIMIT: _MORE_NAMESPACES,
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
    """Return the cause of an error message of bubblewrap.

    One without any of the signs is about a system call: "Creating new namespace failed: Operation not permitted".
    """
    return next((cause for sign, cause in _SIGNS if sign.lower() in message.lower()), Obstacle.SYSTEM_CALLS)


def remedy(message: str) -> str:
    """Return what to do about an error message of bubblewrap, in the container that this process is in."""
    runtime = container_runtime()
    obstacle = obstacle_of(message)
    # Root builds the sandbox without a user namespace (`bubblewrap.py`). Root of a container lacks the rights for that.
    if runtime and os.geteuid() == 0 and obstacle == Obstacle.SYSTEM_CALLS:
        return "run the container as the user of the image, not as root"
    return _REMEDIES[runtime][obstacle]

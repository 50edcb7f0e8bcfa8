"""Write the command line of bubblewrap (https://github.com/containers/bubblewrap) for a layout, which `policy.py` chooses."""

import os
from collections.abc import Sequence
from pathlib import Path

from evaluator.sandbox.layout import NOBODY, Layout

_EXISTING = {Path("/"), Path("/usr")}  # folders that need no --dir: every layout shows /usr as a whole


def command_line(command: Sequence[str], layout: Layout) -> list[str]:
    """Return the command line that runs a command inside the sandbox.

    bubblewrap carries out its options in their order, so that a later mount covers an earlier one.
    """
    words = ["bwrap", *_namespaces(), "--die-with-parent", "--new-session", "--clearenv", "--hostname", "sandbox"]
    for name, value in layout.environment.items():
        words += ["--setenv", name, value]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for place, size in layout.scratch.items():
        words += ["--size", str(size), "--perms", "1777", "--tmpfs", place]
    for device in layout.devices:
        words += ["--dev-bind", str(device), str(device)]
    parents = {parent for path in (*layout.shown, layout.writable) for parent in path.parents} - _EXISTING
    # bubblewrap would create missing parents with mode 0700. If the worker is root, the command runs as another user, who could
    # not pass through them.
    for parent in sorted(parents):
        words += ["--perms", "0755", "--dir", str(parent)]
    for path in layout.shown:
        words += ["--ro-bind", str(path), str(path)]
    writable = str(layout.writable)
    words += ["--bind", writable, writable]  # after the folders that are shown, because one of them may contain it
    # bubblewrap cannot limit the size of its root, so the root becomes read-only once everything is mounted.
    words += ["--remount-ro", "/", "--chdir", str(layout.folder)]
    return [*words, "--", *command]


def _namespaces() -> list[str]:
    """Return the options for the namespaces that the sandbox does not share with the host."""
    names = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    # Root needs no user namespace. Without one, setpriv, which `policy` puts before the command, switches to another user,
    # to whom the resource limits apply.
    return names if os.geteuid() == 0 else [*names, "--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]

"""Build the sandbox of `evaluator.sandbox.policy` with util-linux only, for hosts without bubblewrap.

Namespaces and visible files are the same as with bubblewrap. A shell script in a new mount namespace builds the new
root on a tmpfs, pivots into it, and execs the command.
"""

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from evaluator.sandbox.layout import NOBODY, Layout

TOOLS = ("unshare", "mount", "umount", "pivot_root", "mkdir", "rmdir", "env", "sh")
ROOT = "/mnt"  # mount point of the new root in the new mount namespace; the host's /mnt is not changed
ROOT_BYTES = 2**24  # size of the tmpfs that holds the mount points
DEVICES = ("null", "zero", "full", "random", "urandom")
# Model servers inside are reached by loopback, which is down in a new network namespace. 0x8914 is SIOCSIFFLAGS.
_LOOPBACK = "import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh14x', b'lo', 0x49))"


def command_line(command: Sequence[str], layout: Layout) -> list[str]:
    """Return the command line that runs a command inside the sandbox."""
    names = ["--mount", "--net", "--pid", "--ipc", "--uts", "--cgroup", "--fork", "--kill-child"]
    if os.geteuid() != 0:
        # The first user namespace maps root, who may mount; the second one maps the command to nobody.
        names += ["--user", "--map-root-user"]
        command = ["/usr/bin/unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}", *command]
    lines = [
        "PATH=/usr/sbin:/usr/bin:/sbin:/bin",  # exists before and after pivot_root
        *_new_root(layout),
        shlex.join([sys.executable, "-I", "-c", _LOOPBACK]),
        f"cd {ROOT}",
        "mkdir .outside",
        "pivot_root . .outside",
        "umount -l /.outside",
        "rmdir /.outside",
        "mount -o remount,bind,ro /",
        f"cd {shlex.quote(str(layout.folder))}",
        f"exec env -i {shlex.join([*(f'{k}={v}' for k, v in layout.environment.items()), *command])}",
    ]
    return ["unshare", *names, "sh", "-ec", "\n".join(lines)]


def _new_root(layout: Layout) -> Iterator[str]:
    devices = [*(Path(f"/dev/{name}") for name in DEVICES), *layout.devices]
    yield "mount --make-rprivate /"
    yield f"mount -t tmpfs -o mode=755,size={ROOT_BYTES} tmpfs {ROOT}"
    yield f"mkdir {ROOT}/proc {ROOT}/dev"
    yield f"mount -t proc proc {ROOT}/proc"
    for place, size in layout.scratch.items():
        yield f"mkdir -p {ROOT}{place}"
        yield f"mount -t tmpfs -o size={size},mode=1777,nosuid,nodev tmpfs {ROOT}{place}"
    for path in (*layout.shown, *devices):
        source = shlex.quote(str(path))
        target = shlex.quote(f"{ROOT}{path}")
        if path.is_dir():
            yield f"mkdir -p {target}"
        else:
            yield f"mkdir -p {shlex.quote(f'{ROOT}{path.parent}')}; [ -e {target} ] || : > {target}"
        yield f"mount --bind {source} {target}"
        if path not in devices:
            yield f"mount -o remount,bind,ro,nosuid {target}"
    source = shlex.quote(str(layout.writable))
    target = shlex.quote(f"{ROOT}{layout.writable}")
    yield f"mkdir -p {target}; mount --bind {source} {target}; mount -o remount,bind,nosuid,nodev {target}"

"""The sandbox of `evaluator.sandbox.policy` by util-linux alone, where bubblewrap is not installed.

The same namespaces and the same files, put together by a shell script in a mount namespace of its own: it builds the
new root on a tmpfs, moves there, and becomes the command.
"""

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from evaluator.sandbox.layout import NOBODY, Layout

TOOLS = ("unshare", "mount", "umount", "pivot_root", "mkdir", "rmdir", "env", "sh")
ROOT = "/mnt"  # in the new mount namespace; what is there outside stays as it is
ROOT_BYTES = 2**24  # of memory for the folders that all the rest hangs in
DEVICES = ("null", "zero", "full", "random", "urandom")
# Servers inside talk to themselves: without this the loopback device of a new namespace is down.
_LOOPBACK = "import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh14x', b'lo', 0x49))"  # SIOCSIFFLAGS


def command_line(command: Sequence[str], layout: Layout) -> list[str]:
    """The command line that runs a command inside."""
    names = ["--mount", "--net", "--pid", "--ipc", "--uts", "--cgroup", "--fork", "--kill-child"]
    if os.geteuid() != 0:
        # Root in a user namespace may build, and becomes nobody in another one inside.
        names += ["--user", "--map-root-user"]
        command = ["/usr/bin/unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}", *command]
    lines = [
        "PATH=/usr/sbin:/usr/bin:/sbin:/bin",  # there before and after the move
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
        source, target = shlex.quote(str(path)), shlex.quote(f"{ROOT}{path}")
        if path.is_dir():
            yield f"mkdir -p {target}"
        else:
            yield f"mkdir -p {shlex.quote(f'{ROOT}{path.parent}')}; [ -e {target} ] || : > {target}"
        yield f"mount --bind {source} {target}"
        if path not in devices:
            yield f"mount -o remount,bind,ro,nosuid {target}"
    source, target = shlex.quote(str(layout.writable)), shlex.quote(f"{ROOT}{layout.writable}")
    yield f"mkdir -p {target}; mount --bind {source} {target}; mount -o remount,bind,nosuid,nodev {target}"

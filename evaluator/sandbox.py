"""Walls around the process that runs a stranger's model, by bubblewrap (https://github.com/containers/bubblewrap).

Inside there is no network, no environment but what is named, no process of the machine and no file but the system's
libraries, Python, our code (without its samples), the model and the job, all read-only. One folder can be written. The
user is nobody, and memory, processes and file sizes end somewhere.
"""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

NOBODY = 65534
PROCESSES = 2048  # and threads
FILE_BYTES = 2**30  # of any file written inside
SCRATCH = ("/tmp", "/dev/shm")  # noqa: S108 - inside, and memory; the latter for locks between processes
SCRATCH_BYTES = 2**30  # of each
MEMORY_SHARE = 0.9  # of this machine's, where no limit is set
# What programs need of the system. Nothing of /etc but how libraries are found.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
DEVICES = "nvidia*"  # in /dev, where there are any
ROOT = Path(__file__).parent.parent
CODE = ("evaluator", "submissions")
_MADE = {Path("/"), Path("/tmp"), Path("/usr")}  # noqa: S108


class SandboxError(Exception):
    """No walls can be built here; the message says what to do. Nothing is run without them unless that was asked for."""


@dataclass(frozen=True)
class Walls:
    visible: Sequence[Path]  # read-only inside, at the same place
    writable: Path
    environment: Mapping[str, str]
    memory: int | None = None  # bytes


def confined(command: Sequence[str], walls: Walls) -> list[str]:
    """The command line that runs a command inside. Raises SandboxError."""
    check()
    words = [_bwrap(), *_namespaces(), "--die-with-parent", "--new-session", "--clearenv", "--hostname", "sandbox"]
    for name, value in walls.environment.items():
        words += ["--setenv", name, value]
    for place in SYSTEM:
        words += ["--ro-bind-try", place, place]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for scratch in SCRATCH:
        words += ["--size", str(SCRATCH_BYTES), "--perms", "1777", "--tmpfs", scratch]
    for device in sorted(Path("/dev").glob(DEVICES)):
        words += ["--dev-bind", str(device), str(device)]
    if any(Path("/dev").glob(DEVICES)):
        words += ["--ro-bind", "/sys", "/sys"]
    shown = [*_python(), *(ROOT / package for package in CODE), *walls.visible]
    for folder in sorted({parent for path in (*shown, walls.writable) for parent in path.parents} - _MADE):
        words += ["--perms", "0755", "--dir", str(folder)]  # else only root could pass through
    for path in shown:
        words += ["--ro-bind", str(path), str(path)]
    words += ["--bind", str(walls.writable), str(walls.writable), "--chdir", str(ROOT), "--"]
    return [*words, *_limits(walls.memory or _memory()), *_drop(), *command]


def hand_over(writable: Path, readable: Path) -> None:
    """Let the sandbox's user, who is another one where we are root, write one folder and read another.

    Weights that `save_pretrained` wrote are their owner's alone; what is to be read is made readable for all.
    """
    if os.geteuid() != 0:
        return
    for path in (writable, *writable.iterdir()):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    for path in (readable, *readable.rglob("*")):
        mode = path.stat().st_mode
        wanted = mode | stat.S_IROTH | (stat.S_IXOTH if path.is_dir() else 0)
        if wanted != mode:
            path.chmod(wanted)


@cache
def check() -> None:
    """Raises SandboxError where bubblewrap is missing or may not do its work."""
    tried = subprocess.run(
        [_bwrap(), *_namespaces(), "--ro-bind", "/", "/", "--proc", "/proc", "--", *_limits(2**30), *_drop(), "true"],
        capture_output=True,
        text=True,
    )
    if tried.returncode:
        reason = " ".join(tried.stderr.split())[:200]
        raise SandboxError(f"bubblewrap cannot build a sandbox here ({reason}); allow user namespaces, or run as root")


def _bwrap() -> str:
    found = shutil.which("bwrap")
    if not found:
        raise SandboxError("bubblewrap is missing: apt-get install bubblewrap")
    return found


def _namespaces() -> list[str]:
    names = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    # Root needs no user namespace, and outside of one its process becomes another user, whom limits hold for.
    return names if os.geteuid() == 0 else [*names, "--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]


def _limits(memory: int) -> list[str]:
    return ["prlimit", f"--data={memory}", f"--nproc={PROCESSES}", f"--fsize={FILE_BYTES}", "--core=0"]


def _drop() -> list[str]:
    if os.geteuid() != 0:
        return ["setpriv", "--no-new-privs"]
    user = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    return ["setpriv", *user, "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]


def _python() -> Iterator[Path]:
    for place in dict.fromkeys((sys.prefix, sys.base_prefix)):
        if not Path(place).is_relative_to("/usr"):
            yield Path(place)


def _memory() -> int:
    return int(MEMORY_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))

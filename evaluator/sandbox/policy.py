"""Walls around the process that runs a stranger's model, by bubblewrap (https://github.com/containers/bubblewrap), or
where that is missing by `evaluator.sandbox.unshare`.

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
from typing import Literal

from evaluator.sandbox import unshare
from submissions.paths import ROOT

NOBODY = 65534
PROCESSES = 2048  # and threads
FILE_BYTES = 2**30  # of any file written inside
SCRATCH = ("/tmp", "/dev/shm")  # noqa: S108 - inside, and memory; the latter for locks between processes
SCRATCH_BYTES = 2**30  # of each
MEMORY_SHARE = 0.9  # of this machine's, where no limit is set
# What programs need of the system. Nothing of /etc but how libraries are found.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
DEVICES = "nvidia*"  # in /dev, where there are any
CODE = ("evaluator", "submissions")
Mechanism = Literal["bubblewrap", "unshare"]
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
    built_by = mechanism()
    system = [Path(place) for place in SYSTEM if Path(place).exists()]
    devices = sorted(Path("/dev").glob(DEVICES))
    own = [*_python(), *(ROOT / package for package in CODE), *walls.visible]
    shown = [*system, *([Path("/sys")] if devices else []), *own]
    inside = [*_limits(walls.memory or _memory()), *_drop(), *command]
    if built_by == "unshare":
        scratch = dict.fromkeys(SCRATCH, SCRATCH_BYTES)
        return unshare.unshared(
            inside,
            shown=shown,
            devices=devices,
            writable=walls.writable,
            scratch=scratch,
            environment=walls.environment,
            folder=ROOT,
        )
    words = ["bwrap", *_namespaces(), "--die-with-parent", "--new-session", "--clearenv", "--hostname", "sandbox"]
    for name, value in walls.environment.items():
        words += ["--setenv", name, value]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for place in SCRATCH:
        words += ["--size", str(SCRATCH_BYTES), "--perms", "1777", "--tmpfs", place]
    for device in devices:
        words += ["--dev-bind", str(device), str(device)]
    for folder in sorted({parent for path in (*own, walls.writable) for parent in path.parents} - _MADE):
        words += ["--perms", "0755", "--dir", str(folder)]  # else only root could pass through
    for path in shown:
        words += ["--ro-bind", str(path), str(path)]
    return [*words, "--bind", str(walls.writable), str(walls.writable), "--chdir", str(ROOT), "--", *inside]


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
def mechanism() -> Mechanism:
    """What builds the walls here. Raises SandboxError where bubblewrap and unshare are missing or may not."""
    reason = "bubblewrap is missing: apt-get install bubblewrap"
    if shutil.which("bwrap"):
        trial = ["bwrap", *_namespaces(), "--ro-bind", "/", "/", "--proc", "/proc", "--"]
        if not (reason := _failure([*trial, *_limits(2**30), *_drop(), "true"])):
            return "bubblewrap"
    if all(map(shutil.which, unshare.TOOLS)):
        trial = unshare.unshared(
            [*_limits(2**30), *_drop(), "true"],
            shown=[Path(place) for place in SYSTEM if Path(place).exists()],
            devices=[],
            writable=Path("/tmp"),  # noqa: S108 - any folder
            scratch={},
            environment={"PATH": os.environ.get("PATH", "")},
            folder=Path("/"),
        )
        if not _failure(trial):
            return "unshare"
    raise SandboxError(f"no sandbox can be built here ({reason}); allow user namespaces, or run as root")


def _failure(command: Sequence[str]) -> str:
    """What a command says that fails; nothing where it does not."""
    tried = subprocess.run(command, capture_output=True, text=True)
    return (" ".join(tried.stderr.split())[:200] or "it fails") if tried.returncode else ""


def _namespaces() -> list[str]:
    names = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    # Root needs no user namespace, and outside of one its process becomes another user, whom limits hold for.
    return names if os.geteuid() == 0 else [*names, "--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]


def _limits(memory: int) -> list[str]:
    return [_tool("prlimit"), f"--data={memory}", f"--nproc={PROCESSES}", f"--fsize={FILE_BYTES}", "--core=0"]


def _drop() -> list[str]:
    words = [_tool("setpriv"), "--no-new-privs"]
    if os.geteuid() == 0:
        words += [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
    return words


def _tool(name: str) -> str:
    """Where it really is: inside, not every place of this PATH is there."""
    found = shutil.which(name)
    if not found:
        raise SandboxError(f"{name} is missing: apt-get install util-linux")
    return str(Path(found).resolve())


def _python() -> Iterator[Path]:
    for place in dict.fromkeys((sys.prefix, sys.base_prefix)):
        if not Path(place).is_relative_to("/usr"):
            yield Path(place)


def _memory() -> int:
    return int(MEMORY_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))

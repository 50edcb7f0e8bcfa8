"""The sandbox around the process that runs a stranger's model: what is visible inside, and who builds it.

Built by bubblewrap, or where that is missing by util-linux's unshare. Inside there is no network, no environment but
what is named, no process of the machine and no file but the system's libraries, Python, our code (without its samples),
the model and the job, all read-only. One folder can be written. The user is nobody else's, memory, processes and file sizes
are limited, and system calls that no model needs are refused.
"""

import os
import secrets
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from evaluator.core.errors import SandboxError
from evaluator.sandbox import bubblewrap, unshare
from evaluator.sandbox.layout import NOBODY, Layout
from submissions.config.paths import ROOT
from submissions.hub_models.architectures import ARCHITECTURES

FIRST_USER = 2**30
PROCESSES = 2048  # and threads
FILE_BYTES = 2**30  # of any file written inside
SCRATCH = ("/tmp", "/dev/shm")  # noqa: S108 - inside, and memory; the latter for locks between processes
SCRATCH_BYTES = 2**30  # of each
MEMORY_SHARE = 0.9  # of this machine's, where no limit is set
# What programs need of the system. Nothing of /etc but how libraries are found.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
DEVICES = "nvidia*"  # in /dev, where there are any
CODE = ("evaluator", "submissions")
Backend = Literal["bubblewrap", "unshare"]
Build = Callable[[Sequence[str], Layout], list[str]]


@dataclass(frozen=True)
class SandboxPolicy:
    visible: Sequence[Path]  # read-only inside, at the same path
    writable: Path
    environment: Mapping[str, str]
    memory: int | None = None  # bytes; None: most of this machine's
    user: int = NOBODY  # inside, where we are root: one of its own leaves nothing to the next

    @property
    def memory_limit(self) -> int:
        return self.memory or int(MEMORY_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def sandbox_command(command: Sequence[str], policy: SandboxPolicy) -> list[str]:
    """The command line that runs a command inside. Raises SandboxError."""
    build = {"bubblewrap": bubblewrap.command_line, "unshare": unshare.command_line}[detect_backend()]
    devices = sorted(Path("/dev").glob(DEVICES))
    layout = Layout(
        shown=[*_system(), *([Path("/sys")] if devices else []), *_code(), *policy.visible],
        devices=devices,
        writable=policy.writable,
        scratch=dict.fromkeys(SCRATCH, SCRATCH_BYTES),
        environment=policy.environment,
        folder=ROOT,
    )
    return build([*_confined(policy.memory_limit, policy.user), *command], layout)


def new_user() -> int:
    """A number that no user of the machine, of a container's range or of an earlier evaluation is likely to have."""
    return FIRST_USER + secrets.randbelow(2**28)


def grant_access(writable: Path, readable: Path, user: int = NOBODY) -> None:
    """Let the sandbox's user, who is another one if we are root, write one folder and read another."""
    if os.geteuid() == 0:
        for path in (writable, *writable.iterdir()):
            os.chown(path, user, user, follow_symlinks=False)
    make_readable(readable)


def make_readable(readable: Path) -> None:
    """Let every user read a folder if we are root: weights that `save_pretrained` wrote are their owner's alone.

    Nothing is changed through a link.
    """
    if os.geteuid() != 0:
        return
    for path in (readable, *readable.rglob("*")):
        if path.is_symlink():
            continue
        mode = path.stat().st_mode
        wanted = mode | stat.S_IROTH | (stat.S_IXOTH if path.is_dir() else 0)
        if wanted != mode:
            path.chmod(wanted)


@cache
def detect_backend() -> Backend:
    """What can build a sandbox here. Raises SandboxError where bubblewrap and unshare are missing or may not."""
    reason = "bubblewrap is missing: apt-get install bubblewrap"
    with TemporaryDirectory() as writable:
        trial = Layout(
            shown=[*_system(), *_code()],
            devices=[],
            writable=Path(writable),
            scratch={},
            environment={"PATH": os.environ.get("PATH", "")},
            folder=ROOT,
        )
        if shutil.which("bwrap") and not (reason := _failure(bubblewrap.command_line, trial)):
            return "bubblewrap"
        if all(map(shutil.which, unshare.TOOLS)) and not _failure(unshare.command_line, trial):
            return "unshare"
    raise SandboxError(f"no sandbox can be built here ({reason}); allow user namespaces, or run as root")


def _system() -> list[Path]:
    return [Path(path) for path in SYSTEM if Path(path).exists()]


def _failure(build: Build, layout: Layout) -> str:
    """What is said where a sandbox built like this fails; nothing where it does not."""
    command = build([*_confined(2**30, NOBODY), _tool("true")], layout)
    tried = subprocess.run(command, capture_output=True, text=True)
    return (" ".join(tried.stderr.split())[:200] or "it fails") if tried.returncode else ""


def _confined(memory: int, user: int) -> list[str]:
    """What a command is run by inside: limits, another user, the filter of system calls."""
    return [*_limits(memory), *_drop_privileges(user), sys.executable, "-m", "evaluator.sandbox.system_calls"]


def _limits(memory: int) -> list[str]:
    return [_tool("prlimit"), f"--data={memory}", f"--nproc={PROCESSES}", f"--fsize={FILE_BYTES}", "--core=0"]


def _drop_privileges(user: int) -> list[str]:
    words = [_tool("setpriv"), "--no-new-privs"]
    if os.geteuid() == 0:
        words += [f"--reuid={user}", f"--regid={user}", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
    return words


def _tool(name: str) -> str:
    """Where it really is: inside, not every place of this PATH is there."""
    found = shutil.which(name)
    if not found:
        raise SandboxError(f"{name} is missing: apt-get install util-linux")
    return str(Path(found).resolve())


def _code() -> Iterator[Path]:
    """Return the places of Python, its packages, ours, and the list of architectures, which the engines read."""
    yield from (ROOT / package for package in CODE)
    yield ARCHITECTURES
    for place in dict.fromkeys((sys.prefix, sys.base_prefix)):
        if not Path(place).is_relative_to("/usr"):
            yield Path(place)

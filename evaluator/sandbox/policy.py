"""The sandbox around the process that runs an untrusted model: what is visible inside, and whether it can be built here.

The sandbox is built by bubblewrap (`bubblewrap.py`). Inside there is no network, no environment variable except those in
`environment.py`, no process of the host, and no file except those in `layout.py`: the system's libraries, the list of
processors, Python, this project's code (without its samples), the model and the job. All of these are read-only; one
folder is writable. The process runs as a separate user. Memory, number of processes and file sizes are limited, and
system calls that models do not need are refused (`system_calls.py`).

`evaluator/job/command.py` composes the command of the inference process with `sandbox_command`. `isolated_command` is for
small programs that read untrusted input, such as chat templates.
"""

import atexit
import os
import secrets
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from evaluator.core.errors import SandboxError
from evaluator.sandbox.bubblewrap import command_line
from evaluator.sandbox.layout import NOBODY, Layout, full_layout, minimal_layout
from evaluator.sandbox.remedies import container_runtime, remedy
from submissions.config.machine import memory_bytes

# Random user ids are from 2^30 to 2^30 + 2^28, far above those of a host's users and of usual containers' user namespaces.
FIRST_RANDOM_UID = 2**30
RANDOM_UIDS = 2**28
MAX_PROCESSES = 2048  # threads included
MAX_FILE_BYTES = 2**30  # of any file written inside
SMALL_MEMORY = 2**31  # bytes for a small program of this project
TRIAL_MEMORY = 2**30  # bytes for `true`, which is run to see whether a sandbox can be built
MEMORY_SHARE = 0.9  # of the memory that this process may use, if no limit is set
BUILDER = "bubblewrap"  # as results name what their model ran in


@dataclass(frozen=True)
class SandboxPolicy:
    """What one evaluation may see and use inside its sandbox."""

    visible: Sequence[Path]  # read-only inside, at the same path
    writable: Path
    environment: Mapping[str, str]
    memory: int | None = None  # bytes; None: MEMORY_SHARE of what this process may use
    user: int = NOBODY  # user id inside, if the worker is root, see `new_user`

    @property
    def memory_limit(self) -> int:
        """The bytes that each process may use. `evaluator/job/process.py` limits all together to the same, if it can."""
        return self.memory or int(MEMORY_SHARE * memory_bytes())


def sandbox_command(command: Sequence[str], policy: SandboxPolicy) -> list[str]:
    """Return the command line that runs a command inside the sandbox. Raises SandboxError if none can be built."""
    try_sandbox()
    layout = full_layout(policy.visible, policy.writable, policy.environment)
    return command_line([*_restrictions(policy.memory_limit, policy.user), *command], layout)


def isolated_command(command: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Return the command line that runs a small program of this project in a sandbox with its code, but without network.

    Return the command itself if no sandbox can be built here, as in a Space. The program must therefore limit itself too, as
    `submissions/hub_models/template_renderer.py` does.
    """
    try:
        try_sandbox()
    except SandboxError:
        return list(command)
    layout = minimal_layout(_empty_folder(), environment)
    return command_line([*_restrictions(SMALL_MEMORY, NOBODY), *command], layout)


@cache
def _empty_folder() -> Path:
    """Return an empty folder for sandboxes that need none of their own. It is deleted when this process exits."""
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name)


def new_user() -> int:
    """Return a random user id that is unlikely to be used by the host, a container or an earlier evaluation.

    So an evaluation can neither read files that another one has left nor send signals to it. In a rootless container, which has
    only some user ids, it is NOBODY.
    """
    user = FIRST_RANDOM_UID + secrets.randbelow(RANDOM_UIDS)
    return user if _exists_here(user) else NOBODY


def _exists_here(user: int) -> bool:
    """Return whether the user namespace of this process has a user id."""
    for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines():
        first, _outside, count = map(int, line.split())
        if first <= user < first + count:
            return True
    return False


def grant_access(writable: Path, readable: Path, user: int = NOBODY) -> None:
    """Let the sandbox's user write one folder and read another. Without root, it is the user of this process anyway."""
    if os.geteuid() == 0:
        for path in (writable, *writable.iterdir()):  # files of an earlier attempt belong to its user, see `new_user`
            os.chown(path, user, user, follow_symlinks=False)
    make_readable(readable)


def make_readable(readable: Path) -> None:
    """Let every user read a folder, if this process is root.

    Weights written by `save_pretrained` are readable by their owner only. Symbolic links are skipped.
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
def try_sandbox() -> None:
    """Build a sandbox, to see whether that is possible here. After a success, further calls do nothing.

    Raises SandboxError with what to do if bubblewrap is missing or not permitted.
    """
    if not shutil.which("bwrap"):
        raise SandboxError("bubblewrap is missing: apt-get install bubblewrap")
    with TemporaryDirectory() as writable:
        reason = _trial_error(minimal_layout(Path(writable), {"PATH": os.environ.get("PATH", "")}))
    if not reason:
        return
    runtime = container_runtime()
    place = f"in this {runtime} container" if runtime else "on this machine"
    raise SandboxError(f"the sandbox cannot be built {place} ({reason}); {remedy(reason)}")


def _trial_error(layout: Layout) -> str:
    """Run the program `true` in a sandbox and return the error message, or an empty string if it works."""
    command = command_line([*_restrictions(TRIAL_MEMORY, NOBODY), _tool("true")], layout)
    trial = subprocess.run(command, capture_output=True, text=True)
    if trial.returncode == 0:
        return ""
    return " ".join(trial.stderr.split())[:200] or "no error message"


def _restrictions(memory: int, user: int) -> list[str]:
    """Return the command prefix that sets limits, switches the user and installs the system call filter, inside."""
    return [*_limits(memory), *_drop_privileges(user), sys.executable, "-m", "evaluator.sandbox.system_calls"]


def _limits(memory: int) -> list[str]:
    """Return the command prefix that sets limits. `memory` is in bytes of data for each process."""
    return [_tool("prlimit"), f"--data={memory}", f"--nproc={MAX_PROCESSES}", f"--fsize={MAX_FILE_BYTES}", "--core=0"]


def _drop_privileges(user: int) -> list[str]:
    """Return the command prefix that switches to a user without rights. Without root, the user is the right one already."""
    words = [_tool("setpriv"), "--no-new-privs"]
    if os.geteuid() == 0:
        words += [f"--reuid={user}", f"--regid={user}", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
    return words


def _tool(name: str) -> str:
    """Return the resolved path of a program, because not every folder of PATH exists inside the sandbox.

    Raises SandboxError if the program is missing.
    """
    found = shutil.which(name)
    if not found:
        raise SandboxError(f"{name} is missing: apt-get install util-linux")
    return str(Path(found).resolve())

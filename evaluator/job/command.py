"""How the inference process is started: its command line, what it sees in the sandbox, and its environment variables."""

import os
import shutil
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluator.core.errors import EvaluationError
from evaluator.job.folder import REMOTE_MEMORY, Job
from evaluator.sandbox.environment import child_environment, inside_sandbox, program_path
from evaluator.sandbox.policy import SandboxPolicy, grant_access, new_user, sandbox_command
from submissions.config.server_command import program_of
from submissions.texts.failure_codes import FailureCode

CHILD = "evaluator.job.child"  # the module run as the inference process


@dataclass(frozen=True)
class Command:
    """How to start the inference process."""

    words: list[str]  # the command line
    environment: dict[str, str]
    memory: int | None  # bytes that the process and its children may use together; None: no limit


def inference_command(job: Job, sandbox: bool, devices: Sequence[str] | None) -> Command:
    """Return how to start the inference process, in a sandbox or without.

    Raises SandboxError if the sandbox cannot be built, EvaluationError if its user cannot read the model.
    """
    options = job.options()
    folder = job.folder.resolve()
    environment = child_environment(options.api, devices)
    words = [sys.executable, "-m", CHILD, str(folder)]
    if not sandbox:
        return Command(words, environment, memory=REMOTE_MEMORY if options.remote else None)
    user = new_user()
    model_folders = [path for path in (options.model, options.adapter) if path]
    for model_folder in model_folders:
        grant_access(job.out, model_folder, user)
    # Files of a model may be symbolic links into the operator's Hub cache, which `grant_access` leaves as they are.
    files = (path for model_folder in model_folders for path in model_folder.rglob("*"))
    linked = [path.resolve() for path in files if path.is_symlink()]
    if os.geteuid() == 0:  # otherwise the sandbox's user is this process's
        _check_readable(linked)
    program = installation_of(options.api.spawn) if options.api and options.api.spawn else []
    environment = inside_sandbox(environment, custom_code=options.custom_code)
    policy = SandboxPolicy(
        visible=[*model_folders, *linked, *program, folder],
        writable=folder / job.out.name,
        environment=environment,
        user=user,
    )
    return Command(sandbox_command(words, policy), environment, memory=policy.memory_limit)


def _check_readable(linked: Sequence[Path]) -> None:
    """Raise EvaluationError if not every user may read these files. The operator's files keep their permissions."""
    for path in linked:
        if not path.stat().st_mode & stat.S_IROTH:
            message = f"{path}: the sandbox's user may not read it; chmod o+r"
            raise EvaluationError(FailureCode.INTERNAL_ERROR, message)


def installation_of(command: str) -> list[Path]:
    """Return the paths that a server's program needs inside the sandbox. `command` is the template of `--spawn`.

    They are the virtual environment that the program is in, with the base Python of that, or only the program's file if it
    is in none. Paths in /usr are left out, because they are always visible.
    """
    try:
        found = shutil.which(program_of(command), path=program_path())
    except ValueError:  # malformed, which the engine reports
        return []
    if found is None:
        return []
    needed: set[Path] = set()
    for program in (Path(found), Path(found).resolve()):  # a link, and what it points to
        settings = program.parent.parent / "pyvenv.cfg"
        if settings.is_file():
            needed |= {settings.parent, *_base_python(settings)}
        else:
            needed.add(program)
    return sorted(path for path in needed if not path.is_relative_to("/usr"))


def _base_python(settings: Path) -> list[Path]:
    """Return the folder of the base Python that a pyvenv.cfg names: "home = /opt/python/bin" -> [/opt/python].

    Return an empty list if it names none, or none in a folder `bin`.
    """
    lines = (line.partition("=") for line in settings.read_text(encoding="utf-8").splitlines())
    homes = [Path(value.strip()) for name, _, value in lines if name.strip() == "home"]
    # The parent of /bin is the whole disk, which the sandbox must not see.
    return [home.parent for home in homes if home.name == "bin" and home.parent != Path("/")]

"""`HANNUN_LAUNCHER=command`: jobs by the operator's own commands, of Slurm, Kubernetes, SkyPilot or anything else.

`HANNUN_COMMANDS` names three, each run by the shell:

start   starts a job; the last word it prints is the job's name. {command} stands for what the job is to run, quoted for a
        shell, {arguments} for what follows `python -m evaluator` in it, {gpus}, {memory_gb} and {minutes} for what it takes,
        {name} for a name of its own
state   prints the state of {job}. Nothing means that there is no such job any more, a failure that nobody can tell now
cancel  tells {job} to end

A start that fails after its job has begun leaves a job whose lease is another's by then, so that it ends by itself.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping

from evaluator.worker.launchers.base import JobLauncher, JobState, Launch, LaunchError
from submissions.config.paths import ROOT
from submissions.config.settings import LaunchCommands, Settings
from submissions.queue.queue import Queue
from submissions.store.open import absolute
from submissions.texts.errors import SettingsError

UNKNOWN_MEMORY = 16 * 10**9  # bytes, for a model whose size is not known
BASE_GB = 8  # of the machine's own memory: libraries, images, the loading of weights
PLACEHOLDER = re.compile(r"(?<!\$)\{(\w+)\}")  # not ${…}, which is the shell's
PLACEHOLDERS = {
    "start": {"command", "arguments", "gpus", "memory_gb", "minutes", "name"},
    "state": {"job"},
    "cancel": {"job"},
}
SECONDS = 120.0  # for a command
# What schedulers call a job that is over, by the first letters of its state in lower case.
ENDED = ("succeeded", "completed", "failed", "cancelled", "timeout", "out_of_me", "node_fail", "boot_fail", "deadline")
PREEMPTED = ("preempted", "evicted")


class CommandLauncher(JobLauncher):
    def __init__(self, settings: Settings, queue: Queue) -> None:
        """Raises SettingsError."""
        super().__init__(settings, queue)
        if settings.commands is None:
            raise SettingsError('HANNUN_LAUNCHER=command needs HANNUN_COMMANDS: {"start": …, "state": …, "cancel": …}')
        self._commands: LaunchCommands = settings.commands
        for name, known in PLACEHOLDERS.items():
            command = getattr(self._commands, name)
            used = set(re.findall(PLACEHOLDER, command))
            if unknown := sorted(used - known):
                raise SettingsError(f"HANNUN_COMMANDS {name}: {{{unknown[0]}}} stands for nothing")
            if name != "start" and not used:
                raise SettingsError(f"HANNUN_COMMANDS {name}: it does not name {{job}}")

    def start(self, launch: Launch) -> str:
        own = self.settings  # a command line may have named another store
        places = {"HANNUN_STORE": absolute(own.store), "HANNUN_PRIVATE_STORE": absolute(own.private_store)}
        command = [sys.executable, "-m", "evaluator", *launch.arguments]
        said = self._run(
            "start",
            environment=places,
            command=f"cd {shlex.quote(str(ROOT))} && exec {shlex.join(command)}",
            arguments=shlex.join(launch.arguments),
            gpus=launch.gpus,
            memory_gb=-(-(launch.memory or UNKNOWN_MEMORY) // 10**9) + BASE_GB,
            minutes=int(launch.time_limit.total_seconds() // 60),
            name=launch.name,
        )
        if not (words := said.split()):
            raise LaunchError("HANNUN_COMMANDS start: it printed no name of a job")
        return words[-1]

    def state(self, job: str) -> JobState:
        said = self._run("state", job=job).strip().lower()
        if said.startswith(PREEMPTED):
            return JobState.PREEMPTED
        return JobState.ENDED if not said or said.startswith(ENDED) else JobState.ALIVE

    def cancel(self, job: str) -> None:
        self._run("cancel", job=job)

    def _run(self, what: str, environment: Mapping[str, str] | None = None, **values: object) -> str:
        """What a command prints; {names} in it stand for values, quoted for the shell. Raises LaunchError."""
        template = getattr(self._commands, what)
        command = PLACEHOLDER.sub(lambda found: shlex.quote(str(values[found[1]])), template)
        try:
            done = subprocess.run(  # noqa: S602 - the operator's own command
                command,
                shell=True,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise LaunchError(
                f"HANNUN_COMMANDS {what} did not answer within {SECONDS:g} s, or what it started holds its output open"
            ) from None
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise LaunchError(f"HANNUN_COMMANDS {what} ended with {done.returncode}: {said[-1] if said else 'no word'}")
        return done.stdout

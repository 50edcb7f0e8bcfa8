"""`HANNUN_LAUNCHER=command`: run jobs with the operator's commands, for example for Slurm, Ray, Kubernetes or SkyPilot.

`LaunchCommands` in `submissions/config/setting_values.py` describes the three commands and their placeholders. Values are
quoted for the shell. If the start command fails although its job has begun, the request goes back to the queue, and the job
ends itself when it notices that it has lost the lease.
"""

import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping

from evaluator.worker.launchers.base import JobLauncher, JobState, Launch, LaunchError
from submissions.config.paths import ROOT
from submissions.config.setting_values import LaunchCommands
from submissions.config.settings import Settings
from submissions.queue.queue import Queue
from submissions.store.open import store_variables
from submissions.texts.errors import SettingsError

DEFAULT_MEMORY = 16 * 10**9  # bytes, for a model of unknown size
HOST_MEMORY_GB = 8  # for libraries, images and the loading of weights
PLACEHOLDER = re.compile(r"(?<!\$)\{(\w+)\}")  # "{gpus}", but not "${HOME}", a variable of the shell
PLACEHOLDERS = {  # that each command may contain
    "start": {"command", "arguments", "gpus", "memory_gb", "minutes", "name"},
    "state": {"job"},
    "cancel": {"job"},
}
COMMAND_TIMEOUT = 120.0  # seconds
# Prefixes, in lower case, of the states that schedulers report for jobs that have ended.
ENDED = (
    "succeeded",
    "complete",  # also "completed", but not Slurm's COMPLETING, of which processes may still run
    "done",
    "failed",
    "cancelled",
    "canceled",
    "terminated",
    "revoked",
    "timeout",
    "out_of_me",  # Slurm's OUT_OF_MEMORY, which it may abbreviate
    "node_fail",
    "boot_fail",
    "launch_failed",
    "deadline",
    "stopped",
)
PREEMPTED = ("preempted", "evicted")


class CommandLauncher(JobLauncher):
    """Starts, observes and cancels jobs with the three commands of HANNUN_COMMANDS."""

    def __init__(self, settings: Settings, queue: Queue) -> None:
        """Raises SettingsError if HANNUN_COMMANDS is not set or has a wrong placeholder."""
        super().__init__(settings, queue)
        if settings.commands is None:
            raise SettingsError('HANNUN_LAUNCHER=command needs HANNUN_COMMANDS: {"start": …, "state": …, "cancel": …}')
        self._commands: LaunchCommands = settings.commands
        for name, known in PLACEHOLDERS.items():
            command = getattr(self._commands, name)
            used = set(re.findall(PLACEHOLDER, command))
            if unknown := sorted(used - known):
                raise SettingsError(f"HANNUN_COMMANDS {name}: unknown placeholder {{{unknown[0]}}}")
            if name == "start" and used.isdisjoint(("command", "arguments")):
                raise SettingsError("HANNUN_COMMANDS start: it contains neither {command} nor {arguments}")
            if name != "start" and not used:
                raise SettingsError(f"HANNUN_COMMANDS {name}: it does not contain {{job}}")

    def start(self, launch: Launch) -> str:
        words = [sys.executable, "-m", "evaluator", *launch.arguments]
        model_gb = math.ceil((launch.memory or DEFAULT_MEMORY) / 10**9)
        output = self._run(
            "start",
            # A job sees only the environment, and the stores may have been named on the command line.
            environment=store_variables(self.settings),
            command=f"cd {shlex.quote(str(ROOT))} && exec {shlex.join(words)}",
            arguments=shlex.join(launch.arguments),
            gpus=launch.gpus,
            memory_gb=model_gb + HOST_MEMORY_GB,
            minutes=int(launch.time_limit.total_seconds() // 60),
            name=launch.name,
        )
        printed = output.split()
        if not printed:
            raise LaunchError("HANNUN_COMMANDS start: it printed no job name")
        return printed[-1]

    def state(self, job: str) -> JobState:
        state = self._run("state", job=job).strip().lower()
        if state.startswith(PREEMPTED):
            return JobState.PREEMPTED
        # A scheduler that no longer knows a job prints nothing.
        return JobState.ENDED if not state or state.startswith(ENDED) else JobState.ALIVE

    def cancel(self, job: str) -> None:
        self._run("cancel", job=job)

    def _run(self, step: str, environment: Mapping[str, str] | None = None, **values: object) -> str:
        """Run a command with its placeholders filled in and return its output.

        `step` is "start", "state" or "cancel", `values` are the placeholders' values, and `environment` are variables in
        addition to those of this process. Raises LaunchError if it fails or takes longer than COMMAND_TIMEOUT.
        """
        template = getattr(self._commands, step)
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
                timeout=COMMAND_TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise LaunchError(
                f"HANNUN_COMMANDS {step} did not end within {COMMAND_TIMEOUT:g} s, or a child process keeps its output open"
            ) from None
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines()
            raise LaunchError(
                f"HANNUN_COMMANDS {step} ended with {done.returncode}: {lines[-1] if lines else 'no output'}"
            )
        return done.stdout

"""`HANNUN_LAUNCHER=ray`: each evaluation is a task on the Ray cluster at RAY_ADDRESS.

Every node needs this code and its environment at the same path, bubblewrap, and access to the stores. A task requests the
GPUs and the memory that its model needs, and the resources in HANNUN_RAY_RESOURCES.

source: https://docs.ray.io/en/latest/ray-core/scheduling/resources.html
"""

import logging
import os
import subprocess
import sys
from contextlib import suppress
from functools import partial
from typing import Any

import ray
from ray.exceptions import RayError, TaskCancelledError

from evaluator.worker.launchers.base import JobLauncher, JobState, Launch, as_launch_errors
from submissions.config.paths import ROOT
from submissions.config.settings import HOST_ONLY_SETTINGS, Settings
from submissions.queue.queue import Queue
from submissions.store.open import store_variables
from submissions.texts.errors import SettingsError

log = logging.getLogger(__name__)

POLL_SECONDS = 0.5
_ray_errors = partial(as_launch_errors, "Ray", RayError, KeyError, ValueError)


class RayLauncher(JobLauncher):
    def __init__(self, settings: Settings, queue: Queue) -> None:
        """Connect to the cluster. Raises SettingsError if none is found."""
        super().__init__(settings, queue)
        try:
            ray.init(
                address=os.environ.get("RAY_ADDRESS", "auto"),
                namespace="hannun",
                log_to_driver=False,
                configure_logging=False,
                ignore_reinit_error=True,
                runtime_env={
                    "env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))}
                },
            )
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise SettingsError(f"RAY_ADDRESS: {' '.join(str(error).split())[:300]}") from None
        self._tasks: dict[str, Any] = {}  # name → reference to the task's result

    def start(self, launch: Launch) -> str:
        settings = self.settings
        # Passed as an argument: Ray's dashboard shows the runtime environment, and these include tokens.
        environment = {
            **settings.variables(HOST_ONLY_SETTINGS),
            **settings.secrets,
            **store_variables(settings),
        }
        with _ray_errors():
            self._tasks[launch.name] = _evaluate.options(
                name=launch.name,
                num_gpus=launch.gpus,
                memory=launch.memory,
                resources=self.settings.ray_resources or None,
            ).remote(launch.arguments, environment)
        return launch.name

    def state(self, job: str) -> JobState:
        with _ray_errors():
            done, _ = ray.wait([self._tasks[job]], timeout=0)
        if not done:
            return JobState.ALIVE
        try:
            if code := ray.get(self._tasks.pop(job)):
                log.warning("%s ended with exit code %d; see `ray logs`", job, code)
        except TaskCancelledError:
            pass
        except RayError as error:  # its node or process is lost, or the task raised
            log.warning("%s: %s", job, str(error).strip().splitlines()[-1])
        return JobState.ENDED

    def cancel(self, job: str) -> None:
        with _ray_errors():
            ray.cancel(self._tasks[job])


@ray.remote(num_cpus=1, max_retries=0, max_calls=1)  # type: ignore[untyped-decorator]
def _evaluate(arguments: tuple[str, ...], environment: dict[str, str]) -> int:
    """Run the job in a subprocess, which gets SIGTERM if this process ends. Only its environment has the tokens."""
    command = ["setpriv", "--pdeathsig", "TERM", sys.executable, "-m", "evaluator", *arguments]
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | environment)
    try:
        while process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(POLL_SECONDS)  # short, because Ray's interruption does not end a wait
        return process.returncode
    except KeyboardInterrupt:  # cancelled
        process.terminate()
        process.wait()
        raise

"""`HANNUN_LAUNCHER=hf-jobs`: a Job on the Hub for each evaluation, on the cheapest hardware that holds the model.

`HANNUN_JOBS` names image, code and the most one job may cost: `{"image": "python:3.11@sha256:…", "space": "OWNER/NAME",
"commit": "…", "max_price": 20}`. Both stores must be on the Hub.

source: https://huggingface.co/docs/huggingface_hub/guides/jobs
"""

import logging
from datetime import timedelta
from functools import partial

from httpx2 import HTTPError
from huggingface_hub import JobStage

from evaluator.hub.jobs import Flavor, JobClient, JobSettings
from evaluator.worker.launchers.base import OVERTIME, JobLauncher, JobState, Launch, LaunchError, as_launch_errors
from submissions.config.settings import HubJobs, Settings
from submissions.queue.queue import Queue
from submissions.texts.errors import SettingsError

log = logging.getLogger(__name__)

SHORTEST = timedelta(minutes=10)  # beside starting and publishing: less buys no evaluation
LEAST_MEMORY = 16 * 10**9  # bytes, for a model whose size is not known
_hub_errors = partial(as_launch_errors, "the Hub's Jobs", HTTPError, ValueError, KeyError)
ALIVE = (JobStage.SCHEDULING, JobStage.RUNNING)


class HubJobLauncher(JobLauncher):
    def __init__(self, settings: Settings, queue: Queue) -> None:
        """Raises SettingsError."""
        super().__init__(settings, queue)
        if settings.jobs is None:
            raise SettingsError('HANNUN_LAUNCHER=hf-jobs needs HANNUN_JOBS: {"image", "space", "commit", "max_price"}')
        self._jobs: HubJobs = settings.jobs
        self._client = JobClient(settings)

    def start(self, launch: Launch) -> str:
        own = self._jobs
        with _hub_errors():
            flavor = self._flavor(launch.memory)
            limit = launch.time_limit
            if flavor.price:
                limit = min(limit, timedelta(hours=own.max_price / flavor.price))
            if limit < OVERTIME + SHORTEST:
                raise LaunchError(
                    f"max_price {own.max_price:g} buys {limit} on {flavor.name} at ${flavor.price:.2f} an hour"
                )
            log.info(
                "%s goes to %s (%s): $%.2f an hour, at most %s and $%.2f",
                *(launch.request.key, flavor.name, flavor.accelerator or "no accelerator", flavor.price, limit),
                flavor.price * limit / timedelta(hours=1),
            )
            return self._client.run(
                JobSettings(own.space, own.commit, flavor.name, own.image, limit, own.namespace),
                launch.arguments,
                {"request": launch.request.key, "name": launch.name},
                {
                    # It ends by itself, with a word, before the Hub would end it.
                    "HANNUN_DEADLINE": f"{int((limit - OVERTIME).total_seconds())}s",
                    "HANNUN_PRICE_PER_HOUR": f"{flavor.price:.6f}",
                },
            )

    def state(self, job: str) -> JobState:
        with _hub_errors():
            return JobState.ALIVE if self._client.stage(job, self._jobs.namespace) in ALIVE else JobState.ENDED

    def cancel(self, job: str) -> None:
        with _hub_errors():
            self._client.cancel(job, self._jobs.namespace)

    def _flavor(self, memory: int | None) -> Flavor:
        """Raises LaunchError where none will do."""
        offered = self._client.flavors()
        if self._jobs.flavor:
            fitting = [flavor for flavor in offered if flavor.name == self._jobs.flavor]
        else:
            fitting = [flavor for flavor in offered if flavor.memory >= (memory or LEAST_MEMORY)]
        if not fitting:
            wanted = self._jobs.flavor or f"{(memory or LEAST_MEMORY) / 1e9:,.0f} GB of GPU memory"
            raise LaunchError(f"the Hub offers no hardware with {wanted}")
        return fitting[0]

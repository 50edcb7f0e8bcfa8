"""`HANNUN_LAUNCHER=hf-jobs`: each evaluation is a Job on the Hub, on the cheapest hardware with enough memory for the model.

`HANNUN_JOBS` sets the image, the code and the maximum price of a job in dollars: `{"image": "python:3.11@sha256:…",
"space": "OWNER/NAME", "commit": "…", "max_price": 20}`. Both stores must be on the Hub.

source: https://huggingface.co/docs/huggingface_hub/guides/jobs
"""

import logging
from datetime import timedelta
from functools import partial

from httpx2 import HTTPError
from huggingface_hub import JobStage

from evaluator.benchmarks import BENCHMARKS
from evaluator.worker.launchers.base import (
    OVERTIME,
    JobLauncher,
    JobState,
    Launch,
    LaunchError,
    NoHardwareError,
    as_launch_errors,
)
from evaluator.worker.launchers.hub_jobs import Flavor, JobClient, JobSettings
from submissions.checks.data_terms import check_receivers
from submissions.config.setting_values import HubJobs
from submissions.config.settings import Settings
from submissions.queue.queue import Queue
from submissions.store.hub_api import hub_endpoint
from submissions.texts.errors import SettingsError

log = logging.getLogger(__name__)

MIN_EVALUATION_TIME = timedelta(minutes=10)  # in addition to OVERTIME; a shorter job could not finish an evaluation
DEFAULT_MEMORY = 16 * 10**9  # bytes, for a model of unknown size
# A reply without what the client expects is a ValueError or KeyError.
_hub_errors = partial(as_launch_errors, "the Hub's Jobs", HTTPError, ValueError, KeyError)
ALIVE_STAGES = (JobStage.SCHEDULING, JobStage.RUNNING)


class HubJobLauncher(JobLauncher):
    """Starts, observes and cancels Jobs on the Hub. `hub_jobs.py` has the client."""

    def __init__(self, settings: Settings, queue: Queue) -> None:
        """Raises SettingsError if HANNUN_JOBS is not set, or a test set may not leave the country."""
        super().__init__(settings, queue)
        if settings.jobs is None:
            raise SettingsError('HANNUN_LAUNCHER=hf-jobs needs HANNUN_JOBS: {"image", "space", "commit", "max_price"}')
        for benchmark in settings.data:
            if BENCHMARKS[benchmark].data_stays:
                # The address of a Job's machine is not known beforehand, so the Hub's address is checked in its place.
                check_receivers(benchmark, [hub_endpoint()], settings)
        self._jobs: HubJobs = settings.jobs
        self._client = JobClient(settings)

    def start(self, launch: Launch) -> str:
        jobs = self._jobs
        with _hub_errors():
            flavor = self._flavor(launch.memory)
            limit = self._time_limit(launch, flavor)
            log.info(
                "%s runs on %s (%s): $%.2f an hour, at most %s and $%.2f",
                launch.request.key,
                flavor.name,
                flavor.accelerator or "no accelerator",
                flavor.price,
                limit,
                flavor.price * limit / timedelta(hours=1),
            )
            return self._client.run(
                JobSettings(jobs.space, jobs.commit, flavor.name, jobs.image, limit, jobs.namespace),
                launch.arguments,
                labels={"request": launch.request.key, "name": launch.name},
                environment={
                    # The job ends itself and records why, before the Hub ends it.
                    "HANNUN_DEADLINE": f"{int((limit - OVERTIME).total_seconds())}s",
                    "HANNUN_PRICE_PER_HOUR": f"{flavor.price:.6f}",
                },
            )

    def state(self, job: str) -> JobState:
        with _hub_errors():
            return JobState.ALIVE if self._client.stage(job, self._jobs.namespace) in ALIVE_STAGES else JobState.ENDED

    def cancel(self, job: str) -> None:
        with _hub_errors():
            self._client.cancel(job, self._jobs.namespace)

    def _time_limit(self, launch: Launch, flavor: Flavor) -> timedelta:
        """Return the time limit of a job: the evaluation's deadline plus OVERTIME, or less if the maximum price buys less.

        Raises LaunchError if that is too little for any evaluation.
        """
        minimum = OVERTIME + MIN_EVALUATION_TIME
        if launch.time_limit < minimum:
            raise LaunchError(f"HANNUN_DEADLINE is less than {MIN_EVALUATION_TIME}, in which no evaluation can finish")
        max_price = self._jobs.max_price
        if flavor.price * (launch.time_limit / timedelta(hours=1)) <= max_price:
            return launch.time_limit
        affordable = timedelta(hours=max_price / flavor.price)
        if affordable < minimum:
            raise self._no_hardware(
                f"max_price {max_price:g} buys {affordable} on {flavor.name} at ${flavor.price:.2f} an hour"
            )
        return affordable

    def _flavor(self, memory: int | None) -> Flavor:
        """Return the cheapest hardware with enough memory, or the configured one.

        Raises LaunchError if there is none (see `_no_hardware`).
        """
        offered = self._client.flavors()
        if self._jobs.flavor:
            fitting = [flavor for flavor in offered if flavor.name == self._jobs.flavor]
        else:
            fitting = [flavor for flavor in offered if flavor.memory >= (memory or DEFAULT_MEMORY)]
        if not fitting:
            wanted = self._jobs.flavor or f"{(memory or DEFAULT_MEMORY) / 1e9:,.0f} GB of GPU memory"
            raise self._no_hardware(f"the Hub offers no hardware with {wanted}")
        return min(fitting, key=lambda flavor: flavor.price)

    def _no_hardware(self, message: str) -> LaunchError:
        """Return the error to raise if no hardware fits.

        After a NoHardwareError the worker goes on, because a smaller model may fit. Hardware that the operator has set is
        the same for all models, so the error is then a plain LaunchError, after which the worker pauses.
        """
        return LaunchError(message) if self._jobs.flavor else NoHardwareError(message)

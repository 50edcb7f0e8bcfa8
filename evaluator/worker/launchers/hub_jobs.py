"""Run the worker as a Job on Hugging Face hardware: a scheduled one for the whole queue, or one for each evaluation.

source: https://huggingface.co/docs/huggingface_hub/guides/jobs
"""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from huggingface_hub import HfApi

from submissions.config.addresses import BUCKETS, DATASETS, is_remote
from submissions.config.setting_values import IMAGE
from submissions.config.settings import HOST_ONLY_SETTINGS, Settings
from submissions.records.hub_names import is_hub_id
from submissions.store.hub_api import hub_endpoint
from submissions.store.open import store_variables
from submissions.texts.errors import SettingsError

LABELS = {"app": "hannun-worker"}  # identify the worker's jobs among others
# The command of a job. `JobClient._arguments` fills in the code's address and commit, the arguments of the evaluator, and as
# {without} the options of `env` that remove the variables of all secrets.
# A job starts on an empty machine. It installs the sandbox, one commit of the Space's code (its images are in LFS) and
# the packages of the lock files, which are checked by hash. Then it runs one command of the evaluator. Only this last
# step has the tokens. All earlier steps run without them, and packages are installed by a user who cannot read root's
# environment and whose processes are killed afterwards. If the Hub's machine does not allow namespaces, the worker
# reports that and exits.
COMMAND = """set -e
unsecret() {{ env {without} "$@"; }}
unsecret apt-get update -qq
unsecret apt-get install -y -qq --no-install-recommends bubblewrap libseccomp2 git git-lfs >/dev/null
unsecret useradd builder
unsecret install -d -o builder /opt/hannun
unsecret su builder -c 'set -e
git lfs install
git clone --quiet {code} /opt/hannun/code
cd /opt/hannun/code
git checkout --quiet {commit}
python3 -m venv ../venv
for lock in evaluator/requirements.lock evaluator/torch-cuda.lock; do
  ../venv/bin/pip install --quiet --no-cache-dir --require-hashes --no-deps -r $lock
done'
unsecret su builder -c 'kill -KILL -1' || true
unsecret chown -R root:root /opt/hannun
cd /opt/hannun/code
exec /opt/hannun/venv/bin/python -m evaluator {arguments}"""
UNITS_PER_HOUR = {"second": 3600, "minute": 60, "hour": 1}
NEVER_SENT = (*HOST_ONLY_SETTINGS, "HANNUN_MODELS_DIR", "HANNUN_WORKER", "HANNUN_WORKER_EVERY")


@dataclass(frozen=True)
class JobSettings:
    """What code a job runs, on which hardware and for how long.

    The Hub's default time limit of 30 minutes is too short for most evaluations.
    """

    space: str  # owner/name of the Space whose code is run
    commit: str  # of that code
    flavor: str
    image: str  # NAME@sha256:…, because a tag can change to another image
    timeout: timedelta
    namespace: str | None = None


@dataclass(frozen=True)
class Scheduled:
    """A scheduled job that runs the worker."""

    id: str
    schedule: str
    flavor: str
    next_run: str


@dataclass(frozen=True)
class Flavor:
    """A hardware option for jobs, and its price in US dollars per hour."""

    name: str
    accelerator: str | None
    memory: int  # bytes of all its accelerators together
    price: float


class JobClient:
    """Create, inspect and delete Jobs on the Hub."""

    def __init__(self, settings: Settings) -> None:
        """Connect to the Hub. Raises SettingsError if a job could not reach the stores."""
        if not settings.store.startswith(DATASETS):
            raise SettingsError(f"HANNUN_STORE must be {DATASETS}OWNER/NAME: a job cannot reach the local disk")
        if not is_remote(settings.private_store):
            raise SettingsError(f"HANNUN_PRIVATE_STORE must be {BUCKETS}OWNER/NAME: a job cannot reach the local disk")
        if not settings.hub_token_value:
            raise SettingsError("HANNUN_HUB_TOKEN is missing: a job reads and writes the stores with it")
        self._settings = settings
        endpoint = hub_endpoint()
        self._api = HfApi(endpoint=endpoint, token=settings.hub_token_value)

    def create(self, job: JobSettings, every: timedelta) -> str:
        """Create a scheduled job that works on the queue, never two at once. Return its id."""
        made = self._api.create_scheduled_job(
            schedule=cron(every), concurrency=False, labels=LABELS, **self._arguments(job, ("worker", "--once"))
        )
        return made.id

    def run(
        self, job: JobSettings, arguments: Sequence[str], labels: Mapping[str, str], environment: Mapping[str, str]
    ) -> str:
        """Start a job that runs `python -m evaluator` with these arguments. Return its id.

        The variables in `environment` are added to the settings that every job gets, or replace them. `labels` are shown in
        the Hub's list of jobs. Raises HfHubHTTPError if the Hub rejects the request.
        """
        job_arguments = self._arguments(job, arguments)
        job_arguments["env"] |= environment
        return self._api.run_job(labels={**LABELS, **labels}, **job_arguments).id

    def stage(self, job_id: str, namespace: str | None) -> str:
        """Return the stage of a job, by the Hub's name. Raises HfHubHTTPError if the Hub rejects the request."""
        stage = self._api.inspect_job(job_id=job_id, namespace=namespace).status.stage
        return str(getattr(stage, "value", stage))  # text, or a member of an enumeration

    def cancel(self, job_id: str, namespace: str | None) -> None:
        self._api.cancel_job(job_id=job_id, namespace=namespace)

    def flavors(self) -> list[Flavor]:
        """Return the hardware that the Hub offers, cheapest first. Raises HfHubHTTPError if the Hub fails."""
        offered = [hardware for hardware in self._api.list_jobs_hardware() if hardware.unit_label in UNITS_PER_HOUR]
        return sorted(map(_flavor, offered), key=lambda flavor: flavor.price)

    def newest_commit(self, space: str) -> str:
        """Return the newest commit of a Space's code.

        Raises SettingsError if it has none, HfHubHTTPError if the Hub rejects the request.
        """
        commit = self._api.space_info(space).sha
        if not commit:
            raise SettingsError(f"{space} has no commit: push the code to it first")
        return commit

    def list(self, namespace: str | None) -> list[Scheduled]:
        jobs = self._api.list_scheduled_jobs(labels=LABELS, namespace=namespace)
        return [
            Scheduled(j.id, j.schedule or "", str(j.job_spec.flavor), str(j.status.next_job_run_at or "")) for j in jobs
        ]

    def delete(self, job_id: str, namespace: str | None) -> None:
        self._api.delete_scheduled_job(scheduled_job_id=job_id, namespace=namespace)

    def _arguments(self, job: JobSettings, arguments: Sequence[str]) -> dict[str, Any]:
        """Return the arguments that huggingface_hub's methods for jobs and scheduled jobs have in common.

        `arguments` are those of `python -m evaluator` in the job.
        """
        code = f"{hub_endpoint()}/spaces/{job.space}"
        without = " ".join(f"-u {name}" for name in self._settings.secrets)
        command = COMMAND.format(code=code, commit=job.commit, without=without, arguments=shlex.join(arguments))
        return {
            "image": job.image,
            "command": ["bash", "-c", command],
            "env": self._environment(),
            "secrets": self._settings.secrets,
            "flavor": job.flavor,
            "timeout": int(job.timeout.total_seconds()),
            "namespace": job.namespace,
        }

    def _environment(self) -> dict[str, str]:
        """Return the settings of this environment that also apply to a job, without secrets."""
        settings = self._settings
        return {**settings.variables(NEVER_SENT), **store_variables(settings)}


def _flavor(hardware: Any) -> Flavor:
    """Return a hardware option as the Hub lists it, with its price per hour."""
    price = hardware.unit_cost_usd * UNITS_PER_HOUR[hardware.unit_label]
    accelerator = hardware.accelerator
    if accelerator is None:
        return Flavor(hardware.name, None, 0, price)
    return Flavor(hardware.name, f"{accelerator.quantity} × {accelerator.model}", _parse_bytes(accelerator.vram), price)


def _parse_bytes(text: str) -> int:
    """Parse a size as the Hub writes it, for example "24 GB". Raises ValueError for any other format."""
    number, _, unit = text.partition(" ")
    units = {"MB": 10**6, "GB": 10**9, "TB": 10**12}
    if unit not in units:
        raise ValueError(f"unknown unit of memory: {text!r}")
    return int(float(number) * units[unit])


def cron(every: timedelta) -> str:
    """Return an interval as a cron expression. Raises SettingsError if it does not divide an hour or a day evenly.

    10 minutes -> "*/10 * * * *", 6 hours -> "0 */6 * * *", 24 hours -> "0 0 * * *"
    """
    minutes = every.total_seconds() / 60
    hours = minutes / 60
    if 1 <= minutes < 60 and minutes.is_integer() and 60 % minutes == 0:
        return f"*/{int(minutes)} * * * *"
    if hours == 24:
        return "0 0 * * *"
    if 1 <= hours < 24 and hours.is_integer() and 24 % hours == 0:
        return f"0 */{int(hours)} * * *"
    raise SettingsError("the interval must be 1m to 30m, 1h to 12h or 24h, and divide an hour or a day evenly")


def pinned_image(text: str | None) -> str:
    """Return the image. Raises SettingsError if it is not named by its digest."""
    if not re.fullmatch(IMAGE, text or ""):
        raise SettingsError(
            "name the job's image by its digest: --image python:3.11@sha256:… "
            "(docker buildx imagetools inspect python:3.11 prints it)"
        )
    return str(text)


def space_of(text: str | None) -> str:
    """Return the named Space, by default the one this process runs in. Raises SettingsError if there is none."""
    space = text or os.environ.get("SPACE_ID", "")
    if not is_hub_id(space):
        raise SettingsError("name the Space whose code the job is to run: --space OWNER/NAME")
    return space

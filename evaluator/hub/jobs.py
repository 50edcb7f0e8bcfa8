"""The worker as a Job on Hugging Face hardware: a scheduled one for all that is queued, or one for each evaluation.

source: https://huggingface.co/docs/huggingface_hub/guides/jobs
"""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from huggingface_hub import HfApi, constants

from submissions.config.settings import IMAGE, OF_THIS_MACHINE, Settings
from submissions.store.open import DATASETS, is_remote
from submissions.store.private import BUCKETS
from submissions.texts.errors import SettingsError

LABELS = {"app": "hannun-worker"}  # by which our jobs are told from others
# A job starts from nothing: the sandbox, one commit of the Space's code (its images are in LFS), the packages whose hashes
# it names, one command of ours. Only the last step has the tokens: what is fetched before runs without them, and
# packages are installed by a user who cannot read root's environment, and of whom nothing is left then. Where the Hub's
# machines allow no namespaces, the worker ends and says so.
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
NEVER_SENT = (*OF_THIS_MACHINE, "HANNUN_MODELS_DIR", "HANNUN_WORKER", "HANNUN_WORKER_EVERY")


@dataclass(frozen=True)
class JobSettings:
    """Where and how long. The Hub's own limit of 30 minutes would end every evaluation worth running."""

    space: str  # owner/name of the Space whose code is run
    commit: str  # of that code
    flavor: str
    image: str  # NAME@sha256:…: a tag is another image tomorrow
    timeout: timedelta
    namespace: str | None = None


@dataclass(frozen=True)
class Scheduled:
    """A scheduled job of ours."""

    id: str
    schedule: str
    flavor: str
    next_run: str


@dataclass(frozen=True)
class Flavor:
    """Hardware of Jobs, and its price in US dollars an hour."""

    name: str
    accelerator: str | None
    memory: int  # bytes of its accelerators together
    price: float


class JobClient:
    """The Hub's Jobs."""

    def __init__(self, settings: Settings) -> None:
        """Raises SettingsError where a job could not reach the stores."""
        if not settings.store.startswith(DATASETS):
            raise SettingsError(f"HANNUN_STORE must be {DATASETS}OWNER/NAME: a job reaches no disk of ours")
        if not is_remote(settings.private_store):
            raise SettingsError(f"HANNUN_PRIVATE_STORE must be {BUCKETS}OWNER/NAME: a job reaches no disk of ours")
        if not settings.hub_token_value:
            raise SettingsError("HANNUN_HUB_TOKEN is missing: a job reads and writes the stores with it")
        self._settings = settings
        endpoint = os.environ.get("HF_ENDPOINT") or constants.ENDPOINT
        self._api = HfApi(endpoint=endpoint, token=settings.hub_token_value)

    def create(self, job: JobSettings, every: timedelta) -> str:
        """A job that looks at the queue again and again, never two at once; returns its id."""
        made = self._api.create_scheduled_job(
            schedule=cron(every), concurrency=False, labels=LABELS, **self._arguments(job, ("worker", "--once"))
        )
        return made.id

    def run(
        self, job: JobSettings, arguments: Sequence[str], labels: Mapping[str, str], environment: Mapping[str, str]
    ) -> str:
        """One job that runs `python -m evaluator` with these arguments; returns its id. Raises HfHubHTTPError."""
        asked = self._arguments(job, arguments)
        asked["env"] |= environment
        return self._api.run_job(labels={**LABELS, **labels}, **asked).id

    def stage(self, job_id: str, namespace: str | None) -> str:
        """As the Hub calls it. Raises HfHubHTTPError."""
        return str(self._api.inspect_job(job_id=job_id, namespace=namespace).status.stage)

    def cancel(self, job_id: str, namespace: str | None) -> None:
        self._api.cancel_job(job_id=job_id, namespace=namespace)

    def flavors(self) -> list[Flavor]:
        """What the Hub offers, the cheapest first. Raises HfHubHTTPError."""
        offered = [
            Flavor(
                hardware.name,
                f"{hardware.accelerator.quantity} × {hardware.accelerator.model}" if hardware.accelerator else None,
                _bytes(hardware.accelerator.vram) if hardware.accelerator else 0,
                hardware.unit_cost_usd * UNITS_PER_HOUR[hardware.unit_label],
            )
            for hardware in self._api.list_jobs_hardware()
            if hardware.unit_label in UNITS_PER_HOUR
        ]
        return sorted(offered, key=lambda flavor: flavor.price)

    def newest_commit(self, space: str) -> str:
        """Of the Space's code. Raises HfHubHTTPError."""
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
        code = f"{constants.ENDPOINT}/spaces/{job.space}"
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
        """Settings of this environment that hold for a job too, without the secret ones."""
        own = self._settings
        places = {"HANNUN_STORE": own.store, "HANNUN_PRIVATE_STORE": own.private_store}
        return {**own.variables(NEVER_SENT), **places}


def _bytes(text: str) -> int:
    """As the Hub writes sizes: "24 GB". Raises ValueError."""
    number, _, unit = text.partition(" ")
    return int(float(number) * {"GB": 10**9, "TB": 10**12}[unit])


def cron(every: timedelta) -> str:
    """The interval as a cron expression. Raises SettingsError for one that does not divide an hour or a day."""
    minutes = every.total_seconds() / 60
    if minutes < 60 and minutes >= 1 and 60 % minutes == 0:
        return f"*/{int(minutes)} * * * *"
    if minutes >= 60 and 1440 % minutes == 0 and minutes % 60 == 0:
        return "0 0 * * *" if minutes == 1440 else f"0 */{int(minutes // 60)} * * *"
    raise SettingsError("a schedule goes every 1m to 30m, 1h to 12h or 24h, in parts of an hour or a day")


def pinned_image(text: str | None) -> str:
    """The image, which must be named by its digest. Raises SettingsError."""
    if not re.fullmatch(IMAGE, text or ""):
        raise SettingsError(
            "name the job's image by its digest: --image python:3.11@sha256:… "
            "(docker buildx imagetools inspect python:3.11 prints it)"
        )
    return str(text)


def space_of(text: str | None) -> str:
    """The Space named, or the one this runs in. Raises SettingsError."""
    space = text or os.environ.get("SPACE_ID", "")
    if not re.fullmatch(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+", space):
        raise SettingsError("name the Space whose code the job is to run: --space OWNER/NAME")
    return space

"""Define the request for one evaluation, with its lease, its progress and its failure."""

import hashlib
import json
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from submissions.records.architecture import Architecture
from submissions.records.base import (
    MAX_PARAMS,
    OWNER,
    Key,
    Label,
    ModelId,
    Name,
    Precision,
    Record,
    Sha,
    Time,
)
from submissions.records.options import Thinking
from submissions.texts.failure_codes import FailureCode

DEFAULT_REVISION = "main"


class Status(StrEnum):
    """The state of a request in the queue, see submissions.queue.queue."""

    PENDING = "pending"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    QUARANTINED = "quarantined"


class Stage(StrEnum):
    """The stages of an evaluation, in order."""

    LAUNCH = "launch"  # claimed, but not yet started on a machine
    FETCH = "fetch"
    LOAD = "load"
    INFER = "infer"
    MEASURE = "measure"  # some questions are asked again one at a time
    SCORE = "score"
    PUBLISH = "publish"


class Failure(Record):
    """The stage in which an evaluation failed, and the reason."""

    stage: Stage
    code: FailureCode


class Progress(Record):
    """The progress within a stage: `done` of `total` steps. Both are 0 if the stage has no countable steps."""

    stage: Stage
    done: int = Field(default=0, ge=0)
    total: int = Field(default=0, ge=0)


class Lease(Record):
    """A worker's claim on a running request. It expires unless heartbeats extend it."""

    worker: Label
    nonce: Key  # of this claim; only the run that has it may publish
    heartbeat_at: Time
    expires_at: Time
    progress: Progress | None = None


def request_key(
    model_id: str,
    revision: str,
    precision: str,
    benchmark: str,
    version: str,
    thinking: Thinking | None = None,
    base: str | None = None,
) -> str:
    """Return the key of a request: the first 32 hex digits of the SHA-256 of its arguments as a JSON list.

    Equal requests have the same key and thus the same file name, so that nothing is evaluated twice. The file moves from the
    folder of one status to that of the next. `base` is an adapter's base model with its commit, `owner/name@0123…`. `thinking`
    and `base` are only in the list if they are given, because keys that were made before they existed have to stay the same.
    """
    parts = [model_id, revision, precision, benchmark, version]
    if thinking:
        parts.append(f"thinking={thinking}")
    if base:
        parts.append(f"base={base}")
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:32]


class EvalRequest(Record):
    """A request to evaluate one model, revision and precision on one benchmark version.

    Each reasoning mode of a model has its own request, as has each commit of an adapter's base model. Requests are stored at
    `requests/{status}/{key[:2]}/{key}.json`.
    """

    key: Key
    model_id: ModelId
    requested_revision: Label
    revision: Sha
    precision: Precision
    benchmark: Name
    benchmark_version: Label
    engine: Name
    model_type: Label
    shown: Architecture | None = None  # the types and sizes of the model's parts that its config.json shows
    params: int | None = Field(default=None, ge=0, le=MAX_PARAMS)
    license: Label | None = None
    submitted_by: Label  # a pseudonym, see submissions.queue.pseudonyms
    owner_mark: Label | None = None  # see Pseudonyms.owner_mark; a random value if the submitter is not the owner
    submitted_at: Time
    share: bool = False  # whether to offer the result to the model's repository, if its owner submitted
    thinking: Thinking | None = None
    base_model: ModelId | None = None  # of an adapter, or as named by the card of a quantised model
    base_revision: Sha | None = None  # of an adapter
    custom_code: bool = False  # whether it needs Python files of its repository, which must be approved
    api: Annotated[str, Field(pattern=f"^{OWNER}$")] | None = None  # the operator's name for a model behind an API
    status: Status = Status.PENDING
    attempt: int = Field(default=0, ge=0)
    lease: Lease | None = None
    started_at: Time | None = None
    finished_at: Time | None = None
    failure: Failure | None = None

    @property
    def path(self) -> str:
        return self.path_of(self.key, self.status)

    @staticmethod
    def path_of(key: str, status: Status) -> str:
        return f"requests/{status}/{key[:2]}/{key}.json"  # as `in_key_folder` of submissions.store.folders

"""The request for one evaluation, with its lease, its progress and how it failed."""

import hashlib
import json
from enum import StrEnum
from typing import Annotated

from pydantic import Field

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
    PENDING = "pending"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    QUARANTINED = "quarantined"


class Stage(StrEnum):
    LAUNCH = "launch"  # claimed, and no machine has begun
    FETCH = "fetch"
    LOAD = "load"
    INFER = "infer"
    MEASURE = "measure"  # some questions again, one at a time
    SCORE = "score"
    PUBLISH = "publish"


class Failure(Record):
    stage: Stage
    code: FailureCode


class Progress(Record):
    """How far an evaluation is: of a stage's steps, how many are done. 0 of 0 where it has none to count."""

    stage: Stage
    done: int = Field(default=0, ge=0)
    total: int = Field(default=0, ge=0)


class Lease(Record):
    worker: Label
    nonce: Key
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
    """First 32 hex digits of the sha256 of the tuple: the same submission twice is the same file.

    `base` is an adapter's base model with its commit.
    """
    parts = [model_id, revision, precision, benchmark, version]
    parts += [f"thinking={thinking}"] if thinking else []
    parts += [f"base={base}"] if base else []
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:32]


class EvalRequest(Record):
    """One (model, revision, precision, benchmark, benchmark version), at `requests/{status}/{key[:2]}/{key}.json`.

    A model that can reason or not has a request for each, an adapter one for each commit of its base model.
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
    params: int | None = Field(default=None, ge=0, le=MAX_PARAMS)
    license: Label | None = None
    submitted_by: Label  # a pseudonym, as is that of the organisation: submissions.queue.pseudonyms
    organisation: Label | None = None  # a mark by which the operator knows whether the submitter belongs to the owner
    submitted_at: Time
    share: bool = False  # whether the result is to be offered to the model's repository, if its owner asks
    thinking: Thinking | None = None
    base_model: ModelId | None = None  # an adapter's, or what the card of a quantised model names
    base_revision: Sha | None = None  # an adapter's only
    custom_code: bool = False  # whether it needs the Python files of its repository, which the operator approved
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
        return f"requests/{status}/{key[:2]}/{key}.json"  # submissions.store.folders says why

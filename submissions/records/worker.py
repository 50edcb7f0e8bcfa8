"""Define private records of workers: when each was last seen, its pauses, the last upkeep, and the last diagnosis."""

from pydantic import Field

from submissions.records.base import Label, Record, Time
from submissions.texts.failure_codes import FailureCode


class Presence(Record):
    """When a worker last checked the queue, stored at `workers/` in the private store."""

    worker: Label
    seen_at: Time


class Upkeep(Record):
    """The last upkeep of the store, stored at `tidied.json` in the private store."""

    at: Time
    done: bool = True  # False while it is running, and afterwards if it failed


class Pause(Record):
    """A pause in which a worker takes no requests, stored at `paused/` in the private store."""

    worker: Label
    code: FailureCode  # the repeated failure that caused it
    since: Time
    until: Time


class Diagnosis(Record):
    """The outcome of the last `doctor`, stored at `diagnosis.json` in the private store."""

    at: Time
    host: Label
    faults: list[str] = Field(default_factory=list)  # one line each

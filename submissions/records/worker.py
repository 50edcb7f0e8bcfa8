"""Private records of the workers: when each was last seen, whether it pauses, when the store was last tidied."""

from submissions.records.base import Label, Record, Time
from submissions.texts.failure_codes import FailureCode


class Presence(Record):
    """When a worker last looked at the queue, at `workers/` of the private store."""

    worker: Label
    seen_at: Time


class Upkeep(Record):
    """The last upkeep of the store, at `tidied.json` of the private store."""

    at: Time
    done: bool = True  # False while it is under way, and for good if it failed


class Pause(Record):
    """A worker that takes no request for a while, at `paused/` of the private store."""

    worker: Label
    code: FailureCode  # what has gone wrong again and again
    since: Time
    until: Time

"""Read the events of the inference process, one line of JSON each.

`evaluator/job/child.py` writes "environment" first, then "loaded" once, "answered" for each answer, "measured" for each
latency sample, and "failed" if it fails.
"""

import time
from collections.abc import Callable
from typing import Literal

from pydantic import BaseModel, Field

from evaluator.core.data_types import MAX_MESSAGE
from evaluator.core.errors import EvaluationError
from evaluator.engines.options import VERSION
from evaluator.job.folder import Job
from evaluator.job.watchdog import Watchdog
from evaluator.sandbox.policy import BUILDER
from submissions.records.base import MAX_PARAMS
from submissions.texts.failure_codes import FailureCode

MAX_EVENT_BYTES = 65_536
MAX_BATCH_SIZE = 65_536
MAX_EXTRA_EVENTS = 10  # beyond one event for each answer and latency sample
# Infrastructure failures that only the process in the sandbox can detect: the device is too small, a library is
# missing, a server did not start. Others count as model failures if code of the model may have reported them.
TRUSTED_CHILD_CODES = {FailureCode.OUT_OF_MEMORY, FailureCode.MISSING_LIBRARY, FailureCode.SERVER_FAILED}

OnProgress = Callable[[str, int, int], None]  # called with the stage, the number of prompts done in it, and their total


class _Event(BaseModel):
    """An event: one line of JSON from the inference process, such as `{"event": "loaded", "batch_size": 64}`."""

    kind: Literal["environment", "loaded", "answered", "measured", "failed"] = Field(alias="event")
    # Of "environment": the engine's library versions and hardware.
    values: dict[str, str | float] = {}
    # Of "loaded".
    batch_size: int | None = Field(default=None, ge=1, le=MAX_BATCH_SIZE)
    params: int | None = Field(default=None, ge=0, le=MAX_PARAMS)
    image_processor: str | None = Field(default=None, pattern=r"^[A-Za-z0-9]{1,40}ImageProcessor(Fast|Pil)?$")
    server_version: str | None = Field(default=None, pattern=f"^{VERSION}$")
    server_context: int | None = Field(default=None, ge=1, le=MAX_PARAMS)
    # Of "failed".
    code: FailureCode | None = None
    message: str = Field(default="", max_length=MAX_MESSAGE)

    @property
    def reported(self) -> dict[str, str | int]:
        """What the loaded engine reports of itself. Names that it leaves out are missing."""
        names = ("image_processor", "server_version", "server_context")
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value}


def _parse_event(line: bytes) -> _Event:
    """Return the event in a line. Raises EvaluationError if there is none."""
    try:
        return _Event.model_validate_json(line)
    except ValueError:
        message = "the inference process wrote a line that is not an event"
        raise EvaluationError(FailureCode.MODEL_ERROR, message) from None


class Observer:
    """Reads the events of an inference process, records what they report, and passes on its progress.

    The first event comes before any file of the model is read. In the sandbox, later ones may be sent by code of the model.
    """

    def __init__(
        self,
        job: Job,
        watchdog: Watchdog,
        answered: int,
        total: int,
        latency_samples: int,
        on_progress: OnProgress,
        group_version: str,
        sandbox: bool,
    ) -> None:
        """Create the observer. `group_version` is that of the process's control group, which is recorded."""
        self.sandbox = sandbox
        self.loaded_at = time.monotonic()  # until the model is loaded: when the process was started
        self.failure: FailureCode | None = None  # that the process reported before its end
        self.reason = ""  # its message about the failure
        self._job = job
        self._watchdog = watchdog
        self._on_progress = on_progress
        self._group_version = group_version
        self._total = total
        self._latency_samples = latency_samples
        self._answered = answered
        self._measured = 0
        self._events = 0  # number of events so far

    @property
    def is_loaded(self) -> bool:
        """Whether the model has been loaded."""
        return self._watchdog.loaded.is_set()

    @property
    def may_have_read_model(self) -> bool:
        """Whether the first event has come, after which files of the model are read."""
        return self._events > 0

    def handle(self, line: bytes) -> None:
        """Handle an event. Raises EvaluationError if the line is not an event, or there are too many."""
        event = _parse_event(line)
        is_first = self._events == 0
        has_too_many = self._events > self._total + self._latency_samples + MAX_EXTRA_EVENTS
        if has_too_many or (event.kind == "loaded" and self.is_loaded):
            raise EvaluationError(FailureCode.MODEL_ERROR, "the inference process sent too many events")
        self._events += 1
        if event.kind == "environment":
            if is_first:
                self._record_environment(event)
        elif event.kind == "failed":
            self._record_failure(event, is_first=is_first)
        else:
            if event.kind == "loaded":
                self._record_loaded(event)
            self._report_progress(event)

    def _record_environment(self, event: _Event) -> None:
        built_by = BUILDER if self.sandbox else "none"
        self._job.write_environment({**event.values, "sandbox": built_by, "cgroup": self._group_version})

    def _record_loaded(self, event: _Event) -> None:
        if event.batch_size is None:
            raise EvaluationError(FailureCode.MODEL_ERROR, "the inference process reported no batch size")
        loaded_as = {"batch_size": event.batch_size, "params": event.params}
        # Custom code could report any name or version here.
        reported = {} if self._job.options().custom_code else event.reported
        self._job.write_environment({**self._job.environment(), **loaded_as, **reported})
        self.loaded_at = time.monotonic()
        self._watchdog.loaded.set()

    def _record_failure(self, event: _Event, *, is_first: bool) -> None:
        """Keep a reported failure for the end of the process. A model cannot pass its failure off as the machine's."""
        self.failure = event.code
        self.reason = printable_part(event.message)
        may_be_from_model = self.sandbox and not is_first
        is_infrastructure = self.failure is not None and self.failure.is_infrastructure
        if may_be_from_model and is_infrastructure and self.failure not in TRUSTED_CHILD_CODES:
            self.failure = FailureCode.MODEL_ERROR

    def _report_progress(self, event: _Event) -> None:
        # Bounded, because code of the model may send extra events.
        if event.kind == "answered":
            self._answered = min(self._total, self._answered + 1)
        if event.kind == "measured":
            self._measured = min(self._latency_samples, self._measured + 1)
        if event.kind in ("answered", "measured"):
            self._watchdog.answered.set()
        if self._measured:
            self._on_progress("measure", self._measured, self._latency_samples)
        else:
            self._on_progress("infer", self._answered, self._total)


def printable_part(message: str) -> str:
    """Return the first MAX_MESSAGE characters of a message, without control characters."""
    return "".join(c for c in message[:MAX_MESSAGE] if c.isprintable())

"""Every exception of the evaluator.

Exception
├── EvaluationError         no result can come of this; `code` says why, and `code.ours` whose fault it is
│   ├── DataError           the benchmark's data cannot be used: names file and row
│   ├── IncompleteRunError  some questions could not be asked; asking again asks only those
│   └── LeakError           what was to become public holds a piece of a private test set
├── EvaluationStopped       somebody asked the evaluation to stop; its answers are kept
└── SandboxError            no sandbox can be built on this machine; says what to do
"""

from typing import Any

from submissions.texts.failure_codes import FailureCode

Details = list[dict[str, Any]]  # private: answers and scores by item


class EvaluationError(Exception):
    """An evaluation ends without a result. The message is for the command line, and for the log unless it is `quoted`
    from a process that has seen private questions; only `code` is public."""

    def __init__(self, code: FailureCode, message: str, *, quoted: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.quoted = quoted


class DataError(EvaluationError):
    """A benchmark's data cannot be used; the message names file and row."""

    def __init__(self, message: str) -> None:
        super().__init__(FailureCode.BENCHMARK_INVALID, message)


class IncompleteRunError(EvaluationError):
    """Some questions have no answer, through no fault of the model. `details` has the scores of the others."""

    def __init__(self, message: str, details: Details, *, served: bool) -> None:
        """`served`: a model server answers, so that the failure is not this host's."""
        super().__init__(FailureCode.INCOMPLETE if served else FailureCode.INTERNAL_ERROR, message)
        self.details = details


class LeakError(EvaluationError):
    """A public record holds a piece of the test set. The message does not quote it."""

    def __init__(self, message: str) -> None:
        super().__init__(FailureCode.WITHHELD, message)


class EvaluationStopped(Exception):
    """The evaluation was asked to stop. Its answers so far are kept."""


class SandboxError(Exception):
    """No sandbox can be built here; the message says what to do. No model is run without one unless that is asked for."""

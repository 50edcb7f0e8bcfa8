"""Every exception of the evaluator.

Exception
├── EvaluationError         the evaluation ends without a result; `code` is the reason
│   ├── DataError           the benchmark's data cannot be used; the message names file and row
│   ├── IncompleteRunError  some questions have no answer; a second run asks only those
│   └── LeakError           a public record contains part of a private test set
├── EvaluationStopped       the evaluation was asked to stop; its answers are kept
└── SandboxError            the sandbox cannot be built on this machine; the message says how to fix that
"""

from typing import Any

from submissions.texts.failure_codes import FailureCode

Details = list[dict[str, Any]]  # answers and scores of each item; private


class EvaluationError(Exception):
    """Raised if an evaluation ends without a result.

    Only `code` is public; it distinguishes infrastructure failures from model failures. The message is shown on the
    command line. It is logged too unless it is `quoted`, that is, comes from a process that has seen private questions.
    """

    def __init__(self, code: FailureCode, message: str, *, quoted: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.quoted = quoted


class DataError(EvaluationError):
    """Raised if a benchmark's data cannot be used. The message names file and row."""

    def __init__(self, message: str) -> None:
        super().__init__(FailureCode.BENCHMARK_INVALID, message)


class IncompleteRunError(EvaluationError):
    """Raised if some questions have no answer because of an infrastructure failure. `details` has the other scores."""

    def __init__(self, message: str, details: Details, *, served: bool) -> None:
        """Create the error. `served` means that a model server answers, so the failure is not on this host."""
        super().__init__(FailureCode.INCOMPLETE if served else FailureCode.INTERNAL_ERROR, message)
        self.details = details


class LeakError(EvaluationError):
    """Raised if a public record contains part of the test set. The message does not quote that part."""

    def __init__(self, message: str) -> None:
        super().__init__(FailureCode.WITHHELD, message)


class EvaluationStopped(Exception):
    """Raised if the evaluation was asked to stop. The answers so far are kept."""


class SandboxError(Exception):
    """Raised if the sandbox cannot be built on this machine. The message says how to fix that.

    Models run outside a sandbox only on explicit request.
    """

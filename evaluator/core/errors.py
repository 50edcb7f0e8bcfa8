"""Define the exceptions with which an evaluation ends.

Exception
├── EvaluationError         the evaluation ends without a result; `code` is the reason
│   ├── DataError           the benchmark's data cannot be used; the message names file and row
│   ├── ModelServerError    the server that should run the model failed; another engine may run it
│   ├── IncompleteRunError  some questions have no answer; a second run asks only those
│   └── LeakError           a public record contains part of a private test set
├── EvaluationStopped       the evaluation was asked to stop; its answers are kept
└── SandboxError            the sandbox cannot be built on this machine; the message says how to fix that
"""

from typing import Any

from submissions.texts.failure_codes import FailureCode

Details = list[dict[str, Any]]  # the answers and scores of each item, which are private; rows as in results/evaluate.py


class EvaluationError(Exception):
    """Raised if an evaluation ends without a result.

    Only `code` is public; it distinguishes infrastructure failures from model failures. The message is shown on the
    command line and logged.
    """

    def __init__(self, code: FailureCode, message: str, *, may_quote_questions: bool = False) -> None:
        """Create the error.

        `may_quote_questions` is whether the message comes from a process that has seen private questions; such a
        message is not logged.
        """
        super().__init__(message)
        self.code = code
        self.may_quote_questions = may_quote_questions


class ModelServerError(EvaluationError):
    """Raised if the server that should run the model does not start, or does not answer a question."""

    def __init__(self, message: str, *, may_quote_questions: bool) -> None:
        super().__init__(FailureCode.SERVER_FAILED, message, may_quote_questions=may_quote_questions)


class DataError(EvaluationError):
    """Raised if a benchmark's data cannot be used. The message names file and row."""

    def __init__(self, message: str) -> None:
        super().__init__(FailureCode.BENCHMARK_INVALID, message)


class IncompleteRunError(EvaluationError):
    """Raised if some questions have no answer because of an infrastructure failure.

    `details` has a row for each item. Items without an answer have the status `infra_error`.
    """

    def __init__(self, message: str, details: Details, *, uses_server: bool) -> None:
        """Create the error.

        `uses_server` is whether a model server answers the questions. Without a server, missing answers can only be
        this host's fault: INTERNAL_ERROR. With a server, the message may quote its last message.
        """
        code = FailureCode.INCOMPLETE if uses_server else FailureCode.INTERNAL_ERROR
        super().__init__(code, message, may_quote_questions=uses_server)
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

"""Define the codes for evaluations that ended without a result. Imports nothing, so that any module can use it."""

from enum import StrEnum


class FailureCode(StrEnum):
    """The reason why an evaluation ended without a result."""

    MODEL_NOT_FOUND = "model_not_found"
    MODEL_TOO_LARGE = "model_too_large"
    DISK_FULL = "disk_full"
    UNSUPPORTED_ARCHITECTURE = "unsupported_architecture"
    MISSING_LIBRARY = "missing_library"
    CODE_NOT_APPROVED = "code_not_approved"
    INVALID_WEIGHTS = "invalid_weights"
    NO_CHAT_TEMPLATE = "no_chat_template"
    TEMPLATE_ERROR = "template_error"
    NO_IMAGE_INPUT = "no_image_input"
    NAN_LOGITS = "nan_logits"
    MODEL_ERROR = "model_error"
    LOAD_TIMEOUT = "load_timeout"
    OUT_OF_MEMORY = "out_of_memory"
    PROCESS_KILLED = "process_killed"
    WORKER_LOST = "worker_lost"
    HUB_UNAVAILABLE = "hub_unavailable"
    BENCHMARK_INVALID = "benchmark_invalid"
    API_REFUSED = "api_refused"
    BUDGET_SPENT = "budget_spent"
    DEADLINE = "deadline"
    WITHHELD = "withheld"
    SERVER_FAILED = "server_failed"
    INCOMPLETE = "incomplete"
    LAUNCH_FAILED = "launch_failed"
    INTERNAL_ERROR = "internal_error"

    @property
    def is_infrastructure(self) -> bool:
        """Whether it is an infrastructure failure, as opposed to a model failure."""
        return self in _INFRASTRUCTURE

    @property
    def is_host_fault(self) -> bool:
        """Whether the next request on the same host would most likely fail in the same way."""
        return self in _HOST_FAULTS

    @property
    def is_permanent(self) -> bool:
        """Whether another attempt would fail in the same way until the operator intervenes."""
        return self in _PERMANENT


_INFRASTRUCTURE = {
    FailureCode.DISK_FULL,
    FailureCode.MISSING_LIBRARY,
    FailureCode.CODE_NOT_APPROVED,
    FailureCode.OUT_OF_MEMORY,
    FailureCode.PROCESS_KILLED,
    FailureCode.WORKER_LOST,
    FailureCode.HUB_UNAVAILABLE,
    FailureCode.BENCHMARK_INVALID,
    FailureCode.API_REFUSED,
    FailureCode.BUDGET_SPENT,
    FailureCode.SERVER_FAILED,
    FailureCode.INCOMPLETE,
    FailureCode.LAUNCH_FAILED,
    FailureCode.WITHHELD,
    FailureCode.INTERNAL_ERROR,
}


_PERMANENT = {
    FailureCode.MISSING_LIBRARY,
    FailureCode.CODE_NOT_APPROVED,
    FailureCode.API_REFUSED,
    FailureCode.BUDGET_SPENT,
    FailureCode.SERVER_FAILED,
    FailureCode.WITHHELD,
}

# A loaded model cannot cause these.
_HOST_FAULTS = {
    FailureCode.DISK_FULL,
    FailureCode.HUB_UNAVAILABLE,
    FailureCode.BENCHMARK_INVALID,
    FailureCode.LAUNCH_FAILED,
    FailureCode.INTERNAL_ERROR,
}

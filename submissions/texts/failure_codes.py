"""Why an evaluation ended without a result. Needs nothing: the errors of the evaluator have such a code."""

from enum import StrEnum


class FailureCode(StrEnum):
    """Why an evaluation ended without a result. `ours` tells whose fault it was."""

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
    BATCH_VARIANCE = "batch_variance"  # of older records: now such a run is made again in smaller batches
    API_REFUSED = "api_refused"
    BUDGET_SPENT = "budget_spent"
    DEADLINE = "deadline"
    WITHHELD = "withheld"
    SERVER_FAILED = "server_failed"
    INCOMPLETE = "incomplete"
    LAUNCH_FAILED = "launch_failed"
    INTERNAL_ERROR = "internal_error"

    @property
    def ours(self) -> bool:
        return self in _OURS

    @property
    def of_the_machine(self) -> bool:
        """Whether the next request would most likely meet the same."""
        return self in _OF_THE_MACHINE

    @property
    def lasting(self) -> bool:
        """Whether another try would end the same way, until the operator has done something."""
        return self in _LASTING


_OURS = {
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


_LASTING = {
    FailureCode.MISSING_LIBRARY,
    FailureCode.CODE_NOT_APPROVED,
    FailureCode.API_REFUSED,
    FailureCode.BUDGET_SPENT,
    FailureCode.SERVER_FAILED,
    FailureCode.WITHHELD,
}

# A model cannot bring these about once it is loaded.
_OF_THE_MACHINE = {
    FailureCode.DISK_FULL,
    FailureCode.HUB_UNAVAILABLE,
    FailureCode.BENCHMARK_INVALID,
    FailureCode.LAUNCH_FAILED,
    FailureCode.INTERNAL_ERROR,
}

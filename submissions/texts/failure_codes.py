"""Define the codes of evaluations that ended without a result, and what happens after them.

Their texts for visitors are in `submissions/texts/failures.py`.
"""

from enum import Enum, StrEnum, auto


class Kind(Enum):
    """What happens after a failure. All kinds but MODEL are infrastructure failures, which say nothing about the model.

    | kind      | who has to act | the request                                        | the worker  |
    |-----------|----------------|----------------------------------------------------|-------------|
    | MODEL     | the submitter  | has failed                                         | goes on     |
    | TRANSIENT | nobody         | is tried again, and quarantined after all attempts | goes on     |
    | PERMANENT | the operator   | is quarantined: another attempt would fail too     | goes on     |
    | HOST      | the operator   | as TRANSIENT                                       | pauses      |

    The worker pauses because the next request would most likely fail too. A code that a submitter can provoke must not have
    the kind HOST, or one model could stop the evaluation of all others.
    """

    MODEL = auto()
    TRANSIENT = auto()
    PERMANENT = auto()
    HOST = auto()


class FailureCode(StrEnum):
    """The reason why an evaluation ended without a result."""

    MODEL_NOT_FOUND = "model_not_found", Kind.MODEL  # the repository or revision no longer exists
    MODEL_TOO_LARGE = "model_too_large", Kind.MODEL  # its files have too many bytes, or are too many, to be downloaded
    UNSUPPORTED_ARCHITECTURE = "unsupported_architecture", Kind.MODEL
    INVALID_WEIGHTS = "invalid_weights", Kind.MODEL  # weights or tokenizer do not fit the configuration
    NO_CHAT_TEMPLATE = "no_chat_template", Kind.MODEL
    TEMPLATE_ERROR = "template_error", Kind.MODEL
    NO_IMAGE_INPUT = "no_image_input", Kind.MODEL  # the processor takes no images
    NAN_LOGITS = "nan_logits", Kind.MODEL
    MODEL_ERROR = "model_error", Kind.MODEL  # loading or running fails for another reason, or the output cannot be used
    LOAD_TIMEOUT = "load_timeout", Kind.MODEL  # loading, given the files' size, or the first answer took too long
    DEADLINE = "deadline", Kind.MODEL  # the time limit of the whole evaluation has passed
    OUT_OF_MEMORY = "out_of_memory", Kind.TRANSIENT  # of the device or host; a loaded model over its limit: MODEL_ERROR
    PROCESS_KILLED = "process_killed", Kind.TRANSIENT  # the inference process, or the one that scores its answers
    WORKER_LOST = "worker_lost", Kind.TRANSIENT  # the worker sent no heartbeats until the lease expired
    INCOMPLETE = "incomplete", Kind.TRANSIENT  # a model server left questions unanswered
    MISSING_LIBRARY = "missing_library", Kind.PERMANENT
    CODE_NOT_APPROVED = "code_not_approved", Kind.PERMANENT
    API_REFUSED = "api_refused", Kind.PERMANENT  # an API rejects the key, the address or the model's name
    BUDGET_SPENT = "budget_spent", Kind.PERMANENT  # the limit on requests, tokens or cost of a model behind an API
    SERVER_FAILED = "server_failed", Kind.PERMANENT  # the operator's model or embedding server does not start or work
    WITHHELD = "withheld", Kind.PERMANENT  # the public record would have contained a piece of the test set
    NO_HARDWARE = "no_hardware", Kind.PERMANENT  # no hardware that the operator allows for jobs holds the model
    DISK_FULL = "disk_full", Kind.HOST
    HUB_UNAVAILABLE = "hub_unavailable", Kind.HOST
    BENCHMARK_INVALID = "benchmark_invalid", Kind.HOST  # the test set cannot be read
    LAUNCH_FAILED = "launch_failed", Kind.HOST  # a scheduler did not start the job
    INTERNAL_ERROR = "internal_error", Kind.HOST  # any other error that does not count as the model's

    kind: Kind

    # A member is written as `CODE = "code", Kind.…`. Its value is the string alone, so that `FailureCode("code")` finds it.
    # Type checkers take `FailureCode("code")` for a call of this method. Only for them, `kind` has a default.
    def __new__(cls, value: str, kind: Kind = Kind.MODEL) -> "FailureCode":
        code = str.__new__(cls, value)
        code._value_ = value
        code.kind = kind
        return code

    @property
    def is_infrastructure(self) -> bool:
        """Whether it is an infrastructure failure, as opposed to a model failure."""
        return self.kind is not Kind.MODEL

    @property
    def is_host_fault(self) -> bool:
        """Whether the next request on the same host would most likely fail in the same way."""
        return self.kind is Kind.HOST

    @property
    def is_permanent(self) -> bool:
        """Whether another attempt would fail in the same way until the operator acts."""
        return self.kind is Kind.PERMANENT

"""Define the exceptions of this package that several rooms use.

Exception
├── RefusedError               a model cannot be queued or evaluated, or its code approved; `code` is the reason
├── SettingsError              a setting is invalid
├── StoreError                 the store cannot be opened or used
│   ├── ConflictError          the branch moved after the head a commit was based on
│   ├── DamagedError           a file of the store is missing or differs from what was written
│   └── StoreUnavailableError  the store cannot be reached now; a commit may or may not have succeeded
├── QueueError                 an operation on the queue, or on a record of the operator, is not possible
│   └── LostLeaseError         the request is no longer held by this worker
├── StatementError             a signed statement is invalid or does not match a record
├── TemplateError              a chat template fails or takes too long
└── MemoryError
    └── TemplateProcessError   the process that renders a chat template could not start or was killed
"""

from submissions.texts.refusals import REFUSALS, RefusalCode


class RefusedError(Exception):
    """A model cannot be queued or evaluated, or its code cannot be approved.

    `code` is the reason; `detail` names what was found, such as a file, and is not translated.
    """

    def __init__(self, code: RefusalCode, detail: str = "") -> None:
        text = REFUSALS[code].en
        super().__init__(f"{text} ({detail})" if detail else text)
        self.code = code
        self.detail = detail


class SettingsError(Exception):
    """A setting is invalid. The message is one line that names the setting."""


class StoreError(Exception):
    """The store cannot be opened or used. The message explains what to do."""


class ConflictError(StoreError):
    """The branch moved after the head this commit was based on."""


class DamagedError(StoreError, ValueError):
    """A file of the store is missing or differs from what was written.

    It is also a ValueError, so that readers skip the one damaged record instead of failing.
    """


class StoreUnavailableError(StoreError):
    """The store cannot be reached now. A commit that was in progress may or may not have succeeded."""


class StatementError(Exception):
    """A signed statement is invalid or does not match a record. The message is one line with the reason."""


class QueueError(Exception):
    """An operation on the queue, or on a record of the operator such as an opt-out, is not possible.

    The message is one line with the reason.
    """


class LostLeaseError(QueueError):
    """Another worker holds the request now, or it is no longer running."""


class TemplateError(Exception):
    """A chat template fails or takes too long. The message has the error."""


class TemplateProcessError(MemoryError):
    """The process that renders a chat template could not start or was killed, as when memory runs out.

    It is not a TemplateError, because the template is not the cause. As a MemoryError it ends an evaluation with the failure
    code `out_of_memory`, after which the request is tried again.
    """

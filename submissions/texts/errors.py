"""Every exception of this package.

Exception
├── RefusedError               a model cannot be queued; `code` says why
├── SettingsError              a setting cannot be used; names it
├── StoreError                 the store cannot be opened or reached; says what to do
│   ├── ConflictError          the branch moved after the head a commit was based on
│   ├── DamagedError           a file of the store is not what was written
│   └── StoreUnavailableError  out of reach for now; whether a commit under way has landed is not known
├── QueueError                 a step of the queue cannot be taken; says why
│   └── LostLeaseError
├── StatementError             a signed statement does not hold; says why
└── TemplateError              a chat template fails, or does not end
"""

from submissions.texts.refusals import REFUSALS, RefusalCode


class RefusedError(Exception):
    """A model cannot be queued; `detail` is what was found instead, the same in every language."""

    def __init__(self, code: RefusalCode, detail: str = "") -> None:
        super().__init__(f"{REFUSALS[code].en}{f' ({detail})' if detail else ''}")
        self.code = code
        self.detail = detail


class SettingsError(Exception):
    """A setting cannot be used; the message names it, in one line."""


class StoreError(Exception):
    """The store cannot be opened or reached; the message says what to do."""


class ConflictError(StoreError):
    """The branch moved after the head this commit was based on."""


class DamagedError(StoreError, ValueError):
    """What is stored here is not what was written. As a ValueError it makes one record unreadable, not all of them."""


class StoreUnavailableError(StoreError):
    """The store is out of reach for now. Whether a commit under way has landed is not known."""


class StatementError(Exception):
    """A signed statement does not hold for a record, or is none; the message says why, in one line."""


class QueueError(Exception):
    """The step cannot be taken; the message says why, in one line."""


class LostLeaseError(QueueError):
    """Another worker holds the request now, or it is no longer running."""


class TemplateError(Exception):
    """The chat template fails, or does not end; the message says how."""

"""Define what `hannun doctor` reports: one line for each finding, with the remedy for a fault.

A check is a function that takes the settings and the operator's options and yields findings, none if it does not apply. The
list of checks is in `evaluator.doctor.examine`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from submissions.config.settings import Settings

MOUNTED = "correct the path; a container sees a folder only if compose.override.yaml mounts it"  # a remedy
State = Literal["ok", "fault", "skipped"]


@dataclass(frozen=True)
class Finding:
    """One finding of a check. The names of the fields are those of `doctor --json`.

    `said` never contains a token, a question or an answer.
    """

    check: str  # what was checked, such as "private store"
    state: State
    said: str  # the fact that was found
    remedy: str = ""  # what the operator can do about a fault


@dataclass(frozen=True)
class Options:
    """The options of the command that the checks need beside the settings."""

    address: str | None = None  # public address of the board
    evaluates: bool = True  # whether to evaluate a tiny model


Check = Callable[[Settings, Options], Iterator[Finding]]


def ok(check: str, said: str) -> Finding:
    return Finding(check, "ok", said)


def fault(check: str, said: str, remedy: str) -> Finding:
    """Return a fault. `said` may be the message of an exception; its line breaks become spaces."""
    return Finding(check, "fault", " ".join(said.split()), remedy)


def skipped(check: str, said: str) -> Finding:
    """Return the finding of a check that could not be made. It is not a fault. `said` is the reason."""
    return Finding(check, "skipped", said)

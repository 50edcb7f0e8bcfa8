"""What the doctor found: one line for each check, with the remedy for a fault."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from submissions.config.settings import Settings

MOUNTED = "correct the path; a container sees a folder only if compose.override.yaml mounts it"  # a remedy
State = Literal["ok", "fault", "skipped"]


@dataclass(frozen=True)
class Finding:
    """The outcome of one check. `said` never contains a token, a question or an answer."""

    check: str
    state: State
    said: str
    remedy: str = ""


@dataclass(frozen=True)
class Options:
    """What the operator asks of the doctor beyond the settings."""

    address: str | None = None  # public address of the board
    evaluates: bool = True  # whether to evaluate a tiny model


Check = Callable[[Settings, Options], Iterator[Finding]]


def ok(check: str, said: str) -> Finding:
    return Finding(check, "ok", said)


def fault(check: str, said: str, remedy: str) -> Finding:
    return Finding(check, "fault", " ".join(said.split()), remedy)


def skipped(check: str, said: str) -> Finding:
    return Finding(check, "skipped", said)

"""The contents of a sandbox, independent of the tool that builds it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

NOBODY = 65534  # user id inside the sandbox if the worker is not root


@dataclass(frozen=True)
class Layout:
    """Everything that is visible inside a sandbox. Paths are the same as outside."""

    shown: Sequence[Path]  # files and folders, read-only
    devices: Sequence[Path]
    writable: Path
    scratch: Mapping[str, int]  # in-memory folders: path → size in bytes
    environment: Mapping[str, str]
    folder: Path  # working folder of the command

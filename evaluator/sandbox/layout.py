"""What a sandbox is built of, whoever builds it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

NOBODY = 65534  # the user inside, where we are not root


@dataclass(frozen=True)
class Layout:
    """All that is there inside. Paths are the same as outside."""

    shown: Sequence[Path]  # read-only
    devices: Sequence[Path]
    writable: Path
    scratch: Mapping[str, int]  # memory, in bytes, by path
    environment: Mapping[str, str]
    folder: Path  # where the command starts

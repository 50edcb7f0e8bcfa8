"""Files named by their content: the same content is one file, whoever puts it there."""

import hashlib
from pathlib import Path


def place(root: Path, folder: str, suffix: str, content: bytes) -> str:
    """Put a file below `root`, whole or not at all, and return its relative name."""
    name = f"{folder}/{hashlib.sha256(content).hexdigest()[:32]}{suffix}"
    target = root / name
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        partial = target.with_suffix(".part")
        partial.write_bytes(content)
        partial.replace(target)
    return name

"""Identify a set by its files. Apart from `draw.py`, so that a check of published files does not import what draws."""

import hashlib
from pathlib import Path


def set_hash(folder: Path) -> str:
    """Return the SHA-256 of the names and contents of all files of a set."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return digest.hexdigest()

"""Vectors made by running the published scorers. KorQuAD's are not among them: its text may not be changed or passed on."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED

COMMITTED = Path(__file__).parent.parent / "vectors"


def vectors(name: str) -> list[dict[str, Any]]:
    """The rows of a file of vectors; the test is skipped where it is not here."""
    path = next((p for p in (COMMITTED / name, SHARED / "reference" / name) if p.exists()), None)
    if path is None:
        pytest.skip(f"the reference vectors are not here: {name}")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

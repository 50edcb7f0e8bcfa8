"""Load reference vectors that were made by running the published scorers.

KorQuAD's vectors are not in the repository, because its text may not be changed or passed on.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED

COMMITTED = Path(__file__).parent.parent / "vectors"


def vectors(name: str) -> list[dict[str, Any]]:
    """Return the rows of a file of vectors, or skip the test if the file is missing."""
    path = next((p for p in (COMMITTED / name, SHARED / "reference" / name) if p.exists()), None)
    if path is None:
        pytest.skip(f"reference vectors are missing: {name}")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

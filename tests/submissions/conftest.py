"""Define fixtures for the tests of submissions."""

from pathlib import Path

import pytest


@pytest.fixture(params=["git", "hub"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty store, once for each kind."""
    if request.param == "git":
        return str(tmp_path / "contract.git")
    request.getfixturevalue("hub")
    return "hf://datasets/org/store"

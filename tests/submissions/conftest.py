"""Define fixtures for the tests of submissions."""

import os
from pathlib import Path

import pytest
from huggingface_hub import HfApi

from scripts.support.hub.repos import TOKEN, Hub
from scripts.support.hub.xet_client import own_xet_session


@pytest.fixture(params=["git", "hub"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty store, once for each kind."""
    if request.param == "git":
        return str(tmp_path / "contract.git")
    request.getfixturevalue("hub")
    return "hf://datasets/org/store"


@pytest.fixture
def bucket(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the address of a private bucket on the Hub, which is accessed with hf_xet."""
    own_xet_session(monkeypatch, tmp_path / "xet")
    HfApi(os.environ["HF_ENDPOINT"], TOKEN).create_bucket("org/private", private=True)
    return "hf://buckets/org/private"

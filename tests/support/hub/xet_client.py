"""A session of hf_xet of a test's own.

hf_xet keeps what it has uploaded in a cache, by the address of the store, and sends no chunk twice; the port of one test
may be that of another. The session is one for a process, and reads the environment when it is made.
"""

from pathlib import Path

import pytest
from huggingface_hub import constants
from huggingface_hub.utils import _xet


def own_xet_session(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """Xet is on, for this process and for those it starts, with a cache in a folder of the test."""
    monkeypatch.setenv("HF_XET_CACHE", str(cache))
    monkeypatch.delenv("HF_HUB_DISABLE_XET", raising=False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", False)
    monkeypatch.setattr(_xet, "_GLOBAL_XET_HOLDER", _xet.XetSessionHolder())
    monkeypatch.setattr(_xet, "XET_CONNECTION_INFO_CACHE", {})

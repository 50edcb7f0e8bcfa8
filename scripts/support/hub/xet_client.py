"""Give a test a separate hf_xet session.

hf_xet caches uploads by the address of the store and sends no chunk twice, but two tests may use the same port. The only
session of a process reads the environment when it is created.
"""

from pathlib import Path

import pytest
from huggingface_hub import constants
from huggingface_hub.utils import _xet


def own_xet_session(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    """Enable Xet for this process and its child processes, with the cache in a folder of the test."""
    monkeypatch.setenv("HF_XET_CACHE", str(cache))
    monkeypatch.delenv("HF_HUB_DISABLE_XET", raising=False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", False)
    monkeypatch.setattr(_xet, "_GLOBAL_XET_HOLDER", _xet.XetSessionHolder())
    monkeypatch.setattr(_xet, "XET_CONNECTION_INFO_CACHE", {})

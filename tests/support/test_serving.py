"""Test the helper that starts servers for tests."""

import os
from pathlib import Path

import pytest

from scripts.support.serving import serving

# Fails with uvicorn's message as long as the file exists, and removes it.
SCRIPT = """
import sys, time, pathlib
mark = pathlib.Path(sys.argv[1])
if mark.exists():
    mark.unlink()
    sys.exit("[Errno 98] error while attempting to bind on address: address already in use")
print("Uvicorn running", file=sys.stderr, flush=True)
time.sleep(60)
"""


def test_serving_tries_another_port_if_one_was_taken(tmp_path: Path) -> None:
    (tmp_path / "mark").write_text("")
    with serving(["-c", SCRIPT, str(tmp_path / "mark")], dict(os.environ)) as server:
        assert server.process.poll() is None and not (tmp_path / "mark").exists()


def test_serving_reports_other_ends_at_once(tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeError, match="something else"),
        serving(["-c", "exit('something else')"], dict(os.environ)),
    ):
        pass

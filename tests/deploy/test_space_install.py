"""Install a Space as the Hub does, in a fresh environment as user 1000, and serve it."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx2
import pytest

from submissions.config.paths import ROOT
from tests.support.waiting import free_port, wait_for

pytestmark = [pytest.mark.deploy, pytest.mark.timeout(1800)]

USER = 1000


def test_space_installs_and_serves(tmp_path: Path) -> None:
    """The Hub resolves the requirements together with its own pins, in one line."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    home = tmp_path / "home"
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(home / "app", filter="data")
    python = _fresh_environment(home)
    version = re.search(r"^sdk_version: (.+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert version
    hub = [f"gradio[oauth,mcp]=={version[1]}", "uvicorn>=0.14.0", "websockets>=10.4", "spaces"]
    install = [str(python), "-m", "pip", "install", "-q", "-r", "app/requirements.txt", *hub]
    done = _as_user(install, home)
    assert done.returncode == 0, done.stderr[-3000:]
    port = free_port()
    environment = {
        "GRADIO_SERVER_PORT": str(port),
        "HANNUN_WORKER": "off",
        "HANNUN_AUTH": "off",
        "HANNUN_STORE": str(home / "store.git"),
        "HANNUN_PRIVATE_STORE": str(home / "private"),
        "HANNUN_WORK_DIR": str(home / "work"),
    }
    with subprocess.Popen([str(python), "app.py"], cwd=home / "app", **_user(home, environment)) as board:
        try:
            page = wait_for("the board", lambda: _page(f"http://127.0.0.1:{port}/ko-fresh"), 120)
            assert "KO-FRESH" in page
        finally:
            board.terminate()


def _fresh_environment(home: Path) -> Path:
    """Make a virtual environment that user 1000 may use, of a copy of the base Python. Return its Python."""
    ignored = shutil.ignore_patterns("__pycache__", "test", "site-packages")
    shutil.copytree(sys.base_prefix, home / "python", symlinks=True, ignore=ignored)
    if os.geteuid() == 0:
        for path in (home, *home.parents):
            path.chmod(path.stat().st_mode | 0o055)
        subprocess.run(["chown", "-R", f"{USER}:{USER}", str(home)], check=True)
    made = _as_user([str(home / "python/bin/python3"), "-m", "venv", str(home / "env")], home)
    assert made.returncode == 0, made.stderr
    return home / "env/bin/python"


def _as_user(command: list[str], home: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, cwd=home, text=True, capture_output=True, **_user(home, {}))


def _user(home: Path, environment: dict[str, str]) -> dict[str, Any]:
    """Return the options of a process as user 1000, or as this user if it is not root."""
    kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name == "PATH"}
    options: dict[str, Any] = {"env": {**kept, "HOME": str(home), **environment}}
    return options | ({"user": USER, "group": USER, "extra_groups": []} if os.geteuid() == 0 else {})


def _page(address: str) -> str:
    try:
        answer = httpx2.get(address)
    except httpx2.TransportError:
        return ""
    return answer.text if answer.status_code == 200 else ""

"""Install a Space as the Hub does, in a fresh image as user 1000, and serve it."""

import re
import subprocess
import tarfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import httpx2
import pytest

from submissions.config.paths import ROOT
from submissions.setup.machine import BASE_IMAGE
from tests.deploy.conftest import pip_configuration, run
from tests.support.waiting import free_port, wait_for

pytestmark = [pytest.mark.deploy, pytest.mark.timeout(1800)]

IMAGE = "hannun-space-test"
# The Hub resolves the requirements together with its own pins, in one line.
DOCKERFILE = """
FROM {base}
RUN useradd --create-home --uid 1000 user
USER user
WORKDIR /home/user
RUN python -m venv env
COPY --chown=user app/requirements.txt app/
RUN --mount=type=secret,id=pip,target=/etc/pip.conf,uid=1000 env/bin/pip install -q -r app/requirements.txt \\
    "gradio[oauth,mcp]=={version}" "uvicorn>=0.14.0" "websockets>=10.4" spaces
COPY --chown=user app app
WORKDIR /home/user/app
CMD ["../env/bin/python", "app.py"]
"""
SETTINGS = {
    "HANNUN_WORKER": "off",
    "HANNUN_AUTH": "off",
    "HANNUN_STORE": "/home/user/store.git",
    "HANNUN_PRIVATE_STORE": "/home/user/private",
}


def test_space_installs_and_serves(docker: Mapping[str, str], tmp_path: Path) -> None:
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(tmp_path / "app", filter="data")
    (tmp_path / "app/.dockerignore").unlink()
    version = re.search(r"^sdk_version: (.+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert version
    (tmp_path / "Dockerfile").write_text(DOCKERFILE.format(base=BASE_IMAGE, version=version[1]))
    with pip_configuration(tmp_path / "pip.conf"):
        secret = f"id=pip,src={tmp_path}/pip.conf"
        run("docker", "build", "--network", "host", "--secret", secret, "-t", IMAGE, str(tmp_path))
    port = free_port()
    settings = [word for name, value in SETTINGS.items() for word in ("-e", f"{name}={value}")]
    settings += ["-e", "GRADIO_SERVER_NAME=0.0.0.0", "-e", "GRADIO_SERVER_PORT=7860"]
    container = run("docker", "run", "-d", "--init", "-p", f"127.0.0.1:{port}:7860", *settings, IMAGE).strip()
    try:
        page = wait_for("the board", lambda: _page(f"http://127.0.0.1:{port}/ko-fresh"), 120)
        assert "KO-FRESH" in page
        assert run("docker", "exec", container, "id", "-u").strip() == "1000"
    finally:
        print(run("docker", "logs", container, check=False)[-2000:])
        run("docker", "rm", "-f", container)


def _page(address: str) -> str:
    try:
        answer = httpx2.get(address)
    except httpx2.TransportError:
        return ""
    return answer.text if answer.status_code == 200 else ""

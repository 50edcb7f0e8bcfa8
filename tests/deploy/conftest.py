"""A Docker daemon with the base images, for tests that build and run the real containers: `make test-deploy`.

A daemon that answers already is used. Otherwise, as root, one is started, with its data in a temporary folder. On a
machine that reaches no registry, the base images are made from Debian's packages.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from submissions.config.paths import ROOT
from submissions.setup.machine import BASE_IMAGE, PROXY_IMAGE, check_docker

START_SECONDS = 60
PIP_SETTINGS = ("index-url", "extra-index-url", "find-links", "cert")
PROXY_DOCKERFILE = f"""
FROM {BASE_IMAGE}
RUN apt-get update && apt-get install -y --no-install-recommends nginx-light && rm -rf /var/lib/apt/lists/* \\
    && rm /etc/nginx/sites-enabled/default
CMD ["nginx", "-g", "daemon off;"]
"""


def run(*command: str, check: bool = True, **options: object) -> str:
    """Run a command, print it, and return its output. Raises AssertionError with what it printed if it fails."""
    print("$", *command, flush=True)
    done = subprocess.run(command, capture_output=True, text=True, **options)  # type: ignore[call-overload]
    assert not check or done.returncode == 0, f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return str(done.stdout)


@pytest.fixture(scope="session")
def docker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """Return the environment for `docker` and `docker compose`, with the base images in its daemon."""
    if shutil.which("docker") is None:
        pytest.skip("Docker is not installed: apt-get install docker.io")
    environment = {"DOCKER_BUILDKIT": "1", "COMPOSE_DOCKER_CLI_BUILD": "1"}
    with pytest.MonkeyPatch.context() as patched:
        for name, value in environment.items():
            patched.setenv(name, value)
        daemon = None
        if subprocess.run(["docker", "version"], capture_output=True).returncode:
            daemon = _start_daemon(tmp_path_factory.mktemp("docker"), patched)
        try:
            if problem := check_docker():
                pytest.skip(problem)
            _provide_images(tmp_path_factory.mktemp("images"))
            yield environment
        finally:
            if daemon:
                daemon.terminate()
                daemon.wait(START_SECONDS)


def _start_daemon(folder: Path, patched: pytest.MonkeyPatch) -> subprocess.Popen[bytes]:
    if shutil.which("dockerd") is None or os.geteuid() != 0:
        pytest.skip("no Docker daemon answers, and none can be started: as root, apt-get install docker.io")
    socket = f"unix://{folder}/docker.sock"
    patched.setenv("DOCKER_HOST", socket)
    places = ["--data-root", f"{folder}/data", "--exec-root", f"{folder}/exec", "--pidfile", f"{folder}/pid"]
    with (folder / "log").open("wb") as log:
        daemon = subprocess.Popen(["dockerd", *places, "-H", socket], stdout=log, stderr=log)
    wait = "for i in $(seq 600); do docker version >/dev/null 2>&1 && exit 0; sleep 0.1; done; exit 1"
    if subprocess.run(["sh", "-c", wait]).returncode:
        daemon.kill()
        daemon.wait()
        pytest.skip(f"dockerd does not start: {(folder / 'log').read_text()[-500:]}")
    return daemon


def _provide_images(folder: Path) -> None:
    """Pull the base images, or make them from Debian's packages if no registry is reached."""
    if not _is_there(BASE_IMAGE):
        if shutil.which("mmdebstrap") is None or os.geteuid() != 0:
            pytest.skip(f"{BASE_IMAGE} cannot be pulled, and making it needs root and mmdebstrap")
        python = f"{sys.base_prefix}/bin/python3"
        run("scripts/make_base_image.sh", str(folder), cwd=ROOT, env={**os.environ, "PYTHON": python})
    if not _is_there(PROXY_IMAGE):
        run("docker", "build", "--network", "host", "-t", PROXY_IMAGE, "-", input=PROXY_DOCKERFILE)


def _is_there(image: str) -> bool:
    inspected = subprocess.run(["docker", "image", "inspect", image], capture_output=True)
    return not inspected.returncode or not subprocess.run(["docker", "pull", image], capture_output=True).returncode


@contextmanager
def pip_configuration(file: Path) -> Iterator[None]:
    """Write this machine's configuration of pip for the builds, and serve a local folder of wheels on loopback."""
    values: dict[str, str] = {}
    for line in run(sys.executable, "-m", "pip", "config", "list").splitlines():
        name, _, value = line.partition("=")
        key = name.rpartition(".")[2]
        if key in PIP_SETTINGS and "file:" not in value:  # a container does not see this machine's folders
            values[key] = value.strip("'\"")
    links = Path(values.pop("find-links", "-"))
    if extra := os.environ.get("PIP_EXTRA_INDEX_URL"):
        values["extra-index-url"] = extra
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=links)) as server:
        if links.is_dir():
            values["find-links"] = f"http://127.0.0.1:{server.server_port}/"
        Thread(target=server.serve_forever, daemon=True).start()
        settings = "".join(f"{name} = {value}\n" for name, value in values.items())
        file.write_text(f"[global]\n{settings}")
        yield
        server.shutdown()

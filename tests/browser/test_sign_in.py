"""Test signing in with an OpenID provider on loopback, and that nobody can submit under another name."""

import base64
import hashlib
import json
import os
from collections.abc import Iterator
from http.client import HTTPConnection
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import httpx
import pytest
from gradio_client import Client
from itsdangerous import TimestampSigner
from playwright.sync_api import Page, expect

from scripts.support.hub.identity import CLIENT, SECRET, build_provider
from scripts.support.hub.repos import Hub
from scripts.support.hub.server import serve
from submissions.config.settings import Settings
from submissions.queue.pseudonyms import Pseudonyms
from submissions.records.request import EvalRequest
from submissions.store.open import open_store
from tests.browser.conftest import running_app


@pytest.fixture
def space(environment: dict[str, str], hub: Hub) -> Iterator[str]:
    """Yield the address of a board that runs as on a Space, where visitors sign in."""
    with serve(build_provider()) as provider:
        space_variables = {
            "SYSTEM": "spaces",
            "SPACE_ID": "org/board",
            "OAUTH_CLIENT_ID": CLIENT,
            "OAUTH_CLIENT_SECRET": SECRET,
            "OAUTH_SCOPES": "openid profile",
            "OPENID_PROVIDER_URL": provider,
            "HF_ENDPOINT": os.environ["HF_ENDPOINT"],
        }
        with running_app(environment | space_variables, HANNUN_WORKER="off") as address:
            yield address


def requests_in(settings: Settings) -> list[dict[str, object]]:
    store = open_store(settings.store)
    snapshot = store.snapshot()
    return [
        json.loads(store.read(path, snapshot.head)) for path in snapshot.files if path.startswith("requests/pending/")
    ]


def fill(page: Page, model: str, benchmark: str = "KO-VQA") -> None:
    page.locator("#model-id input, #model-id textarea").fill(model)
    page.locator("#benchmarks").get_by_label(benchmark).check()


def test_submit_requires_sign_in_and_enforces_quota(page: Page, space: str, settings: Settings) -> None:
    page.goto(space)
    page.get_by_role("tab", name="제출").click()
    fill(page, "tiny/image-text")
    page.locator("#check").click()
    expect(page.locator("#outcome")).to_contain_text("모든 항목을 통과했습니다")
    expect(page.locator("#outcome .hn-checks li.passed")).to_have_count(14)
    page.locator("#submit").click()
    expect(page.locator("#outcome li.refused")).to_contain_text("로그인")
    assert requests_in(settings) == []

    page.locator("#sign-in").click()
    page.wait_for_url(lambda url: url.startswith(space) and "login" not in url)
    page.get_by_role("tab", name="제출").click()
    expect(page.locator("#sign-in")).to_contain_text("로그아웃 (kim)")
    fill(page, "tiny/image-text")
    page.locator("#submit").click()
    expect(page.locator("#outcome li.ok")).to_contain_text("접수되었습니다")
    (request,) = requests_in(settings)
    assert Pseudonyms(settings).name_of(str(request["submitted_by"])) == "kim"
    assert not Pseudonyms(settings).belongs(EvalRequest.model_validate(request))

    fill(page, "tiny/image-text")
    page.get_by_label("정밀도").click()
    page.get_by_role("option", name="bfloat16").click()
    page.locator("#submit").click()
    expect(page.locator("#outcome li.refused").first).to_contain_text("제출 횟수를 다 썼습니다")
    assert len(requests_in(settings)) == 1


def call(address: str, function: int, data: list[object], cookie: str = "", **extra: object) -> str:
    """Call an event of the page over plain HTTP, as its script does, and return the last message of its stream."""
    body = {"data": data, "fn_index": function, "session_hash": "attacker", "event_data": None, **extra}
    headers = {"Content-Type": "application/json", "Cookie": cookie, "X-Forwarded-User": "kim", "Authorization": "kim"}
    with urlopen(Request(f"{address}/gradio_api/queue/join", json.dumps(body).encode(), headers), timeout=30) as joined:
        assert joined.status == 200
    parts = urlsplit(address)
    connection = HTTPConnection(str(parts.hostname), parts.port, timeout=30)
    connection.request("GET", "/gradio_api/queue/data?session_hash=attacker", headers={"Cookie": cookie})
    response = connection.getresponse()
    message = ""
    for line in response:
        message = line.decode() if b"process_completed" in line else message
        if b"close_stream" in line:
            break
    connection.close()
    return message


def form_event(address: str) -> int:
    """Return the number of the event that submits, which is the one of the form with six fields."""
    with urlopen(f"{address}/config") as answer:
        config = json.load(answer)
    (outcome,) = [c["id"] for c in config["components"] if c["props"].get("elem_id") == "outcome"]
    (submit,) = [e["id"] for e in config["dependencies"] if e["outputs"] == [outcome] and len(e["inputs"]) == 6]
    return int(submit)


def test_submit_rejects_forged_identity(space: str, settings: Settings) -> None:
    """Send plain HTTP without a session, with a session signed by another key, and with a name among the fields."""
    submit = form_event(space)
    fields: list[object] = ["tiny/image-text", ["ko-vqa"], "", "auto", "auto", False]
    claims = {"oauth_info": {"userinfo": {"preferred_username": "kim", "name": "K", "profile": "", "picture": ""}}}
    payload = base64.b64encode(json.dumps(claims).encode())
    keys = ["guess", hashlib.sha256(b"-v4").hexdigest()]  # Gradio signs with the latter if no secret is set
    cookies = [f"session={TimestampSigner(key).sign(payload).decode()}" for key in keys]
    for cookie in ("", "session=kim", *cookies):
        assert "로그인" in call(space, submit, fields, cookie)
    call(space, submit, [*fields, {"username": "kim"}, {"preferred_username": "kim"}])
    call(space, submit, fields, username="kim", request={"username": "kim"})
    assert requests_in(settings) == []
    # A forged callback of the provider gets a redirect, not a traceback.
    for query in ("", "?state=x&code=y&_nb_redirects=many", "?error=access_denied&state=x"):
        answer = httpx.get(f"{space}/login/callback{query}")
        assert answer.is_redirect and "evil" not in answer.headers["location"], (query, answer.text)


def test_api_submit_requires_personal_token(space: str, settings: Settings) -> None:
    for token in (None, "hf_wrong", "hf_organisation", "hf_person"):
        client = Client(space, token=token, analytics_enabled=False, verbose=False)
        (line,) = client.predict("tiny/image-text", ["ko-vdc"], api_name="/submit")
        assert line["accepted"] == (token == "hf_person"), line
    (request,) = requests_in(settings)
    assert Pseudonyms(settings).name_of(str(request["submitted_by"])) == "kim"
    assert not Pseudonyms(settings).belongs(EvalRequest.model_validate(request))

"""Test signing in with an OpenID provider on loopback, and that nobody can submit under another name."""

import base64
import hashlib
import json
import os
from collections.abc import Iterator

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
            "HANNUN_EPHEMERAL_STORE": "allow",
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
    page.locator("#model-id").fill(model)
    page.locator("#benchmarks").get_by_label(benchmark).check()


def test_submit_requires_sign_in_and_enforces_quota(page: Page, space: str, settings: Settings) -> None:
    page.goto(f"{space}/submit")
    fill(page, "tiny/image-text")
    page.locator("#check").click()
    expect(page.locator("#outcome")).to_contain_text("모든 검사를 통과했습니다")
    expect(page.locator("#outcome .hn-checks li.passed")).to_have_count(14)
    page.locator("#submit").click()
    expect(page.locator("#outcome li.refused")).to_contain_text("로그인")
    assert requests_in(settings) == []

    page.locator("#sign-in a").click()
    page.wait_for_url(f"{space}/submit")
    expect(page.locator("#sign-in")).to_contain_text("로그아웃 (kim)")
    fill(page, "tiny/image-text")
    page.locator("#submit").click()
    expect(page.locator("#outcome li.ok")).to_contain_text("접수되었습니다")
    (request,) = requests_in(settings)
    assert Pseudonyms(settings).name_of(str(request["submitted_by"])) == "kim"
    assert not Pseudonyms(settings).belongs(EvalRequest.model_validate(request))

    fill(page, "tiny/image-text")
    page.get_by_label("정밀도").select_option("bfloat16")
    page.locator("#submit").click()
    expect(page.locator("#outcome li.refused").first).to_contain_text("제출 횟수를 다 썼습니다")
    assert len(requests_in(settings)) == 1


def test_submit_rejects_forged_identity(space: str, settings: Settings) -> None:
    """Send plain HTTP without a session, with a session signed by another key, and with a name among the fields."""
    fields = {"model": "tiny/image-text", "benchmarks": "ko-vqa", "action": "submit"}
    claims = {"oauth_info": {"userinfo": {"preferred_username": "kim", "name": "K", "profile": "", "picture": ""}}}
    payload = base64.b64encode(json.dumps(claims).encode())
    keys = ["guess", hashlib.sha256(b"-v4").hexdigest()]  # Gradio signs with the latter if no secret is set
    cookies = [f"session={TimestampSigner(key).sign(payload).decode()}" for key in keys]
    for cookie in ("", "session=kim", *cookies):
        headers = {"Cookie": cookie, "X-Forwarded-User": "kim", "Authorization": "kim"}
        answer = httpx.post(
            f"{space}/submit?username=kim", data=fields | {"username": "kim"}, headers=headers, timeout=60
        )
        assert answer.status_code == 200 and "hn-outcome" in answer.text and 'class="ok"' not in answer.text
    assert requests_in(settings) == []
    # A forged callback of the provider gets a redirect, not a traceback.
    for query in ("", "?state=x&code=y&_nb_redirects=many", "?error=access_denied&state=x"):
        answer = httpx.get(f"{space}/login/callback{query}", timeout=60)
        assert answer.is_redirect and "evil" not in answer.headers["location"], (query, answer.text)


def test_api_submit_requires_personal_token(space: str, settings: Settings) -> None:
    for token in (None, "hf_wrong", "hf_organisation", "hf_person"):
        client = Client(space, token=token, analytics_enabled=False, verbose=False)
        (line,) = client.predict("tiny/image-text", ["ko-vdc"], api_name="/submit")
        assert line["accepted"] == (token == "hf_person"), line
    (request,) = requests_in(settings)
    assert Pseudonyms(settings).name_of(str(request["submitted_by"])) == "kim"
    assert not Pseudonyms(settings).belongs(EvalRequest.model_validate(request))

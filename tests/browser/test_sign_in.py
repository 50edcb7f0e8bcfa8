"""Test signing in with an OpenID provider on loopback, and that nobody can submit under another name."""

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest
from submissions.store.open import open_store
from submissions.texts.refusals import REFUSALS, RefusalCode
from tests.browser.conftest import running_app
from tests.conftest import environment_of, settings_in


@dataclass(frozen=True)
class Space:
    """A running board where visitors sign in. The tests share it, and each submits as another person."""

    address: str
    settings: Settings

    def requests(self) -> list[EvalRequest]:
        queue = Queue(open_store(self.settings.store))
        return [queue.get(row.key) for row in queue.rows()]

    def requests_of(self, person: str) -> list[EvalRequest]:
        names = Pseudonyms(self.settings)
        return [request for request in self.requests() if names.name_of(str(request.submitted_by)) == person]


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[Space]:
    """Yield a board that runs as on a Space."""
    folder = tmp_path_factory.mktemp("space")
    settings = settings_in(folder, models_dir)
    with serve(build_provider()) as provider, serve(Hub(folder / "hub")) as hub:
        space_variables = {
            "SYSTEM": "spaces",
            "SPACE_ID": "org/board",
            "HANNUN_EPHEMERAL_STORE": "allow",
            "OAUTH_CLIENT_ID": CLIENT,
            "OAUTH_CLIENT_SECRET": SECRET,
            "OAUTH_SCOPES": "openid profile",
            "OPENID_PROVIDER_URL": provider,
            "HF_ENDPOINT": hub,
        }
        with running_app(environment_of(settings) | space_variables, HANNUN_WORKER="off") as address:
            yield Space(address, settings)


def fill(page: Page, model: str, benchmark: str = "KO-VQA") -> None:
    page.locator("#model-id").fill(model)
    page.locator("#benchmarks").get_by_label(benchmark).check()


def test_submit_requires_sign_in_and_enforces_quota(page: Page, space: Space) -> None:
    before = space.requests()
    page.goto(f"{space.address}/submit")
    fill(page, "tiny/image-text")
    page.locator("#check").click()
    expect(page.locator("#outcome")).to_contain_text("모든 검사를 통과했습니다")
    expect(page.locator("#outcome .hn-checks li.passed")).to_have_count(14)
    page.locator("#submit").click()
    expect(page.locator("#outcome li.refused")).to_contain_text("로그인")
    assert space.requests() == before

    page.locator("#sign-in a").click()
    page.wait_for_url(f"{space.address}/submit")
    expect(page.locator("#sign-in")).to_contain_text("로그아웃 (kim)")
    fill(page, "tiny/image-text")
    page.locator("#submit").click()
    expect(page.locator("#outcome li.ok")).to_contain_text("접수되었습니다")
    (request,) = space.requests_of("kim")
    assert len(space.requests()) == len(before) + 1
    assert not Pseudonyms(space.settings).belongs(request)

    fill(page, "tiny/image-text")
    page.get_by_label("정밀도").select_option("bfloat16")
    page.locator("#submit").click()
    expect(page.locator("#outcome li.refused").first).to_contain_text("제출 횟수를 다 썼습니다")
    assert space.requests_of("kim") == [request]
    assert len(space.requests()) == len(before) + 1


def test_submit_rejects_forged_identity(space: Space) -> None:
    """Send plain HTTP without a session, with a session signed by another key, and with a name among the fields."""
    before = space.requests()
    refusal = REFUSALS[RefusalCode.SIGN_IN].ko
    fields = {"model": "tiny/image-text", "benchmarks": "infochartqa", "action": "submit"}  # no other test submits it
    claims = {"oauth_info": {"userinfo": {"preferred_username": "park", "name": "P", "profile": "", "picture": ""}}}
    payload = base64.b64encode(json.dumps(claims).encode())
    keys = ["guess", hashlib.sha256(b"-v4").hexdigest()]  # Gradio signs with the latter if no secret is set
    cookies = [f"session={TimestampSigner(key).sign(payload).decode()}" for key in keys]
    for cookie in ("", "session=park", *cookies):
        headers = {"Cookie": cookie, "X-Forwarded-User": "park", "Authorization": "park"}
        answer = httpx.post(
            f"{space.address}/submit?username=park", data=fields | {"username": "park"}, headers=headers, timeout=60
        )
        assert answer.status_code == 200 and "hn-outcome" in answer.text and 'class="ok"' not in answer.text
        assert refusal in answer.text
    assert space.requests() == before
    # A forged callback of the provider gets a redirect, not a traceback.
    for query in ("", "?state=x&code=y&_nb_redirects=many", "?error=access_denied&state=x"):
        answer = httpx.get(f"{space.address}/login/callback{query}", timeout=60)
        assert answer.is_redirect and "evil" not in answer.headers["location"], (query, answer.text)


def test_api_submit_requires_personal_token(space: Space) -> None:
    before = space.requests()
    for token in (None, "hf_wrong", "hf_organisation", "hf_person"):
        client = Client(space.address, token=token, analytics_enabled=False, verbose=False)
        (line,) = client.predict("tiny/image-text", ["ko-vdc"], api_name="/submit")
        assert line["accepted"] == (token == "hf_person"), line
    (request,) = space.requests_of("lee")
    assert len(space.requests()) == len(before) + 1
    assert not Pseudonyms(space.settings).belongs(request)

"""Test that no script in a record, a form or an address runs, and that no other host is contacted."""

import copy
from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from evaluator.benchmarks import BENCHMARKS
from leaderboard.views.location import LANGUAGE_FOLDERS
from leaderboard.views.texts import Language, text
from scripts.support.records import NOW, result_of
from submissions.config.settings import Settings
from submissions.records.request import EvalRequest, Lease
from submissions.records.result import EvalResult
from submissions.store.open import open_store
from tests.browser.conftest import EmptyBoard, running_app
from tests.support.slow import only_first

# Without a slash, because a name is also part of a path.
EVIL = "\"'><img src=x onerror=alert(1)><svg onload=alert(2)><a href=javascript:alert(3)>${alert(4)}{{7*7}}"

R = TypeVar("R", EvalResult, EvalRequest)
Place = tuple[str | int, ...]


def texts(value: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the place of every text in a record, as keys and indices."""
    if isinstance(value, str):
        yield place
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from texts(part, (*place, name))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from texts(part, (*place, number))


def with_scripts(record: R) -> tuple[R, list[Place]]:
    """Put a script into every free-text field of the record. Return the changed record and the places of the fields."""
    kind = type(record)
    fields = record.model_dump(mode="json", by_alias=True)
    taken = []
    for place in list(texts(fields)):
        changed = copy.deepcopy(fields)
        target: Any = changed
        for name in place[:-1]:
            target = target[name]
        target[place[-1]] = EVIL
        try:
            kind.model_validate(changed)
        except ValueError:
            continue  # not free text but an ID, a commit or one of a few words
        fields = changed
        taken.append(place)
    return kind.model_validate(fields), taken


def full_result(request: EvalRequest) -> EvalResult:
    return result_of(request).evolve(
        config={
            "model_name": "evil",
            "model_sha": None,
            "model_dtype": None,
            "model_type": "x",
            "organisation": "x",
            "license": "x",
        },
        git_hash="x",
        dataset={"id": "x", "revision": "x", "split": "x", "n": 1},
        breakdown={"doc_type": {EVIL: {"n": 1, "scores": {"em": 5.0}}}, EVIL: {"x": {"n": 1}}},
        latency={"protocol": "x", "mean_ms": 5.0, "hardware": "x"},
        environment={"hardware": "x", "torch": "x"},
        provenance={
            "kind": "verified",
            "source": "x",
            "source_url": "https://example.org/#onclick=alert(5)",
            "worker": "x",
        },
        reproduce="x",
    )


def full_request(request: EvalRequest) -> EvalRequest:
    lease = Lease(worker="x", nonce="0" * 32, heartbeat_at=NOW, expires_at=NOW)
    return request.evolve(license="x", owner_mark="x", status="running", attempt=1, lease=lease, started_at=NOW)


@pytest.mark.parametrize("language", only_first(LANGUAGE_FOLDERS))
def test_pages_escape_scripts_in_records(
    page: Page,
    environment: dict[str, str],
    settings: Settings,
    make_request: Callable[..., EvalRequest],
    language: Language,
) -> None:
    records = {f"results/evil/broken/{'0' * 32}.json": b"{}"}
    places: set[Place] = set()
    for name in BENCHMARKS:
        result, in_result = with_scripts(full_result(make_request(benchmark=name)))
        request, in_request = with_scripts(full_request(make_request(benchmark=name)))
        records |= {result.path: result.to_bytes(), request.path: request.to_bytes()}
        places |= {*in_result, *in_request}
    assert {str(place[-1]) for place in places} >= {
        "model_name", "organisation", "license", "model_type", "id", "revision", "split", "hardware", "protocol", "torch",
        "source", "worker", "reproduce", "git_hash", "submitted_by", "requested_revision", "benchmark_version",
    }  # fmt: skip
    store = open_store(settings.store)
    store.commit(records, store.head(), "evil")

    folder = LANGUAGE_FOLDERS[language]
    with running_app(environment, HANNUN_WORKER="off") as address:
        for name in BENCHMARKS:
            page.goto(f"{address}/{folder}{name}")
            table = page.locator("#rows")
            expect(table.locator("tbody tr", has_text="onerror=alert(1)")).to_have_count(1)
            expect(table).to_contain_text("${alert(4)}{{7*7}}")
            expect(table.locator("img, svg[onload], script, a[href^=javascript]")).to_have_count(0)
            expect(table).to_contain_text(text("unreadable", language, n=1))
        page.locator("tbody th a", has_text="onerror").first.click()
        expect(page.locator("h1")).to_contain_text("onerror=alert(1)")
        expect(page.locator("main").locator("img, script, a[href^=javascript]")).to_have_count(0)
        page.goto(f"{address}/{folder}queue")
        expect(page.locator("tbody tr")).to_have_count(len(BENCHMARKS))
        expect(page.locator("main").locator("img, script, a[href^=javascript]")).to_have_count(0)


@pytest.mark.parametrize("folder", only_first(LANGUAGE_FOLDERS.values()))
def test_pages_escape_scripts_from_visitors(page: Page, empty_board: EmptyBoard, folder: str) -> None:
    """Typed text is only shown as text, and a script in the address does not run."""
    evil = quote(EVIL, safe="")
    page.goto(f"{empty_board.address}/{folder}?model={evil}&compare={evil}&__theme={evil}#{evil}")
    expect(page.locator("main")).to_contain_text("<img src=x")
    for path in (f"compare?models={evil}&q={evil}", f"ko-vqa?q={evil}&sort={evil}&columns={evil}", f"?q={evil}"):
        page.goto(f"{empty_board.address}/{folder}{path}")
        expect(page.locator("main .hn-empty").first).to_be_visible()
        expect(page.locator("main").locator("img, script, a[href^=javascript]")).to_have_count(0)
        assert page.locator("[name=q]").input_value() in ("", EVIL[:100])
    page.goto(f"{empty_board.address}/{folder}ko-vqa")
    page.locator("[name=q]").fill(EVIL)
    expect(page.locator("#rows .hn-empty")).to_be_visible()
    page.goto(f"{empty_board.address}/{folder}submit")
    page.locator("#model-id").fill(EVIL)
    page.locator("#check").click()
    expect(page.locator("#outcome li.refused")).to_be_visible()
    expect(page.locator("#outcome").locator("img, script, svg")).to_have_count(0)

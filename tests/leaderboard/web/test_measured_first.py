"""Test that what was measured here stands for a model on every page, chart, download, badge, card, feed and endpoint.

The model `o/both` was measured with 55.94; later its maker reported 68.73.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import httpx2 as httpx
import pytest
from lxml import html

from leaderboard.data.chart_data import RESULT
from leaderboard.data.live_board import LiveBoard
from leaderboard.edition.build import Edition, build
from leaderboard.pages import share
from leaderboard.views.cards import Bar
from leaderboard.views.texts import TEXTS
from scripts.support.evaluated import evaluated
from scripts.support.records import request_numbered
from submissions.config.settings import Settings
from submissions.records.result import EvalResult, Provenance
from submissions.store.base import Store
from submissions.store.open import open_store
from tests.conftest import settings_in
from tests.support.board import served_board
from tests.support.gradio_client import gradio_client

MEASURED = "55.9"
CLAIMED = "68.7"
DAY = 86_400.0
MARKS = (*TEXTS["reported"], TEXTS["reported_score"].en)
STATEMENTS = ("tr", "li", "p", "summary", "details", "section")  # elements that state one thing
PAGES = (
    "",
    "?q=o/",
    "?q=o/&sort=ko-vqa",
    "ko-vqa",
    "ko-vqa?q=o/",
    "ko-vqa?q=o/&sort=em",
    "models",
    "models/o/both",
    "models/o/measured",
    "models/o/claimed",
    "compare?models=o/both,o/measured",
    "compare?models=o/both,o/claimed,o/measured",
    "record",
    "queue",
)
# What shows one result of each model.
ONE_EACH = ("", "?q=o/", "?q=o/&sort=ko-vqa", "models/o/measured", "compare?models=o/both,o/measured")


def measured(number: int, model: str, score: float) -> EvalResult:
    return evaluated(request_numbered(number, model_id=model, benchmark="ko-vqa"), score, days_ago=number)


def claimed(number: int, model: str, score: float) -> EvalResult:
    """Return what a maker reports: one score, without parts and intervals."""
    provenance = Provenance(kind="reported", source="A report", source_url="https://example.org/report")
    return measured(number, model, score).evolve(
        results={"ko-vqa": {"em": score}},
        headline="em",
        intervals={},
        breakdown={},
        latency=None,
        provenance=provenance,
    )


def fill(store: Store) -> None:
    results = (
        claimed(1, "o/both", 68.73),
        measured(2, "o/both", 55.94),
        measured(3, "o/measured", 60.12),
        measured(4, "o/third", 40.23),
        claimed(5, "o/claimed", 90.37),
    )
    store.commit({result.path: result.to_bytes() for result in results}, store.head(), "results")


@dataclass(frozen=True)
class Site:
    address: str
    http: httpx.Client

    def get(self, path: str) -> httpx.Response:
        response = self.http.get(urljoin(f"{self.address}/", path))
        assert response.status_code == 200, path
        return response


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Settings:
    made = settings_in(tmp_path_factory.mktemp("measured"), models_dir)
    fill(open_store(made.store))
    return made


@pytest.fixture(scope="module")
def site(settings: Settings) -> Iterator[Site]:
    with served_board(settings) as address, httpx.Client(timeout=60, headers={"Accept-Language": "ko"}) as client:
        yield Site(address, client)


@pytest.mark.integration
@pytest.mark.parametrize("language", ["", "en/"])
@pytest.mark.parametrize("path", PAGES)
def test_page_marks_reported_score(site: Site, path: str, language: str) -> None:
    page = html.fromstring(site.get(f"{language}{path}").content)
    for element in page.xpath(f"//body//*[text()[contains(., '{CLAIMED}')]]"):
        statement = next(one for one in element.iterancestors() if one.tag in STATEMENTS)
        words = statement.text_content() + " ".join(statement.xpath("ancestor::table/thead//text()"))
        assert any(word in words for word in MARKS), words


@pytest.mark.integration
def test_leader_is_ahead_only_of_scores_with_intervals(site: Site) -> None:
    """The best score reported for K-Viscuit has an interval, but the next ones have none."""
    sentence = html.fromstring(site.get("k-viscuit").content).get_element_by_id("lead").text_content()
    assert TEXTS["lead_ahead"].ko not in sentence


@pytest.mark.integration
@pytest.mark.parametrize("path", [*ONE_EACH, "embed/ko-vqa", "embed/ko-vqa?n=99"])
def test_page_with_one_result_of_a_model_shows_measured_one(site: Site, path: str) -> None:
    page = html.fromstring(site.get(path).content)
    both = [
        row.text_content()
        for row in page.xpath("//main//tr | //table[@class='hn-table']//tr")
        if "o/both" in row.text_content()
    ]
    assert all(CLAIMED not in words for words in both)
    if path != "models/o/measured":
        assert any(MEASURED in words for words in both)


@pytest.mark.integration
def test_pasted_table_lists_measured_result(site: Site) -> None:
    page = html.fromstring(site.get("en/ko-vqa").content)
    pasted = [line for code in page.xpath("//details[@id='cite']//code") for line in code.text_content().splitlines()]
    both = [line for line in pasted if "o/both" in line]
    assert len(both) == 2, "in Markdown and in LaTeX"
    assert all(MEASURED in line and CLAIMED not in line for line in both)


@pytest.mark.integration
@pytest.mark.parametrize("path", PAGES)
def test_links_to_sections_have_a_target(site: Site, path: str) -> None:
    address = urljoin(f"{site.address}/", path)
    page = html.fromstring(site.get(path).content)
    targets = {urldefrag(urljoin(address, link)) for link in page.xpath("//a/@href") if "#" in link}
    for target, name in targets:
        ids = html.fromstring(site.get(target).content).xpath("//@id") if target.startswith(site.address) else [name]
        assert name in ids, f"{path} links to {target}#{name}"


@pytest.mark.integration
def test_measured_and_reported_sections_are_both_shown(site: Site) -> None:
    page = html.fromstring(site.get("en/models/o/both").content)
    sections = [one.text_content() for one in page.xpath("//details[starts-with(@id, 'result-')]")]
    assert MEASURED in sections[0] and CLAIMED in sections[1]
    standing = page.xpath("//table[contains(@class, 'hn-summary')]//tbody/tr")
    assert [MEASURED in row.text_content() for row in standing] == [True]


@pytest.mark.integration
def test_pages_contain_no_escaped_markup(site: Site) -> None:
    for path in PAGES:
        assert "&lt;span" not in site.get(f"en/{path}").text, path


@pytest.mark.integration
def test_comparison_marks_reported_scores(site: Site) -> None:
    page = html.fromstring(site.get("en/compare?models=o/measured,o/claimed").content)
    rows = {row.text_content().split()[1]: row.text_content() for row in page.xpath("//table[@class='hn-bars'][1]//tr")}
    assert "reported" in rows["o/claimed"] and "(90.37)" in rows["o/claimed"]
    assert "reported" not in rows["o/measured"]
    reported_only = html.fromstring(site.get("en/compare?models=Gemini-3-pro,o/claimed").content)
    assert "reported" in reported_only.xpath("string(//ul[@class='hn-verdicts'])")


@pytest.mark.integration
def test_charts_show_measured_result(site: Site) -> None:
    charts = ["overview/benchmarks", *(f"ko-vqa/{kind}" for kind in ("size", "speed", "cost", "parts", "wins", "time"))]
    shown = 0
    for chart in charts:
        text = site.get(f"charts/{chart}.csv").content.decode("utf-8-sig")
        rows = [row for row in csv.DictReader(io.StringIO(text)) if row["model"] == "o/both"]
        assert all(set(RESULT) <= set(row) for row in rows)
        assert all(row["kind"] == "verified" for row in rows), chart
        shown += len(rows)
        assert CLAIMED not in site.get(f"charts/{chart}.json").text, chart
    assert shown


@pytest.mark.integration
def test_downloads_and_endpoints_name_the_kind(site: Site) -> None:
    rows = site.get("boards/ko-vqa.json").json()
    kinds = {row["em"]: row["kind"] for row in rows if row["model"] == "o/both"}
    assert kinds == {55.94: "verified", 68.73: "reported"}
    assert [row["kind"] for row in rows if row["rank"]] == sorted(
        (row["kind"] for row in rows if row["rank"]), reverse=True
    )
    client = gradio_client(site.address)
    first, *_ = client.predict("ko-vqa", "o/both", api_name="/leaderboard")
    assert (first["em"], first["kind"]) == (55.94, "verified")


@pytest.mark.integration
def test_feeds_mark_reported_score(site: Site) -> None:
    for path in ("feed.xml", "feed.xml?lang=en", "feed.xml?model=o/both", "feed.xml?organisation=o&lang=en"):
        lines = [line for line in site.get(path).text.splitlines() if CLAIMED in line]
        assert lines and all(any(word in line for word in TEXTS["reported"]) for line in lines)


@pytest.mark.integration
def test_badge_shows_measured_score_or_says_reported(site: Site) -> None:
    assert f"{MEASURED} #1–2" in site.get("badge/o/both/ko-vqa.svg").text
    assert "90.4 reported #" in site.get("badge/o/claimed/ko-vqa.svg").text


@pytest.mark.integration
@pytest.mark.parametrize("card", ["overview", "ko-vqa", "models/o/both", "models/o/claimed", "compare"])
def test_card_shows_measured_score_or_says_reported(site: Site, card: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Bar] = []

    def draw(*, bars: tuple[Bar, ...], **_: str) -> bytes:
        drawn.extend(bars)
        return b"picture"

    monkeypatch.setattr(share, "draw_card", draw)
    site.get(f"cards/{card}.png?models=o/both,o/claimed&lang=en")
    assert drawn
    assert all(not f"{bar.score:.1f}".startswith(CLAIMED) for bar in drawn)
    assert all("reported" in bar.note for bar in drawn if bar.score > 61)


@pytest.mark.slow
@pytest.mark.integration
def test_static_pages_link_to_sections_that_exist(settings: Settings, tmp_path: Path) -> None:
    build(LiveBoard(open_store(settings.store)), tmp_path, Edition(address="https://example.org"))
    pages = {path: html.fromstring(path.read_bytes()) for path in tmp_path.rglob("*.html") if "rows" not in path.parts}
    ids = {path: set(page.xpath("//@id")) for path, page in pages.items()}
    for path, page in pages.items():
        for link in page.xpath("//a/@href"):
            target, _, name = link.partition("#")
            if name and not urlsplit(target).scheme:
                found = (path.parent / unquote(target)).resolve() if target else path
                assert name in ids[found], f"{path} links to {link}"

"""Test the pages of what others say: the register of published numbers, lineage, and ranks on unseen questions."""

import html
import random
import re
from typing import get_args

import pytest

from leaderboard.data.live_board import LiveBoard
from leaderboard.edition.file_location import FileLocation
from leaderboard.facts.lineage import lineages
from leaderboard.facts.register import numbers
from leaderboard.facts.register_sets import BY_SLUG, SETS
from leaderboard.pages.benchmark import PAGE as BENCHMARK_PAGE
from leaderboard.pages.errata import PAGE as ERRATA_PAGE
from leaderboard.pages.feed import feed
from leaderboard.pages.lineage import PAGE as LINEAGE_PAGE
from leaderboard.pages.register import REGISTER, SET
from leaderboard.pages.unseen import PAGE as UNSEEN_PAGE
from leaderboard.views.location import Location
from leaderboard.views.texts import Language, text
from scripts.support.records import erratum_of
from submissions.store.base import Store

LANGUAGES = pytest.mark.parametrize("language", get_args(Language))
HUB = "hf://datasets/operator/results"


@pytest.fixture
def board(store: Store) -> LiveBoard:
    return LiveBoard(store)


@LANGUAGES
@pytest.mark.parametrize("place", [Location, FileLocation])
def test_erratum_is_listed_with_reason_and_who_moved(
    language: Language, place: type[Location], store: Store, board: LiveBoard
) -> None:
    moved = {"key": "0" * 32, "model": "o/alpha", "before": 72.0, "after": 71.0, "rank_before": 1, "rank_after": 2}
    erratum = erratum_of("ko-vqa", moved=[moved], not_rescored=3)
    store.commit({erratum.path: erratum.to_bytes()}, store.head(), "an erratum")
    board.refresh()
    page = _words(ERRATA_PAGE.write(board, place(language, "errata"), ""))
    for shown in (
        erratum.version,
        "item-7",
        erratum.reason,
        text("errata_withdrawn", language),
        text("errata_not_rescored", language, n=3),
        text("errata_ranks", language, before=1, after=2),
    ):
        assert shown in page, shown
    assert re.search(r"72\.0\d? → 71\.0", page)
    benchmark = _words(BENCHMARK_PAGE.write(board, place(language, "ko-vqa"), ""))
    assert text("errata_of_benchmark", language, version=erratum.version, n=1) in benchmark
    entries = feed(board.view(), place(language, ""), "ko-vqa").decode()
    assert erratum.reason in entries and "2026-01-02T03:04:05" in entries
    assert erratum.reason not in feed(board.view(), place(language, ""), "ko-vdc").decode()


def _words(page: str | None) -> str:
    assert page is not None
    return html.unescape(page)


@LANGUAGES
@pytest.mark.parametrize("place", [Location, FileLocation])
def test_ten_drawn_numbers_are_on_their_page_with_their_source(
    language: Language, place: type[Location], board: LiveBoard
) -> None:
    for number in random.Random(7).sample(numbers(), 10):
        page = _words(SET.write(board, place(language, f"register/{SETS[number.benchmark].slug}"), ""))
        assert re.search(rf'href="{re.escape(number.source)}"[^>]*>{re.escape(number.printed)}</a>', page), number


@LANGUAGES
@pytest.mark.parametrize("place", [Location, FileLocation])
def test_ten_drawn_lineages_are_on_the_page_with_their_sources(
    language: Language, place: type[Location], board: LiveBoard
) -> None:
    page = _words(LINEAGE_PAGE.write(board, place(language, "lineage"), ""))
    for one in random.Random(7).sample(lineages(), 10):
        row = next(
            row
            for row in page.split("<tr>")
            if re.search(rf">\s*{re.escape(one.model)}(</a>)?\s*<small>{re.escape(one.maker)}<", row)
        )
        assert text(f"origin_{one.origin}", language) in row
        assert text(f"encoder_{one.encoder}", language) in row
        for fact in (one.language_model, one.vision_encoder, one.shown):
            if fact:
                assert (fact.ko if language == "ko" and fact.ko else fact.text) in row
                assert all(f'href="{address}"' in row and f">{site}<" in row for address, site in fact.links)


@LANGUAGES
def test_numbers_kept_apart_are_only_behind_the_switch(language: Language, board: LiveBoard) -> None:
    for slug, one in BY_SLUG.items():
        page = _words(SET.write(board, Location(language, f"register/{slug}"), ""))
        apart = [number for number in numbers() if number.benchmark == one.title and not number.is_compared]
        shown, _, folded = page.partition('<details id="apart">')
        assert bool(folded) == bool(apart)
        assert not any(number.note and number.note in shown for number in apart)
        assert all(number.note in folded for number in apart)


@LANGUAGES
def test_contradictions_are_marked_with_their_size(language: Language, board: LiveBoard) -> None:
    page = _words(REGISTER.write(board, Location(language, "register"), ""))
    assert text("register_contradicted", language, d="23.7") in page
    page = _words(SET.write(board, Location(language, "register/k-dtcbench"), ""))
    assert text("register_contradicted", language, d="23.7") in page
    assert text("register_agree", language, d="0.84") in page


@LANGUAGES
def test_page_of_unseen_questions_says_when_there_are_too_few_models(language: Language, board: LiveBoard) -> None:
    page = _words(UNSEEN_PAGE.write(board, Location(language, "unseen"), ""))
    assert text("unseen", language) in page
    assert board.view().unseen or text("unseen_none", language, n=3) in page


def test_form_for_corrections_asks_for_a_source(board: LiveBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "store_url", HUB, raising=False)
    for page in (
        REGISTER.write(board, Location("en", "register"), ""),
        LINEAGE_PAGE.write(board, Location("en", "lineage"), ""),
    ):
        address = re.search(
            r'href="(https://huggingface.co/datasets/operator/results/discussions/new[^"]+)"', page or ""
        )
        assert address and "Source" in html.unescape(address[1])

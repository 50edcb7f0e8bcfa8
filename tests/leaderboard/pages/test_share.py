"""Test what other sites show of the board: preview pictures, badges and feeds."""

import io
from xml.etree import ElementTree

import pytest
from PIL import Image, ImageChops, ImageColor

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.model_detail import model_page
from leaderboard.pages.feed import feed, feed_of_request
from leaderboard.pages.model import model as write_model
from leaderboard.pages.share import badge, benchmark_card, comparison_card, model_card, overview_card
from leaderboard.views.cards import ACCENT, FIRST_BAR, HEIGHT, MARGIN, PAPER, REST, WIDTH, Bar, draw_card
from leaderboard.views.location import Location
from scripts.support.evaluated import evaluated
from scripts.support.records import Make
from submissions.queue.queue import Queue
from submissions.store.base import Store

EVIL = "<script>alert(1)</script>&\"'"
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def board(store: Store, make_request: Make) -> LiveBoard:
    for model, em in (("o/alpha-8B", 71.0), ("o/alpha-4B", 60.0), ("p/beta", 50.0)):
        result = evaluated(make_request(model_id=model, benchmark="ko-vqa"), em)
        store.commit({result.path: result.to_bytes()}, store.head(), "a result")
    return LiveBoard(store)


def test_pictures_have_the_size_that_previews_expect(board: LiveBoard) -> None:
    view = board.view()
    pictures = [overview_card(view), model_card(view, "o/alpha-8B"), comparison_card(view, "o/alpha-8B,p/beta,no/such")]
    pictures += [benchmark_card(view, name) for name in BENCHMARKS] + [comparison_card(view, EVIL)]
    pictures.append(draw_card(title="가" * 300, subtitle="z" * 300, bars=(Bar("x" * 300, -5.0), Bar("y", 1e9))))
    for picture in pictures:
        assert picture and len(picture) < 300_000
        with Image.open(io.BytesIO(picture)) as image:
            assert (image.format, image.size) == ("PNG", (1200, 630))
    assert model_card(view, "no/such") is None


def drawn(*bars: Bar) -> Image.Image:
    return Image.open(io.BytesIO(draw_card(title="t", bars=bars))).convert("RGB")


@pytest.mark.parametrize(
    "bar", [Bar("a", 87.3, "reported #12–14"), Bar("a", 100.0, "reported #10–114"), Bar("a" * 99, 100.0, "z" * 99)]
)
def test_picture_keeps_scores_within_margin(bar: Bar) -> None:
    picture = drawn(bar)
    below_title = picture.crop((0, FIRST_BAR - 30, WIDTH, HEIGHT))
    ink = ImageChops.difference(below_title, Image.new("RGB", below_title.size, PAPER)).getbbox()
    assert ink and ink[0] >= MARGIN and ink[2] <= WIDTH - MARGIN + 1


def test_picture_draws_no_bar_for_score_of_zero() -> None:
    below_title = drawn(Bar("a", 0.0)).crop((0, FIRST_BAR - 30, WIDTH, HEIGHT))
    colours = [colour for _, colour in below_title.getcolors(10**6) or ()]
    assert ImageColor.getrgb(REST) in colours and ImageColor.getrgb(ACCENT) not in colours


def test_badge_shows_score_and_rank_and_escapes(board: LiveBoard) -> None:
    content = badge(board.view(), "o/alpha-8B", "ko-vqa")
    assert content and "71.0 #1" in content.decode()
    assert ElementTree.fromstring(content).attrib["height"] == "20"
    assert badge(board.view(), "o/alpha-8B", "ko-vdc") is None and badge(board.view(), EVIL, "ko-vqa") is None


@pytest.mark.parametrize(
    ("filters", "models"),
    [
        ({"model": "p/beta"}, {"p/beta"}),
        ({"organisation": "o"}, {"o/alpha-8B", "o/alpha-4B"}),
        ({"benchmark": "ko-vqa", "organisation": "p"}, {"p/beta"}),
        ({"benchmark": "ko-vdc", "organisation": "p"}, set()),
        ({"model": EVIL}, set()),
    ],
)
def test_feed_can_be_limited(board: LiveBoard, filters: dict[str, str], models: set[str]) -> None:
    content = feed(board.view(), Location("en", origin="http://x"), **filters)
    titles = [entry.findtext(f"{ATOM}title", "") for entry in ElementTree.fromstring(content).iter(f"{ATOM}entry")]
    assert {title.partition(" ·")[0] for title in titles} == models


def test_feed_of_a_request_changes_with_its_state(store: Store, make_request: Make) -> None:
    queue = Queue(store)
    queue.submit(make_request())
    (row,) = queue.rows()
    here = Location("ko", f"requests/{row.key}", origin="http://x")
    before = ElementTree.fromstring(feed_of_request(row, here))
    queue.claim("w", queue.store.now())
    after = ElementTree.fromstring(feed_of_request(queue.rows()[0], here))
    ids = [one.findtext(f"{ATOM}entry/{ATOM}id") for one in (before, after)]
    assert ids[0] != ids[1] and before.findtext(f"{ATOM}entry/{ATOM}title", "").endswith("대기")


def test_model_page_compares_with_the_best_of_its_size_and_names_relatives(board: LiveBoard) -> None:
    page = model_page(board, "o/alpha-8B")
    assert page is not None
    (standing,) = page.profile.standings
    assert (standing.of, standing.ranked.rank) == (3, 1)
    assert standing.same_size and standing.difference and standing.difference > 0
    assert page.relatives.other_sizes == ["o/alpha-4B"]


def test_model_page_draws_what_a_model_was_made_from_and_what_was_made_from_it(
    store: Store, make_request: Make
) -> None:
    """The first model is not on the board, and two cards name each other."""
    bases = {"o/middle": "x/first", "o/last": "o/middle", "p/one": "p/two", "p/two": "p/one"}
    for model, base in bases.items():
        result = evaluated(make_request(model_id=model, base_model=base, benchmark="ko-vqa"), 50.0)
        store.commit({result.path: result.to_bytes()}, store.head(), "a result")
    board = LiveBoard(store)
    last = model_page(board, "o/last")
    assert last and last.relatives.ancestors == ["x/first", "o/middle"] and last.listed_ancestors == ["o/middle"]
    middle = model_page(board, "o/middle")
    assert middle and middle.relatives.derived == ["o/last"]
    one = model_page(board, "p/one")
    assert one and one.relatives.ancestors == ["p/two"] and not one.relatives.derived
    page = write_model(board, Location("ko", "models/o/last"), "1")
    assert page and page.index("<li>x/first") < page.index(">o/middle</a>") < page.index("<strong>o/last</strong>")

"""Test the first screen of a model's page: its verdict, its overall rank with a range, and that print and picture agree."""

import html
import re
from dataclasses import replace
from typing import Any

import pytest

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.models import ModelRow
from leaderboard.data.profile import OverallPlace, Profile
from leaderboard.data.unseen import UnseenChange
from leaderboard.pages.model import MODEL
from leaderboard.pages.share import model_card
from leaderboard.views.location import Location
from leaderboard.views.texts import Language
from leaderboard.views.verdict import amount, prices, verdict
from scripts.support.evaluated import evaluated
from scripts.support.records import Make
from submissions.store.base import Store

SHARED = ("ko-vqa", "ko-vdc", "ko-ocrag")


@pytest.fixture
def board(store: Store, make_request: Make) -> LiveBoard:
    """Return a board where `o/a` leads clearly, `o/b` and `o/c` are close, and `o/d` is far behind."""
    scores = {"o/a": 95.0, "o/b": 60.0, "o/c": 59.5, "o/d": 5.0}
    results = [
        evaluated(make_request(model_id=model, benchmark=name), score)
        for model, score in scores.items()
        for name in SHARED
    ]
    results.append(evaluated(make_request(model_id="o/one", benchmark="ko-vqa"), 1.0))
    store.commit({r.path: r.to_bytes() for r in results}, store.head(), "results")
    return LiveBoard(store)


def profile_of(board: LiveBoard, model: str) -> Profile:
    found = board.view().profile(model)
    assert found
    return found


def test_overall_rank_has_a_range_that_closeness_widens(board: LiveBoard) -> None:
    places = {model: profile_of(board, f"o/{model}").overall for model in "abcd"}
    ranges = {model: (one.rank, one.best, one.worst, one.of) for model, one in places.items() if one}
    assert ranges["a"] == (1, 1, 1, 4) and ranges["d"] == (4, 4, 4, 4)
    assert ranges["b"] == (2, 2, 3, 4) and ranges["c"][1:] == (2, 3, 4)


def test_models_on_one_benchmark_only_do_not_narrow_the_range(store: Store, make_request: Make) -> None:
    """Twenty others on each benchmark must not make a place among three compared models worth less."""
    results = [
        evaluated(make_request(model_id=model, benchmark=name), score)
        for model, score in {"o/x": 60.0, "o/y": 59.5, "o/z": 5.0}.items()
        for name in SHARED
    ]
    for number in range(20 * len(SHARED)):
        name = SHARED[number % len(SHARED)]
        results.append(evaluated(make_request(model_id=f"o/w{number}", benchmark=name), 1.0 + number / 100))
    store.commit({r.path: r.to_bytes() for r in results}, store.head(), "results")
    board = LiveBoard(store)
    places = [profile_of(board, f"o/{model}").overall for model in "xyz"]
    assert [(one.best, one.worst) for one in places if one] == [(1, 2), (1, 2), (3, 3)]


def test_variants_of_one_model_do_not_narrow_the_range(store: Store, make_request: Make) -> None:
    """A score is a share of families, so a model's range must not shrink if a rival submits twenty variants."""
    scores = {"o/x": 60.0, "o/y": 59.5, "o/z": 5.0}
    scores |= {f"o/z-variant{number}": 1.0 + number / 100 for number in range(20)}
    results = []
    for model, score in scores.items():
        for name in SHARED:
            base = "o/z" if "variant" in model else None
            results.append(evaluated(make_request(model_id=model, benchmark=name, base_model=base), score))
    store.commit({r.path: r.to_bytes() for r in results}, store.head(), "results")
    board = LiveBoard(store)
    places = [profile_of(board, f"o/{model}").overall for model in "xy"]
    assert [(one.best, one.worst) for one in places if one] == [(1, 2), (1, 2)]


@pytest.mark.parametrize(
    ("model", "language", "words"),
    [
        ("o/a", "en", "Ranks 1 of 4 models overall on 3 image benchmarks. First or tied for first on KO-VQA, KO-VDC, KO-OCRAG."),
        ("o/b", "en", "Ranks 2 of 4 models overall on 3 image benchmarks (2 to 3)."),
        ("o/b", "ko", "이미지 벤치마크 3개의 종합 순위는 모델 4개 가운데 2위(2~3위)입니다."),
        ("o/one", "en", "It has a rank on one benchmark, and the overall rank needs more."),
    ],
)  # fmt: skip
def test_verdict_states_rank_and_range(board: LiveBoard, model: str, language: Language, words: str) -> None:
    assert verdict(profile_of(board, model), language) == words


def test_nobody_leads_where_nobody_is_told_apart(store: Store, make_request: Make) -> None:
    for model, score in {"o/x": 50.0, "o/y": 50.0, "o/zero": 0.0}.items():
        result = evaluated(make_request(model_id=model, benchmark="ko-vdc"), score)
        store.commit({result.path: result.to_bytes()}, store.head(), "result")
    assert [profile_of(LiveBoard(store), f"o/{model}").leads for model in ("x", "y", "zero")] == [["ko-vdc"]] * 2 + [[]]
    only = make_request(model_id="o/a0", benchmark="ko-vqa"), make_request(model_id="o/b0", benchmark="ko-vqa")
    results = [evaluated(request, 50.0) for request in only]
    store.commit({result.path: result.to_bytes() for result in results}, store.head(), "results")
    assert [profile_of(LiveBoard(store), f"o/{model}").leads for model in ("a0", "b0")] == [[], []]


def test_verdict_names_a_fall_on_unseen_questions_only_if_it_is_known(board: LiveBoard) -> None:
    fall = UnseenChange("o/b", "ko-fresh", "infochartqa", 9, 2, 10, 6, 8)
    unknown = replace(fall, low=-1)
    shown = replace(profile_of(board, "o/b"), unseen=[unknown, fall])
    assert "It falls by 6 to 8 places on unseen questions (KO-FRESH − InfoChartQA)." in verdict(shown, "en")
    assert "unseen" not in verdict(replace(shown, unseen=[unknown]), "en")


def test_overall_rank_of_reported_scores_says_so() -> None:
    place = OverallPlace(2, 2, 2, 9, 3, "image", "reported")
    shown = Profile(ModelRow("o/reported"), overall=place)
    assert verdict(shown, "en").endswith("by scores that others report.")
    assert verdict(shown, "ko").endswith("(외부 발표 점수).")


def test_first_screen_holds_what_the_picture_holds(board: LiveBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: dict[str, Any] = {}

    def draw(**shown: Any) -> bytes:
        drawn.update(shown)
        return b""

    monkeypatch.setattr("leaderboard.pages.share.draw_card", draw)
    monkeypatch.setattr("leaderboard.pages.share.drawable", lambda language: language)
    model_card(board.view(), "o/b", "en")
    page = MODEL.write(board, Location("en", "models/o/b"), "") or ""
    first = re.search(r'<section class="hn-profile".*?</section>', page, re.DOTALL)
    assert first and drawn["subtitle"] in first[0] and drawn["title"] in first[0]
    assert len(drawn["bars"]) == 3
    for bar in drawn["bars"]:
        assert bar.name in first[0] and f"{bar.score:.1f}" in first[0]
    for fact in drawn["remark"].replace(": ", " · ").split(" · "):
        assert fact in html.unescape(first[0])
    assert f'content="{drawn["subtitle"]}"' in page, "search engines and previews show it too"


def test_everything_else_is_folded(board: LiveBoard) -> None:
    page = MODEL.write(board, Location("ko", "models/o/b"), "") or ""
    rest = page.partition("</section>")[2].partition("</main>")[0]
    outside = re.sub(
        r"<details.*?</details>", "", re.sub(r"<details.*?</details>", "", rest, flags=re.DOTALL), flags=re.DOTALL
    )
    assert "<table" not in outside and "<dl" not in outside
    for name in SHARED:
        key = next(r.row.key for r in board.view().boards[name] if r.row.model == "o/b")
        assert f'href="#{key}"' in page and f'id="{key}"' in page, BENCHMARKS[name].card.title


@pytest.mark.parametrize(
    ("params", "shown"),
    [(7_615_616_512, "7.62B"), (1.04e12, "1.04T"), (999_600_000, "1B"), (135e6, "135M"), (None, "–")],
)
def test_amount_has_no_exponent(params: float | None, shown: str) -> None:
    assert amount(params) == shown


def test_prices_that_look_the_same_are_no_range() -> None:
    assert prices(0.501, 0.502) == "$0.50" and prices(0.5, 2.0) == "$0.50–2.00"

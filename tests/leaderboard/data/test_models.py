"""Test the overview of models (Borda counts, references, changes), model pages and charts."""

import csv
import io
from dataclasses import replace
from typing import get_args

import pytest

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.chart_data import COLUMNS, OVERVIEW, Kind, chart_data, charts_of, has_data
from leaderboard.data.column_heads import Heads
from leaderboard.data.export import rows_to_csv
from leaderboard.data.families import families
from leaderboard.data.finder import Finder, find_models
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.model_detail import model_page
from leaderboard.data.models import rank_models, references, share_behind
from leaderboard.data.rank_changes import RankChange
from leaderboard.data.ranking import Boards, RankedRow, ranked
from leaderboard.data.standing import Standings
from leaderboard.pages.overview import overview
from leaderboard.views.figures import figure
from leaderboard.views.location import Location
from leaderboard.views.texts import Language
from scripts.support.evaluated import evaluated
from scripts.support.records import Make
from submissions.records.index_rows import BoardRow, board_row
from submissions.store.base import Store


@pytest.fixture
def store_of_three(store: Store, make_request: Make) -> Store:
    """Return a store with a/old on two document benchmarks, and this week's b/new and c/odd on one benchmark each."""
    results = [
        evaluated(make_request(model_id="a/old", benchmark="ko-vqa"), 95.0, days_ago=30),
        evaluated(make_request(model_id="a/old", benchmark="ko-vdc"), 60.0, days_ago=30),
        evaluated(make_request(model_id="b/new", benchmark="ko-vqa"), 97.0, days_ago=1),
        evaluated(make_request(model_id="c/odd", benchmark="korquad-2"), 70.0, days_ago=2),
    ]
    store.commit({r.path: r.to_bytes() for r in results}, store.head(), "three")
    return store


@pytest.fixture
def board(store_of_three: Store) -> LiveBoard:
    return LiveBoard(store_of_three)


def overall(boards: Boards) -> dict[str, dict[str, float]]:
    return {m.model: {str(group): own.score for group, own in m.overall.items()} for m in rank_models(boards)[0]}


def row(make_request: Make, model: str, em: float, benchmark: str = "ko-vqa", base: str | None = None) -> BoardRow:
    made = board_row(evaluated(make_request(model_id=model, benchmark=benchmark), em), model, model)
    return replace(made, base_model=base)


def board_of(make_request: Make, benchmark: str, **scores: float) -> list[RankedRow]:
    return ranked([row(make_request, f"o/{name}", em, benchmark) for name, em in scores.items()])


def test_overall_compares_models_on_the_same_benchmarks(make_request: Make) -> None:
    boards: Boards = {
        "ko-vqa": board_of(make_request, "ko-vqa", a=90, b=50, c=50, d=10, once=99),
        "ko-vdc": board_of(make_request, "ko-vdc", a=40, b=60, c=30, d=20),
        "infochartqa": board_of(make_request, "infochartqa", a=1, once=100),
        "korquad-2": board_of(make_request, "korquad-2", a=40, page=30),
    }
    models, shared = rank_models(boards)
    assert shared["verified"] == {"image": ("ko-vqa", "ko-vdc")}, (
        "page benchmarks have no overall: there is only one of them"
    )
    assert overall(boards) == {
        "o/b": {"image": pytest.approx((50 + 100) / 2)},
        "o/a": {"image": pytest.approx((100 + 200 / 3) / 2)},
        "o/c": {"image": pytest.approx((50 + 100 / 3) / 2)},
        "o/d": {"image": 0.0},
        "o/once": {},
        "o/page": {},
    }
    assert [m.model for m in models] == ["o/a", "o/b", "o/c", "o/d", "o/once", "o/page"]


def test_equal_overall_scores_have_one_rank(make_request: Make) -> None:
    """One model is ahead of 1, 2 and 3 of ten others, another of 2, 3 and 1. Their sums of shares differ in the last bit."""
    rivals = {f"r{n}": 10.0 * n for n in range(1, 10)}
    scores = {"ko-vqa": (15.0, 17.0), "ko-vdc": (25.0, 27.0), "infochartqa": (25.0, 15.0)}
    boards: Boards = {name: board_of(make_request, name, **rivals, one=a, other=b) for name, (a, b) in scores.items()}
    overall = {m.model: m.overall["image"] for m in rank_models(boards)[0]}
    assert overall["o/one"] == overall["o/other"] and overall["o/one"].score == 20.0


def test_measured_overall_comes_before_the_reported_one(make_request: Make) -> None:
    """Models that were measured on two benchmarks, and are reported on two others, have the overall score of measurements."""

    def with_reports(benchmark: str) -> list[RankedRow]:
        rows = [row(make_request, "o/both", 90.0, benchmark), row(make_request, "o/other", 50.0, benchmark)]
        return ranked([replace(one, kind="reported", headline=BENCHMARKS[benchmark].card.headline) for one in rows])

    boards: Boards = {name: board_of(make_request, name, both=90, other=50, third=40) for name in ("ko-vqa", "ko-vdc")}
    boards |= {name: with_reports(name) for name in ("ko-ocrag", "kdoc-ocrbench")}
    places = [(m.model, m.overall["image"].kind, m.overall["image"].rank) for m in rank_models(boards)[0]]
    assert places == [("o/both", "verified", 1), ("o/other", "verified", 2), ("o/third", "verified", 3)]


def test_reported_overall_has_no_place_for_a_measured_model(make_request: Make) -> None:
    """Ranks among reported models begin with 1 and count no model whose overall score was measured."""
    boards: Boards = {name: board_of(make_request, name, both=90, measured=50) for name in ("ko-vqa", "ko-vdc")}
    for name in ("ko-ocrag", "kdoc-ocrbench"):
        rows = board_of(make_request, name, both=90, first=60, second=50)
        headline = BENCHMARKS[name].card.headline
        boards[name] = ranked([replace(one.row, kind="reported", headline=headline) for one in rows])
    overall = {m.model: m.overall["image"] for m in rank_models(boards)[0]}
    assert {name: (one.kind, one.rank) for name, one in overall.items()} == {
        "o/both": ("verified", 1),
        "o/measured": ("verified", 2),
        "o/first": ("reported", 1),
        "o/second": ("reported", 2),
    }
    assert (overall["o/first"].score, overall["o/second"].score) == (100.0, 0.0)


def test_reported_overall_is_averaged_over_benchmarks_of_models_that_compete(make_request: Make) -> None:
    """Measured models with more reports choose no benchmarks for those that are only reported."""

    def reported(benchmark: str, *names: str) -> list[RankedRow]:
        rows = [row(make_request, f"o/{name}", 90.0 - n, benchmark) for n, name in enumerate(names)]
        headline = BENCHMARKS[benchmark].card.headline
        return ranked([replace(one, kind="reported", headline=headline) for one in rows])

    boards: Boards = {name: board_of(make_request, name, m1=90, m2=80, m3=70) for name in ("ko-vqa", "ko-vdc")}
    boards |= {name: reported(name, "m1", "m2", "m3") for name in ("ko-ocrag", "kdoc-ocrbench")}
    boards |= {name: reported(name, "first", "second") for name in ("infochartqa", "k-viscuit")}
    models, shared = rank_models(boards)
    assert shared["reported"] == {"image": ("infochartqa", "k-viscuit")}
    overall = {m.model: m.overall["image"] for m in models}
    assert {name: (one.kind, one.rank) for name, one in overall.items() if one.kind == "reported"} == {
        "o/first": ("reported", 1),
        "o/second": ("reported", 2),
    }


def test_one_model_on_many_benchmarks_takes_the_overall_score_from_nobody(make_request: Make) -> None:
    """Six benchmarks of one model outweigh two benchmarks of two models, but it has nobody to be compared with there."""
    names = [name for name, benchmark in BENCHMARKS.items() if benchmark.inputs == "image"]
    boards: Boards = {name: board_of(make_request, name, everywhere=90) for name in names}
    boards |= {name: board_of(make_request, name, everywhere=90, other=50) for name in names[:2]}
    assert len(names) > 4
    assert overall(boards) == {"o/everywhere": {"image": 100.0}, "o/other": {"image": 0.0}}


def test_overall_favours_model_ahead_on_all_shared_benchmarks(make_request: Make) -> None:
    """A model that beats another one on all shared benchmarks ranks above it, even if it was measured on more."""
    names = [name for name, benchmark in BENCHMARKS.items() if benchmark.inputs == "image"]
    boards: Boards = {name: board_of(make_request, name, strong=44, other=90, third=80) for name in names}
    for name in names[:2]:
        boards[name] = board_of(make_request, name, strong=44, chosen=43.9, other=90, third=20)
    places = [m.model for m in rank_models(boards)[0]]
    assert places.index("o/strong") < places.index("o/chosen")


@pytest.mark.parametrize(
    ("scores", "shares"),
    [
        ({"a": 90, "b": 80, "c": 80, "d": 10}, {"a": 1.0, "b": 0.5, "c": 0.5, "d": 0.0}),
        ({"a": 90, "a-tuned": 80, "b": 80, "c": 80}, {"a": 1.0, "a-tuned": 0.25, "b": 0.25, "c": 0.25}),
        ({"a": -5, "b": -10}, {"a": 1.0, "b": 0.0}),  # a net score can be negative
    ],
)
def test_share_behind_compares_families(scores: dict[str, float], shares: dict[str, float]) -> None:
    assert share_behind(scores, {"a-tuned": "a"}) == shares


def test_overall_counts_a_family_once(make_request: Make) -> None:
    def board(benchmark: str, variants: int) -> list[RankedRow]:
        rows = [row(make_request, "o/a", 90.0, benchmark), row(make_request, "o/b", 50.0, benchmark)]
        rows += [row(make_request, f"x/{n}", 60.0 + n, benchmark, base="x/base") for n in range(variants)]
        rows.append(row(make_request, "x/twice", 70.0, benchmark, base="x/0"))
        return ranked(rows)

    few, many = ({name: board(name, n) for name in ("ko-vqa", "ko-vdc")} for n in (1, 9))
    before = overall(few)
    after = overall(many)
    assert {model: after[model] for model in before} == before
    assert all(after[f"x/{n}"] == {"image": 50.0} for n in range(9)), "ahead of o/b, behind o/a"


def test_first_base_model_counts_for_families_and_relatives(make_request: Make) -> None:
    boards = {
        "ko-vqa": ranked([row(make_request, "o/c", 50.0, base="o/a")]),
        "ko-vdc": ranked([row(make_request, "o/c", 50.0, "ko-vdc", base="o/b")]),
    }
    models, _shared = rank_models(boards)
    assert families(boards) == {"o/c": "o/a"}
    assert list(Standings(boards, models).relatives("o/c").ancestors) == ["o/a"] == [models[0].base_model]


def test_every_relative_is_named_while_there_is_room(make_request: Make) -> None:
    sizes = [f"a/m-{size}B" for size in range(2, 16)]
    boards = {
        "ko-vqa": ranked(
            [row(make_request, "a/m-1B", 50.0), *(row(make_request, m, 40.0, base="a/m-1B") for m in sizes)]
        )
    }
    relatives = Standings(boards, rank_models(boards)[0]).relatives("a/m-1B")
    assert len(relatives.derived) == 12 and sorted([*relatives.derived, *relatives.other_sizes]) == sorted(sizes)


def test_chart_has_data_only_of_rows_that_it_shows(make_request: Make) -> None:
    tested = replace(row(make_request, "o/a", 50.0), paired=(("key of a result that is not on the board", 1, 0.05),))
    assert not has_data("wins", ranked([tested]))
    outdated = replace(row(make_request, "o/b", 50.0), benchmark_version="0")
    claim = replace(row(make_request, "o/b", 60.0), key="c" * 32, kind="reported", params=10**9)
    rows = ranked([outdated, claim])
    for kind in ("size", "time"):
        assert has_data(kind, rows) == bool(chart_data(kind, rows))


def test_models_list_each_model_once_with_best_result(board: LiveBoard) -> None:
    models = {m.model: m for m in board.view().models}
    assert len(models) == len(board.view().models)
    assert set(models["a/old"].cells) == {"ko-vqa", "ko-vdc"}
    assert models["a/old"].cells["ko-vqa"].row.score == 95.0
    assert models["a/old"].params and models["a/old"].weights == "open"
    assert "Human" not in models and "Baseline" not in models
    assert [m.model for m in find_models(board.view(), Finder(order="ko-vqa"))][:2] == ["b/new", "a/old"]
    assert [m.model for m in find_models(board.view(), Finder("a/o"))] == ["a/old"]


def test_references_list_human_baseline_blind_and_chance(board: LiveBoard, store: Store, make_request: Make) -> None:
    boards = board.view().boards
    korquad = [(r.kind, r.score) for r in references(boards["korquad-2"], "korquad-2")]
    assert korquad == [("human", 83.86), ("baseline", 45.96), ("constant", 11.0)]
    assert [(r.kind, r.score) for r in references(boards["ko-vdc"], "ko-vdc")] == [("constant", 25.0), ("chance", 25.0)]
    dataset = {"id": "x", "revision": None, "split": "test/blind", "n": 200}
    blind = evaluated(make_request(benchmark="ko-vdc"), 31.0, dataset=dataset)
    store.commit({blind.path: blind.to_bytes()}, store.head(), "blind")
    assert [r.kind for r in references(board.refresh().boards["ko-vdc"], "ko-vdc")] == ["blind", "constant", "chance"]
    with_rank = {r.row.model for r in boards["korquad-2"] if r.rank is not None}
    heads = Heads(board.view().models).of(board.view().models)
    assert sum(heads["korquad-2"].distribution) == len(with_rank), "a model with several results counts once"


def test_changes_list_last_week(board: LiveBoard) -> None:
    board.refresh()
    changes = board.changes()
    assert [c.before is None for c in changes] == sorted((c.before is None for c in changes), reverse=True), (
        "new models come first"
    )
    assert RankChange("ko-vqa", "verified", "b/new", None, 1) in changes
    assert RankChange("ko-vqa", "verified", "a/old", 1, 2) in changes
    assert {c.benchmark for c in changes} == {"ko-vqa", "korquad-2"}


def test_refresh_reuses_unchanged_boards(board: LiveBoard, store: Store, make_request: Make) -> None:
    before = board.view()
    version = board.version
    more = evaluated(make_request(benchmark="ko-vqa"), 20.0)
    store.commit({more.path: more.to_bytes()}, store.head(), "more")
    after = board.refresh()
    assert after.boards["korquad-2"] is before.boards["korquad-2"]
    assert after.boards["ko-vqa"] is not before.boards["ko-vqa"] and board.version != version


def test_notable_parts_are_those_of_the_result_that_represents_the_model(
    board: LiveBoard, store: Store, make_request: Make
) -> None:
    for thinking, em in (("on", 99.0), ("off", 1.0)):
        made = evaluated(make_request(benchmark="ko-vqa", model_id="a/old", thinking=thinking), em)
        more = made.evolve(config={**made.config.model_dump(), "thinking": thinking})
        store.commit({more.path: more.to_bytes()}, store.head(), "more")
    board.refresh()
    page = model_page(board, "a/old")
    assert page is not None and sum(d.ranked.row.benchmark == "ko-vqa" for d in page.details) == 3
    assert page.strengths
    assert all(part.difference > -50 for part in page.weaknesses), "the weak result does not represent the model"


def test_model_page_compares_parts_with_best_and_median(board: LiveBoard) -> None:
    page = model_page(board, "a/old")
    assert page is not None and [d.ranked.row.benchmark for d in page.details] == ["ko-vqa", "ko-vdc"]
    parts = page.details[0].parts["domain"]
    assert len(parts) == 15 and all(p.median <= p.best and p.part.score <= p.best for p in parts)
    assert model_page(board, "no/such") is None
    human = model_page(board, "Human")
    assert human is not None and {d.ranked.row.benchmark for d in human.details} == {"infochartqa"}


@pytest.mark.parametrize("kind", [kind for kind in get_args(Kind) if kind != OVERVIEW])
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_charts_render_and_export_csv(board: LiveBoard, benchmark: str, kind: Kind) -> None:
    data = chart_data(kind, board.view().boards[benchmark])
    for language in get_args(Language) if data else ():
        chart = figure(kind, data, BENCHMARKS[benchmark], language)
        assert chart.data and "NaN" not in chart.to_json()
    lines = list(csv.reader(io.StringIO(rows_to_csv(data, COLUMNS[kind]).decode("utf-8-sig"))))
    assert len(lines) == len(data) + 1 and tuple(lines[0]) == COLUMNS[kind]
    assert charts_of(benchmark).count("letters") == (BENCHMARKS[benchmark].card.histogram is not None)


def test_size_chart_marks_pareto_front(board: LiveBoard) -> None:
    data = chart_data("size", board.view().boards["ko-vqa"])
    for kind in ("verified", "reported"):
        own = [p for p in data if p["kind"] == kind]
        for point in own:
            cheaper = [p["score"] for p in own if p["params"] < point["params"]]
            cheaper += [p["score"] for p in own if p["params"] == point["params"] and p["score"] > point["score"]]
            assert point["front"] == (not cheaper or point["score"] > max(cheaper)), point
    assert data[0]["front"] and not all(point["front"] for point in data)


def test_chart_data_for_letters_and_time(board: LiveBoard) -> None:
    letters = chart_data("letters", board.view().boards["ko-vdc"])
    assert [p["letter"] for p in letters] == list("ABCD-")
    assert sum(p["percent"] for p in letters) == pytest.approx(100, abs=0.1)
    by_time = chart_data("time", board.view().boards["korquad-2"])
    best = [p["state_of_the_art"] for p in by_time if p["kind"] == "reported"]
    assert best == sorted(best) and best[-1] == 90.93


def test_figure_escapes_markup_in_model_name(make_request: Make) -> None:
    evil = "<a href='https://example.org'>x</a>"
    config = {"model_name": evil, "model_sha": None, "model_dtype": None, "params": 10**9, "weights": "open"}
    row = board_row(evaluated(make_request(benchmark="ko-vdc"), 50.0, config=config), "p", "b")
    for kind in charts_of("ko-vdc"):
        drawn = figure(kind, chart_data(kind, ranked([row])), BENCHMARKS["ko-vdc"], "en").to_json()
        assert "<a" not in drawn and "\\u003ca" not in drawn


def test_overview_says_that_overall_score_has_other_benchmarks(store: Store, make_request: Make) -> None:
    """Two models were ranked on two benchmarks; since last week, both and a third benchmark are shared."""
    results = []
    for model, em in (("a/one", 60.0), ("b/two", 50.0)):
        for benchmark, days in (("ko-vqa", 30), ("ko-vdc", 30), ("ko-fresh", 1)):
            results.append(evaluated(make_request(model_id=model, benchmark=benchmark), em, days))
    store.commit({result.path: result.to_bytes() for result in results}, store.head(), "results")
    board = LiveBoard(store)
    board.refresh()
    assert board.shared_before == {"image": ("ko-vqa", "ko-vdc")}
    assert {c.before for c in board.changes()} == {None}, "no rank moved"
    assert {c.benchmark for c in board.changes()} == {"ko-fresh"}
    page = overview(board, Location("en"), "v")
    assert "KO-VQA, KO-VDC → KO-VQA, KO-VDC, KO-FRESH" in page

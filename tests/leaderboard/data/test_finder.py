"""Test finding models by skill, size and licence."""

import json
from collections.abc import Iterator

import pytest

from leaderboard.data.finder import PRESETS, Finder, find_models, shown_ranks
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.query import Query, matching_rows
from leaderboard.data.skills import SKILLS, skill_kind
from leaderboard.facts.licences import commercial_use, licence_of
from scripts.support.evaluated import evaluated
from scripts.support.records import Make
from submissions.config.paths import ASSETS
from submissions.store.base import Store


@pytest.mark.parametrize(
    ("licence", "commercial"),
    [
        ("apache-2.0", "yes"),
        ("Apache-2.0", "yes"),
        ("gemma", "conditions"),
        ("cc-by-nc-4.0", "no"),
        ("apache-2.0, cc-by-nc-4.0", "no"),
        ("apache-2.0, house-rules", None),
        ("other", None),
        ("", None),
        (None, None),
    ],
)
def test_commercial_use_is_the_strictest_known(licence: str | None, commercial: str | None) -> None:
    assert commercial_use(licence) == commercial


@pytest.fixture
def family_board(store: Store, make_request: Make) -> LiveBoard:
    """Return a board with a model, two models made from it of which one is better, and another model."""
    results = []
    for model, em, base in (
        ("o/base", 60.0, None),
        ("o/tuned", 65.0, "o/base"),
        ("o/tuned-again", 62.0, "o/tuned"),
        ("p/other", 50.0, None),
    ):
        for benchmark in ("ko-vqa", "ko-vdc"):
            result = evaluated(make_request(model_id=model, benchmark=benchmark), em)
            results.append(result.evolve(config=result.config.model_copy(update={"base_model": base})))
    store.commit({result.path: result.to_bytes() for result in results}, store.head(), "results")
    return LiveBoard(store)


def test_best_of_families_is_the_first_model_of_each(family_board: LiveBoard) -> None:
    view = family_board.view()
    names = [model.model for model in find_models(view, Finder(words="o/", family=True))]
    assert names == ["o/tuned"]
    assert [model.model for model in find_models(view, Finder(words="o/base", family=True))] == ["o/base"]
    assert Finder.from_params(Finder(family=True).params()) == Finder(family=True)


@pytest.mark.parametrize("sort", ["score", "name", "f1"])
def test_table_shows_best_of_families_in_any_order(family_board: LiveBoard, sort: str) -> None:
    rows = family_board.view().select("ko-vqa", Query(verified=True, family=True, sort=sort))
    assert [r.row.model for r in rows] == ["o/tuned", "p/other"]
    assert Query.from_params(Query(family=True).filters()).family


@pytest.mark.parametrize("name", PRESETS)
def test_presets_survive_their_address(name: str) -> None:
    assert Finder.from_params(PRESETS[name].params()) == PRESETS[name]


def test_every_licence_has_a_source() -> None:
    for name in json.loads((ASSETS / "licences.json").read_bytes()):
        licence = licence_of(name)
        assert name == name.lower() and licence and licence.source.startswith("https://"), name


@pytest.fixture
def board(store: Store) -> Iterator[LiveBoard]:
    yield LiveBoard(store)


def test_finder_combines_weights_licence_size_and_skill(board: LiveBoard) -> None:
    view = board.view()
    finder = Finder.from_params(
        {"weights": "open", "commercial": "yes", "size": "0-2,2-4,4-8", "sort": "charts", "q": "<b>", "by": "x"}
    )
    assert (finder.skill, finder.weights, finder.words) == ("charts", ("open",), "<b>")
    found = find_models(
        view, Finder(order="charts", weights=("open",), commercial=("yes",), sizes=("0-2", "2-4", "4-8"))
    )
    assert found and all(m.weights == "open" and m.params and m.params < 9e9 for m in found)
    assert {commercial_use(m.license) for m in found} == {"yes"}
    scores = [view.skill_scores("charts").get(m.model, -1.0) for m in found]
    assert scores == sorted(scores, reverse=True) and scores[0] > 0
    assert view.skill_scores("tables") == {}, "no ranked result has its scores on tables"


def test_skill_is_averaged_over_the_parts_that_need_it(board: LiveBoard, store: Store, make_request: Make) -> None:
    for model, scores in (("a/one", (90.0, 10.0)), ("b/two", (50.0, 50.0)), ("c/three", (10.0, 40.0))):
        parts = {
            f"{length}/table": {"n": 10, "scores": {"f1": f1}}
            for length, f1 in zip(("short", "long"), scores, strict=True)
        }
        result = evaluated(make_request(model_id=model, benchmark="korquad-2"), 60.0, breakdown={"length_form": parts})
        store.commit({result.path: result.to_bytes()}, store.head(), "a result")
    found = board.refresh().skill_scores("tables")
    assert found == {"a/one": 50.0, "b/two": 75.0, "c/three": 25.0}


def test_reported_ranks_in_a_skill_are_in_brackets(board: LiveBoard) -> None:
    view = board.view()
    for skill in SKILLS:
        finder = Finder.from_params({"sort": skill})
        shown = set(shown_ranks(view, finder, view.models).values()) - {"–"}
        has_brackets = skill_kind(view.models, skill) == "reported"
        assert all(text.startswith("(") is has_brackets for text in shown)
    assert any(skill_kind(view.models, skill) == "reported" and view.skill_ranks[skill] for skill in SKILLS)


def test_unknown_finder_values_are_ignored() -> None:
    evil = dict.fromkeys(("q", "sort", "weights", "commercial", "size"), "<script>,,overall")
    finder = Finder.from_params(evil)
    assert (finder.order, finder.weights, finder.commercial, finder.sizes) == ("overall", (), (), ())
    assert finder.params() == {"q": "<script>,,overall"}


def test_table_is_filtered_by_commercial_use(board: LiveBoard) -> None:
    rows = board.view().boards["infochartqa"]
    found = matching_rows(rows, Query.from_params({"commercial": "yes,conditions"}))
    assert found and {commercial_use(r.row.license) for r in found} <= {"yes", "conditions"}
    assert len(found) < len(rows)

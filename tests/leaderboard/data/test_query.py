"""Test the query of a table: Korean search as it is typed, filters, sorting, and parsing from an address."""

from dataclasses import fields, replace
from typing import Any

import pytest

from leaderboard.data.query import MAX_ROWS_PER_PAGE, ROWS_PER_PAGE, SIZES, Query, find, matching_rows, sort_rows
from leaderboard.data.ranking import RankedRow
from scripts.support.records import Make, result_of
from submissions.records.index_rows import board_row


@pytest.fixture
def rows(make_request: Make) -> list[RankedRow]:
    def row(model: str, **config: Any) -> RankedRow:
        result = result_of(make_request()).evolve(
            config={"model_name": model, "model_sha": None, "model_dtype": None, **config}
        )
        return RankedRow(1, replace(board_row(result, "p", model), split="test"))

    return [
        row("코인봇-7B", organisation="삼성 리서치", params=7 * 10**9, weights="open", license="apache-2.0"),
        row("코끼리", organisation="LG AI", params=72 * 10**9, weights="closed"),
        row("값진모델", organisation="Kakao", params=3 * 10**9, weights="open", license="mit"),
        row("samsung/Gauss", params=None, license="proprietary"),
    ]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("", ["코인봇-7B", "코끼리", "값진모델", "samsung/Gauss"]),
        ("코", ["코인봇-7B", "코끼리"]),
        ("ㅋ", ["코인봇-7B", "코끼리", "값진모델"]),
        ("콩", ["코인봇-7B"]),  # the state of the input method while 코이 is typed
        ("코이", ["코인봇-7B"]),
        ("코인ㅂ", ["코인봇-7B"]),
        ("ㅋㅇㅂ", ["코인봇-7B"]),
        ("ㅋㄲㄹ", ["코끼리"]),
        ("ㄱㅈ", ["값진모델"]),
        ("갑", ["값진모델"]),
        ("ㅅㅅ", ["코인봇-7B", "samsung/Gauss"]),  # the organisation, also by its Korean name
        ("ㅏ", ["값진모델", "코인봇-7B", "samsung/Gauss"]),
        ("GAUSS", ["samsung/Gauss"]),
        ("ｇａｕｓｓ", ["samsung/Gauss"]),
        ("\U0001d406auss", ["samsung/Gauss"]),  # a mathematical G
        ("\ud7e0", []),  # a final consonant of old Korean that has no initial form
        ("코 7b", ["코인봇-7B"]),
        ("org:삼성", ["코인봇-7B", "samsung/Gauss"]),
        ("가우스", ["samsung/Gauss"]),
        ("카카오", ["값진모델"]),
        ("org:samsung", ["samsung/Gauss"]),
        ("ORG:lg", ["코끼리"]),
        ("license:apache", ["코인봇-7B"]),
        ("license:MIT 값", ["값진모델"]),
        ("license:none", []),
        ("없는", []),
    ],
)
def test_search_finds_models(rows: list[RankedRow], words: str, found: list[str]) -> None:
    assert sorted(r.row.model for r in matching_rows(rows, Query(words))) == sorted(found)
    if words.casefold().startswith("org:"):
        assert sorted(row.model for row in find([r.row for r in rows], words)) == sorted(found)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"weights": ("open",)}, ["코인봇-7B", "값진모델"]),
        ({"sizes": ("0-2", "2-4")}, ["값진모델"]),
        ({"sizes": ("4-8", "40-")}, ["코인봇-7B", "코끼리"]),
        ({"verified": True}, ["코인봇-7B", "코끼리", "값진모델", "samsung/Gauss"]),
        ({"sort": "params"}, ["값진모델", "코인봇-7B", "코끼리", "samsung/Gauss"]),
        ({"sort": "name"}, ["samsung/Gauss", "값진모델", "코끼리", "코인봇-7B"]),
    ],
)
def test_select_filters_and_sorts(rows: list[RankedRow], asked: dict[str, Any], found: list[str]) -> None:
    query = Query(**asked)
    selected = [r.row.model for r in matching_rows(sort_rows(rows, query.sort), query)]
    assert selected == found if "sort" in asked else sorted(selected) == sorted(found)


def test_size_bins_match_nominal_sizes(rows: list[RankedRow]) -> None:
    sizes = {"2-4": 4.4, "4-8": 8.8, "8-16": 9.2}  # parameters in billions of a 4B, an 8B and a 9B model
    for bin_name, billions in sizes.items():
        one = RankedRow(1, replace(rows[0].row, params=int(billions * 1e9)))
        assert [size for size in SIZES if matching_rows([one], Query(sizes=(size,)))] == [bin_name]


def test_verified_filter_excludes_sample_runs(rows: list[RankedRow]) -> None:
    sample = RankedRow(None, replace(rows[0].row, split="sample"))
    assert matching_rows([sample], Query(verified=True)) == [] and matching_rows([sample], Query()) == [sample]


def test_select_filters_by_thinking_mode(make_request: Make) -> None:
    def row(thinking: str | None) -> RankedRow:
        result = result_of(make_request())
        changed = result.config.evolve(thinking=thinking)
        return RankedRow(1, board_row(result.evolve(config=changed), "p", str(thinking)))

    rows = [row(mode) for mode in ("on", "off", None)]
    assert [r.row.thinking for r in matching_rows(rows, Query(thinking=("on",)))] == ["on"]
    assert len(matching_rows(rows, Query(thinking=("on", "off")))) == 2 and len(matching_rows(rows, Query())) == 3
    assert Query.from_params({"thinking": "off,sideways"}) == Query(thinking=("off",))
    assert Query(thinking=("on",)).filters() == {"thinking": "on"}


def test_from_params_parses_fields() -> None:
    address = {"q": "ㅋㅇ", "sort": "em", "weights": "open", "size": "4-8,40-", "verified": "1"}
    address |= {"columns": "n,f1", "n": "300"}
    assert Query.from_params(address) == Query("ㅋㅇ", "em", ("open",), ("4-8", "40-"), True, ("f1", "n"), 300)
    assert Query.from_params({}) == Query(columns=None, shown=ROWS_PER_PAGE)
    assert Query.from_params({"columns": ""}).columns == (), "a visitor may leave all of them out"
    assert Query.from_params({"columns": "zzz"}).columns is None
    assert Query.from_params({"columns": "zzz,f1"}).columns == ("f1",)


def test_from_params_ignores_invalid_values() -> None:
    evil = dict.fromkeys(("q", "sort", "weights", "size", "verified", "columns", "n"), "<script>,,9e99,-1,NaN")
    query = Query.from_params(evil)
    parsed = (query.sort, query.weights, query.sizes, query.columns, query.shown)
    assert parsed == ("score", (), (), None, ROWS_PER_PAGE)
    assert Query.from_params({"n": "9" * 50}).shown == ROWS_PER_PAGE
    assert len(Query.from_params({"q": "x" * 10_000}).words) == 100
    assert Query.from_params({"n": "999999"}).shown == MAX_ROWS_PER_PAGE


def test_each_filter_of_rows_is_tested() -> None:
    """A filter that `has_row_filters` forgot would have no effect when it is the only one."""
    no_filters = {"words", "sort", "columns", "shown", "family"}
    for field in fields(Query):
        if field.name not in no_filters:
            given: Any = True if isinstance(field.default, bool) else ("one",)
            assert replace(Query(), **{field.name: given}).has_row_filters, field.name
    assert not Query(words="a", sort="size", columns=(), shown=100, family=True).has_row_filters

"""Test what a row of an API says about who has received private questions."""

from datetime import UTC, datetime

from leaderboard.data.exposure import day_in_quarter
from leaderboard.data.live_board import LiveBoard
from leaderboard.pages.model import MODEL
from leaderboard.views.location import Location
from leaderboard.views.row_marks import labels
from scripts.support.evaluated import evaluated
from scripts.support.records import Make
from submissions.records.index_rows import BoardRow
from submissions.store.base import Store


def board_of(
    store: Store, make_request: Make, benchmark: str, *asked: tuple[str, datetime, str]
) -> dict[str, BoardRow]:
    """Return the board's rows of results by model. `asked` are models, times and whether weights are open or closed."""
    records = {}
    for model, moment, weights in asked:
        result = evaluated(make_request(model_id=model, benchmark=benchmark), 50.0)
        result = result.evolve(date=moment.timestamp(), config={**result.config.model_dump(), "weights": weights})
        records[result.path] = result.to_bytes()
    store.commit(records, store.head(), "results")
    return {r.row.model: r.row for r in LiveBoard(store).view().boards[benchmark] if r.row.kind == "verified"}


def test_rows_of_an_api_count_earlier_questions_to_its_provider(store: Store, make_request: Make) -> None:
    days = [datetime(2026, 11, day, tzinfo=UTC) for day in (1, 5, 9, 12)]
    rows = board_of(
        store,
        make_request,
        "ko-vqa",
        ("Maker/a", days[0], "closed"),
        ("maker/b", days[2], "closed"),
        ("other/c", days[3], "closed"),
        ("maker/open", days[1], "open"),
    )
    assert {model: row.asked_before for model, row in rows.items()} == {
        "Maker/a": 0,
        "maker/b": 1,
        "other/c": 0,
        "maker/open": None,
    }
    assert "asked 1× before" in labels(rows["maker/b"], "en") and labels(rows["Maker/a"], "en") == []
    page = MODEL.write(LiveBoard(store), Location("en", "models/Maker/a"), "") or ""
    assert "for the first time. Since then it may know them." in page


def test_public_sets_have_no_exposure(store: Store, make_request: Make) -> None:
    rows = board_of(store, make_request, "infochartqa", ("maker/a", datetime(2026, 11, 1, tzinfo=UTC), "closed"))
    assert rows["maker/a"].asked_before is None


def test_drawn_set_tells_the_day_in_its_quarter(store: Store, make_request: Make) -> None:
    rows = board_of(
        store,
        make_request,
        "ko-fresh",
        ("maker/a", datetime(2026, 10, 1, 12, tzinfo=UTC), "closed"),
        ("maker/b", datetime(2026, 11, 21, tzinfo=UTC), "closed"),
        ("maker/open", datetime(2026, 11, 21, tzinfo=UTC), "open"),
    )
    assert {model: day_in_quarter(row) for model, row in rows.items()} == {
        "maker/a": 1,
        "maker/b": 52,
        "maker/open": None,
    }
    assert labels(rows["maker/b"], "ko") == ["API 제공자에 1번 질문함", "분기 52일째"]

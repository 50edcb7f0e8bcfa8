"""Test texts, escaping, the outcomes of the submission form, and the web application over HTTP."""

import gc
import logging
import re
import signal
from datetime import UTC, datetime, timedelta

import pytest

from app import serve_board
from evaluator.benchmarks import BENCHMARKS
from evaluator.engines.registry import REGISTRY
from leaderboard.data.columns import choice_keys, columns_of
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.query import Query
from leaderboard.data.ranking import RankedRow
from leaderboard.data.requests import queue_json
from leaderboard.pages.missing import missing
from leaderboard.pages.page import versions
from leaderboard.pages.queue import QUEUE
from leaderboard.pages.site_map import pages
from leaderboard.pages.submit import Line, report_line
from leaderboard.views.about_texts import ABOUT_TEXTS
from leaderboard.views.chart_texts import CHART_TEXTS
from leaderboard.views.location import Location
from leaderboard.views.model_texts import MODEL_TEXTS
from leaderboard.views.outcomes import outcome_message
from leaderboard.views.record_texts import RECORD_TEXTS
from leaderboard.views.render import render
from leaderboard.views.row_marks import marks_in
from leaderboard.views.submission_texts import SUBMISSION_TEXTS
from leaderboard.views.table_cells import TableCells
from leaderboard.views.texts import TEXTS, Language, text
from leaderboard.web.auth import ANYONE
from scripts.support.records import Make, claimed, result_of
from submissions.checks.submission import Submission
from submissions.checks.submit import SubmissionService, can_be_submitted
from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.records.check import Check
from submissions.records.index_rows import board_row
from submissions.records.request import Progress, Stage
from submissions.store.base import Store
from submissions.texts.check_names import CheckName
from submissions.texts.refusals import RefusalCode
from submissions.texts.text import Text

EVIL = "<img src=x onerror=alert(1)>\"'&"


def test_each_text_has_one_key() -> None:
    parts = (ABOUT_TEXTS, CHART_TEXTS, MODEL_TEXTS, RECORD_TEXTS, SUBMISSION_TEXTS)
    names = [name for part in parts for name in part]
    assert len(set(names)) == len(names)
    assert all(TEXTS[name] is part[name] for part in parts for name in part), "none is replaced by a text of all pages"


def test_texts_exist_in_both_languages() -> None:
    for key, words in TEXTS.items():
        assert words.ko.strip() and words.en.strip(), key
        assert set(re.findall(r"{\w+}", words.ko)) == set(re.findall(r"{\w+}", words.en)), key
        if key not in ("title", "other_language", "read_in_other_language"):
            assert not re.search("[가-힣]", words.en), key
    for benchmark in BENCHMARKS.values():
        assert benchmark.card.summary.ko and benchmark.card.summary.en


def board_html(row: RankedRow, language: Language) -> str:
    """Render a table of one row with every column."""
    context: dict[str, object] = {
        "name": "korquad-2",
        "rows": [row],
        "columns": columns_of("korquad-2", [row], choice_keys()),
    }
    here = Location(language, "korquad-2")
    context |= {"here": here, "query": Query(sort="f1"), "found": 1, "row_cells": TableCells(here)}
    return render("board_table.html", language, **context)


def test_queue_tab_shows_silent_worker(
    store: Store, heartbeats: Heartbeats, make_request: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.data.worker_status.LEASES_EVERY", 0.0)
    queue = Queue(store, heartbeats=heartbeats)
    board = LiveBoard(store, heartbeats)
    now = datetime.now(UTC)
    queue.submit(make_request())
    running = claimed(queue, now)
    seen = set()
    for ago, message in (
        (timedelta(0), f"{text('stage_infer', 'en')} 3 / 9"),
        (timedelta(minutes=6), "has not responded since"),
    ):
        queue.heartbeat(running, now - ago, Progress(stage=Stage.INFER, done=3, total=9))
        board.refresh()
        shown = " ".join(str(QUEUE.write(board, Location("en", "queue"), "")).split())
        assert (message in shown) and ("has not responded" in shown) == bool(ago)
        (public,) = queue_json(board)
        assert public["silent_since"] == ((now - ago).isoformat() if ago else None)
        seen.add(versions(board)["queue"])
    assert len(seen) == 2


def test_queue_version_changes_when_worker_falls_silent(
    store: Store, heartbeats: Heartbeats, make_request: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.data.worker_status.LEASES_EVERY", 0.0)
    queue = Queue(store, heartbeats=heartbeats)
    board = LiveBoard(store, heartbeats)
    queue.submit(make_request())
    running = claimed(queue, datetime.now(UTC))
    queue.heartbeat(running, datetime.now(UTC), Progress(stage=Stage.INFER))
    board.refresh()
    before = board.queue_version
    monkeypatch.setattr("leaderboard.data.worker_status.SILENT", timedelta(0))
    assert not board.workers.silent_since, "the board has not been refreshed since"
    board.refresh()
    assert board.queue_version != before, "silence brings no commit, so only the version can update the page"


def test_render_escapes_record_fields(make_request: Make) -> None:
    result = result_of(make_request()).evolve(
        config={"model_name": EVIL, "model_sha": None, "model_dtype": None, "organisation": EVIL, "role": "model"},
        dataset={"id": EVIL, "revision": None, "split": EVIL, "n": 1},
        latency={"protocol": EVIL, "mean_ms": 1.0, "hardware": EVIL},
        provenance={"kind": "reported", "source": EVIL, "source_url": "https://example.org/x"},
    )
    row = RankedRow(1, board_row(result, "p", "b"))
    html = board_html(row, "ko")
    assert "<img" not in html and html.count("&lt;img src=x") >= 4
    evil = Check(CheckName.SIZE, RefusalCode.TOO_LARGE, EVIL)
    words = {"check_names": {CheckName.SIZE: Text(EVIL, EVIL)}, "refusals": {RefusalCode.TOO_LARGE: Text(EVIL, EVIL)}}
    outcome = render("outcome.html", "en", here=Location("en"), lines=[Line(False, EVIL)], checks=[evil], **words)
    assert "<img" not in outcome


def test_board_scores_have_two_decimals_and_no_nan(make_request: Make) -> None:
    result = result_of(make_request()).evolve(
        results={"korquad-2": {"em": 33.33333333333333, "f1": None}}, latency=None
    )
    row = RankedRow(None, board_row(result, "p", "b"))
    html = board_html(row, "en")
    assert ">33.33<" in html and ">–<" in html and "nan" not in html.lower() and ">None<" not in html


def test_page_of_benchmark_lists_scores_that_no_model_earned(store: Store) -> None:
    page = pages()["korquad-2"].write(LiveBoard(store), Location("en", "korquad-2"), "") or ""
    listed = page.partition("Baselines:")[2].partition("</p>")[0]
    assert "human (" in listed and "83.9" in listed and "11.0" in listed, "from the table and from the card"


@pytest.mark.parametrize(
    ("path", "suggested"),
    [
        ("models/org/made-2", True),
        ("models/org/-2", False),  # the first word is empty, and a search without words would find all models
        ("models/org/ -2", False),
    ],
)
def test_missing_page_suggests_models_by_the_first_word(
    store: Store, make_request: Make, path: str, *, suggested: bool
) -> None:
    result = result_of(make_request(model_id="o/made-1", benchmark="ko-vqa"))
    store.commit({result.path: result.to_bytes()}, store.head(), "one result")
    page = missing(LiveBoard(store), Location("en", path))
    assert ("o/made-1" in page) == suggested


def test_board_row_shows_requested_revision(make_request: Make) -> None:
    result = result_of(make_request())
    newest = board_html(RankedRow(1, board_row(result, "p", "b")), "en")
    config = result.config.model_copy(update={"requested_revision": "experiment-7"})
    named = board_html(RankedRow(1, board_row(result.evolve(config=config), "p", "b")), "en")
    assert "experiment-7" in named and "experiment-7" not in newest
    hints = [mark.hint for mark in marks_in([RankedRow(1, board_row(result.evolve(config=config), "p", "b"))])]
    assert hints == ["requested_revision_hint", "sample_hint"]
    assert [mark.hint for mark in marks_in([RankedRow(1, board_row(result, "p", "b"))])] == ["sample_hint"]


@pytest.fixture
def queue(store: Store) -> Queue:
    return Queue(store)


def submit_form(
    queue: Queue, settings: Settings, model: str, benchmarks: list[str], revision: str = ""
) -> list[tuple[bool, str]]:
    outcomes, _ = SubmissionService(queue, settings, REGISTRY).submit(
        Submission.parse(model, benchmarks, revision), ANYONE
    )
    return [(one.code == "accepted", outcome_message(one, "en")) for one in outcomes]


@pytest.mark.parametrize(
    ("address", "model_id", "revision"),
    [
        ("https://huggingface.co/o/m", "o/m", None),
        ("https://huggingface.co/o/m/", "o/m", None),
        ("http://www.huggingface.co/o/m?library=vllm", "o/m", None),
        ("huggingface.co/o/m#usage", "o/m", None),
        (" https://hf.co/o/m/tree/main \n", "o/m", "main"),
        ("https://huggingface.co/o/m/tree/refs%2Fpr%2F1?not-for-all-audiences=true", "o/m", "refs/pr/1"),
        ("https://huggingface.co/o/m/blob/v1/config.json#L3", "o/m", "v1"),
        ("https://huggingface.co/o/m/commit/" + "a" * 40, "o/m", "a" * 40),
        ("https://huggingface.co/o/m/tree/", "o/m", None),
        ("https://huggingface.co/o/m/discussions/3", "o/m", None),
        ("o/m/", "o/m", None),
        ("https://huggingface.co/datasets/o/m", "https://huggingface.co/datasets/o/m", None),
        ("https://huggingface.co/docs/transformers", "https://huggingface.co/docs/transformers", None),
        ("https://huggingface.co/blog/gemma3", "https://huggingface.co/blog/gemma3", None),
        ("https://huggingface.co/o", "https://huggingface.co/o", None),
        ("https://evil.example/huggingface.co/o/m", "https://evil.example/huggingface.co/o/m", None),
        ("https://huggingface.co.evil.example/o/m", "https://huggingface.co.evil.example/o/m", None),
    ],
)
def test_submission_reads_addresses_of_the_hub(address: str, model_id: str, revision: str | None) -> None:
    submission = Submission.parse(address, ["ko-vqa"])
    assert (submission.model_id, submission.revision) == (model_id, revision)
    assert Submission.parse(address, ["ko-vqa"], "v2").revision == "v2"


@pytest.mark.parametrize(
    ("value", "shared"), [(True, True), ("1", True), (False, False), ("false", False), ("0", False), (None, False)]
)
def test_submission_is_shared_only_if_asked(value: object, shared: bool) -> None:
    assert Submission.parse("o/m", ["ko-vqa"], share=value).share is shared


def test_submission_refuses_long_revision(queue: Queue, settings: Settings) -> None:
    for revision in ("v" * 101, "v" * 5000):
        ((ok, message),) = submit_form(queue, settings, "tiny/image-text", ["ko-vqa"], revision)
        assert not ok and "this revision does not" in message
    assert Submission.parse("o/m", [], " " * 200 + "v1").revision == "v1"


@pytest.mark.parametrize(
    ("benchmarks", "message"),
    [(["ko-vqa"], "cannot be submitted"), (["korquad-2.0"], "at least one"), ([], "can be submitted, except")],
)
def test_report_line_says_where_model_is_accepted(
    queue: Queue, settings: Settings, benchmarks: list[str], message: str
) -> None:
    report = SubmissionService(queue, settings, REGISTRY).check(Submission.parse("tiny/extractive", benchmarks))
    assert message in report_line(report, Location("en", "submit")).message


def test_submit_queues_accepted_requests(queue: Queue, settings: Settings) -> None:
    lines = submit_form(queue, settings, " https://huggingface.co/tiny/image-text/ ", ["ko-vqa", "ko-vdc"])
    assert lines == [(True, "Accepted · position 1 in the queue"), (True, "Accepted · position 2 in the queue")]
    ((ok, message),) = submit_form(queue, settings, "tiny/image-text", ["ko-vqa"])
    assert not ok and message.startswith("This has already been submitted")
    assert len(queue.rows()) == 2


@pytest.mark.parametrize(
    ("model", "benchmarks", "expected"),
    [
        ("", ["ko-vqa"], "not a valid model ID"),
        (EVIL, ["ko-vqa"], "not a valid model ID"),
        ("tiny/extractive", [], "at least one"),
        ("tiny/extractive", ["ko-vqa"], "does not support this benchmark"),
    ],
)
def test_submit_refuses_invalid_fields(
    queue: Queue, settings: Settings, model: str, benchmarks: list[str], expected: str
) -> None:
    ((ok, message),) = submit_form(queue, settings, model, benchmarks)
    assert not ok and expected in message
    assert queue.rows() == []


def test_check_reports_everything_and_queues_nothing(queue: Queue, settings: Settings) -> None:
    service = SubmissionService(queue, settings, REGISTRY)
    report = service.check(Submission.parse("tiny/extractive", []))
    assert can_be_submitted(report), "one benchmark accepts it"
    image_benchmarks = [name for name, benchmark in BENCHMARKS.items() if benchmark.inputs == "image"]
    assert [c.benchmark for c in report.checks if c.refusal] == image_benchmarks
    assert not can_be_submitted(service.check(Submission.parse("tiny/extractive", ["ko-vqa"])))
    assert not service.check(Submission.parse("tiny/extractive", ["korquad-2.0"])).requests, "no such benchmark"
    assert queue.rows() == []


def test_serve_disables_gc_only_while_building_app(monkeypatch: pytest.MonkeyPatch) -> None:
    states: list[bool] = []
    monkeypatch.setattr("leaderboard.web.application.build_app", lambda _: states.append(gc.isenabled()))
    monkeypatch.setattr("uvicorn.run", lambda *_, **__: states.append(gc.isenabled()))
    monkeypatch.setattr(logging.root, "handlers", [])
    monkeypatch.setenv("HANNUN_WORKER", "off")
    threshold = gc.get_threshold()
    on_end = signal.getsignal(signal.SIGTERM)
    try:
        assert serve_board() == 0
    finally:
        signal.signal(signal.SIGTERM, on_end)
        gc.set_threshold(*threshold)
        gc.unfreeze()
    assert states == [False, True]


@pytest.mark.parametrize(
    ("name", "value"),
    [("HANNUN_PORT", "many"), ("GRADIO_SERVER_PORT", "many"), ("HANNUN_STORE", "/proc/none/store.git")],
)
def test_serve_reports_bad_setting_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str
) -> None:
    monkeypatch.setattr("gc.set_threshold", lambda *_: None)
    monkeypatch.setattr(logging.root, "handlers", [])
    monkeypatch.setenv(name, value)
    assert serve_board() == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("hannun: ") and (name in line or value in line)

"""Test KDoc-OCRBench: its rules against olmOCR-bench's verdicts, its importer, and pages that try to break it."""

import json
import shutil
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.scoring.page_checks import checked_row, is_sound, run_checks
from evaluator.core.data_types import Answer, Item, Score
from evaluator.core.errors import DataError
from evaluator.datasets.import_dataset import import_dataset
from submissions.config.paths import SAMPLES
from tests.support.vectors import vectors

BENCHMARK = BENCHMARKS["kdoc-ocrbench"]
BASE = {"pdf": "문서.pdf", "page": 1, "id": "t1"}


@pytest.mark.parametrize("row", vectors("olmocr_bench.jsonl"), ids=lambda row: row["test"]["id"])
def test_verdicts_are_those_of_olmocr_bench(row: dict[str, Any]) -> None:
    test = row["test"]
    output = row["markdown"]
    passed = is_sound(output) if test["type"] == "baseline" else run_checks([checked_row(test)], output)[0]
    assert passed == row["passed"]


def _scored(items: list[Item], outputs: list[str]) -> list[Score]:
    return BENCHMARK.score(items, [[Answer(i.id, text, "ok", 0.0)] for i, text in zip(items, outputs, strict=True)])


def test_transcripts_of_samples_pass_every_test() -> None:
    items = BENCHMARK.load(SAMPLES / "kdoc-ocrbench")
    golds = [str(BENCHMARK.gold_output(item)) for item in items]
    assert set(BENCHMARK.aggregate(_scored(items, golds)).values()) == {1.0}
    # The tables of other pages have other cells.
    shifted = BENCHMARK.aggregate(_scored(items, golds[1:] + golds[:1]))
    assert shifted["table_passed"] < 0.1 and shifted["em"] == 0.0 and shifted["header_footer_passed"] == 1.0


def test_rates_are_over_tests_and_headline_is_over_pages() -> None:
    few = {"type": "present", "text": "있는 문장"}
    many = [{"type": "present", "text": f"없는 문장 {n}번 항목"} for n in range(3)]
    pages = [
        Item(str(n), "", "", extra={"checks": tuple(BASE | c for c in checks)})
        for n, checks in enumerate(([few], many))
    ]
    metrics = BENCHMARK.aggregate(_scored(pages, ["있는 문장", "가나다라"]))
    assert metrics["text_passed"] == 0.25 and metrics["sound_output"] == 1.0
    # Sound output counts in proportion to what was transcribed: all of one page, nothing of the other.
    assert metrics["checks_passed"] == (1.0 + 0.0) / 2 and metrics["olmocr_score"] == (0.25 + 1.0) / 2


@pytest.mark.parametrize(
    "output",
    [
        "",
        "<table>" * 8000,
        "<table><tr><td>" * 3400,
        pytest.param("<table><thead>" + "<tr><td>1<table>" * 3000, marks=pytest.mark.slow),
        "<table><tr><td rowspan=500 colspan=900>1</td></tr></table>" * 900,
        "<table><tr><td>가<![가</td></tr></table>",
        "<td>가" * 8000,
        "<table><tr><td rowspan=99999999 colspan=99999999>가</td></tr></table>",
        "<table>" + "<tr><td colspan=1000 rowspan=0>1</td>" * 1300,
        "<table>" + "<tr><th>1</th><td>1</td></tr>" * 1700 + "</table>",
        "|1" * 25_000 + "\n" + "|1|\n" * 5000,
        "*_" * 25_000,
        "<table><tr><td>1</td><td rowspan=3>2</td></tr><tr><td colspan=2>3</td></tr></table>",
    ],
    ids=lambda output: output[:20],
)
def test_hostile_outputs_are_scored_in_time(output: str) -> None:
    tests = [
        BASE | {"type": "table", "cell": "1", "top_heading": "9", "left_heading": "8", "up": "1"},
        BASE | {"type": "table", "cell": "1", "right": "7"},
        BASE | {"type": "present", "text": "있는 문장"},
    ]
    assert run_checks([checked_row(test) for test in tests], output) == [False, False, False]


@pytest.mark.parametrize(
    ("test", "output", "passed"),
    [
        ({"type": "table", "cell": "1", "up": "3"}, "|3|\r|1|", True),  # old line ends
        ({"type": "table", "cell": "각", "right": "**"}, "각|\n|", True),  # nothing is left of the neighbour
        ({"type": "present", "text": "abc", "case_sensitive": None}, "ABC", True),
        ({"type": "table", "cell": "3", "up": "a"}, "|a|\n|---|\n|\u00a0-\u00a0|\n|3|", False),
        ({"type": "table", "cell": "2", "left": "1"}, "<table><tr><td rowspan=00>1</td></tr><tr><td>2</table>", False),
        ({"type": "present", "text": "가나다"}, "가<<b>i>나다", True),
        ({"type": "table", "cell": "2", "left": "1"}, "<table><tr><td rowspan=0>1</td></tr><tr><td>2</table>", True),
    ],
)
def test_odd_outputs_are_read_as_olmocr_bench_does(test: dict[str, Any], output: str, passed: bool) -> None:
    assert run_checks([checked_row(BASE | test)], output) == [passed]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": "order"}, "unknown type 'order'"),
        ({"type": None}, "unknown type 'None'"),
        ({"max_diffs": -1}, "negative"),
        ({"max_diffs": "1"}, "'max_diffs' must be int"),
        ({"max_diffs": None}, "'max_diffs' must be int"),
        ({"max_diffs": 10**400}, "too large"),
        ({"page": 2}, "'page' must be 1"),
        ({"text": "\ud83d"}, "unpaired surrogate"),
        ({"id": "t0"}, "the id 't0' appears twice"),
        ({"max_diffs": True}, "'max_diffs' must be int"),
        ({"text": "<br>"}, "'text' is missing"),
        ({"text": None}, "'text' is missing"),
        ({"cell": "1"}, "unknown field 'cell'"),
        ({"pdf": "다른.pdf"}, "there is no PDF '다른.pdf'"),
    ],
)
def test_import_names_test_that_it_does_not_understand(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    source = _source(tmp_path / "in")
    good = (source / "text_present.jsonl").read_text(encoding="utf-8")
    bad = {**BASE, "type": "present", "text": "문장", **change}
    (source / "text_present.jsonl").write_text(good + json.dumps(bad) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"text_present\.jsonl, row 2") as error:
        import_dataset(BENCHMARK, source, tmp_path / "out")
    assert message in str(error.value) and not (tmp_path / "out").exists()


def test_import_reads_makers_files(tmp_path: Path) -> None:
    source = _source(tmp_path / "in")
    (pdf,) = (source / "pdfs").iterdir()
    shutil.copy(pdf, source / "pdfs/분류 없음.pdf")
    (source / "pdfs/깨짐.pdf").write_bytes(b"%PDF-1.4 broken")
    (source / "categories.jsonl").open("a", encoding="utf-8").write('{"pdf": "깨짐.pdf", "category": "Reports"}\n')
    imported = import_dataset(BENCHMARK, source, tmp_path / "out")
    (item,) = BENCHMARK.load(tmp_path / "out")
    assert (item.id, item.buckets, len(item.extra["checks"])) == ("문서", {"category": "Manuals"}, 3)
    with Image.open(item.images[0]) as picture:
        assert picture.size == (200, 100)  # 100 by 50 points at 144 dpi
    assert item.answer.splitlines() == ["있어야 함: 첫 문장", "표: 칸 12, 왼쪽 11", "없어야 함: - 3 -"]
    reasons = sorted(reason for _, reason in imported.rejected)
    assert reasons[0].startswith("not a readable PDF") and reasons[1] == "unknown category None"


@pytest.mark.parametrize("checks", ["[" * 100_000, "{}", "7", None])
def test_item_with_broken_checks_is_refused_by_name(checks: object) -> None:
    with pytest.raises(ValueError, match="column 'checks' is not a list of checks"):
        BENCHMARK.item_to_score({"id": "1", "checks": checks})


def test_import_requires_all_files(tmp_path: Path) -> None:
    source = _source(tmp_path / "in")
    (source / "tables.jsonl").unlink()
    with pytest.raises(DataError, match=r"tables\.jsonl: no such file; download the whole dataset"):
        import_dataset(BENCHMARK, source, tmp_path / "out")
    shutil.rmtree(source / "pdfs")
    with pytest.raises(DataError, match="there are no PDFs"):
        import_dataset(BENCHMARK, source, tmp_path / "out")


def _source(folder: Path) -> Path:
    """Write a dataset in the makers' form, whose file system has decomposed the Korean name."""
    (folder / "pdfs").mkdir(parents=True)
    Image.new("RGB", (100, 50), "white").save(
        folder / "pdfs" / unicodedata.normalize("NFD", "문서.pdf"), resolution=72.0
    )
    files = {
        "text_present.jsonl": {
            **BASE,
            "id": "t0",
            "type": "present",
            "text": "첫 문장",
            "max_diffs": 0,
            "checked": "verified",
        },
        "tables.jsonl": {**BASE, "type": "table", "cell": "12", "left": "11", "up": ""},
        "header_footer_tests.jsonl": {**BASE, "type": "absent", "text": "- 3 -", "first_n": None},
        "categories.jsonl": {"pdf": "문서.pdf", "category": "Manuals", "raw": "매뉴얼"},
    }
    for name, row in files.items():
        (folder / name).write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    return folder

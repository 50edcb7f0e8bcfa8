"""Test benchmark data: the sample sets, the documented schema and the errors for broken rows."""

import json
import shutil
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Answer
from evaluator.core.errors import DataError
from submissions.config.paths import SAMPLES
from tests.conftest import SHARED


def test_load_ko_vqa_samples() -> None:
    items = BENCHMARKS["ko-vqa"].load(SAMPLES / "ko-vqa")
    domains = Counter(i.buckets["domain"] for i in items)
    assert len(domains) == 15 and set(domains.values()) == {3}


def test_load_ko_vdc_samples() -> None:
    items = BENCHMARKS["ko-vdc"].load(SAMPLES / "ko-vdc")
    assert Counter(i.buckets["doc_type"] for i in items) == {"보고서": 10, "보도자료": 10}


def test_load_infochartqa_samples() -> None:
    items = BENCHMARKS["infochartqa"].load(SAMPLES / "infochartqa")
    assert len(items) >= 30 and len({i.extra["question_type_id"] for i in items}) >= 20
    assert {i.buckets["subset"] for i in items} == {"text", "visual_basic", "visual_metaphor"}
    assert sum(len(i.crops) for i in items) >= 3
    with_options = next(i for i in items if i.extra["question_type_id"] == 202)
    assert with_options.question == (
        "What colour are the bars?\nA. Red\nB. Blue\nC. Green\nD. Grey\nAnswer with the letter only."
    )


def test_load_korquad_samples() -> None:
    items = BENCHMARKS["korquad-2"].load(SAMPLES / "korquad-2")
    assert len(items) >= 40 and len({i.cluster for i in items}) >= 12
    assert all(i.page and i.answer in i.page for i in items)
    assert {i.buckets["form"] for i in items} == {"paragraph", "table", "list"}


@pytest.mark.parametrize("name", ["ko-vqa", "korquad-2", "infochartqa"])
def test_score_accepts_gold_answers(name: str) -> None:
    benchmark = BENCHMARKS[name]
    items = benchmark.load(SAMPLES / name)
    scores = benchmark.score(items, [[Answer(item.id, item.answer, "ok", 0)] for item in items])
    names = ("em", "f1", "em_strict")
    assert [s.id for s in scores if any(s.values.get(name, 1) != 1 for name in names)] == []


MISSING = object()  # removes a column


def _copy(name: str, tmp_path: Path) -> tuple[Path, list[dict[str, Any]]]:
    shutil.copytree(SAMPLES / name, tmp_path / name)
    lines = (tmp_path / name / "items.jsonl").read_text(encoding="utf-8").splitlines()
    return tmp_path / name, [json.loads(line) for line in lines]


def _write(folder: Path, rows: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(r) + "\n" for r in rows)
    (folder / "items.jsonl").write_text(text, encoding="utf-8")


CHOICES = ("가나다라", ["가", "나", "다", "다"], ["가", "나", "다", "라", "가"], ["가", "나", "다"], [["가"]] * 4, 7)
BROKEN_ROWS: list[tuple[str, dict[str, Any], str]] = [
    ("ko-vqa", {"answer": None}, "'answer'"),
    ("ko-vqa", {"answer": "  "}, "'answer'"),
    ("ko-vqa", {"answer": 61.5}, "'answer'"),
    ("ko-vqa", {"question": ""}, "'question'"),
    ("ko-vqa", {"question": "몇 명\ud83d"}, "'question' contains an unpaired surrogate"),
    ("ko-vqa", {"images": []}, "'images' must be a list"),
    ("ko-vqa", {"images": ["images/none.png"]}, "does not exist"),
    ("ko-vqa", {"images": ["../../../etc/passwd"]}, "outside the folder"),
    ("ko-vqa", {"images": ["items.jsonl"]}, "not a readable image"),
    ("ko-vqa", {"images": [3]}, "not a path"),
    ("ko-vqa", {"domain": None}, "'domain'"),
    ("ko-vqa", {"id": "공공행정-1"}, "appears twice"),
    ("korquad-2", {"page": MISSING}, "column 'page' is missing"),
    ("infochartqa", {"question_type_id": "1"}, "question_type_id"),
    ("infochartqa", {"question_type_id": True}, "question_type_id"),
    ("infochartqa", {"subset": "plain"}, "subset"),
    ("infochartqa", {"extra_input_figure_bboxes": [[0, 0, 5000, 10]]}, "outside"),
    ("infochartqa", {"extra_input_figure_bboxes": [[0, 0]]}, "four numbers"),
    ("infochartqa", {"extra_input_figure_bboxes": [[float("inf"), 0, 1, 1]]}, "infinity"),
    ("infochartqa", {"links": "https://charts.example/1.png"}, "'links'"),
    ("infochartqa", {"prompt": 5}, "'prompt'"),
    ("infochartqa", {"instructions": 7}, "'instructions'"),
    ("infochartqa", {"options": "a"}, "'options'"),
    *((name, {"choices": choices}, "four different") for name in ("ko-vdc", "ko-fresh") for choices in CHOICES),
    *(("ko-fresh", {"question": question, "choices": []}, "'question'") for question in ("", 5, None, "몇 명\ud83d")),
]


@pytest.mark.parametrize(("name", "change", "message"), BROKEN_ROWS)
def test_load_names_broken_row(tmp_path: Path, name: str, change: dict[str, Any], message: str) -> None:
    folder, rows = _copy(name, tmp_path)
    rows[6] = {key: value for key, value in (rows[6] | change).items() if value is not MISSING}
    _write(folder, rows)
    with pytest.raises(DataError, match="row 7") as error:
        BENCHMARKS[name].load(folder)
    assert message in str(error.value) and "items.jsonl" in str(error.value)


def test_load_names_row_with_link_to_itself(tmp_path: Path) -> None:
    folder, rows = _copy("ko-vqa", tmp_path)
    (folder / "images/loop.png").symlink_to("loop.png")
    rows[6]["images"] = ["images/loop.png"]
    _write(folder, rows)
    with pytest.raises(DataError, match=r"items\.jsonl, row 7: 'images/loop.png'"):
        BENCHMARKS["ko-vqa"].load(folder)


@pytest.mark.parametrize("line", ["{", "[]", "null", '"x"'])
def test_load_names_line_without_object(tmp_path: Path, line: str) -> None:
    folder, rows = _copy("ko-vdc", tmp_path)
    _write(folder, rows[:2])
    with (folder / "items.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(DataError, match="line 3"):
        BENCHMARKS["ko-vdc"].load(folder)


def test_load_parquet_equals_jsonl(tmp_path: Path) -> None:
    folder, rows = _copy("ko-vqa", tmp_path)
    expected = BENCHMARKS["ko-vqa"].load(folder)
    pq.write_table(pa.Table.from_pylist(rows), folder / "items.parquet")
    (folder / "items.jsonl").unlink()
    assert BENCHMARKS["ko-vqa"].load(folder) == expected
    (folder / "items.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(DataError, match="not a Parquet file"):
        BENCHMARKS["ko-vqa"].load(folder)


@pytest.mark.parametrize("name", list(BENCHMARKS))
def test_load_names_missing_items(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"items\.parquet"):
        BENCHMARKS[name].load(tmp_path)
    (tmp_path / "items.jsonl").touch()
    with pytest.raises(DataError, match="no rows"):
        BENCHMARKS[name].load(tmp_path)


def _published() -> Path:
    path = SHARED / "data/korquad2_docs.json"
    if not path.exists():
        pytest.skip("the real KorQuAD pages are not available (CC BY-ND: they are not part of the project)")
    return path


def test_load_korquad_reads_published_json(tmp_path: Path) -> None:
    items = BENCHMARKS["korquad-2"].load(_published())
    assert len(items) == 5 and len({i.cluster for i in items}) == 4
    assert {i.id: i.buckets["form"] for i in items}["36615"] == "table"
    with zipfile.ZipFile(tmp_path / "dev.zip", "w") as archive:
        archive.write(_published(), "dev/korquad2.1_dev_00.json")
    assert BENCHMARKS["korquad-2"].load(tmp_path / "dev.zip") == items
    shutil.copy(_published(), tmp_path / "one.json")
    assert BENCHMARKS["korquad-2"].load(tmp_path) == items


DOCUMENT: dict[str, Any] = {
    "title": "가온산",
    "context": "<p>높이는 <b>1,214m</b>이다.</p><ul><li>담비</li></ul><p>끝</p>",
    "qas": [
        {"id": "1", "question": "높이는?", "answer": {"text": "1,214m", "answer_start": 10}},
        {"id": "2", "question": "동물은?", "answer": {"text": "담비", "answer_start": 43}},
        {"id": "3", "question": "모두?", "answer": {"text": "<ul><li>담비</li></ul>", "answer_start": 33}},
    ],
}
BEFORE_PAGE = {"id": "4", "question": "높이는?", "answer": {"text": "1,214m", "answer_start": -3}}


def _official(tmp_path: Path, *documents: Any) -> Path:
    path = tmp_path / "dev.json"
    path.write_text(json.dumps({"version": "2.1", "data": documents}, ensure_ascii=False), encoding="utf-8")
    return path


def test_load_korquad_derives_length_and_form(tmp_path: Path) -> None:
    items = BENCHMARKS["korquad-2"].load(_official(tmp_path, DOCUMENT))
    found = [(i.buckets["length"], i.buckets["form"]) for i in items]
    assert found == [("short", "paragraph"), ("short", "list"), ("long", "list")]


def test_load_korquad_names_broken_document(tmp_path: Path) -> None:
    for documents, message in (
        ([DOCUMENT, {"title": "x", "context": "y", "qas": [{}]}], "row 4"),
        ([{k: v for k, v in DOCUMENT.items() if k != "title"}], "row 1: column 'title' is missing"),
        ([DOCUMENT | {"title": None}], "row 1: column 'title' must be text"),
        ([DOCUMENT | {"qas": [BEFORE_PAGE]}], "row 1: 'answer_start' must be a place in the page, not -3"),
        ([DOCUMENT, DOCUMENT], "appears twice"),
    ):
        with pytest.raises(DataError, match=message):
            BENCHMARKS["korquad-2"].load(_official(tmp_path, *documents))
    with pytest.raises(DataError, match=r"not a KorQuAD 2\.x file"):
        (tmp_path / "dev.json").write_text("{}")
        BENCHMARKS["korquad-2"].load(tmp_path / "dev.json")


@pytest.mark.parametrize("content", [b'{"id": "\xff"}', b"[" * 200_000])
def test_load_names_unreadable_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "items.jsonl").write_bytes(content)
    with pytest.raises(DataError, match=r"items\.jsonl"):
        BENCHMARKS["ko-vqa"].load(tmp_path)

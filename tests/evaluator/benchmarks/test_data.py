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
    assert [s.id for s in scores if (s.values["em"], s.values["f1"]) != (1, 1)] == []


def _copy(name: str, tmp_path: Path) -> tuple[Path, list[dict[str, Any]]]:
    shutil.copytree(SAMPLES / name, tmp_path / name)
    lines = (tmp_path / name / "items.jsonl").read_text(encoding="utf-8").splitlines()
    return tmp_path / name, [json.loads(line) for line in lines]


def _write(folder: Path, rows: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(r) + "\n" for r in rows)
    (folder / "items.jsonl").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": None}, "'answer'"),
        ({"answer": "  "}, "'answer'"),
        ({"answer": 61.5}, "'answer'"),
        ({"question": ""}, "'question'"),
        ({"images": []}, "'images' is empty"),
        ({"images": ["images/none.png"]}, "does not exist"),
        ({"images": ["../../../etc/passwd"]}, "outside the folder"),
        ({"images": ["items.jsonl"]}, "not a readable image"),
        ({"images": [3]}, "not a path"),
        ({"domain": None}, "'domain'"),
        ({"id": "공공행정-1"}, "appears twice"),
    ],
)
def test_load_names_broken_row(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    folder, rows = _copy("ko-vqa", tmp_path)
    rows[6] |= change
    _write(folder, rows)
    with pytest.raises(DataError, match="row 7") as error:
        BENCHMARKS["ko-vqa"].load(folder)
    assert message in str(error.value) and "items.jsonl" in str(error.value)


def test_load_names_missing_column(tmp_path: Path) -> None:
    folder, rows = _copy("korquad-2", tmp_path)
    del rows[2]["page"]
    _write(folder, rows)
    with pytest.raises(DataError, match="row 3: column 'page' is missing"):
        BENCHMARKS["korquad-2"].load(folder)


@pytest.mark.parametrize("line", ["{", "[]", "null", '"x"'])
def test_load_names_line_without_object(tmp_path: Path, line: str) -> None:
    folder, rows = _copy("ko-vdc", tmp_path)
    _write(folder, rows[:2])
    with (folder / "items.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(DataError, match="row 3"):
        BENCHMARKS["ko-vdc"].load(folder)


@pytest.mark.parametrize("benchmark", ["ko-vdc", "ko-fresh"])
@pytest.mark.parametrize(
    "choices",
    ["가나다라", ["가", "나", "다", "다"], ["가", "나", "다", "라", "가"], ["가", "나", "다"], [["가"]] * 4, 7],
)
def test_load_requires_four_different_choices(tmp_path: Path, benchmark: str, choices: Any) -> None:
    folder, rows = _copy(benchmark, tmp_path)
    rows[4]["choices"] = choices
    _write(folder, rows)
    with pytest.raises(DataError, match=r"row 5: .*four different"):
        BENCHMARKS[benchmark].load(folder)


@pytest.mark.parametrize("question", ["", 5, None, "몇 명\ud83d"])
def test_load_ko_fresh_requires_text_as_question(tmp_path: Path, question: Any) -> None:
    folder, rows = _copy("ko-fresh", tmp_path)
    place = next(n for n, row in enumerate(rows) if not row["choices"])
    rows[place]["question"] = question
    _write(folder, rows)
    with pytest.raises(DataError, match=rf"row {place + 1}: .*'question'"):
        BENCHMARKS["ko-fresh"].load(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question_type_id": "1"}, "question_type_id"),
        ({"question_type_id": True}, "question_type_id"),
        ({"subset": "plain"}, "subset"),
        ({"extra_input_figure_bboxes": [[0, 0, 5000, 10]]}, "outside"),
        ({"extra_input_figure_bboxes": [[0, 0]]}, "four numbers"),
    ],
)
def test_load_infochartqa_names_broken_row(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    folder, rows = _copy("infochartqa", tmp_path)
    rows[1] |= change
    _write(folder, rows)
    with pytest.raises(DataError, match="row 2") as error:
        BENCHMARKS["infochartqa"].load(folder)
    assert message in str(error.value)


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


def _official(tmp_path: Path, *documents: Any) -> Path:
    path = tmp_path / "dev.json"
    path.write_text(json.dumps({"version": "2.1", "data": documents}, ensure_ascii=False), encoding="utf-8")
    return path


def test_load_korquad_derives_length_and_form(tmp_path: Path) -> None:
    items = BENCHMARKS["korquad-2"].load(_official(tmp_path, DOCUMENT))
    assert [(i.buckets["length"], i.buckets["form"]) for i in items] == [
        ("short", "paragraph"),
        ("short", "list"),
        ("long", "list"),
    ]


def test_load_korquad_names_broken_document(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="row 4"):
        BENCHMARKS["korquad-2"].load(_official(tmp_path, DOCUMENT, {"title": "x", "context": "y", "qas": [{}]}))
    with pytest.raises(DataError, match="row 1: column 'title' is missing"):
        BENCHMARKS["korquad-2"].load(_official(tmp_path, {k: v for k, v in DOCUMENT.items() if k != "title"}))
    with pytest.raises(DataError, match="appears twice"):
        BENCHMARKS["korquad-2"].load(_official(tmp_path, DOCUMENT, DOCUMENT))
    with pytest.raises(DataError, match=r"not a KorQuAD 2\.x file"):
        (tmp_path / "dev.json").write_text("{}")
        BENCHMARKS["korquad-2"].load(tmp_path / "dev.json")


@pytest.mark.parametrize("content", [b'{"id": "\xff"}', b"[" * 200_000])
def test_load_names_unreadable_file(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "items.jsonl").write_bytes(content)
    with pytest.raises(DataError, match=r"items\.jsonl"):
        BENCHMARKS["ko-vqa"].load(tmp_path)

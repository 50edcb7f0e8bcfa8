"""Test `evaluator import` and dataset cards on small sets in the upstream form and, if available, on the public subsets."""

import csv
import hashlib
import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from PIL import Image

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Item
from evaluator.core.errors import DataError
from evaluator.datasets.croissant import croissant
from evaluator.datasets.import_dataset import Imported, import_dataset
from scripts.support.serving import python
from submissions.config.paths import SAMPLES
from tests.conftest import SHARED


def _import(name: str, source: Path, out: Path) -> Imported:
    imported = import_dataset(BENCHMARKS[name], source, out)
    assert BENCHMARKS[name].load(out) == [_moved(item, out) for item in imported.items]
    return imported


def _moved(item: Item, out: Path) -> Item:
    return replace(item, images=tuple(out / "images" / path.name for path in item.images))


def _image(path: Path, shade: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (40, 30), (shade, 0, 0)).save(path)


VQA_COLUMNS = ["row_id", "domain", "question", "answer", "key_number", "image"]


def _vqa(folder: Path, rows: list[list[str]], encoding: str = "utf-8-sig") -> Path:
    with (folder / "questions.csv").open("w", encoding=encoding, newline="") as file:
        csv.writer(file).writerows([VQA_COLUMNS, *rows])
    return folder


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-8", "cp949"])
def test_import_ko_vqa_finds_image_in_domain_folder(tmp_path: Path, encoding: str) -> None:
    source = tmp_path / "in"
    _image(source / "VS_교육/1_0.png", 1)
    _image(source / "VS_재난안전/1_0.png", 2)
    rows = [
        ["7", "교육", " 몇 명인가요? ", "총 7명\n입니다.", "7", "1_0.png"],
        ["8", "재난안전", "얼마인가요?", "61.5조 원", "", "1_0.png"],
    ]
    imported = _import("ko-vqa", _vqa(source, rows, encoding), tmp_path / "out")
    assert [(i.id, i.question, i.answer) for i in imported.items] == [
        ("7", "몇 명인가요?", "총 7명\n입니다."),
        ("8", "얼마인가요?", "61.5조 원"),
    ]
    shades = [Image.open(tmp_path / "out" / i.cluster).getpixel((0, 0)) for i in imported.items]
    assert shades == [(1, 0, 0), (2, 0, 0)]
    assert imported.rejected == [] and imported.files == 2


def test_import_reports_rejected_rows(tmp_path: Path) -> None:
    source = tmp_path / "in"
    _image(source / "a/1.png")
    _image(source / "a/2.png", 9)
    _image(source / "b/2.png")
    (source / "a/broken.png").write_bytes(b"no image")
    rows = [
        ["1", "a", "q", "5명", "5", "1.png"],
        ["2", "", "q", "5명", "5", "1.png"],
        ["3", "a", "q", "없음", "", "1.png"],
        ["1", "a", "q", "6명", "6", "1.png"],
        ["4", "a", "q", "6명", "6", "9.png"],
        ["5", "c", "q", "6명", "6", "2.png"],
        ["6", "a", "q", "6명", "6", "broken.png"],
        ["7", "a", "q", "5.0조 원", "6", "1.png"],
    ]
    out = tmp_path / "out"
    imported = _import("ko-vqa", _vqa(source, rows), out)
    assert [i.id for i in imported.items] == ["1", "7"]
    assert imported.unmatched == 1  # the published rule never accepts a whole float with a unit
    reasons = ["'domain' is empty", "no number", "appears twice", "is not below", "several folders", "not a readable"]
    assert [where for where, _ in imported.rejected] == [f"questions.csv, row {n}" for n in (2, 3, 4, 5, 6, 7)]
    for (_, reason), expected in zip(imported.rejected, reasons, strict=True):
        assert expected in reason
    assert len((out / "rejected.jsonl").read_text().splitlines()) == 6
    assert {p.name for p in out.glob("images/*")} == {Path(imported.items[0].cluster).name}  # no other files are left
    assert (out / "canary.txt").read_text().startswith("HANNUN CANARY ")
    tasks = yaml.safe_load((out / "eval.yaml").read_text())["tasks"]
    assert [task["id"] for task in tasks] == ["ko_vqa_em_strict", "ko_vqa_em", "ko_vqa_f1"]
    card = (out / "README.md").read_text()
    assert "| items | 2 |" in card and "| rows rejected | 6 |" in card and "5명" not in card


def test_import_ko_vdc_reads_workbook(tmp_path: Path) -> None:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    heading = ["id", "doc_type", "Orig_image", "Modified_image", *(f"Gemini_GT_{n}" for n in range(1, 5))]
    sheet.append(heading)
    sheet.append([423, "보고서", "a.jpg", "modified_a.jpg", " 맞음 ", "틀림1", "틀림2", "틀림3"])
    sheet.append([424, "보고서", "a.jpg", "modified_a.jpg", "맞음", "맞음", "틀림2", "틀림3"])
    sheet.append([425, "보도자료", "a.jpg", "modified_a.jpg", "맞음", None, "틀림2", "틀림3"])
    source = tmp_path / "in"
    _image(source / "보고서/modified_a.jpg")
    _image(source / "보도자료/modified_a.jpg", 200)
    _image(source / "보고서/a.jpg", 100)
    book.save(source / "all.xlsx")
    imported = _import("ko-vdc", source, tmp_path / "out")
    assert [(i.id, i.choices) for i in imported.items] == [("423", ("맞음", "틀림1", "틀림2", "틀림3"))]
    assert ["four different" in imported.rejected[0][1], "Gemini_GT_2" in imported.rejected[1][1]] == [True, True]


ROW = {
    "question_id": 5,
    "question_type_id": 72,
    "question_type_name": "extreme",
    "figure_id": "04514",
    "question": "Which is highest?",
    "answer": "Seoul",
    "instructions": "\nOne word.",
    "url": "https://charts.example/04514.png",
    "extra_input_figure_bboxes": [[1, 2, 10.0, 12]],
}


@pytest.mark.parametrize("kind", ["json", "jsonl", "parquet", "object"])
def test_import_infochartqa_reads_split(tmp_path: Path, kind: str) -> None:
    source = tmp_path / "in"
    _image(source / "figures/04514.png")
    by_link = {**ROW, "question_id": 6, "figure_id": "elsewhere", "extra_input_figure_bboxes": []}
    lost = {**ROW, "question_id": 7, "figure_id": "x", "url": "https://charts.example/x.png"}
    rows = [ROW, by_link, lost, {**ROW, "question_id": 8, "question_type_id": "many"}]
    if kind == "parquet":
        rows = rows[:3]
        pq.write_table(pa.Table.from_pylist(rows), source / "visual_basic-00000.parquet")
    else:
        text = {
            "json": json.dumps(rows),
            "object": json.dumps({r["question_id"]: r for r in rows}),
            "jsonl": "\n".join(map(json.dumps, rows)),
        }
        (source / f"visual_basic.{'json' if kind == 'object' else kind}").write_text(text[kind])
    imported = _import("infochartqa", source, tmp_path / "out")
    first, second = imported.items
    assert first.links == ("https://charts.example/04514.png",)
    assert (first.id, first.extra["question_type_id"], first.crops) == ("visual_basic-5", 72, ((1, 2, 10, 12),))
    assert first.question == "Which is highest?\n\nOne word." and second.crops == ()
    assert first.buckets == {"subset": "visual_basic", "answer_form": "exact_number"}
    assert len(imported.rejected) == len(rows) - 2


def test_import_korquad_writes_one_file_per_page(tmp_path: Path) -> None:
    page = "<p>높이는 <b>1,214m</b>이다.</p><ul><li>담비</li></ul>"
    questions = [
        {"id": 1, "question": "높이는?", "answer": {"text": "1,214m", "answer_start": 10}},
        {"id": 2, "question": "동물은?", "answer": {"text": "담비", "answer_start": 43}},
        {"id": 3, "question": " ", "answer": {"text": "담비", "answer_start": 43}},
    ]
    (tmp_path / "in").mkdir()
    (tmp_path / "in/dev.json").write_text(
        json.dumps({"data": [{"title": "t", "context": page, "qas": questions}]}, ensure_ascii=False)
    )
    imported = import_dataset(BENCHMARKS["korquad-2"], tmp_path / "in", tmp_path / "out")
    loaded = BENCHMARKS["korquad-2"].load(tmp_path / "out")
    assert loaded == imported.items and {i.page for i in loaded} == {page} and imported.files == 1
    assert [i.buckets for i in loaded] == [
        {"length": "short", "form": "paragraph", "length_form": "short/paragraph"},
        {"length": "short", "form": "list", "length_form": "short/list"},
    ]
    assert imported.rejected == [("dev.json, row 3", "column 'question' must be text that is not empty, not ' '")]
    (tmp_path / "out/dataset_infos.json").write_text("{}")  # as the Hub writes beside a set
    assert BENCHMARKS["korquad-2"].load(tmp_path / "out") == loaded


@pytest.mark.parametrize(
    ("before", "answer", "form"),
    [
        ("<table><tr><td>", "답", "table"),
        ("<table></table>", "답", "paragraph"),
        ("</table><table><tr><td>", "답", "table"),  # a closing tag too many
        ("<!-- <table> -->", "답", "paragraph"),
        ("<p>", "\n<table><tr></tr></table>", "table"),
        ("<ul><li>", "답", "list"),
    ],
)
def test_form_of_korquad_answers(before: str, answer: str, form: str, tmp_path: Path) -> None:
    question = {"id": 1, "question": "?", "answer": {"text": answer, "answer_start": len(before)}}
    document = {"title": "t", "context": f"{before}{answer}", "qas": [question]}
    (tmp_path / "dev.json").write_text(json.dumps({"data": [document]}, ensure_ascii=False), encoding="utf-8")
    (item,) = BENCHMARKS["korquad-2"].load(tmp_path / "dev.json")
    assert item.buckets["form"] == form


def test_import_reads_public_subsets(tmp_path: Path) -> None:
    if not SHARED.exists():
        pytest.skip("the public subsets are not available")
    vqa = tmp_path / "vqa"
    vdc = tmp_path / "vdc"
    with (SHARED / "data/ko_vqa_public_subset.csv").open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        _image(vqa / row["domain"] / row["image"])
    (vqa / "all.csv").write_bytes((SHARED / "data/ko_vqa_public_subset.csv").read_bytes())
    imported = _import("ko-vqa", vqa, tmp_path / "vqa-out")
    assert (len(imported.items), imported.rejected, imported.unmatched) == (30, [], 0)
    book = openpyxl.load_workbook(SHARED / "data/ko_vdc_public_subset.xlsx")
    heading, *body = book["Sheet1"].iter_rows(values_only=True)
    for number, cells in enumerate(body):
        row = dict(zip(heading, cells, strict=True))
        _image(vdc / row["doc_type"] / row["Modified_image"], number)
    book.save(vdc / "all.xlsx")
    assert len(_import("ko-vdc", vdc, tmp_path / "vdc-out").items) == 4
    pages = SHARED / "data/korquad2_docs.json"
    imported = import_dataset(BENCHMARKS["korquad-2"], pages, tmp_path / "pages-out")
    plain = BENCHMARKS["korquad-2"].load(pages)
    assert [(i.id, i.page, i.buckets) for i in imported.items] == [(i.id, i.page, i.buckets) for i in plain]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x81\xff nonsense", "neither UTF-8 nor CP949"),
        (b"row_id,domain\n", "has no rows"),
        (b"row_id,domain\n1,a\n", "none of 1 rows can be used; questions.csv, row 1: column 'question' is missing"),
    ],
)
def test_import_failure_leaves_no_files(tmp_path: Path, content: bytes, message: str) -> None:
    source = tmp_path / "questions.csv"
    source.write_bytes(content)
    with pytest.raises(DataError, match=message):
        import_dataset(BENCHMARKS["ko-vqa"], source, tmp_path / "out")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["questions.csv"]


@pytest.mark.slow
@pytest.mark.integration
def test_import_command_shows_counts_and_preview(tmp_path: Path) -> None:
    source = tmp_path / "in"
    _image(source / "a/1.png")
    rows = [["1", "a", "q", "5명", "5", "1.png"], *([str(n), "a", "q", "없음", "", "1.png"] for n in range(2, 15))]
    command = ["-m", "evaluator", "import", "ko-vqa"]
    files = str(_vqa(source, rows))
    out = str(tmp_path / "out")
    done = python(*command, files, out)
    assert done.returncode == 0, done.stderr
    assert "1 items, 1 images or pages, 13 rows rejected" in done.stdout
    assert "rejected questions.csv, row 2: the answer contains no number" in done.stderr
    assert "and 3 more" in done.stderr
    for wrong, message in (
        ((files, out), "already exists"),
        ((files, f"{out}/README.md/new"), "new: Not a directory\n"),
        (("nowhere", f"{tmp_path}/new"), "no such file"),
    ):
        refused = python(*command, *wrong)
        assert refused.returncode == 2 and message in refused.stderr


LICENCE, URL = "https://creativecommons.org/publicdomain/zero/1.0/", "https://example.org/set"


@pytest.mark.parametrize("benchmark", list(BENCHMARKS))
def test_croissant_describes_file_and_columns(benchmark: str) -> None:
    described = croissant(benchmark, SAMPLES / benchmark, LICENCE, URL, date(2026, 1, 2))
    file, *sets = described["distribution"]
    (records,) = described["recordSet"]
    assert sets and all(list((SAMPLES / benchmark).glob(one["includes"])) for one in sets)
    content = (SAMPLES / benchmark / file["contentUrl"]).read_bytes()
    assert file["sha256"] == hashlib.sha256(content).hexdigest()
    columns = {field["name"] for field in records["field"]}
    assert {"id"} < columns and all(field["source"]["fileObject"]["@id"] == file["@id"] for field in records["field"])


def test_croissant_describes_all_folders_and_types(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "images": ["a.png"], "weight": 0.5, "years": [2020], "is_new": True},
        {"id": "2", "images": ["images/2/b.png", "images/1/c.png"], "weight": 1.0, "years": [], "is_new": False},
    ]
    (tmp_path / "items.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    described = croissant("ko-vqa", tmp_path, LICENCE, URL, date(2026, 1, 2), prefix="set/")
    _, images = described["distribution"]
    assert images["includes"] == ["set/*", "set/images/1/*", "set/images/2/*"]
    types = {field["name"]: field["dataType"] for field in described["recordSet"][0]["field"]}
    assert types == {
        "id": "sc:Text",
        "images": "sc:Text",
        "weight": "sc:Float",
        "years": "sc:Integer",
        "is_new": "sc:Boolean",
    }


def test_croissant_rejects_folder_without_items() -> None:
    with pytest.raises(DataError, match="contains neither"):
        croissant("ko-vqa", SAMPLES, LICENCE, URL, date(2026, 1, 2))

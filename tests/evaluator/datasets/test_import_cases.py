"""Test `evaluator import` on folders and archives as computers write them: Macs, Excel, archives with a password.

Each archive of tests/cases/import is one report from another tool.
"""

import csv
import json
import re
import shutil
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.cell import Cell
from PIL import Image

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.source_files import files_below
from evaluator.benchmarks.source_rows import SourceRow
from evaluator.core.errors import DataError
from evaluator.datasets.import_dataset import Imported, import_dataset
from scripts.support.serving import python
from submissions.config.paths import ROOT

CASES = ROOT / "tests/cases/import"
VDC_COLUMNS = ["id", "doc_type", "Modified_image", *(f"Gemini_GT_{n}" for n in range(1, 5))]
VQA_COLUMNS = ["row_id", "domain", "question", "answer", "image"]


def _unpacked(name: str, folder: Path) -> Path:
    with zipfile.ZipFile(CASES / name) as archive:
        archive.extractall(folder)
    return folder / "in"


def _imported(benchmark: str, source: Path, tmp_path: Path) -> Imported:
    return import_dataset(BENCHMARKS[benchmark], source, tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "benchmark", "rows"),
    [
        ("mac-file-names.zip", "ko-vqa", 1),
        ("mac-table.zip", "ko-vqa", 1),
        ("mac-folder-names.zip", "ko-vqa", 1),
        ("apple-double-table.zip", "ko-vqa", 1),
        ("mac-vdc-folders.zip", "ko-vdc", 2),
        ("dimension-A1.zip", "ko-vdc", 2),
        ("excel-lock-file.zip", "ko-vdc", 2),
        ("korquad-folder-apple-double.zip", "korquad-2", 1),
    ],
)
def test_import_reads_folder(tmp_path: Path, name: str, benchmark: str, rows: int) -> None:
    imported = _imported(benchmark, _unpacked(name, tmp_path), tmp_path)
    assert (len(imported.items), imported.rejected) == (rows, [])
    assert all(unicodedata.is_normalized("NFC", text) for item in imported.items for text in item.buckets.values())


def test_import_finds_picture_in_folder_of_domain(tmp_path: Path) -> None:
    """A Mac decomposes the letters of names."""
    source = tmp_path / "in"
    for number, domain in enumerate(("교육", "환경기상")):
        folder = source / unicodedata.normalize("NFD", f"VS_{domain}")
        folder.mkdir(parents=True)
        Image.new("RGB", (4, 4), (number, 0, 0)).save(folder / "1.png")
    rows = [[str(n), domain, "몇 명?", "15명", "1.png"] for n, domain in enumerate(("교육", "환경기상"))]
    with (source / "q.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([VQA_COLUMNS, *rows])
    items = _imported("ko-vqa", source, tmp_path).items
    pixels = [Image.open(tmp_path / "out" / item.cluster).getpixel((0, 0)) for item in items]
    assert pixels == [(0, 0, 0), (1, 0, 0)]


@pytest.mark.parametrize("name", ["korquad-macosx.zip", "KORQUAD.ZIP"])
def test_korquad_reads_archive(tmp_path: Path, name: str) -> None:
    assert len(_imported("korquad-2", CASES / name, tmp_path).items) == 1
    assert len(BENCHMARKS["korquad-2"].load(CASES / name)) == 1


def test_korquad_reads_folder_with_files_of_a_mac(tmp_path: Path) -> None:
    folder = _unpacked("korquad-folder-apple-double.zip", tmp_path)
    assert len(BENCHMARKS["korquad-2"].load(folder)) == 1


@pytest.mark.slow
def test_commands_refuse_archive_with_password(tmp_path: Path, environment: dict[str, str]) -> None:
    archive = str(CASES / "korquad-password.zip")
    run = [
        "run",
        "--model",
        "tiny/image-text",
        "--benchmark",
        "korquad-2",
        "--data",
        archive,
        "--out",
        str(tmp_path / "run"),
    ]
    for command in (["import", "korquad-2", archive, str(tmp_path / "out")], run):
        done = python("-m", "evaluator", *command, environment=environment)
        assert done.returncode == 2 and "Traceback" not in done.stderr
        assert "has a password: unpack it" in done.stderr.strip().splitlines()[-1]
    assert not (tmp_path / "out").exists() and not (tmp_path / "run").exists()


def test_import_refuses_broken_archive(tmp_path: Path) -> None:
    content = bytearray((CASES / "korquad-macosx.zip").read_bytes())
    content[60:90] = bytes(30)
    (tmp_path / "broken.zip").write_bytes(content)
    with pytest.raises(DataError, match="unpack it and name the folder"):
        _imported("korquad-2", tmp_path / "broken.zip", tmp_path)


def test_import_counts_golds_without_letters(tmp_path: Path) -> None:
    archive = str(CASES / "korquad-empty-gold.zip")
    done = python("-m", "evaluator", "import", "korquad-2", archive, str(tmp_path / "out"))
    said = "3 items accept an empty answer, because the published rule compares no character of their gold answer: "
    assert re.search(said + r"\w+, \w+, \w+$", done.stdout, re.MULTILINE)
    card = (tmp_path / "out/README.md").read_text(encoding="utf-8")
    assert "| items for which the published rule accepts an empty answer | 3 |" in card


def test_import_reads_numbers_as_sheet_shows_them(tmp_path: Path) -> None:
    imported = _imported("ko-vqa", _unpacked("number-formats.zip", tmp_path), tmp_path)
    assert [item.answer for item in imported.items] == ["20.5%", "1,402,886백만 원", "3월 2일", "15명"]


def _workbook(folder: Path, columns: list[str], *rows: list[str | int | float]) -> openpyxl.Workbook:
    folder.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (4, 4)).save(folder / "1.png")
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(columns)
    for row in rows:
        book.active.append(row)
    return book


def test_import_rejects_cells_that_depend_on_language(tmp_path: Path) -> None:
    source = tmp_path / "in"
    rows: list[list[str | int | float]] = [[n, "교육", "얼마?", 1500, "1.png"] for n in range(1, 5)]
    book = _workbook(source, VQA_COLUMNS, *rows)
    for row, code in zip((2, 3, 4), ("mm-dd-yy", "# ?/?", "#,##0;[Red]#,##0"), strict=True):
        cell = book.active[f"D{row}"]  # type: ignore[index]
        assert isinstance(cell, Cell)
        cell.number_format = code
        cell.value = -1500 if "Red" in code else 1500
    book.save(source / "q.xlsx")
    imported = _imported("ko-vqa", source, tmp_path)
    assert [item.answer for item in imported.items] == ["1500"]
    assert [(place, "column 'answer': D" in reason) for place, reason in imported.rejected] == [
        (f"q.xlsx, row {n}", True) for n in (1, 2, 3)
    ]


def test_import_ignores_format_of_unused_column(tmp_path: Path) -> None:
    source = tmp_path / "in"
    book = _workbook(source, [*VQA_COLUMNS, "seen"], [1, "교육", "몇 명?", "15명", "1.png", 0.5])
    book.active["F2"].number_format = "# ?/?"  # type: ignore[index]
    book.save(source / "q.xlsx")
    assert len(_imported("ko-vqa", source, tmp_path).items) == 1


def test_import_refuses_encrypted_workbook(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "q.xlsx").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504))
    with pytest.raises(DataError, match="without a password"):
        _imported("ko-vdc", source, tmp_path)


def _csv_folder(folder: Path, content: str, encoding: str = "utf-8") -> Path:
    folder.mkdir(parents=True)
    Image.new("RGB", (4, 4)).save(folder / "1.png")
    (folder / "q.csv").write_text(",".join(VQA_COLUMNS) + "\n" + content, encoding=encoding)
    return folder


def test_import_rejects_row_cut_at_comma(tmp_path: Path) -> None:
    """An unquoted 1,402,886 would become the gold answer 1."""
    content = "1,교육,얼마?,1,402,886원,1.png\n2,교육,얼마?,5원,1.png\n"
    imported = _imported("ko-vqa", _csv_folder(tmp_path / "in", content), tmp_path)
    assert [item.id for item in imported.items] == ["2"]
    assert "7 cells for 5 headings" in imported.rejected[0][1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('1,교육,"얼마?,5원,1.png\n2,교육,얼마?,5원,1.png\n', "check the quotation marks"),
        ("1,교육,얼마?,5원,없다.png\n", "is not below"),
    ],
)
def test_import_refuses_table(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        _imported("ko-vqa", _csv_folder(tmp_path / "in", content), tmp_path)


def test_import_refuses_repeated_heading(tmp_path: Path) -> None:
    folder = _csv_folder(tmp_path / "in", "")
    (folder / "q.csv").write_text("row_id,answer,answer \n1,5원,6원\n", encoding="utf-8")
    with pytest.raises(DataError, match="two columns are named 'answer'"):
        _imported("ko-vqa", folder, tmp_path)


def test_import_reads_utf16(tmp_path: Path) -> None:
    """Excel saves `Unicode text` so."""
    folder = _csv_folder(tmp_path / "in", "1,교육,얼마?,5원,1.png\n", "utf-16")
    assert [item.answer for item in _imported("ko-vqa", folder, tmp_path).items] == ["5원"]


def test_import_counts_pictures_that_are_changed(tmp_path: Path) -> None:
    folder = _csv_folder(tmp_path / "in", "")
    names = ("rgba.png", "grey16.tif", "turned.jpg", "jpeg-named.png")
    lines = [f"{n},교육,얼마?,5원,{name}" for n, name in enumerate(names)]
    (folder / "q.csv").write_text("\n".join([",".join(VQA_COLUMNS), *lines]), encoding="utf-8")
    for name in names:
        (folder / name).write_bytes((ROOT / "tests/cases/images" / name).read_bytes())
    done = python("-m", "evaluator", "import", "ko-vqa", str(folder), str(tmp_path / "out"))
    for reason in ("with transparency", "with more than 8 bits", "stored turned"):
        assert f"1 pictures {reason}" in done.stdout


def _cut_jpeg(path: Path) -> None:
    Image.effect_noise((400, 300), 80).convert("RGB").save(path, "JPEG")
    path.write_bytes(path.read_bytes()[:5000])


def _postscript(path: Path) -> None:
    path.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EOF\n")


@pytest.mark.parametrize("write", [_cut_jpeg, _postscript])
def test_import_decodes_pictures(tmp_path: Path, write: Callable[[Path], None]) -> None:
    """A picture that breaks off would fail when a model is asked about it, and the run would never be complete."""
    folder = _csv_folder(tmp_path / "in", "1,교육,얼마?,5원,1.png\n2,교육,얼마?,5원,2.png\n")
    write(folder / "2.png")
    imported = _imported("ko-vqa", folder, tmp_path)
    assert [item.id for item in imported.items] == ["1"]
    reason = imported.rejected[0][1]
    assert reason.startswith("2.png is not a readable image") and str(tmp_path) not in reason
    assert len(list((tmp_path / "out/images").iterdir())) == 1, "the broken picture is not kept"


def test_import_leaves_out_links_to_other_folders(tmp_path: Path) -> None:
    """A folder that somebody else made could name any file of this machine. Links of the Hub's cache are its own."""
    folder = _csv_folder(tmp_path / "repo/snapshots/in", "".join(f"{n},교육,얼마?,5원,{n}.png\n" for n in (1, 2, 3)))
    blobs = tmp_path / "repo/blobs"
    blobs.mkdir()
    picture = (folder / "1.png").rename(folder / "kept.png")
    for copy in (blobs / "2", tmp_path / "3.png"):
        shutil.copy(picture, copy)
    (folder / "1.png").symlink_to("kept.png")
    (folder / "2.png").symlink_to("../../blobs/2")
    (folder / "3.png").symlink_to(tmp_path / "3.png")
    imported = _imported("ko-vqa", folder, tmp_path)
    assert [item.id for item in imported.items] == ["1", "2"]
    assert "image '3.png' is not below" in imported.rejected[0][1]
    (folder / "below").mkdir()
    (folder / "below/4.pdf").symlink_to(blobs / "2")
    assert files_below(folder / "below", (".pdf",)) == [folder / "below/4.pdf"]


def test_run_names_broken_picture(tmp_path: Path, environment: dict[str, str]) -> None:
    folder = _csv_folder(tmp_path / "in", "1,교육,얼마?,5원,1.png\n")
    _imported("ko-vqa", folder, tmp_path)
    (picture,) = (tmp_path / "out/images").iterdir()
    _cut_jpeg(picture)
    command = ["run", "--model", "tiny/image-text", "--benchmark", "ko-vqa", "--data", str(tmp_path / "out")]
    done = python("-m", "evaluator", *command, "--out", str(tmp_path / "run"), environment=environment)
    assert done.returncode == 2 and f"item '1': {picture.name} is not a readable image" in done.stderr


def test_import_rejects_text_under_empty_heading(tmp_path: Path) -> None:
    folder = _csv_folder(tmp_path / "in", "")
    (folder / "q.csv").write_text(
        "row_id,question,image,domain,answer,\n1,얼마?,1.png,교육,1,402백만 원\n2,얼마?,1.png,교육,3원,\n",
        encoding="utf-8",
    )
    imported = _imported("ko-vqa", folder, tmp_path)
    assert [item.answer for item in imported.items] == ["3원"]


def test_import_leaves_out_hidden_sheet(tmp_path: Path) -> None:
    source = tmp_path / "in"
    book = _workbook(source, VQA_COLUMNS, [1, "교육", "몇 명?", "15명", "1.png"])
    hidden = book.create_sheet("old")
    hidden.append(VQA_COLUMNS)
    hidden.append([2, "교육", "몇 명?", "16명", "1.png"])
    hidden.sheet_state = "hidden"
    book.save(source / "q.xlsx")
    assert [item.answer for item in _imported("ko-vqa", source, tmp_path).items] == ["15명"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("row_id;domain;question\n1;교육;얼마?\n", "separates columns by ';'"),
        ("row_id\tdomain\tquestion\n1\t교육\t얼마?\n", "separates columns by"),
    ],
)
def test_import_names_other_separator(tmp_path: Path, content: str, message: str) -> None:
    folder = _csv_folder(tmp_path / "in", "")
    (folder / "q.csv").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        _imported("ko-vqa", folder, tmp_path)


CHART = {
    "question_id": 5,
    "question_type_id": 72,
    "figure_id": "1",
    "question": "Which?",
    "answer": "42",
    "url": "https://x.example/1.png",
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"figure_id": "none", "url": None}, "is not below"),
        ({"figure_id": None, "url": 5}, "must be text"),
        ({"question_type_id": 10**30}, "whole number"),
        ({"prompt": 7}, "must be text"),
        ({"extra_input_figure_bboxes": [[1, 2, float("nan"), 4]]}, "not four numbers"),
        ({"answer": float("inf")}, "not a number"),
    ],
)
def test_import_infochartqa_rejects_row(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    source = tmp_path / "in"
    source.mkdir()
    Image.new("RGB", (40, 40)).save(source / "1.png")
    rows = [CHART, {**CHART, "question_id": 6, **change}]
    (source / "text-0.json").write_text(json.dumps(rows), encoding="utf-8")
    imported = _imported("infochartqa", source, tmp_path)
    assert len(imported.items) == 1 and message in imported.rejected[0][1]


def test_import_refuses_repeated_key(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/text-0.json").write_text('[{"question_id": 1, "answer": "1", "answer": "2"}]', encoding="utf-8")
    with pytest.raises(DataError, match="the key 'answer' appears twice"):
        _imported("infochartqa", tmp_path / "in", tmp_path)


def test_whole_number_of_column_with_gap_is_whole() -> None:
    assert SourceRow(Path("x"), 1, {"answer": 1402886.0}).text("answer") == "1402886"

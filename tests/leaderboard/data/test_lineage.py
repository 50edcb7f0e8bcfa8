"""Test the lineage of models: the import of its facts, what they are classed as, and the filters by them."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from leaderboard.data.memory import cards_that_fit
from leaderboard.data.query import Query
from leaderboard.facts.lineage import LINEAGE, Lineage, encoder_of, lineage_of, lineages, origin_of
from scripts.import_lineage import COLUMNS, main

ROW = dict.fromkeys(COLUMNS, "not read") | {
    "model_id": "example/Example-VL-7B",
    "maker": "Example",
    "language_model_declared": "Qwen/Qwen3-8B",
    "source_language_model": "https://example.org/card",
    "vision_encoder_declared": "own encoder, trained from scratch",
    "source_vision_encoder": "https://example.org/report",
    "config_or_code_shows": "not read",
    "source_config": "",
    "declared_vs_shown": "not checked",
    "licence": "not read",
    "note": "",
}


def _import(folder: Path, *rows: dict[str, str]) -> tuple[int, list[dict[str, Any]]]:
    file = folder / "facts.csv"
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    target = folder / "lineage.json"
    code = main(str(file), target)
    return code, json.loads(target.read_bytes()) if target.exists() else []


def test_facts_are_classed_by_what_the_maker_declares(tmp_path: Path) -> None:
    code, (entry,) = _import(tmp_path, ROW)
    assert code == 0
    assert (entry["origin"], entry["encoder"]) == ("other", "own")
    assert entry["language_model"]["source"] == "https://example.org/card"
    assert "shown" not in entry


@pytest.mark.parametrize(
    ("declared", "origin"),
    [
        ("from scratch (declared)", "scratch"),
        ("Example 4.0 (maker's own)", "own"),
        ("trained on text and images together (declared as early fusion)", "unknown"),
        ("skt/A.X-4.0-Light; the A.X 4.0 family is declared as Qwen2.5 trained further", "other"),
        ("not read (0.3B by the table)", "unknown"),
        ("", "unknown"),
    ],
)
def test_origin_of_language_model(declared: str, origin: str, tmp_path: Path) -> None:
    _, (entry,) = _import(tmp_path, ROW | {"language_model_declared": declared})
    assert entry["origin"] == origin


@pytest.mark.parametrize(
    ("source", "reason"),
    [("", "has no source"), ("a friend", "'a friend' is no address"), ("http://example.org", "is no address")],
)
def test_fact_without_source_is_refused_and_model_stays(
    source: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, (entry,) = _import(tmp_path, ROW | {"source_vision_encoder": source})
    assert code == 1
    assert entry["encoder"] == "unknown" and "vision_encoder" not in entry
    said = capsys.readouterr().err
    assert "row 2: example/Example-VL-7B: vision_encoder 'own encoder, trained from scratch'" in said
    assert reason in said


def test_contradicting_row_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, entries = _import(tmp_path, ROW, ROW | {"language_model_declared": "google/gemma-2-9b-it"})
    assert code == 1
    assert len(entries) == 1 and entries[0]["language_model"]["text"] == "Qwen/Qwen3-8B"
    assert "row 3: contradicts row 2 about example/Example-VL-7B" in capsys.readouterr().err


def test_second_import_keeps_corrections_and_prints_what_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, (entry,) = _import(tmp_path, ROW)
    entry["language_model"] |= {"text": "Example LM", "ko": "자체 모델"}
    corrected = entry | {"origin": "own", "corrected": "2026-11-26"}
    (tmp_path / "lineage.json").write_text(json.dumps([corrected]), encoding="utf-8")
    capsys.readouterr()
    _, entries = _import(tmp_path, ROW, ROW | {"model_id": "example/Other-VL-1B"})
    assert corrected in entries
    assert capsys.readouterr().out.splitlines()[0] == "example/Other-VL-1B: new"


def test_file_with_other_columns_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "facts.csv"
    file.write_text("model,base\nx,y\n", encoding="utf-8")
    assert main(str(file), tmp_path / "lineage.json") == 2
    assert not (tmp_path / "lineage.json").exists()
    assert "the columns must be model_id" in capsys.readouterr().err


def test_rows_of_another_length_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "facts.csv"
    row = ",".join(["x"] * len(COLUMNS))
    file.write_text(f"{','.join(COLUMNS)}\n{row},more\nx,y\n", encoding="utf-8")
    assert main(str(file), tmp_path / "lineage.json") == 2
    said = capsys.readouterr().err
    assert "row 2: it has more cells" in said and "row 3: it has fewer cells" in said
    assert not (tmp_path / "lineage.json").exists()


def test_file_without_usable_rows_leaves_the_one_of_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "lineage.json"
    target.write_bytes(LINEAGE.read_bytes())
    file = tmp_path / "facts.csv"
    file.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    assert main(str(file), target) == 2
    assert "would be lost" in capsys.readouterr().err and target.read_bytes() == LINEAGE.read_bytes()


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"model_id": "foo/bar (and 4B)"}, "row 2: model_id"),
        ({"declared_vs_shown": "agreement not possible"}, "row 2: declared_vs_shown"),
    ],
)
def test_words_that_are_not_understood_are_refused(
    cells: dict[str, str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "facts.csv"
    row = dict.fromkeys(COLUMNS, "") | {"model_id": "foo/bar", "maker": "foo"} | cells
    file.write_text(f"{','.join(COLUMNS)}\n{','.join(row.values())}\n", encoding="utf-8")
    assert main(str(file), tmp_path / "lineage.json") == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("word", ["unknown", "NOT READ", "not known", "n/a", "no", "None"])
def test_unknown_is_no_claim(word: str, tmp_path: Path) -> None:
    file = tmp_path / "facts.csv"
    row = dict.fromkeys(COLUMNS, "") | {"model_id": "foo/bar", "maker": "foo", "vision_encoder_declared": word}
    row["source_vision_encoder"] = "https://example.org"
    file.write_text(f"{','.join(COLUMNS)}\n{','.join(row.values())}\n", encoding="utf-8")
    assert main(str(file), tmp_path / "lineage.json") == 0
    (entry,) = json.loads((tmp_path / "lineage.json").read_bytes())
    assert entry["encoder"] == "unknown"


def test_class_without_fact_is_refused() -> None:
    with pytest.raises(ValidationError, match="no fact says so"):
        Lineage(model="a/b", maker="a", origin="own", encoder="unknown")
    with pytest.raises(ValidationError, match="no fact says so"):
        Lineage(model="a/b", maker="a", origin="unknown", encoder="other")


def test_every_declared_part_has_a_source_and_every_text_is_in_korean_too() -> None:
    for one in lineages():
        for fact in (one.language_model, one.vision_encoder, one.shown):
            assert fact is None or fact.source
            assert fact is None or fact.ko or " " not in fact.text, fact
        assert bool(one.agreement_note) == bool(one.agreement_note_ko), one.model
    assert len({one.model for one in lineages()}) == len(json.loads(LINEAGE.read_bytes()))


def test_unknown_model_takes_the_base_of_its_card() -> None:
    assert origin_of("nobody/new", None) == "unknown"
    assert origin_of("nobody/new", "nobody/base") == "own"
    assert origin_of("nobody/new", "Qwen/Qwen3-8B") == "other"
    assert encoder_of("nobody/new") == "unknown"
    assert origin_of("NCSOFT/VARCO-VISION-2.0-14B", None) == "other"
    assert lineage_of("ncsoft/varco-vision-2.0-14b") is lineage_of("NCSOFT/VARCO-VISION-2.0-14B")


def test_filters_survive_their_address() -> None:
    params = {"memory": "24,<b>", "language_model": "own,unknown", "vision_encoder": "other"}
    query = Query.from_params(params)
    assert query.memory == ("24",)
    assert query.filters() == {"memory": "24", "language_model": "own,unknown", "vision_encoder": "other"}


@pytest.mark.parametrize(
    ("peak", "cards"), [(None, ()), (7.2, ("24", "48", "80")), (23.5, ("48", "80")), (79.0, ("80",)), (80.0, ())]
)
def test_card_must_have_memory_to_spare(peak: float | None, cards: tuple[str, ...]) -> None:
    assert cards_that_fit(peak) == cards

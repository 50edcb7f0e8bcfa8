"""Test the register of published numbers: the import of its rows, and what it says about reporters who disagree."""

import csv
import io
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from leaderboard.data.export import REGISTER_FORMATS
from leaderboard.facts.register import (
    COLUMNS,
    REGISTER,
    check,
    contradictions,
    entries,
    model_key,
    numbers,
    numbers_of_model,
    numbers_of_set,
)
from leaderboard.facts.register_sets import SETS
from scripts.import_register import main

ROW = {
    "benchmark": "K-Viscuit",
    "variant": "all",
    "metric": "accuracy (%)",
    "model": "Example 7B",
    "hub_id": "example/Example-7B-Instruct",
    "hub_id_basis": "named in source",
    "value": "71.5",
    "reporter_type": "third_party",
    "reporter": "A reader",
    "conditions": "English prompt",
    "source": "https://example.org/table",
    "source_date": "2026-01",
    "read_in": "original",
    "flag": "ok",
    "note": "",
}


def _file(folder: Path, *rows: dict[str, str]) -> Path:
    file = folder / "numbers.csv"
    with file.open("w", encoding="utf-8-sig", newline="") as lines:
        writer = csv.DictWriter(lines, list(ROW))
        writer.writeheader()
        writer.writerows(rows)
    return file


def test_blank_rows_count_as_spreadsheets_count_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = _file(tmp_path, ROW, ROW | {"model": ""})
    header, *rows = file.read_text(encoding="utf-8-sig").splitlines(keepends=True)
    file.write_text("".join([header, "\n", *rows]), encoding="utf-8")
    assert main(str(file), tmp_path / "register.csv") == 1
    assert "row 4: no model" in capsys.readouterr().err


def test_register_with_other_columns_is_replaced_only_if_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "register.csv"
    target.write_text("benchmark,model\nK-Viscuit,Example\n")
    file = str(_file(tmp_path, ROW))
    assert main(file, target) == 2 and "add --replace" in capsys.readouterr().err
    assert main(file, target, may_lose=True) == 0 and "Example 7B" in target.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"benchmark": "K-Nothing"}, "unknown set 'K-Nothing'"),
        ({"source": ""}, "no source"),
        ({"source": "http://example.org"}, "no source"),
        ({"source": "https://a b"}, "no source"),
        ({"source_date": "January 2026"}, "source_date must be like"),
        ({"value": "about 70"}, "the value must be a number"),
        ({"value": "nan"}, "the value must be a number"),
        ({"value": ""}, "the value must be a number"),
        ({"reporter": " "}, "no reporter"),
        ({"model": ""}, "no model"),
        ({"flag": "good"}, "flag must be one of"),
        ({"reporter_type": "friend"}, "reporter_type must be one of"),
        ({"flag": "doubtful", "conditions": ""}, "needs a note"),
    ],
)
def test_row_that_cannot_be_cited_is_refused_with_its_number_and_reason(
    changed: dict[str, str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "register.csv"
    assert main(str(_file(tmp_path, ROW, ROW | {"model": "Other"} | changed)), target) == 1
    written = capsys.readouterr()
    assert "row 3: " in written.err and reason in written.err
    assert "1 numbers in register.csv, 1 rows refused" in written.out
    with target.open(encoding="utf-8", newline="") as file:
        assert [row["model"] for row in csv.DictReader(file)] == ["Example 7B"]


def test_second_value_of_one_source_is_refused_and_not_merged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _file(tmp_path, ROW, ROW, ROW | {"value": "72"})
    assert main(str(file), tmp_path / "register.csv") == 1
    said = capsys.readouterr().err
    assert "row 3: the same number as row 2" in said
    assert "row 4: contradicts row 2: 72 and 71.5" in said


def test_second_import_prints_only_what_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "register.csv"
    assert main(str(_file(tmp_path, ROW, ROW | {"model": "Other"})), target) == 0
    capsys.readouterr()
    assert main(str(_file(tmp_path, ROW | {"value": "72"}, ROW | {"model": "Other"})), target) == 0
    assert capsys.readouterr().out.splitlines() == [
        "K-Viscuit · all · accuracy (%) · Example 7B · A reader · English prompt: 71.5 → 72",
        "2 numbers in register.csv, 0 rows refused",
    ]


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"\xff\xfe\x00", b"benchmark\n\x00\n"])
def test_file_that_is_no_register_changes_nothing(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "numbers.csv"
    file.write_bytes(content)
    target = tmp_path / "register.csv"
    assert main(str(file), target) == 2
    assert not target.exists()
    assert "Traceback" not in capsys.readouterr().err


def test_register_can_be_imported_from_itself(tmp_path: Path) -> None:
    target = tmp_path / "register.csv"
    assert main(str(REGISTER), target) == 0
    assert target.read_bytes() == REGISTER.read_bytes()


def test_entries_have_only_comparable_scores_of_the_whole_set() -> None:
    for title in SETS:
        shown = [number for entry in entries(title) for number in entry.numbers]
        assert all(number.is_compared and number.is_whole for number in shown)
        left_out = [n for n in numbers_of_set(title) if n not in shown]
        assert all(not number.is_compared or not number.is_whole for number in left_out)


def test_contradictions_are_those_that_the_sources_show() -> None:
    found = {(title, model_key(entry.model)): entry.spread for title, entry in contradictions()}
    assert found[("K-DTCBench", "gpt4o")] == 23.7
    assert found[("K-LLaVA-W", "varcovision14b")] == 33.57
    assert ("K-DTCBench", "varcovision14b") not in found  # 0.84 points apart


def test_conditions_of_one_reporter_are_no_contradiction() -> None:
    gemini = next(entry for entry in entries("K-Viscuit") if entry.model == "Gemini-1.5-Pro")
    assert gemini.spread is None
    assert gemini.own_spread == 1.83
    assert not gemini.is_contradicted


def test_model_is_found_by_repository_and_by_printed_name() -> None:
    by_repository = numbers_of_model("LGAI-EXAONE/EXAONE-4.5-33B")
    assert by_repository and by_repository == numbers_of_model("EXAONE 4.5 33B")
    assert numbers_of_model("nobody/unknown-1B") == []
    for borrowed in ("mallory/GPT-4o", "mallory/EXAONE-4.5-33B", "mallory/VARCO-VISION-14B"):
        assert numbers_of_model(borrowed) == [], "anybody may give a repository that name"
    assert model_key("MiniCPM-o-2_6 (8B)") == model_key("openbmb/MiniCPM-o-2.6")
    assert model_key("InternVL2.5 (4B)") != model_key("InternVL2.5 (8B)"), "two sizes are two models"
    assert model_key("Qwen2.5-VL (7B)") == model_key("Qwen/Qwen2.5-VL-7B-Instruct")
    assert model_key("VARCO-VISION-2.0-14B (25.07.16)") == model_key("NCSOFT/VARCO-VISION-2.0-14B")
    assert model_key("Qwen/Qwen3-VL-8B-Thinking") != model_key("Qwen/Qwen3-VL-8B-Instruct")


@pytest.mark.parametrize(
    ("names", "models"),
    [
        (("GPT-4o", "GPT-4o (2024-05-13)"), 1),
        (("GPT-4o (24.05.13)", "gpt-4o-2024-05-13"), 1),
        (("GPT-4o (2024-05-13)", "GPT-4o (24.11.20)"), 2),
        (("GPT-4o", "GPT-4o (2024-05-13)", "GPT-4o (24.11.20)"), 3),
        (("kanana-1.5-v (25. 07. 24)", "Kanana 1.5 V"), 1),
        (("a/Foo-7B", "b/Foo-7B"), 2),
        (("a/Foo-7B", "Foo 7B"), 1),
    ],
)
def test_dated_versions_and_owners_tell_models_apart(
    names: tuple[str, ...], models: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [ROW | {"model": name, "hub_id": name if "/" in name else ""} for name in names]
    monkeypatch.setattr("leaderboard.facts.register.numbers", lambda: tuple(map(check, rows)))
    assert len(entries(ROW["benchmark"])) == models


def test_metric_is_the_same_in_any_letter_case(monkeypatch: pytest.MonkeyPatch) -> None:
    def spread(first: str, second: str) -> float | None:
        rows = [ROW | {"metric": first}, ROW | {"metric": second, "reporter": "Another", "value": "61.5"}]
        monkeypatch.setattr("leaderboard.facts.register.numbers", lambda: tuple(map(check, rows)))
        (entry,) = entries(ROW["benchmark"])
        return entry.spread

    assert spread("accuracy (%)", "Accuracy (%)") == 10.0
    assert spread("accuracy (%)", "exact match after letter extraction") == 10.0
    assert spread("accuracy (%)", "keyword accuracy (hard)") is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"value": "1000000"}, "the value must be a number"),
        ({"value": "0.0000001"}, "the value must be a number"),
        ({"value": "9" * 400}, "the value must be a number"),
        ({"value": "\uff15\uff10"}, "the value must be a number"),
        ({"source_date": "2026-99-99"}, "source_date"),
        ({"source_date": "2026-13"}, "source_date"),
        ({"hub_id": "x/"}, "hub_id"),
        ({"hub_id": "../../@evil.example/x"}, "hub_id"),
        ({"hub_id": '"><script>'}, "hub_id"),
        ({"model": "GPT\u202e4o"}, "model has characters"),
        ({"note": "a\x00b"}, "note has characters"),
    ],
)
def test_cells_that_no_page_could_show_are_refused(
    changes: dict[str, str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "register.csv"
    assert main(str(_file(tmp_path, ROW, {**ROW, "model": "other", **changes})), target) == 1
    assert f"row 3: {reason}" in capsys.readouterr().err
    assert target.read_text(encoding="utf-8").count("\n") == 2


@pytest.mark.parametrize("value", ["61.123456", "0.00001", "99999", "-3.5", "80"])
def test_value_is_written_as_it_was_printed(value: str, tmp_path: Path) -> None:
    target = tmp_path / "register.csv"
    file = _file(tmp_path, {**ROW, "value": value})
    assert main(str(file), target) == 0
    first = target.read_bytes()
    (row,) = csv.DictReader(target.read_text(encoding="utf-8").splitlines())
    assert row["value"] == value and main(str(target), target) == 0 and target.read_bytes() == first


def test_file_that_leaves_out_most_numbers_changes_nothing_unless_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "register.csv"
    assert main(str(_file(tmp_path, *({**ROW, "model": f"m{n}"} for n in range(20)))), target) == 0
    before = target.read_bytes()
    few = str(_file(tmp_path, {**ROW, "model": "m1"}))
    assert main(few, target) == 2 and target.read_bytes() == before
    assert "19 of 20 numbers would be lost" in capsys.readouterr().err
    assert main(few, target, may_lose=True) == 0 and target.read_bytes() != before


def test_rows_that_are_refused_today_are_not_lost_silently(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = _file(tmp_path, *({**ROW, "model": f"m{n}"} for n in range(10)), *(ROW | {"source": ""},) * 5)
    before = target.rename(tmp_path / "register.csv").read_bytes()
    file = str(_file(tmp_path, *({**ROW, "model": f"m{n}"} for n in range(10))))
    assert main(file, tmp_path / "register.csv") == 2
    said = capsys.readouterr().err
    assert "row 12: no source" in said and "add --replace" in said
    assert (tmp_path / "register.csv").read_bytes() == before


def test_import_prints_all_changes_of_a_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "register.csv"
    assert main(str(_file(tmp_path, ROW)), target) == 0
    capsys.readouterr()
    assert main(str(_file(tmp_path, ROW | {"value": "72", "flag": "doubtful"})), target) == 0
    assert "English prompt: 71.5 → 72, flag: 'ok' → 'doubtful'" in capsys.readouterr().out


def test_full_disk_leaves_the_register_of_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "register.csv"
    assert main(str(_file(tmp_path, ROW)), target) == 0
    before = target.read_bytes()

    def half(path: Path, content: bytes) -> None:
        path.write_text(content.decode()[:20])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(OSError, match="No space"):
        main(str(_file(tmp_path, {**ROW, "value": "1"})), target)
    assert target.read_bytes() == before and not list(tmp_path.glob("*.new"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("benchmark,", "value,", 1), "line 1: the columns must be"),
        (lambda text: text.replace("K-Viscuit,", '"K"-Viscuit,', 1), "line 2: "),
        (lambda text: text.rstrip("\n") + ',"unclosed\n', "line"),
        (lambda text: text + "x" * 200_000 + "\n", "line"),
    ],
)
def test_file_that_is_no_table_names_the_line(
    change: Callable[[str], str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = _file(tmp_path, ROW, {**ROW, "model": "other"})
    file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")
    assert main(str(file), tmp_path / "register.csv") == 2
    assert message in capsys.readouterr().err and not (tmp_path / "register.csv").exists()


def test_flagged_contradictions_are_shown() -> None:
    flagged = [number for number in numbers() if number.flag == "conflict" and number.is_whole]
    shown = {number.identity for _, entry in contradictions() for number in entry.numbers}
    assert flagged and {number.identity for number in flagged} <= shown


def test_downloads_have_every_number() -> None:
    every = numbers()
    for _, write in REGISTER_FORMATS.values():
        assert write(every)
    rows = list(csv.DictReader(REGISTER_FORMATS["csv"][1](every).decode("utf-8-sig").splitlines()))
    assert len(rows) == len(every)
    for number in random.Random(0).sample(every, 10):
        assert any(row["source"] == number.source and float(row["value"]) == number.value for row in rows)


def test_sets_with_numbers_that_can_be_cited_have_models() -> None:
    """A set whose numbers are all on parts of it would have an empty page."""
    cited = {number.benchmark for number in numbers() if number.flag == "ok"}
    assert [title for title in sorted(cited) if not entries(title)] == []


def test_row_with_too_few_cells_is_refused() -> None:
    row = next(csv.DictReader(io.StringIO(f"{','.join(COLUMNS)}\nKRETA,all,accuracy (%),X")))
    with pytest.raises(ValueError, match="columns must be"):
        check(row)


def test_check_names_wrong_columns() -> None:
    with pytest.raises(ValueError, match="the columns must be benchmark, variant"):
        check({"benchmark": "K-Viscuit"})

"""Test drawn sets: one seed gives the same set everywhere, and gold answers agree with a second reading."""

import os
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from PIL import Image

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.ko_fresh import gold_answer
from evaluator.core.data_types import Answer, Item
from evaluator.fresh.draw import draw_set, pair_of, set_hash, shuffled_rows
from evaluator.fresh.facts import LAYOUTS, Facts
from evaluator.fresh.questions import icon_value
from submissions.config.paths import ROOT, SAMPLES

FIGURES = 60
DRAW = "import sys; from pathlib import Path; from evaluator.fresh.draw import draw_set; print(draw_set('s', Path(sys.argv[1]), 20))"


def test_draw_set_reproduces_samples(tmp_path: Path) -> None:
    assert draw_set("sample", tmp_path / "drawn", 40) == set_hash(SAMPLES / "ko-fresh")


@pytest.mark.integration
def test_draw_set_ignores_environment(tmp_path: Path) -> None:
    """Change the language, time zone, hash seed, folder, umask, number of threads and the user's matplotlibrc."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config/matplotlibrc").write_text(
        "font.size: 30\nfigure.dpi: 40\nlines.linewidth: 9\naxes.grid: True\n"
    )
    plain = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    other = {"LANG": "tr_TR.UTF-8", "TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "1"}
    other |= {"MPLCONFIGDIR": str(tmp_path / "config"), "MPLBACKEND": "svg", "PYTHONUTF8": "1"}
    hashes = []
    for name, environment in (("a", {"PYTHONHASHSEED": "1"}), ("b", other)):
        done = subprocess.run(
            [sys.executable, "-c", DRAW, str(tmp_path / name)],
            env=plain | environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            umask=0o077 if name == "b" else 0o022,
        )
        hashes.append(done.stdout.strip())
    assert hashes[0] == hashes[1] == set_hash(tmp_path / "a")


def test_draw_set_ignores_number_of_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = draw_set("s", tmp_path / "alone", 8)
    monkeypatch.setattr("evaluator.fresh.draw.PAIRS_PER_PROCESS", 2)
    monkeypatch.setattr("evaluator.fresh.draw.available_cores", lambda: 2)
    assert draw_set("s", tmp_path / "two", 8) == alone


def test_shuffled_rows_reveal_nothing_of_other_seeds() -> None:
    """Check that sets of other seeds reveal neither names, nor order, nor right letters."""
    rows = {seed: shuffled_rows(seed, [pair_of(seed, number) for number in range(60)]) for seed in ("one", "two")}
    first, second = rows.values()
    names = [{row["id"] for row in drawn} | {row["images"][0] for row in drawn} for drawn in (first, second)]
    assert not names[0] & names[1]
    assert [(row["kind"], row["twin"]) for row in first] != [(row["kind"], row["twin"]) for row in second]
    letters = []
    for drawn in (first, second):
        items = [Item(row["id"], "", row["answer"], choices=tuple(row["choices"])) for row in drawn if row["choices"]]
        letters.append([gold_answer(item) for item in BENCHMARKS["ko-fresh"].complete(items)])
        assert set(letters[-1]) == set("ABCD")
    same = sum(a == b for a, b in zip(*letters, strict=False)) / min(map(len, letters))
    assert same < 0.4, "about a quarter, by chance"


def test_draw_set_has_size_and_readable_images(tmp_path: Path) -> None:
    draw_set("size", tmp_path / "set", 30)
    items = BENCHMARKS["ko-fresh"].load(tmp_path / "set")
    assert len(items) == 30
    assert sum(item.buckets["twin"] == "twin" for item in items) == 15
    for item in items:
        with Image.open(item.images[0]) as image:
            assert min(image.size) > 300


@pytest.mark.parametrize("number", range(FIGURES))
def test_pair_of_twins_differ_only_in_values(number: int) -> None:
    pair = pair_of("twins", number)
    for one, twin in zip(*pair.rows, strict=True):
        assert (one["pair"], one["question"], one["kind"]) == (twin["pair"], twin["question"], twin["kind"])
        assert one["answer"] != twin["answer"] and set(one["choices"]) == set(twin["choices"])
    facts, other = pair.facts
    assert (facts.rows, facts.years, facts.title) == (other.rows, other.years, other.title)
    assert facts.values != other.values


@pytest.mark.parametrize("number", range(FIGURES))
def test_pair_of_gold_matches_second_reading(number: int) -> None:
    """Check that all choices share a wording, because some wordings are true more often than others."""
    pair = pair_of("answers", number)
    for facts, row in ((facts, row) for facts, rows in zip(pair.facts, pair.rows, strict=True) for row in rows):
        if row["question"]:
            assert row["answer"] == read_question(row["question"], facts), row["question"]
        if row["choices"]:
            assert [read_claim(choice, facts) for choice in row["choices"]] == [True, False, False, False]
        wordings = set()
        for words in row["choices"]:
            for name in sorted((*facts.rows, *facts.years), key=len, reverse=True):
                words = words.replace(name, "＿")
            wordings.add(re.sub("＿[은는이가]", "＿", words))
        assert len(wordings) <= 1, wordings


def test_pair_of_covers_kinds_and_layouts() -> None:
    rows = [
        row for number in range(FIGURES) for rows_of_figure in pair_of("kinds", number).rows for row in rows_of_figure
    ]
    kinds = {"lookup", "largest", "sum", "difference", "year_of", "ratio", "conversion", "description"}
    assert {row["kind"] for row in rows} == kinds and {row["layout"] for row in rows} == set(LAYOUTS)
    shares = [sum(row["difficulty"] == level for row in rows) / len(rows) for level in ("easy", "medium", "hard")]
    assert all(share > 0.1 for share in shares), shares


def test_score_item_rejects_answer_of_twin() -> None:
    benchmark = BENCHMARKS["ko-fresh"]
    items = benchmark.load(SAMPLES / "ko-fresh")
    by_id = {item.id: item for item in items}
    for item in items:
        twin = by_id[item.id[:-1] + ("b" if item.id.endswith("a") else "a")]
        outputs = [benchmark.gold_output(item) or "", benchmark.gold_output(twin) or ""]
        scores = [benchmark.score_item(item, [Answer(item.id, output, "ok", 0.1)]).values["em"] for output in outputs]
        expected = [1.0, float(bool(item.choices) and gold_answer(item) == gold_answer(twin))]
        assert scores == expected, (item.id, outputs)


def test_aggregate_counts_twins_right() -> None:
    benchmark = BENCHMARKS["ko-fresh"]
    items = benchmark.load(SAMPLES / "ko-fresh")
    answers = [
        Answer(item.id, (benchmark.gold_output(item) or "") if n % 4 else "모름", "ok", 0.1)
        for n, item in enumerate(items)
    ]
    scores = benchmark.score(items, [[answer] for answer in answers])
    right = {score.id: score.values["em"] for score in scores}
    pairs = {item.id[:-2] for item in items}
    both = sum(right[f"{pair}-a"] == right[f"{pair}-b"] == 1 for pair in pairs) / len(pairs)
    assert benchmark.aggregate(scores)["twins_right"] == both and 0 < both < 1


def unit_value(facts: Facts, row: str, year: str) -> Decimal:
    value = facts.values[facts.rows.index(row)][facts.years.index(year)]
    return value * icon_value(facts) if facts.layout == "pictogram" else value


def named(words: str, names: tuple[str, ...]) -> list[str]:
    """Return the names in the words, matching longer ones first because 시도 is not 도."""
    found = []
    for name in sorted(names, key=len, reverse=True):
        if name in words:
            found.append((words.index(name), name))
            words = words.replace(name, "＿" * len(name))
    return [name for _, name in sorted(found)]


def read_question(text: str, facts: Facts) -> str:
    """Return the answer from the words of the question and the values."""
    title = text.replace(facts.body, "")
    rows, years = named(title.replace(facts.topic.measure, "＃"), facts.rows), named(title, facts.years)
    unit = facts.topic.unit
    year = years[0] if years else facts.years[0]
    if found := re.search(r"몇 (\w+)입니까\? 단위를", text):
        factor = {"m": 1000, "kg": 1000, "MWh": 1000}[found[1]]
        return f"{int(unit_value(facts, rows[0], year) * factor):,} {found[1]}"
    if "몇 %" in text:
        share = 100 * unit_value(facts, rows[0], year) / sum(unit_value(facts, r, year) for r in facts.rows)
        return f"{float(share):.1f}%"
    if "해는 몇 년" in text:
        series = {y: unit_value(facts, rows[0], y) for y in facts.years}
        return (max if "많았던" in text else min)(series, key=lambda y: series[y])
    column = {row: unit_value(facts, row, year) for row in facts.rows}
    if "은 항목의" in text:
        value = (max if "가장 많은" in text else min)(column.values())
    elif "합하면" in text:
        value = column[rows[0]] + column[rows[1]]
    elif "차이는" in text and len(years) == 2:
        value = abs(unit_value(facts, rows[0], years[0]) - unit_value(facts, rows[0], years[1]))
    elif "차이는" in text:
        value = abs(column[rows[0]] - column[rows[1]])
    else:
        value = column[rows[0]]
    return f"{value:,} {unit}"


def read_claim(text: str, facts: Facts) -> bool:
    words = text.replace(facts.topic.measure, "＃")
    rows, years = named(words, facts.rows), named(words, facts.years)
    if "보다 많았다" in text:
        return unit_value(facts, rows[0], years[0]) > unit_value(facts, rows[1], years[0])
    column = {row: unit_value(facts, row, years[0]) for row in facts.rows}
    if text.startswith(f"{years[0]}에는"):
        return (max if "많았다" in text else min)(column, key=lambda r: column[r]) == rows[0]
    series = {year: unit_value(facts, rows[0], year) for year in facts.years}
    if "가장 많았다" in text:
        return max(series, key=lambda y: series[y]) == years[0]
    return (series[years[1]] > series[years[0]]) == ("늘었다" in text)

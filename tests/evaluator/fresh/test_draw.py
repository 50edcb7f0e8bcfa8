"""Test drawn sets: one seed gives the same set everywhere, and gold answers agree with a second reading."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from itertools import pairwise, product
from pathlib import Path

import pytest
from PIL import Image

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.ko_fresh import KINDS, LAYOUTS, VERSIONS, gold_answer
from evaluator.core.data_types import Answer, Item
from evaluator.fresh.draw import draw_set, shuffled_rows
from evaluator.fresh.facts import LAYOUTS as LAYOUTS_ORDER
from evaluator.fresh.facts import Facts, facts_of
from evaluator.fresh.korean import UNANSWERABLE, amount, spoken
from evaluator.fresh.memory import PUBLISHED, memory_figures
from evaluator.fresh.pages import pages
from evaluator.fresh.pairs import Pair, Row, is_on_ladder, pair_of, pairs_of
from evaluator.fresh.question import answers_differ
from evaluator.fresh.questions import wording
from evaluator.fresh.set_hash import set_hash
from scripts.readers.printed import Printed, printed_on
from scripts.readers.rules import answer
from submissions.config.paths import ROOT, SAMPLES

(SAMPLE,) = PUBLISHED
FIGURES = 76  # every layout four times
DRAW = "import sys; from pathlib import Path; from evaluator.fresh.draw import draw_set; print(draw_set('s', Path(sys.argv[1]), 80))"


@cache
def drawn_pair(number: int) -> Pair:
    """Return a pair of a seed that many tests share, because drawing it takes longer than what they check."""
    return pair_of("shared by tests", number)


def test_draw_set_reproduces_samples(tmp_path: Path) -> None:
    assert draw_set(SAMPLE[0], tmp_path / "drawn", SAMPLE[1]) == set_hash(SAMPLES / "ko-fresh")


@pytest.mark.slow
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


@pytest.mark.slow
def test_draw_set_ignores_number_of_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = draw_set("s", tmp_path / "alone", 24)
    monkeypatch.setattr("evaluator.fresh.draw.PAIRS_PER_PROCESS", 2)
    monkeypatch.setattr("evaluator.fresh.draw.core_count", lambda: 2)
    assert draw_set("s", tmp_path / "two", 24) == alone


@pytest.mark.slow
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


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> list[Item]:
    """Return the items of a set of 120 questions."""
    folder = tmp_path_factory.mktemp("drawn") / "set"
    draw_set("a secret", folder, 120)
    return BENCHMARKS["ko-fresh"].load(folder)


def test_draw_set_has_size_and_readable_images(drawn: list[Item]) -> None:
    assert len(drawn) == 120
    known = sum(item.buckets["twin"] == "variant" for item in drawn)
    assert known == 6 == sum("published" in item.extra for item in drawn)
    assert sum(item.buckets["twin"] == "twin" for item in drawn) == (120 - known) / 2
    assert {item.buckets["version"] for item in drawn} == set(VERSIONS)
    for item in drawn:
        assert len(item.images) == (2 if item.buckets["layout"] == "two_pages" else 1)
        for path in item.images:
            with Image.open(path) as image:
                image.load()
                assert min(image.size) > 200


@pytest.mark.parametrize("number", range(FIGURES))
def test_pair_of_twins_differ_only_in_values(number: int) -> None:
    pair = drawn_pair(number)
    for one, twin in zip(*pair.rows, strict=True):
        assert (one["pair"], one["question"]) == (twin["pair"], twin["question"])
        assert all((row["kind"] == "unanswerable") == (row["answer"] == UNANSWERABLE) for row in (one, twin))
        if one["choices"]:
            assert one["answer"] != twin["answer"]
        else:
            assert answers_differ(one["answer"], twin["answer"]) or one["answer"] == twin["answer"] == UNANSWERABLE
        assert set(one["choices"]) == set(twin["choices"])
    facts, other = pair.facts
    assert (facts.rows, facts.years, facts.title) == (other.rows, other.years, other.title)
    assert facts.values != other.values


def all_shown(facts: Facts) -> Printed:
    """Return a figure as if all of its values were printed."""
    printed = printed_on(facts)
    if facts.layout == "map":  # shows classes besides
        return printed
    cells = product(facts.groups, facts.rows, facts.years, (0, 1))
    return Printed(facts, facts.years, {cell: facts.value(*cell) for cell in cells}, printed.growth)


def chart_answer(facts: Facts, text: str) -> str | None:
    """Return the answer to a question that only charts are asked, or None for other questions."""
    (group,) = facts.groups if len(facts.groups) == 1 else ("",)
    first, second = facts.topic.measures

    def column(year: str, index: int = 0) -> dict[str, Decimal]:
        return {row: facts.values[group, row, year, index] for row in facts.rows}

    if not set(re.findall(r"\d{4}년", text)) <= set(facts.years):
        return UNANSWERABLE
    year = next((year for year in facts.years if year in text), facts.years[0])
    if text.startswith("전체"):
        named = [100 * value / sum(column(year).values()) for row, value in column(year).items() if row in text]
        return f"{named[0]:.1f}%" if named else UNANSWERABLE
    choose = max if "가장 많" in text else min
    if "같은 해" in text:
        by_row = column(year, 1)
        return spoken(column(year)[choose(by_row, key=lambda row: by_row[row])], first.unit)
    if text.startswith(second.name) and "해의" in text:
        by_year = {year: column(year, 1)[facts.rows[0]] for year in facts.years}
        return spoken(column(choose(by_year, key=lambda year: by_year[year]))[facts.rows[0]], first.unit)
    if "모든" in text:
        return spoken(sum(column(year).values(), Decimal()), first.unit)
    if "줄어든 해는" in text:
        named_rows = [row for row in facts.rows if row in text]
        series = [column(year)[row] for year in facts.years for row in named_rows[:1]]
        return f"{sum(after < before for before, after in pairwise(series))}해" if series else UNANSWERABLE
    return None


def second_reading(pair: Pair, place: int, row: Row) -> float:
    """Return the score of an answer that is computed from the words of the question and all values."""
    (item,) = BENCHMARKS["ko-fresh"].complete([item_of(row)])
    (prompt,) = BENCHMARKS["ko-fresh"].prompts(item)
    facts = pair.facts[place]
    reply = chart_answer(facts, item.question) or answer(all_shown(facts), prompt.text)
    return BENCHMARKS["ko-fresh"].score_item(item, [Answer(item.id, reply, "ok", 0.1)]).values["em"]


def item_of(row: Row) -> Item:
    question = "" if row["choices"] else row["question"]
    buckets = {"version": row["version"]}
    return Item(row["id"], question, row["answer"], choices=tuple(row["choices"]), buckets=buckets)


@pytest.mark.parametrize("number", range(FIGURES))
def test_pair_of_gold_matches_second_reading(number: int) -> None:
    pair = drawn_pair(number)
    for place, rows in enumerate(pair.rows):
        for row in rows:
            by_class = row["layout"] == "map" and row["kind"] != "lookup"
            if row["version"] == "clean" and not by_class:
                assert second_reading(pair, place, row) == 1.0, (row["question"] or row["choices"], row["answer"])


@pytest.mark.slow
def test_pair_of_covers_kinds_layouts_and_versions() -> None:
    rows = [row for number in range(200) for own in drawn_pair(number).rows for row in own]
    assert {row["kind"] for row in rows} == set(KINDS) and {row["layout"] for row in rows} == set(LAYOUTS)
    assert {row["version"] for row in rows} == set(VERSIONS)
    unanswerable = sum(row["answer"] == UNANSWERABLE for row in rows) / len(rows)
    assert 0.05 < unanswerable < 0.15, unanswerable


def frame(facts: Facts, text: str) -> str:
    """Return the words of a question that do not depend on its topic."""
    words = wording(facts, text).replace(facts.topic.head, "＿")
    for measure in facts.topic.measures:
        words = re.sub(rf"{measure.name}\S*", "＿", words)
    return re.sub(r"몇 \S+", "몇", words)


@pytest.mark.slow
def test_no_wording_tells_that_a_question_is_unanswerable() -> None:
    """Check that of each common wording most questions can be answered, and that some need a look at the picture."""
    asked: dict[str, list[bool]] = {}
    hidden = 0
    for number in range(600):
        pair = drawn_pair(number)
        for own, (facts, rows) in enumerate(zip(pair.facts, pair.rows, strict=True)):
            for row in (row for row in rows if row["question"] and row["version"] == "clean"):
                unanswerable = row["answer"] == UNANSWERABLE
                asked.setdefault(frame(facts, row["question"]), []).append(unanswerable)
                absent = (facts.absent.row, facts.absent.year, facts.absent.group)
                names_absent = any(name in row["question"] for name in absent if name)
                hidden += unanswerable and not names_absent and own == 0
    common = {words: sum(own) / len(own) for words, own in asked.items() if len(own) >= 30}
    assert len(common) > 10 and max(common.values()) < 0.4, common
    assert hidden > 20


def test_tolerance_is_below_a_tenth_of_the_value() -> None:
    found = 0
    for number in range(120):
        for row in (row for rows in drawn_pair(number).rows for row in rows if " (±" in row["answer"]):
            value, _, allowed = row["answer"].partition(" (±")
            assert Decimal(amount(allowed) or 0) <= Decimal(amount(value) or 0) / 10, row["answer"]
            found += 1
    assert found > 50


def test_logarithmic_chart_spans_a_decade() -> None:
    for number in range(LAYOUTS_ORDER.index("log"), 1900, len(LAYOUTS_ORDER)):
        values = [value for (*_, measure), value in facts_of("log", number, "a").values.items() if measure == 0]
        assert max(values) >= 10 * min(values)


def test_a_tenth_of_figures_is_on_the_ladder() -> None:
    figures = [facts_of("ladder", number, "a") for number in range(380)]
    assert sum(map(is_on_ladder, figures)) / len(figures) == pytest.approx(0.1, abs=0.01)


def test_ladder_asks_same_questions_in_all_versions() -> None:
    pair = next(pair for pair in pairs_of("ladder", 400) if len(pair.versions) > 1)
    asked = {version: [row for row in pair.rows[0] if row["version"] == version] for version in VERSIONS}
    words = {
        version: [(row["question"], row["answer"], row["pair"]) for row in rows] for version, rows in asked.items()
    }
    assert len(words["clean"]) >= 3 and all(own == words["clean"] for own in words.values())
    rows = [row for own in asked.values() for row in own]
    items = BENCHMARKS["ko-fresh"].complete([item_of(row) for row in rows])
    letters = {(item.buckets["version"], row["pair"]): gold_answer(item) for item, row in zip(items, rows, strict=True)}
    assert all(letter == letters["clean", pair] for (_, pair), letter in letters.items()), "and offers the same letters"


@pytest.mark.slow
def test_pages_are_the_same_bytes_each_time() -> None:
    for number in range(19):
        facts = facts_of("bytes", number, "a")
        assert pages(facts) == pages(facts)


@pytest.mark.parametrize("number", range(0, FIGURES, 4))
def test_descriptions_are_true_of_one_variant_each(number: int) -> None:
    """Check the reason why choosing by wording earns 25 %: no variant is treated differently from the others."""
    pair = drawn_pair(number)
    four = [row["choices"] for row in pair.rows[0] if row["choices"]][:1]
    for texts in four:
        assert len(set(texts)) == 4
        assert texts[1] in [row["choices"][0] for row in pair.rows[1] if row["choices"]]


def test_memory_items_ask_published_questions_about_other_numbers() -> None:
    assert memory_figures("sample", 100) == []
    published = {row["question"]: row["answer"] for pair in pairs_of(*SAMPLE) for row in pair.rows[0]}
    twins = {row["question"]: row["answer"] for pair in pairs_of(*SAMPLE) for row in pair.rows[1]}
    rows = [[row for figure in memory_figures(seed, 100) for row in figure.rows[0]] for seed in ("one", "two")]
    for row in (*rows[0], *rows[1]):
        assert row["published"] == [published[row["question"]], twins[row["question"]]]
        assert row["twin"] == "variant" and not row["choices"]
        for wrong in (*row["published"], *row["held_back"]):
            item = Item("1", row["question"], row["answer"])
            (score,) = BENCHMARKS["ko-fresh"].score([item], [[Answer("1", wrong.partition(" (±")[0], "ok", 0.0)]])
            assert score.values["em"] == 0.0, "also within the tolerance"
    assert len(rows[0]) >= 8 and {row["question"] for row in rows[0]} & {row["question"] for row in rows[1]}
    by_question = [{row["question"]: (row["answer"], *row["held_back"]) for row in own} for own in rows]
    shared = by_question[0].keys() & by_question[1].keys()
    assert not any(set(by_question[0][question]) == set(by_question[1][question]) for question in shared)


def test_memory_items_of_several_published_sets_have_their_own_names() -> None:
    rows = [row for figure in memory_figures("one", 1000, (SAMPLE, ("another", 60))) for row in figure.rows[0]]
    alone = [row for figure in memory_figures("one", 1000, (SAMPLE,)) for row in figure.rows[0]]
    assert len({row["id"] for row in rows}) == len(rows) > len(alone)
    assert {row["id"] for row in alone} < {row["id"] for row in rows}


@pytest.mark.parametrize(
    ("value", "unit", "number"),
    [("342.1", "천 명", "342100"), ("1280", "억 원", "128000000000"), ("463.8", "GWh", "463.8"), ("0", "건", "0")],
)
def test_amount_reads_what_spoken_writes(value: str, unit: str, number: str) -> None:
    assert amount(spoken(Decimal(value), unit)) == Decimal(number)
    assert amount("중학교") is None


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("39% (±2%)", "40% (±2%)", False),
        ("39% (±2%)", "45% (±2%)", True),
        ("37억 원 (±3억 원)", "36억 원 (±3억 원)", False),
        ("2018년", "2017년", True),
        ("중학교", "고등학교", True),
        ("12명", "12명", False),
    ],
)
def test_answers_within_a_tolerance_do_not_differ(one: str, other: str, differ: bool) -> None:
    assert answers_differ(one, other) is differ and answers_differ(other, one) is differ


def test_memory_is_difference_between_published_and_held_back_answers(drawn: list[Item]) -> None:
    bench = BENCHMARKS["ko-fresh"]

    def memory(answer: Callable[[Item], str]) -> float:
        answered = [[Answer(item.id, f"정답: {answer(item).partition(' (±')[0]}", "ok", 0.0)] for item in drawn]
        return bench.aggregate(bench.score(drawn, answered))["memorised"]

    # Not 1 and -1, because a published answer may be within the tolerance of one that is held back.
    assert memory(lambda item: item.extra.get("published", ("",))[0]) >= 0.5
    assert memory(lambda item: item.extra.get("held_back", ("", ""))[1]) <= -0.5
    assert memory(lambda item: "알 수 없음") == memory(lambda item: item.answer) == 0.0

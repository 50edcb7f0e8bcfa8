"""Test the kinds of tasks: a benchmark declares its columns, prompt and rule, and the kind does the rest."""

import io
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark, fill
from evaluator.benchmarks.card import Axis
from evaluator.benchmarks.columns import Columns, Right
from evaluator.benchmarks.kinds.choice import Choice, ChoiceCard
from evaluator.benchmarks.kinds.quantity import Quantity, QuantityCard
from evaluator.benchmarks.source_files import ImageFolder
from evaluator.benchmarks.source_rows import SourceRow
from evaluator.core.data_types import Answer
from evaluator.core.errors import DataError
from evaluator.datasets.import_dataset import import_dataset
from scripts.make_samples import write_samples
from submissions.texts.text import Text


class Animals(Choice):
    """A choice benchmark whose makers publish a Parquet file with the pictures in it."""

    name, version = "animals", "1"
    prompt = "{question}\n{choices}Answer:"
    columns = Columns(
        id="key",
        question="asked",
        choices="options",
        answer="label",
        right="text",
        image="picture",
        axes={"place": "place"},
    )
    card = ChoiceCard(
        title="Animals",
        split="test",
        n=3,
        axes=(
            Axis(
                "place", Text("장소", "Place"), {"sea": Text("바다", "Sea"), "land": Text("땅", "Land")}, is_closed=True
            ),
        ),
        summary=Text("동물을 고릅니다.", "Choose the animal."),
        source_url="https://example.org/animals",
        hub_task="animals",
    )


class Weights(Quantity):
    name, version = "weights", "1"
    prompt = "단위와 함께 답하세요: {question}"
    columns = Columns(id="id", question="question", answer="answer", image="image")
    card = QuantityCard(
        title="Weights",
        split="test",
        n=2,
        axes=(),
        summary=Text("무게를 읽습니다.", "Read the weight."),
        source_url="https://example.org/weights",
        hub_task="weights",
    )


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BENCHMARKS, "animals", Animals())
    monkeypatch.setitem(BENCHMARKS, "weights", Weights())


OPTIONS = ["cat", "dog", "whale", "{choices}"]


def _png(shade: int) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (8, 8), (shade, 0, 0)).save(content, "PNG")
    return content.getvalue()


def _row(number: int, **changes: Any) -> dict[str, Any]:
    picture = {"bytes": _png(number), "path": f"{number}.png"}
    row = {"key": str(number), "asked": "Which {one}?", "options": OPTIONS, "label": OPTIONS[number], "place": "sea"}
    return {**row, "picture": picture, **changes}


def _imported(folder: Path, rows: list[dict[str, Any]], benchmark: Benchmark) -> Any:
    source = folder / "test-00000-of-00001.parquet"
    pq.write_table(pa.Table.from_pylist(rows), source)
    return import_dataset(benchmark, source, folder / "out")


@pytest.mark.parametrize(
    "stored",
    [lambda p: p, lambda p: [p], lambda p: [p, p], lambda p: p["bytes"]],
    ids=["struct", "list", "two", "bytes"],
)
def test_choice_benchmark_reads_pictures_in_parquet(tmp_path: Path, stored: Callable[[Any], Any]) -> None:
    rows = [_row(number) for number in range(4)]
    for row in rows:
        row["picture"] = stored(row["picture"])
    imported = _imported(tmp_path, rows, Animals())
    assert (len(imported.items), imported.rejected, imported.unmatched) == (4, [], 0)
    items = Animals().load(tmp_path / "out")
    assert [item.answer for item in items] == OPTIONS
    assert [Animals().gold_output(item) for item in items] == list("ABCD")
    (prompt,) = Animals().prompts(items[1])
    assert prompt.text == "Which {one}?\nA. cat\nB. dog\nC. whale\nD. {choices}\nAnswer:", "in the makers' order"
    assert items[1].images[0].read_bytes() == _png(1)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"label": "bird"}, "column 'label': 'bird' is not exactly one of cat, dog, whale"),
        ({"options": ["cat", "cat", "dog", "whale"], "label": "cat"}, "not exactly one of"),
        ({"options": "cat"}, "column 'options' must be a list"),
        ({"options": ["cat", "dog", "whale"], "label": "cat"}, "four different"),
        (
            {"options": [*OPTIONS, "cow"], "label": "cat"},
            "column 'options' has 5 choices and needs four different ones",
        ),
        ({"options": ["cat", "dog", "dog", "whale"], "label": "cat"}, "column 'options' needs four different choices"),
        ({"options": ["cat", "dog", "whale", None], "label": "cat"}, "column 'options' is empty"),
        ({"place": "sky"}, "unknown place 'sky'"),
        (
            {"picture": {"bytes": b"no picture", "path": "1.png"}},
            "embedded picture (10 bytes) is in none of the formats",
        ),
        ({"options": [], "label": "cat"}, "column 'options' has 0 choices"),
        ({"picture": {"bytes": None, "path": "1.png"}}, "image '1.png' is not below"),
        ({"picture": None}, "column 'picture' is empty"),
        ({"picture": []}, "has no picture"),
        ({"asked": " "}, "column 'asked' is empty"),
    ],
)
def test_row_that_is_not_understood_is_rejected_by_name(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(DataError) as error:
        _imported(tmp_path, [_row(1, **changes)], Animals())
    assert reason in str(error.value) and "row 1" in str(error.value)


@pytest.mark.parametrize(
    ("right", "label", "letter"),
    [
        ("place", 0, "A"),
        ("place", 3, "D"),
        ("number", 1, "A"),
        ("number", 4, "D"),
        ("letter", "C", "C"),
        ("text", "10", "B"),
    ],
)
def test_right_choice_is_named_as_declared(right: Right, label: object, letter: str) -> None:
    columns = Columns(image="image", choices="options", answer="label", right=right)
    row = {"options": ["0", "10", "2", "3"], "label": label, "image": {"bytes": _png(1), "path": None}}
    assert columns.convert(SourceRow(Path("x"), 7, row), ImageFolder(Path()))["answer"] == letter


def test_image_folder_finds_names_with_dots(tmp_path: Path) -> None:
    for name in ("1.png", "Food.2.0.png"):
        (tmp_path / name).touch()
    images = ImageFolder(tmp_path)
    assert {images.find(name).name for name in ("1", "1.jpg", "1.JPEG", "a/1.png", "1.svg", "1.jpg!w700")} == {"1.png"}
    assert images.find("Food.2.0").name == images.find("Food.2.0.jpg").name == "Food.2.0.png"
    for name in ("1.2", "Food.2", "Food.2.1"):
        with pytest.raises(ValueError, match="is not below"):
            images.find(name)


def test_image_folder_says_why_a_name_is_ambiguous(tmp_path: Path) -> None:
    for name in ("one/7.jpg", "one/7.png", "two/8.png", "three/8.png"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    images = ImageFolder(tmp_path)
    with pytest.raises(ValueError, match=r"7\.jpg and 7\.png of one folder"):
        images.find("7")
    with pytest.raises(ValueError, match="'8' is in several folders"):
        images.find("8", "one")
    assert images.find("7.png").name == "7.png" and images.find("8", "two").parent.name == "two"


@pytest.mark.parametrize("name", BENCHMARKS)
def test_declarations_fit_together(name: str) -> None:
    benchmark = BENCHMARKS[name]
    if benchmark.columns:
        axes = {axis.name for axis in benchmark.card.axes}
        assert set(benchmark.columns.axes) == axes, "each axis of the card has a column, and each column an axis"
    if isinstance(benchmark, Choice):
        assert "{choices}" in benchmark.prompt, "else no model sees the choices"
        assert benchmark.columns is None or benchmark.columns.choices


def test_misspelt_name_of_right_choice_is_refused() -> None:
    with pytest.raises(ValueError, match="'right' must be one of text, letter, place, number, not 'leter'"):
        Columns(image="image", choices="options", answer="label", right="leter")  # type: ignore[arg-type]


@pytest.mark.parametrize("rotates", [False, True])
def test_choices_without_answer_have_right_one_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rotates: bool
) -> None:
    monkeypatch.setattr(Animals, "rotates", rotates)
    monkeypatch.setattr(Animals, "columns", replace(Animals.columns, answer=None))
    imported = _imported(tmp_path, [_row(number) for number in range(3)], Animals())
    assert ([item.answer for item in imported.items], imported.unmatched) == (["cat"] * 3, 0)


@pytest.mark.parametrize(
    ("right", "label"), [("place", 4), ("place", -1), ("number", 0), ("letter", "E"), ("letter", "")]
)
def test_right_choice_outside_of_choices_is_refused(right: Right, label: object) -> None:
    columns = Columns(image="image", choices="options", answer="label", right=right)
    row = {"options": ["a", "b", "c", "d"], "label": label, "image": {"bytes": _png(1), "path": None}}
    with pytest.raises(ValueError, match="column 'label'"):
        columns.convert(SourceRow(Path("x"), 7, row), ImageFolder(Path()))


def test_choice_asked_once_has_no_consistency(tmp_path: Path) -> None:
    _imported(tmp_path, [_row(number) for number in range(4)], Animals())
    items = Animals().load(tmp_path / "out")
    outputs = ("A", "정답: B", "The answer is (C).", "모름")
    answers = [Answer(item.id, output, "ok", 0.1) for item, output in zip(items, outputs, strict=True)]
    scores = Animals().score(items, [[answer] for answer in answers])
    assert scores == Animals().score_flat(items, answers)
    found = Animals().aggregate(scores)
    assert (found["em"], found["em_strict"], "consistency" in found) == (0.25, 0.75, False)
    assert Animals().histogram(scores) == {"A": 1, "B": 1, "C": 1, "D": 0, "-": 1}


def test_quantity_benchmark_judges_ordinary_wording(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "question": "무게는?", "answer": "1,500g", "image": _png(1)},
        {"id": "2", "question": "가장 무거운 것은?", "answer": "수박", "image": _png(2)},
    ]
    imported = _imported(tmp_path, rows, Weights())
    assert imported.rejected == [("test-00000-of-00001.parquet, row 2", "the answer contains no number")]
    (item,) = Weights().load(tmp_path / "out")
    values = Weights().score_item(item, [Answer("1", "무게는 1,500 g입니다.", "ok", 0.1)]).values
    assert (values["em"], values["em_strict"]) == (0.0, 1.0)
    assert Weights().prompts(item)[0].text == "단위와 함께 답하세요: 무게는?"


def test_quantity_benchmark_takes_names_only_if_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule of a benchmark without names, such as KO-VQA, is not loosened for a gold answer without a number."""
    item = Weights().item_to_score({"id": "1", "answer": "수박", "question": "가장 무거운 것은?"})
    answer = Answer("1", "가장 무거운 것은 수박입니다.", "ok", 0.1)
    assert Weights().score_item(item, [answer]).values["em_strict"] == 0
    monkeypatch.setattr(Weights, "has_names", True)
    assert Weights().score_item(item, [answer]).values["em_strict"] == 1


def test_fill_leaves_other_braces() -> None:
    assert fill('{"a": {b}} {question}', question="{choices} \\1", choices="x") == '{"a": {b}} {choices} \\1'


@pytest.mark.parametrize(
    "benchmark", [Animals(), Weights(), *map(BENCHMARKS.get, ("ko-vdc", "ko-ocrag", "kdoc-ocrbench"))]
)
def test_samples_are_invented_by_kind(tmp_path: Path, benchmark: Benchmark) -> None:
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
        write_samples(benchmark, 2, folder)
    assert (folders[0] / "items.jsonl").read_bytes() == (folders[1] / "items.jsonl").read_bytes()
    items = benchmark.load(folders[0])
    answers = [(item, benchmark.gold_output(item)) for item in items]
    for item, gold in answers:
        if gold is not None:
            score = benchmark.score_item(item, [Answer(item.id, gold, "ok", 0.1)])
            assert score.values[benchmark.item_metric.name] == 1, gold
    for axis in benchmark.card.axes:
        counted = Counter(item.buckets[axis.name] for item in items)
        assert not axis.buckets or len(counted) == min(2, len(axis.buckets))


def test_k_viscuit_is_read_as_its_makers_publish_it(tmp_path: Path) -> None:
    """On GitHub a row names its picture; on the Hub it has the picture itself. Ids repeat."""
    options = ["Seollal", "Chuseok", "Dano", "Hansik"]
    rows = [
        {"question": f"Which day {n}?", "options": options, "answer": n, "id_": f"Celebrations.1.{n % 2}"}
        for n in range(4)
    ]
    (tmp_path / "images").mkdir()
    (tmp_path / "images/0.jpg").write_bytes(_png(1))
    named = [{**row, "category": "Celebrations", "question_type": 1, "image_path": "0.jpg"} for row in rows]
    (tmp_path / "annotations.jsonl").write_text("".join(json.dumps(row) + "\n" for row in named), encoding="utf-8")
    from_github = import_dataset(BENCHMARKS["k-viscuit"], tmp_path / "annotations.jsonl", tmp_path / "github")
    hub = tmp_path / "hub"
    hub.mkdir()
    picture = {"bytes": _png(1), "path": "0.jpg"}
    from_hub = _imported(hub, [{**row, "image": picture} for row in rows], BENCHMARKS["k-viscuit"])
    assert [item.answer for item in from_github.items] == [item.answer for item in from_hub.items] == options
    assert [item.id for item in from_hub.items] == ["1", "2", "3", "4"]
    assert [item.buckets["question_type"] for item in from_hub.items] == ["recognition", "reasoning"] * 2
    (prompt,) = BENCHMARKS["k-viscuit"].prompts(from_hub.items[0])
    lines = [f"    {letter}. {option}" for letter, option in zip("ABCD", options, strict=True)]
    last = "    Answer with the option's letter from the given choices directly."
    assert prompt.text.splitlines() == ["Which day 0?", *lines, last]


@pytest.mark.parametrize(
    ("output", "published", "strict"),
    [("B", 1, 1), (" B\n", 1, 1), ("(B)", 0, 1), ("b", 0, 1), ("B. dog", 0, 1), ("A or B", 0, 0)],
)
def test_k_viscuit_rules(output: str, published: float, strict: float) -> None:
    item = BENCHMARKS["k-viscuit"].item_to_score({"id": "1", "answer": "B"})
    score = BENCHMARKS["k-viscuit"].score_flat([item], [Answer("1", output, "ok", 0.1)])[0]
    assert (score.values["em"], score.values["em_strict"]) == (published, strict)

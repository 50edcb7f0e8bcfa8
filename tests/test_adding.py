"""Test that a new benchmark, a new engine and a new column, all made up here, need one declaration each."""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark
from evaluator.benchmarks.card import Axis, Card, ScoreColumn
from evaluator.benchmarks.metrics import Metric
from evaluator.core.data_types import Answer, Item, Prompt, Score
from evaluator.datasets.import_dataset import import_dataset
from evaluator.engines.options import EngineOptions
from evaluator.engines.registry import ENGINES, REGISTRY, EngineEntry
from evaluator.results.estimate import DEVICES, estimate
from evaluator.results.score_files import score_files
from evaluator.worker.loop import Worker
from leaderboard.data.chart_data import chart_data, charts_of
from leaderboard.data.columns import RUN_COLUMNS, Column, choice_keys, columns_of
from leaderboard.data.live_board import LiveBoard
from leaderboard.views.figures import figure
from leaderboard.views.texts import Language
from leaderboard.web.application import build_app
from scripts.support.records import Make, published
from submissions.checks.submission import Submission
from submissions.checks.submit import SubmissionService
from submissions.config.settings import Settings
from submissions.queue.queue import Queue
from submissions.queue.quota import Submitter
from submissions.store.base import Store
from submissions.texts.text import Text

pytestmark = pytest.mark.integration

STARS = ("1", "2", "3")


def above_guessing(scores: Sequence[Score], name: str) -> float:
    """Return the share of right answers above guessing."""
    return (sum(s.values["right"] for s in scores) / len(scores) - 1 / 3) / (2 / 3)


class StarsBenchmark(Benchmark):
    """Ask how many stars are in the picture."""

    name, version, inputs, min_context = "stars", "1", "image", 64
    max_new_tokens = 4
    metrics = (
        Metric("right", Text("정답률", "Right")),
        Metric("closeness", Text("가까움", "Closeness")),
        Metric("gain", Text("득점", "Gain"), lowest=-100),
        Metric("above_guessing", Text("보정", "Above guessing"), above_guessing, lowest=-50),
    )
    card = Card(
        title="Stars",
        split="test",
        n=6,
        axes=(Axis("colour", Text("색", "Colour")),),
        summary=Text("별을 셉니다.", "Count the stars."),
        source_url="https://example.org/stars",
        hub_task="stars",
        headline="closeness",
        chance=33.3,
        columns=(ScoreColumn(Text("빨강", "Red"), "colour", "red"),),
        histogram=Axis("named", Text("답한 수", "Numbers named")),
    )

    def prompts(self, item: Item) -> list[Prompt]:
        return [Prompt(item.id, item.question, item.images)]

    def score_item(self, item: Item, answers: Sequence[Answer]) -> Score:
        right = float(answers[0].text == item.answer)
        closeness = 1 - abs(int(answers[0].text or 0) - int(item.answer)) / len(STARS)
        values = {"right": right, "closeness": closeness, "gain": 2 * right - 1}
        return Score(item.id, values, "ok", prediction=answers[0].text)

    def histogram(self, scores: Sequence[Score]) -> dict[str, int]:
        return {number: sum(s.prediction == number for s in scores) for number in STARS}


class TwoEngine:
    """Answer every prompt with the last character of the model's card."""

    batch_size = 3
    params = None

    def __init__(self, options: EngineOptions) -> None:
        assert options.max_new_tokens == StarsBenchmark.max_new_tokens
        self._answer = (options.model / "README.md").read_text().strip()[-1]

    @staticmethod
    def environment(options: EngineOptions) -> dict[str, str | float]:
        return {"hardware": "abacus", "calibration_ms": 1.0}

    def answer(self, prompts: Iterable[Prompt]) -> Iterator[Answer]:
        return (Answer(prompt.id, self._answer, "ok", 0.25) for prompt in prompts)

    def close(self) -> None:
        pass


@pytest.fixture
def stars(settings: Settings, models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Register both, with six items and two models that only the new engine knows."""
    monkeypatch.setitem(BENCHMARKS, "stars", StarsBenchmark())
    monkeypatch.setitem(ENGINES, "two", EngineEntry(f"{__name__}:TwoEngine", ("image",), class_name_parts=("ForTwo",)))
    # The sandbox does not show the tests folder, which contains this engine.
    monkeypatch.setattr("evaluator.job.command.sandbox_command", lambda command, policy: command)
    data = tmp_path / "data"
    data.mkdir()
    Image.new("RGB", (8, 8)).save(data / "a.png")
    rows = [
        {"id": str(n), "question": "?", "answer": STARS[n % 3], "images": ["a.png"], "colour": ["red", "blue"][n % 2]}
        for n in range(6)
    ]
    (data / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, reply in (("o/two", "2"), ("p/three", "3")):
        model = tmp_path / "models" / name
        model.mkdir(parents=True)
        for file in (models_dir / "tiny/image-text").iterdir():
            (model / file.name).write_bytes(file.read_bytes())
        config = json.loads((model / "config.json").read_text())
        changed = {"architectures": ["LlavaForTwo"], "model_type": "two"}  # which transformers does not know
        (model / "config.json").write_text(json.dumps(config | changed))
        with (model / "README.md").open("a") as card:
            card.write(f"\nIt says {reply}")
    return settings.model_copy(update={"data": {"stars": str(data)}, "models_dir": tmp_path / "models"})


CHOICE = """
from evaluator.benchmarks.card import Axis
from evaluator.benchmarks.columns import Columns
from evaluator.benchmarks.kinds.choice import Choice, ChoiceCard
from submissions.texts.text import Text


class Signs(Choice):
    name, version = "signs", "1"
    prompt = "{question}\\n{choices}보기의 글자 하나로만 답하세요."
    columns = Columns(
        id="no", question="question", choices="options", answer="label", right="place", image="photo", axes={"place": "place"}
    )
    card = ChoiceCard(
        title="Signs",
        split="test",
        n=8,
        axes=(Axis("place", Text("장소", "Place")),),
        summary=Text("표지판을 읽습니다.", "Read street signs."),
        source_url="https://example.org/signs",
        hub_task="signs",
    )


BENCHMARK = Signs()
"""


def test_choice_benchmark_from_embedded_pictures_takes_forty_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    """Its makers publish a Parquet file with the pictures inside and the index of the right choice."""
    assert CHOICE.strip().count("\n") < 40
    namespace: dict[str, Any] = {}
    exec(CHOICE, namespace)
    signs: Benchmark = namespace["BENCHMARK"]
    monkeypatch.setitem(BENCHMARKS, "signs", signs)
    rows = []
    for number in range(8):
        picture = io.BytesIO()
        Image.new("RGB", (40, 40), (number * 30, 0, 0)).save(picture, "PNG")
        rows.append(
            {
                "no": f"s{number}",
                "question": "무슨 뜻인가요?",
                "options": ["정지", "양보", "우회전", "주차 금지"],
                "label": number % 4,
                "photo": {"bytes": picture.getvalue(), "path": f"{number}.png"},
                "place": ["학교", "시장"][number % 2],
            }
        )
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "test.parquet")
    imported = import_dataset(signs, tmp_path / "test.parquet", tmp_path / "set")
    assert (len(imported.items), imported.files, imported.rejected, imported.unmatched) == (8, 8, [], 0)
    items = signs.load(tmp_path / "set")
    (prompt,) = signs.prompts(items[1])
    assert "B. 양보" in prompt.text
    answers = [Answer(item.id, signs.gold_output(item) or "", "ok", 0.0) for item in items]
    assert signs.aggregate(signs.score_flat(items, answers))["em_strict"] == 1.0
    page = TestClient(build_app(Settings(store=store.url, private_store=str(tmp_path / "private")))).get("/en/signs")
    assert page.status_code == 200 and "Read street signs." in page.text


def test_new_column_needs_one_entry(store: Store, make_request: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Column(
        "initial",
        Text("첫 글자", "Initial"),
        compute=lambda row: len(row.model),
        cell="whole",
        order="ascending",
        order_label=Text("짧은 이름순", "Shortest name first"),
        hint=Text("이름의 길이입니다.", "How long the name is."),
        export=("hardware",),
    )
    for module in ("columns", "export"):
        monkeypatch.setattr(f"leaderboard.data.{module}.RUN_COLUMNS", (*RUN_COLUMNS, made))
    for model in ("o/long-name", "o/x"):
        published(store, make_request(model_id=model, benchmark="ko-vqa"))
    client = TestClient(build_app(Settings(store=store.url, private_store=str(Path(store.url).parent / "private"))))
    page = client.get("/en/ko-vqa?sort=initial&columns=initial").text
    table = page.partition('id="rows"')[2]
    assert "Initial" in table and "Shortest name first" in page
    assert table.index("models/o/x") < table.index("models/o/long-name")


@pytest.mark.slow
def test_new_benchmark_and_engine_need_no_other_change(stars: Settings, store: Store, tmp_path: Path) -> None:
    service = SubmissionService(Queue(store), stars, REGISTRY)
    for model, submitter in (("o/two", "x"), ("p/three", "y")):
        (outcome,), report = service.submit(Submission(model, ("stars",)), Submitter(submitter, authenticated=False))
        assert outcome.code == "accepted", report
    assert Worker(stars).run_pending() == 2

    board = LiveBoard(store)
    ranked, other = board.view().boards["stars"]
    assert (ranked.rank, ranked.row.model, ranked.row.hardware) == (1, "o/two", "abacus")
    assert ranked.row.score == pytest.approx(77.7778) and other.row.metrics["above_guessing"] == pytest.approx(0.0)
    assert set(ranked.row.intervals) == {"right", "closeness", "gain"}, "only means have intervals"
    right, gain = (ranked.row.intervals[name] for name in ("right", "gain"))
    assert gain == pytest.approx([2 * bound - 100 for bound in right], abs=0.01), "as wide on a scale from -100"
    assert (ranked.best, ranked.worst) == (1, 2) == (other.best, other.worst), (
        "six items are too few to separate the models"
    )
    (pair,) = [*ranked.row.paired, *other.row.paired]
    assert pair[2] == 1.0, "the paired test compares closeness"
    result = json.loads(board.result_json(ranked.row.key) or b"")
    assert result["results"]["stars"]["closeness"] == pytest.approx(77.7778)
    assert result["breakdown"]["named"]["2"]["n"] == 6
    assert result["breakdown"]["colour"]["red"]["scores"]["closeness"] == pytest.approx(77.7778, abs=1e-3)
    assert result["config"]["engine"] == "two"

    card = StarsBenchmark.card
    for language in get_args(Language):
        for kind in charts_of("stars"):
            if data := chart_data(kind, [ranked]):
                figure(kind, data, StarsBenchmark(), language)
    assert {row["letter"] for row in chart_data("letters", [ranked])} == set(STARS)
    assert {row["score"] for row in chart_data("parts", [ranked])} == {77.7778}, (
        "the chart shows the headline metric, not EM"
    )
    (part_column,) = (column for column in columns_of("stars", [ranked], choice_keys()) if column.part)
    assert part_column.value(ranked.row) == pytest.approx(77.7778, abs=1e-3)
    assert estimate(10**9, 2 * 10**9, "stars", DEVICES[0]).seconds > 0

    client = TestClient(build_app(stars))
    for language, address in (("ko", "/stars?columns=parts"), ("en", "/en/stars?columns=parts")):
        page = client.get(address).text
        assert "77.78" in page and StarsBenchmark().metric("closeness").title[language == "en"] in page
        assert card.columns[0].title[language == "en"] in page and card.summary[language == "en"] in page
        assert card.histogram and card.histogram.title[language == "en"] in page
        assert card.title in client.get("/en/").text
    table = client.get("/boards/stars.csv").text
    assert "o/two" in table and "closeness,closeness_low,closeness_high" in table
    assert client.get("/charts/stars/letters.csv").text.count("\n") == 1 + 2 * len(STARS)
    (tmp_path / "items.jsonl").write_text('{"id": "1", "answer": "2"}\n')
    (tmp_path / "answers.jsonl").write_text('{"id": "1", "text": "3"}\n')
    scored = score_files("stars", tmp_path / "items.jsonl", tmp_path / "answers.jsonl", None)
    assert scored["metrics"]["closeness"] == pytest.approx(66.6667)

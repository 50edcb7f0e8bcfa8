"""Test KO-OCRAG's rules on vectors made by jiwer 3.0.0 and rouge-score 0.1.2 and on further cases."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from fastapi import FastAPI, Request, Response
from PIL import Image

from evaluator.benchmarks.ko_ocrag import INSTRUCTION, KoOCRAG, character_accuracy, split_output, word_accuracy
from evaluator.benchmarks.scoring.embeddings import embedder
from evaluator.core.data_types import Answer, Item, Score
from evaluator.core.errors import EvaluationError
from evaluator.datasets.import_dataset import import_dataset
from scripts.support.hub.server import serve
from submissions.config.paths import ROOT, SAMPLES
from tests.conftest import SHARED
from tests.support.vectors import vectors

BENCHMARK = KoOCRAG()
PICTURES = "[image] 빨간 등대가 있는 바다 [/image]\n\n[image] 막대그래프 A, B [/image]"


def scored(gold: str, images: str, output: str) -> Score:
    item = BENCHMARK.item_to_score({"id": "1", "answer": gold, "images_described": images})
    (score,) = BENCHMARK.score_flat([item], [Answer("1", output, "ok", 0.0)])
    return score


@pytest.mark.slow
def test_score_item_matches_published_libraries() -> None:
    names = {"wer": "wer", "cer": "cer", "rouge1": "rouge1_recall"}
    rows = vectors("ko_ocrag.jsonl")
    for row in rows:
        item = Item("1", "", row["gold_text"], extra={"images_described": row["gold_images"]})
        values = BENCHMARK.score_item(item, [Answer("1", row["output"], "ok", 0.0)]).values
        for name, theirs in names.items():
            wanted = row["reference"][theirs]
            assert (name in values) == (wanted is not None), row
            assert wanted is None or 100 * values[name] == pytest.approx(wanted, abs=1e-6), row


@pytest.mark.parametrize(
    ("output", "text", "images"),
    [
        ("가 [image] 나 [/image] 다", "가\n다", ["나"]),
        ("[image]가[/image][image]나[/image]", "\n\n", ["가", "나"]),
        ("[image] 끝이 없다", "", ["끝이 없다"]),
        ("앞 [image] 끝이 없다", "앞 [image] 끝이 없다", []),
        ("가[image]나[/image][image]다", "가", ["나", "다"]),
        ("", "", []),
    ],
)
def test_split_output_separates_text_and_images(output: str, text: str, images: list[str]) -> None:
    assert split_output(output) == (text, images)


def test_split_output_takes_linear_time() -> None:
    for output in ("[image]" * 100_000, "가\n" * 200_000, "[image][/image]" * 50_000):
        split_output(output)


def test_word_and_character_accuracy() -> None:
    assert word_accuracy("하나 둘 셋 넷", "하나 둘 셋 다섯") == 0.75
    assert word_accuracy("하나 둘", "하나 둘 셋 넷 다섯 여섯") == 0.0, "accuracy is never below 0"
    assert word_accuracy("하나\n둘", "하나 둘") == 0.0, "a single line end joins two words"
    assert word_accuracy("하나\n\n둘", "하나 둘") == 1.0
    assert character_accuracy("가나다라", "가나다") == 0.75


@pytest.mark.slow
def test_only_strict_rouge1_counts_korean_descriptions() -> None:
    score = scored("글", PICTURES, f"글\n{PICTURES}")
    assert (score.values["em"], score.values["f1"], score.values["wer"]) == (1.0, 1.0, 1.0)
    assert score.values["rouge1"] == 0.5, "only the second description has ASCII letters"
    only_korean = "[image] 빨간 등대가 있는 바다 [/image]"
    same = scored("글", only_korean, f"글\n{only_korean}")
    assert (same.values["rouge1"], same.values["rouge1_strict"]) == (0.0, 1.0)
    other = scored("글", only_korean, "글\n[image] 푸른 산 위의 나무 [/image]")
    assert other.values["rouge1_strict"] < 0.4
    particles = scored("글", "[image] 등대를 그린 그림 [/image]", "글\n[image] 등대가 있는 그림입니다 [/image]")
    assert particles.values["rouge1_strict"] >= 0.4, "another particle does not hide a noun"


def test_aggregate_averages_over_pages_with_metric() -> None:
    scores = [
        scored("가 나", PICTURES, f"가 나\n{PICTURES}"),
        scored("가 나", "", "가 다"),
        scored("가", PICTURES, "가"),
    ]
    metrics = BENCHMARK.aggregate(scores)
    assert metrics["wer"] == pytest.approx((1 + 0.5 + 1) / 3) and metrics["rouge1"] == pytest.approx(0.25)
    assert "rouge1" not in scores[1].values
    assert "average" not in metrics and "embedding" not in metrics, "there is no average without an embedding server"
    assert set(BENCHMARK.aggregate([scores[1]])) == {"em", "f1", "wer", "cer"}


@pytest.fixture
def embeddings(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """Serve embeddings that count some of the letters of a text."""
    app = FastAPI()
    seen = list[dict[str, Any]]()

    @app.post("/v1/embeddings")
    async def embed(request: Request) -> Any:
        body = await request.json()
        seen.append(body)
        vectors_ = [[float(text.count(letter)) for letter in "등산빨푸"] for text in body["input"]]
        vectors_ = [[1.0] if "짧게" in text else vector for vector, text in zip(vectors_, body["input"], strict=True)]
        data = [{"object": "embedding", "index": n, "embedding": v} for n, v in enumerate(vectors_)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}

    with serve(app) as url:
        monkeypatch.setenv("HANNUN_EMBEDDINGS", json.dumps({"base_url": f"{url}/v1", "model": "jina"}))
        yield seen


def test_score_rejects_vectors_of_different_lengths(embeddings: list[dict[str, Any]]) -> None:
    with pytest.raises(EvaluationError, match="2 different lengths"):
        scored("글", "[image] 빨간 등대 [/image]", "글\n[image] 짧게 [/image]")


def test_aggregate_has_average_with_embedding_server(embeddings: list[dict[str, Any]]) -> None:
    gold = "[image] 빨간 등대 [/image]"
    same, other, none = (
        scored("글", gold, output)
        for output in ("글\n[image] 빨간 등대 [/image]", "글\n[image] 푸른 산 [/image]", "글")
    )
    assert [round(s.values["embedding"], 6) for s in (same, other, none)] == [1.0, 0.0, 0.0]
    assert embeddings[0]["model"] == "jina"
    metrics = BENCHMARK.aggregate([same, other])
    parts = [metrics[name] for name in ("wer", "cer", "embedding", "rouge1")]
    assert metrics["average"] == pytest.approx(sum(parts) / 4)


def test_score_raises_if_embedding_server_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANNUN_EMBEDDINGS", '{"base_url": "http://127.0.0.1:9/v1", "model": "m"}')
    with pytest.raises(EvaluationError) as error:
        scored("글", PICTURES, f"글\n{PICTURES}")
    assert error.value.code == "internal_error", (
        "not a failure of the model's server, which another engine would replace"
    )


class StrictServer:
    """Embeds texts as the number of "가" in them, and refuses what is too long for it."""

    def __init__(self, status: int, max_texts: int, max_characters: int, refused_word: str) -> None:
        self.status = status
        self.max_texts = max_texts
        self.max_characters = max_characters
        self.refused_word = refused_word
        self.embedded = list[str]()

    def reply(self, body: Any) -> Response:
        texts: list[str] = body["input"]
        is_too_much = len(texts) > self.max_texts or max(map(len, texts)) > self.max_characters
        if is_too_much or any(self.refused_word in text for text in texts):
            return Response('{"error": {"message": "too long"}}', self.status, media_type="application/json")
        self.embedded += texts
        rows = [
            {"object": "embedding", "index": n, "embedding": [1.0, text.count("가")]} for n, text in enumerate(texts)
        ]
        return Response(json.dumps({"object": "list", "model": "m", "data": rows}), media_type="application/json")


@pytest.fixture
def strict_server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[StrictServer]:
    """Serve the strict server that the test's parameter describes."""
    server = StrictServer(**request.param)
    app = FastAPI()

    @app.post("/v1/embeddings")
    async def embed(request: Request) -> Response:
        return server.reply(await request.json())

    with serve(app) as url:
        monkeypatch.setenv("HANNUN_EMBEDDINGS", json.dumps({"base_url": f"{url}/v1", "model": "m"}))
        monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.001)
        monkeypatch.setattr("openai._base_client.MAX_RETRY_DELAY", 0.001)
        yield server


NOTHING = "no text has this word"


@pytest.mark.parametrize(
    "strict_server",
    [
        {"status": status, "max_texts": 32, "max_characters": 1200, "refused_word": NOTHING}
        for status in (400, 413, 422, 500)
    ],
    indirect=True,
)
def test_texts_too_long_for_embedding_server_are_cut(strict_server: StrictServer) -> None:
    """A model could otherwise pause the worker with one long description."""
    embed = embedder()
    assert embed
    texts = [f"{number} 가" for number in range(99)]
    long = "가" * 9000
    vectors = embed([*texts, long, "", "짝이 없는 \ud800"])
    assert sorted(map(len, strict_server.embedded))[-1] == 1000, "4,000 characters are halved twice"
    assert set(vectors) == {*texts, long, "", "짝이 없는 \ud800"} and not vectors[""].any()
    assert vectors["5 가"] == pytest.approx([0.5**0.5, 0.5**0.5])
    assert vectors[long] == pytest.approx([0, 1], abs=0.002)


@pytest.mark.parametrize(
    ("strict_server", "code"),
    [
        ({"status": 400, "max_texts": 64, "max_characters": 9000, "refused_word": "독"}, "server_failed"),
        ({"status": 500, "max_texts": 64, "max_characters": 9000, "refused_word": "독"}, "server_failed"),
        ({"status": 400, "max_texts": 0, "max_characters": 9000, "refused_word": NOTHING}, "internal_error"),
        ({"status": 500, "max_texts": 0, "max_characters": 9000, "refused_word": NOTHING}, "internal_error"),
        ({"status": 401, "max_texts": 0, "max_characters": 9000, "refused_word": NOTHING}, "internal_error"),
    ],
    indirect=["strict_server"],
    ids=["one text, 400", "one text, 500", "all texts, 400", "all texts, 500", "the key"],
)
def test_refusal_pauses_worker_only_if_server_embeds_nothing(strict_server: StrictServer, code: str) -> None:
    embed = embedder()
    assert embed
    with pytest.raises(EvaluationError, match="the embedding server") as error:
        embed(["첫째", "둘째는 독"])
    assert error.value.code == code and error.value.code.is_host_fault == (code == "internal_error")


EMBEDDINGS = json.loads((ROOT / "tests/cases/hub/embeddings.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", EMBEDDINGS, ids=lambda case: case["name"])
def test_vectors_that_cannot_be_compared_end_the_run(case: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a similarity of 0, or of texts that were mixed up, would be published."""
    app = FastAPI()

    @app.post("/v1/embeddings")
    def embed() -> Response:
        content = f'{{"object": "list", "model": "m", "data": {case["data"]}, "usage": {{"prompt_tokens": 1, "total_tokens": 1}}}}'
        return Response(content, media_type="application/json")

    with serve(app) as url:
        monkeypatch.setenv("HANNUN_EMBEDDINGS", json.dumps({"base_url": f"{url}/v1", "model": "jina"}))
        with pytest.raises(EvaluationError, match="the embedding server") as error:
            scored("글", "[image] 빨간 등대 [/image]", "글\n[image] 푸른 산 [/image]")
    assert error.value.code == "server_failed" and "\n" not in str(error.value)


def test_score_item_accepts_gold_of_samples() -> None:
    items = BENCHMARK.load(SAMPLES / "ko-ocrag")
    assert len(items) >= 6 and any(not i.extra["images_described"] for i in items)
    for item in items:
        score = BENCHMARK.score_item(item, [Answer(item.id, BENCHMARK.gold_output(item), "ok", 0.0)])
        assert score.values["em"] == 1.0 and score.values.get("rouge1_strict", 1.0) == 1.0


def test_import_reads_workbook_of_maker(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.append(["image", "TEXT_OCR", "IMAGE_DESRIPTION", "Dataset_type"])
    sheet.append(["가.jpg", "글 하나", PICTURES, "신문 + 그림"])
    sheet.append(["나.jpg", "글 둘", None, "그림/도식"])
    sheet.append(["다.jpg", PICTURES, PICTURES, "그림/도식"])
    (tmp_path / "source").mkdir()
    book.save(tmp_path / "source/pages.xlsx")
    for name in ("가", "나", "다"):
        Image.new("RGB", (9, 9)).save(tmp_path / f"source/{name}.jpg")
    done = import_dataset(BENCHMARK, tmp_path / "source", tmp_path / "out")
    assert [item.id for item in done.items] == ["가.jpg", "나.jpg"] and done.unmatched == 0
    ((_, reason),) = done.rejected
    assert reason == "column 'TEXT_OCR' contains descriptions of pictures, not only the page's text"
    first, second = BENCHMARK.load(tmp_path / "out")
    assert first.extra["images_described"] == PICTURES and second.extra["images_described"] == ""


def test_prompt_matches_protocol() -> None:
    seed = SHARED / "seeds/004-ko-ocrag.md"
    if not seed.exists():
        pytest.skip("the protocol document is not available")
    assert INSTRUCTION in seed.read_text(encoding="utf-8")

"""Test that the readers of `make demo` earn their ranks."""

from pathlib import Path

import pytest
from PIL import Image

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Answer
from evaluator.fresh.draw import draw_set
from scripts.readers.digits import by_font
from scripts.readers.rules import UNKNOWN, answer
from scripts.readers.text import Page

KINDS = ("table", "bar", "cards", "pictogram")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readers") / "set"
    draw_set("a reader has never seen this", folder, 48)
    return folder


@pytest.mark.model
def test_rules_read_pages_of_another_seed(drawn: Path) -> None:
    benchmark, classify = BENCHMARKS["ko-fresh"], by_font()
    items = [item for item in benchmark.load(drawn) if item.buckets["layout"] in KINDS and not item.choices][:12]
    pages = {path: Page.of(Image.open(path), classify) for path in {item.images[0] for item in items}}
    right = 0.0
    for item in items:
        (prompt,) = benchmark.prompts(item)
        reply = answer(pages[item.images[0]], prompt.text)
        right += benchmark.score_item(item, [Answer(item.id, reply, "ok", 0.1)]).values["em"]
    assert len(items) == 12 and right >= 3, "guessing scores none of these"


@pytest.mark.integration
def test_rules_do_not_guess_on_page_without_text() -> None:
    page = Page.of(Image.new("RGB", (900, 600), "white"), by_font())
    assert answer(page, "질문: 2020년 쌀 생산량은 얼마입니까?\n답:") == UNKNOWN

"""Test the rules that `make demo` ranks: they read printed values, and no others."""

import hashlib
from pathlib import Path

import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Answer
from evaluator.fresh.draw import draw_set
from scripts.readers.rules import answer
from scripts.readers.serve import printed_by_picture

SEED, N = "a reader has never seen this", 160


@pytest.mark.slow
@pytest.mark.integration
def test_rules_read_only_printed_values(tmp_path: Path) -> None:
    draw_set(SEED, tmp_path / "set", N)
    benchmark = BENCHMARKS["ko-fresh"]
    printed = printed_by_picture(SEED, N, tmp_path / "set")
    right: dict[str, list[float]] = {"printed": [], "marks": []}
    for item in benchmark.load(tmp_path / "set"):
        (prompt,) = benchmark.prompts(item)
        digest = hashlib.sha256(item.images[0].read_bytes()).hexdigest()
        reply = answer(printed[digest], prompt.text)
        score = benchmark.score_item(item, [Answer(item.id, reply, "ok", 0.1)])
        right[item.buckets["reading"]].append(score.values["em"])
    shares = {reading: sum(own) / len(own) for reading, own in right.items()}
    assert shares["printed"] > 0.95 and shares["marks"] < 0.4, shares

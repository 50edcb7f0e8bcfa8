"""Test that only the answers to the project's own sample items are published."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.datasets.source import Source
from evaluator.results.public_answers import public_answers
from submissions.config.paths import SAMPLES
from submissions.records.result import MAX_SHOWN_ANSWER

DETAILS = [
    {
        "id": "1",
        "answers": ["x" * 1000, "y"],
        "raw": ["private reasoning"],
        "status": "ok",
        "em": 1.0,
        "em_strict": 1.0,
    },
    {"id": "2", "answers": [""], "status": "empty", "em": 0.0, "em_strict": 0.0},
]


def task(path: Path, **others: Any) -> Any:
    made = SimpleNamespace(benchmark=BENCHMARKS["ko-vqa"], source=Source(path, "samples/ko-vqa", "sample"), blind=False)
    return SimpleNamespace(**{**vars(made), **others})


def test_answers_to_samples_are_published_shortened_and_without_reasoning() -> None:
    content = public_answers(task(SAMPLES / "ko-vqa"), DETAILS)
    assert content and b"reasoning" not in content
    found = json.loads(content)
    assert found["1"] == {"answers": ["x" * MAX_SHOWN_ANSWER, "y"], "right": True} and found["2"]["right"] is False


@pytest.mark.parametrize("others", [{}, {"blind": True}])
def test_answers_to_any_other_set_are_private(tmp_path: Path, others: dict[str, bool]) -> None:
    """A private set may call itself "sample", or be a changed copy of the samples."""
    shutil.copytree(SAMPLES / "ko-vqa", tmp_path / "ko-vqa")
    path = SAMPLES / "ko-vqa" if others else tmp_path / "ko-vqa"
    assert public_answers(task(path, **others), DETAILS) is None
    assert public_answers(replace_benchmark(task(SAMPLES / "ko-vqa")), DETAILS) is None


def replace_benchmark(made: Any) -> Any:
    return SimpleNamespace(**{**vars(made), "benchmark": BENCHMARKS["ko-vdc"], "source": replace(made.source)})

"""Test that only the answers to the project's own sample items are published."""

import json
import shutil
from pathlib import Path

from evaluator.benchmarks import BENCHMARKS
from evaluator.datasets.source import Source
from evaluator.publication.public_answers import public_answers
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


KO_VQA = BENCHMARKS["ko-vqa"]


def source(path: Path) -> Source:
    return Source(path, "samples/ko-vqa", "sample")


def test_answers_to_samples_are_published_shortened_and_without_reasoning() -> None:
    content = public_answers(KO_VQA, source(SAMPLES / "ko-vqa"), DETAILS)
    assert content and b"reasoning" not in content
    found = json.loads(content)
    assert found["1"] == {"answers": ["x" * MAX_SHOWN_ANSWER, "y"], "right": True} and found["2"]["right"] is False


def test_answers_to_any_other_set_are_private(tmp_path: Path) -> None:
    """A private set may call itself "sample", or be a changed copy of the samples."""
    shutil.copytree(SAMPLES / "ko-vqa", tmp_path / "ko-vqa")
    assert public_answers(KO_VQA, source(tmp_path / "ko-vqa"), DETAILS) is None
    assert public_answers(BENCHMARKS["ko-vdc"], source(SAMPLES / "ko-vqa"), DETAILS) is None


def test_answers_given_without_pictures_are_private() -> None:
    assert public_answers(KO_VQA, source(SAMPLES / "ko-vqa"), DETAILS, blind=True) is None

"""Run KO-FRESH in lmms-eval with the benchmark's prompts and scorer, see docs/scorers.md.

KO_FRESH is the folder of a set, by default the samples.
"""

import os
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from datasets import Dataset
from PIL import Image

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Answer, Item, Score
from submissions.config.paths import SAMPLES

BENCHMARK = BENCHMARKS["ko-fresh"]
METRICS = ("em", "f1", "abstains", "attempt_rate", "twins_right")  # those in ko_fresh.yaml


@cache
def _items() -> dict[str, Item]:
    """Return all items by id. The letters of the choices depend on the whole set, so it is always loaded whole."""
    folder = os.environ.get("KO_FRESH") or SAMPLES / "ko-fresh"
    return {item.id: item for item in BENCHMARK.load(Path(folder))}


def process_docs(_: Dataset) -> Dataset:
    """Replace the dataset by the items of the folder."""
    return Dataset.from_list(
        [
            {
                "id": item.id,
                "prompt": prompt.text,
                "gold": BENCHMARK.gold_output(item) or "",
                "paths": [str(path) for path in prompt.images],
                "cluster": item.cluster,
                **item.buckets,
            }
            for item in _items().values()
            for prompt in BENCHMARK.prompts(item)
        ]
    )


def doc_to_visual(doc: dict[str, Any]) -> list[Image.Image]:
    return [Image.open(path).convert("RGB") for path in doc["paths"]]


def process_results(doc: dict[str, Any], results: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return for each metric the answer, and the item's own score if it has one.

    ko_fresh.yaml names "score" and "cluster" for lmms-eval's standard errors, which leave out answers without a score.
    """
    text = results[0]
    (score,) = _score([(doc["id"], text)])
    answer = {"id": doc["id"], "text": text, "cluster": doc["cluster"]}
    processed = {}
    for name in METRICS:
        own_score = {"score": score.values[name]} if name in score.values else {}
        processed[name] = answer | own_score
    return processed


def _aggregate(answers: Sequence[dict[str, Any]], metric: str) -> float:
    """Return a metric over all answers. NaN if no item has it."""
    scores = _score([(answer["id"], answer["text"]) for answer in answers])
    return BENCHMARK.aggregate(scores).get(metric, float("nan"))


def _score(texts: Sequence[tuple[str, str]]) -> list[Score]:
    items = [_items()[item_id] for item_id, _ in texts]
    answers = [[Answer(item_id, text, "ok" if text else "empty", seconds=0.0)] for item_id, text in texts]
    return BENCHMARK.score(items, answers)


# ko_fresh.yaml refers to these.
em, f1, abstains, attempt_rate, twins_right = (partial(_aggregate, metric=name) for name in METRICS)

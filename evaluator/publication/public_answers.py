"""Choose the answers that are published: only those to the sample items, which are part of this project.

Answers to any other set stay in the private store, because they would reveal it.
"""

import json

from evaluator.benchmarks.base import Benchmark
from evaluator.core.errors import Details
from evaluator.datasets.source import Source
from submissions.config.paths import SAMPLES
from submissions.records.result import MAX_SHOWN_ANSWER


def public_answers(benchmark: Benchmark, source: Source, details: Details, *, blind: bool = False) -> bytes | None:
    """Return the answers to sample items as JSON: `{"id": {"answers": ["서울"], "right": true}}`.

    Return None for any other set, and for answers that were given without seeing the pictures (`blind`). An answer is right
    if its score is 1; answers that are partly right count as wrong.
    """
    if blind or source.path.resolve() != (SAMPLES / benchmark.name).resolve():
        return None
    metric = benchmark.item_metric.name
    answers = {}
    for row in details:
        shown = [str(text)[:MAX_SHOWN_ANSWER] for text in row["answers"]]
        answers[str(row["id"])] = {"answers": shown, "right": row.get(metric) == 1.0}
    return json.dumps(answers, ensure_ascii=False).encode()

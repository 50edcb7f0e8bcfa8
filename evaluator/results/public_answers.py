"""The answers that are published: only those to the sample items, which are part of this project."""

import json

from evaluator.core.errors import Details
from evaluator.results.task import Task
from submissions.config.paths import SAMPLES
from submissions.records.result import MAX_SHOWN_ANSWER


def public_answers(task: Task, details: Details) -> bytes | None:
    """Return the answers to sample items as JSON: id → answers and whether they are right. None for any other set."""
    if task.source.path.resolve() != (SAMPLES / task.benchmark.name).resolve() or task.blind:
        return None
    headline = task.benchmark.item_metric.name
    answers = {
        str(row["id"]): {
            "answers": [str(text)[:MAX_SHOWN_ANSWER] for text in row["answers"]],
            "right": row.get(headline) == 1.0,
        }
        for row in details
    }
    return json.dumps(answers, ensure_ascii=False).encode()

"""Keep a result's answers in a form that can be hashed, published later and scored again.

The hash of the answers to a drawn test set (ko-fresh) is published with each result. Once the set is revealed, the answers
are published too: anybody can then compare their hash and score them again. Errata score stored answers again as well.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import Answer, AnswerStatus, Item, Score, zero_if_unanswered
from evaluator.core.errors import Details


@dataclass(frozen=True)
class AnswerRow:
    """The answer to an item, and what else its score depends on. The names of the fields are public: they are hashed."""

    id: str  # of the item
    answer: str  # without reasoning
    status: AnswerStatus
    reasoned: bool  # whether the model reasoned: an empty answer after reasoning scores 0


def answer_rows(details: Details) -> list[AnswerRow]:
    """Return the answers of an evaluation, sorted by id. Each item must have one prompt."""
    rows = [
        AnswerRow(row["id"], row["answers"][0], row["status"], reasoned=bool(row.get("reasoned"))) for row in details
    ]
    return sorted(rows, key=lambda row: row.id)


def answers_hash(rows: Iterable[AnswerRow]) -> str:
    """Return the SHA-256 of answers as JSON lines, sorted by id, each with its keys in alphabetical order.

    A line is `{"answer": "24명", "id": "7-a", "reasoned": false, "status": "ok"}` and a line feed, in UTF-8.
    """
    digest = hashlib.sha256()
    for row in sorted(rows, key=lambda row: row.id):
        digest.update(f"{json.dumps(asdict(row), ensure_ascii=False, sort_keys=True)}\n".encode())
    return digest.hexdigest()


def score_rows(benchmark: Benchmark, items: Sequence[Item], rows: Iterable[AnswerRow]) -> list[Score]:
    """Return the scores of published answers, in the order of the items. Raises KeyError if one is missing."""
    by_id = {row.id: [_answer(row.id, row.answer, row.status, row.reasoned)] for row in rows}
    return _scores(benchmark, items, by_id)


def score_details(benchmark: Benchmark, items: Sequence[Item], details: Details) -> list[Score]:
    """Return the scores of stored answers, in the order of the items. Raises KeyError if one is missing."""
    by_id: dict[str, list[Answer]] = {}
    for row in details:
        reasoned = bool(row.get("reasoned"))
        by_id[row["id"]] = [_answer(row["id"], text, row["status"], reasoned) for text in row["answers"]]
    return _scores(benchmark, items, by_id)


def _scores(benchmark: Benchmark, items: Sequence[Item], answers: Mapping[str, Sequence[Answer]]) -> list[Score]:
    """Return the scores of items. `answers` maps their ids to the answers to their prompts, in the prompts' order."""
    by_item = [answers[item.id] for item in items]
    scores = benchmark.score(items, by_item)
    return [zero_if_unanswered(score, item_answers) for score, item_answers in zip(scores, by_item, strict=True)]


def _answer(item_id: str, text: str, status: AnswerStatus, reasoned: bool) -> Answer:
    """Return a stored answer as scoring rules take it. It has no time; any number of reasoning tokens means "reasoned"."""
    return Answer(item_id, text, status, seconds=0.0, reasoning_tokens=0 if reasoned else None)

"""The answers of a result: their hash is published with it, they themselves once their test set is revealed."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import Answer, AnswerStatus, Item, Score, zero_if_unanswered
from evaluator.core.errors import Details


@dataclass(frozen=True)
class AnswerRow:
    """The answer to an item, and what else its score depends on."""

    id: str
    answer: str  # without reasoning
    status: AnswerStatus
    reasoned: bool


def answer_rows(details: Details) -> list[AnswerRow]:
    """Return the answers of an evaluation, sorted by id. Each item must have one prompt."""
    rows = (AnswerRow(r["id"], r["answers"][0], r["status"], bool(r.get("reasoned"))) for r in details)
    return sorted(rows, key=lambda row: row.id)


def answers_hash(rows: Iterable[AnswerRow]) -> str:
    """Return the SHA-256 of answers as JSON lines, sorted by id, each with its keys in alphabetical order."""
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
    given = [answers[item.id] for item in items]
    scores = benchmark.score(items, given)
    return [zero_if_unanswered(score, own) for score, own in zip(scores, given, strict=True)]


def _answer(item_id: str, text: str, status: AnswerStatus, reasoned: bool) -> Answer:
    return Answer(item_id, text, status, 0.0, reasoning_tokens=0 if reasoned else None)

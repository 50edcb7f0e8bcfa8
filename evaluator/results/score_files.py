"""`python -m evaluator score`: score answers in a file against gold answers in another, for use by other programs.

Items are JSON lines `{"id", "answer"}`, with the other fields that the benchmark's `item_to_score` reads. Answers are
`{"id", "text"}` in any order. Answers are scored as they are read, so that memory holds only the items and their scores. Only
the first MAX_ANSWER characters of an answer count.
"""

import json
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import orjson

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark
from evaluator.benchmarks.rows import nonempty_text
from evaluator.core.data_types import Answer, AnswerStatus, Item, Score, cleaned, zero_if_unanswered
from evaluator.core.errors import DataError

CHUNK = 1000  # answers scored at once
CHUNK_LENGTH = 1_000_000  # characters; a chunk of long answers ends earlier


def score_files(
    benchmark: str, items_file: Path, answers_file: Path, per_item: Path | None, *, raw: bool = False
) -> dict[str, Any]:
    """Score the answers and return `{"benchmark", "n", "metrics", "answers"}`, with metrics in percent.

    Items without an answer count as empty answers.

    Args:
        per_item: file for the scores of each item
        raw: the answers contain the model's reasoning, which is removed before scoring

    Raises DataError with file and line if the input is invalid.
    """
    if per_item and per_item.resolve() in (items_file.resolve(), answers_file.resolve()):
        raise DataError(f"--per-item {per_item}: this is an input file; choose another one")
    bench = BENCHMARKS[benchmark]
    items = _items(bench, items_file)
    scores: dict[str, Score] = {}
    answers = _answers(answers_file, items)
    for chunk in _chunks(map(_without_reasoning, answers) if raw else answers):
        asked = [items[answer.id] for answer in chunk]
        for score, answer in zip(bench.score_flat(asked, chunk), chunk, strict=True):
            scores[score.id] = zero_if_unanswered(score, [answer])
    if not scores:
        raise DataError(f"{answers_file}: has no answers")
    unanswered = [item for key, item in items.items() if key not in scores]
    for score in bench.score_flat(unanswered, [Answer(item.id, "", "empty", 0.0) for item in unanswered]):
        scores[score.id] = score
    ordered = [scores[key] for key in items]
    if per_item:
        _write(per_item, ordered)
    return _summary(bench, ordered)


def _summary(bench: Benchmark, scores: list[Score]) -> dict[str, Any]:
    counts = Counter(s.status for s in scores)
    return {
        "benchmark": bench.name,
        "n": len(scores),
        "metrics": {name: round(100 * value, 4) for name, value in bench.aggregate(scores).items()},
        "answers": {status: counts[status] for status in get_args(AnswerStatus)},
    }


def _items(bench: Benchmark, file: Path) -> dict[str, Item]:
    items: dict[str, Item] = {}
    for where, row in _rows(file):
        try:
            item = bench.item_to_score(row)
        except ValueError as error:
            raise DataError(f"{where}: {error}") from None
        if item.id in items:
            raise DataError(f"{where}: the id {item.id!r} appears twice")
        items[item.id] = item
    if not items:
        raise DataError(f"{file}: has no items")
    return items


def _chunks(answers: Iterator[Answer]) -> Iterator[list[Answer]]:
    chunk: list[Answer] = []
    length = 0
    for answer in answers:
        chunk.append(answer)
        length += len(answer.text)
        if len(chunk) >= CHUNK or length >= CHUNK_LENGTH:
            yield chunk
            chunk, length = [], 0
    if chunk:
        yield chunk


def _answers(file: Path, items: dict[str, Item]) -> Iterator[Answer]:
    seen: set[str] = set()
    for where, row in _rows(file):
        try:
            key = nonempty_text(row, "id")
        except ValueError as error:
            raise DataError(f"{where}: {error}") from None
        if key not in items:
            raise DataError(f"{where}: the id {key!r} is not among the items")
        if key in seen:
            raise DataError(f"{where}: the id {key!r} is answered twice")
        seen.add(key)
        text = row.get("text")
        if not isinstance(text, str):
            raise DataError(f"{where}: 'text' must be text, not {json.dumps(text)[:50]}")
        yield cleaned(Answer(key, text, "ok" if text.strip() else "empty", 0.0))


def _without_reasoning(answer: Answer) -> Answer:
    from submissions.hub_models.reasoning import strip_reasoning

    reasoning, text = strip_reasoning(answer.text)
    if reasoning is None:
        return answer
    return replace(answer, text=text, status="ok" if text else "truncated", reasoning_tokens=0)


def _rows(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        with file.open("rb") as lines:
            for number, raw in enumerate(lines, 1):
                line = raw.removeprefix(BOM_UTF8)
                where = f"{file}, line {number}"
                if not line.strip():
                    continue
                try:
                    row = orjson.loads(line)
                except ValueError:  # the standard library accepts lone surrogates and has clearer messages
                    row = _decode_json(line, where)
                if not isinstance(row, dict):
                    raise DataError(f"{where}: not a JSON object")
                yield where, row
    except OSError as error:
        raise DataError(f"{file}: {error.strerror}") from None


def _decode_json(line: bytes, where: str) -> Any:
    try:
        return _DECODER.decode(line.decode())
    except UnicodeDecodeError:
        raise DataError(f"{where}: not in UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: invalid JSON: {getattr(error, 'msg', error)}") from None


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not valid JSON")


_DECODER = json.JSONDecoder(parse_constant=_reject_constant)


def _write(file: Path, scores: list[Score]) -> None:
    rows = ({"id": s.id, **s.values, "status": s.status} for s in scores)
    try:
        # "backslashreplace" writes a lone surrogate in an id as a JSON escape.
        with file.open("w", encoding="utf-8", errors="backslashreplace") as lines:
            lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    except OSError as error:
        raise DataError(f"--per-item {file}: {error.strerror}") from None

"""Score answers in a file against gold answers in another (`python -m evaluator score`), for use by other programs.

Items are JSON lines `{"id", "answer"}`, with the other fields that the benchmark's `item_to_score` reads. Answers are JSON
lines `{"id", "text"}` in any order. Answers are scored as they are read, so that memory holds only the items and their
scores. Only the first MAX_ANSWER characters of an answer count, without the reasoning in front of it if that is removed.
"""

import json
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import orjson

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark
from evaluator.benchmarks.rows import nonempty_text
from evaluator.benchmarks.source_files import composed
from evaluator.core.data_types import Answer, AnswerStatus, Item, Score, cleaned, is_missing, with_zeros
from evaluator.core.errors import DataError

# Answers are scored in chunks, because some scoring rules have a cost for each call. A chunk ends at either limit.
CHUNK = 1000  # answers
CHUNK_LENGTH = 1_000_000  # characters


def score_files(
    benchmark: str,
    items_file: Path,
    answers_file: Path,
    per_item: Path | None,
    *,
    raw: bool = False,
    note: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Score the answers and return `{"benchmark", "n", "metrics", "answers"}`.

    `metrics` are in percent, `answers` are counts by status. Items without an answer count as empty answers.

    Args:
        benchmark: its name
        items_file: with the gold answers
        answers_file: with the model's answers
        per_item: file to write the scores of each item to, from 0 to 1, or None
        raw: whether the answers contain the model's reasoning, which is removed before scoring
        note: is called with a line if the scores may differ from those of an evaluation

    Raises DataError, naming file and line, if the input is invalid.
    """
    if per_item and per_item.resolve() in (items_file.resolve(), answers_file.resolve()):
        raise DataError(f"--per-item {per_item}: this is an input file; choose another one")
    bench = BENCHMARKS[benchmark]
    items = _items(bench, items_file)
    only_reasoning: set[str] = set()  # ids of items whose answer has nothing else
    scores: dict[str, Score] = {}
    for chunk in _chunks(_answers(answers_file, items, raw=raw)):
        answered_items = [items[answer.id] for answer in chunk]
        for score, answer in zip(bench.score_flat(answered_items, chunk), chunk, strict=True):
            scores[score.id] = score
            if is_missing(answer):
                only_reasoning.add(score.id)
    if not scores:
        raise DataError(f"{answers_file}: has no answers")
    unanswered = [item for item_id, item in items.items() if item_id not in scores]
    empty_answers = [Answer(item.id, "", "empty", seconds=0.0) for item in unanswered]
    scores |= {score.id: score for score in bench.score_flat(unanswered, empty_answers)}
    all_items = list(items.values())
    # Some metrics compare items with each other (`Benchmark.compared`). An evaluation computes these first, and only then sets
    # the scores of answers that have only reasoning to 0, so this does too.
    all_scores = bench.compared(all_items, [scores[item.id] for item in all_items])
    all_scores = [with_zeros(score) if score.id in only_reasoning else score for score in all_scores]
    if difference := bench.unlike_evaluation(all_items):
        note(f"{benchmark}: {difference}")
    if per_item:
        _write(per_item, all_scores)
    return _summary(bench, all_scores)


def _summary(bench: Benchmark, scores: list[Score]) -> dict[str, Any]:
    """Return what `score_files` returns."""
    counts = Counter(score.status for score in scores)
    return {
        "benchmark": bench.name,
        "n": len(scores),
        "metrics": {name: round(100 * value, 4) for name, value in bench.aggregate(scores).items()},
        "answers": {status: counts[status] for status in get_args(AnswerStatus)},
    }


def _items(bench: Benchmark, file: Path) -> dict[str, Item]:
    """Return the items of a file by id. Raises DataError if one is invalid, an id is repeated, or there are none."""
    items: dict[str, Item] = {}
    for location, row in _rows(file):
        try:
            item = bench.item_to_score(row)
        except ValueError as error:
            raise DataError(f"{location}: {error}") from None
        if item.id in items:
            raise DataError(f"{location}: the id {item.id!r} appears twice")
        items[item.id] = item
    if not items:
        raise DataError(f"{file}: has no items")
    return {item.id: item for item in bench.complete(list(items.values()))}


def _chunks(answers: Iterator[Answer]) -> Iterator[list[Answer]]:
    """Yield the answers in lists of up to CHUNK, or fewer once they have CHUNK_LENGTH characters together."""
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


def _answers(file: Path, items: dict[str, Item], *, raw: bool) -> Iterator[Answer]:
    """Yield the answers of a file, without the model's reasoning if they are raw.

    Raises DataError if one is invalid, is repeated, or answers none of `items`.
    """
    answered: set[str] = set()
    for location, row in _rows(file):
        try:
            item_id = nonempty_text(row, "id")
        except ValueError as error:
            raise DataError(f"{location}: {error}") from None
        if item_id not in items:
            raise DataError(f"{location}: {_unknown_id(item_id, items)}")
        if item_id in answered:
            raise DataError(f"{location}: the id {item_id!r} is answered twice")
        answered.add(item_id)
        text = row.get("text")
        if not isinstance(text, str):
            raise DataError(f"{location}: 'text' must be text, not {json.dumps(text)[:50]}")
        answer = Answer(item_id, text, "ok" if text.strip() else "empty", seconds=0.0)
        if raw:
            answer = _without_reasoning(answer)
        yield cleaned(answer)  # cut after the reasoning is removed, which may be longer than an answer


def _unknown_id(item_id: str, items: dict[str, Item]) -> str:
    """Return why an answer's id is unknown. Two ids may look the same, with Hangul in syllables or in its letters."""
    if composed(item_id) in map(composed, items):
        return f"the id {item_id!r} is among the items in another Unicode form only (composed or decomposed letters)"
    return f"the id {item_id!r} is not among the items"


def _without_reasoning(answer: Answer) -> Answer:
    """Return an answer without the reasoning in it. If nothing follows the reasoning, it was cut off."""
    from submissions.hub_models.reasoning import strip_reasoning

    reasoning, text = strip_reasoning(answer.text)
    if reasoning is None:
        return answer
    # The tokens are not counted. That the number is not None says that the model has reasoned, which `is_missing` reads.
    return replace(answer, text=text, status="ok" if text else "truncated", reasoning_tokens=0)


def _rows(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the location (file and line) and the object of each line that is not blank. Raises DataError."""
    try:
        with file.open("rb") as lines:
            for number, raw in enumerate(lines, 1):
                line = raw.removeprefix(BOM_UTF8)
                if line.strip():
                    location = f"{file}, line {number}"
                    yield location, _json_object(line, location)
    except OSError as error:
        raise DataError(f"{file}: {error.strerror}") from None


def _json_object(line: bytes, location: str) -> dict[str, Any]:
    """Return the JSON object in a line. Raises DataError, naming the location, if it is something else."""
    try:
        row = orjson.loads(line)
    except ValueError:  # the standard library is slower, but accepts lone surrogates and has clearer messages
        row = _decode_json(line, location)
    if not isinstance(row, dict):
        raise DataError(f"{location}: not a JSON object")
    # orjson silently keeps the last value of a key that appears twice; `_DECODER` refuses it. Only a line that seems to have
    # more keys than the object is decoded again, because the standard library is slower.
    if len(_KEY_END.findall(line)) > len(row):
        _decode_json(line, location)
    return row


def _decode_json(line: bytes, location: str) -> Any:
    try:
        return _DECODER.decode(line.decode())
    except UnicodeDecodeError:
        raise DataError(f"{location}: not in UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{location}: invalid JSON: {getattr(error, 'msg', error)}") from None


def _reject_constant(name: str) -> Any:
    """Refuse NaN and Infinity, which Python reads although JSON does not have them."""
    raise ValueError(f"{name} is not valid JSON")


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object with its pairs. Raises ValueError if it has a key twice."""
    counts = Counter(key for key, _ in pairs)
    for key, count in counts.items():
        if count > 1:
            raise ValueError(f"the key {key!r} appears twice in an object")
    return dict(pairs)


_KEY_END = re.compile(rb'"\s*:')  # also matches the keys of nested objects, and texts that quote JSON
_DECODER = json.JSONDecoder(object_pairs_hook=_object_of, parse_constant=_reject_constant)


def _write(file: Path, scores: list[Score]) -> None:
    """Write the scores of items as JSON lines `{"id", …metrics…, "status"}`. Raises DataError if that fails."""
    rows = ({"id": score.id, **score.values, "status": score.status} for score in scores)
    try:
        # "backslashreplace" writes a lone surrogate in an id as a JSON escape.
        with file.open("w", encoding="utf-8", errors="backslashreplace") as lines:
            lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    except OSError as error:
        raise DataError(f"--per-item {file}: {error.strerror}") from None

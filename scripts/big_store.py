"""Build the largest store that the board must handle: every model evaluated on every benchmark, and tidied."""

import random
from collections.abc import Iterator
from pathlib import Path

from rich.progress import track

from evaluator.benchmarks import BENCHMARKS
from scripts.support.evaluated import evaluated
from scripts.support.records import request_numbered
from submissions.queue.upkeep import tidy
from submissions.records.index_rows import BoardRow, board_row
from submissions.records.result import EvalResult
from submissions.store.base import Store, blob_id
from submissions.store.index import board_segment, to_lines
from submissions.store.open import open_store

MODELS = 10_000
RECORDS_PER_COMMIT = 4000
OWNERS = ("naver", "kakao", "lg-ai", "skt", "upstage", "nc", "owner", "lab")
DAYS = 700  # over which the results are spread


def big_store(folder: Path, models: int = MODELS) -> Store:
    """Return a store of results with their index. The seed is fixed, so only the dates differ from run to run."""
    store = open_store(str(folder / "big.git"))
    segments: dict[str, list[BoardRow]] = {}
    changes: dict[str, bytes | None] = {}
    for result in _results(models):
        changes[result.path] = content = result.to_bytes()
        row = board_row(result, result.path, blob_id(content))
        segments.setdefault(board_segment(row), []).append(row)
        if len(changes) == RECORDS_PER_COMMIT:
            store.commit(changes, store.head(), "Results")
            changes.clear()
    index = {path: to_lines(rows, BoardRow) for path, rows in segments.items()}
    store.commit({**changes, **index}, store.head(), "Index")
    tidy(store)
    return store


def _results(models: int) -> Iterator[EvalResult]:
    rng = random.Random(7)
    for number in track(range(models), description="a store for the board"):
        skill = rng.gauss(55, 18)
        age = rng.uniform(0.1, DAYS)
        owner = OWNERS[number % len(OWNERS)]
        model_id = f"{owner}-{number % 500}/Model-{number}-VL"
        for name in BENCHMARKS:
            request = request_numbered(number, model_id=model_id, benchmark=name)
            yield evaluated(request, min(99.5, max(1.0, skill + rng.gauss(0, 6))), age)

"""Draw a set of ko-fresh from its seed, in the documented schema: `items.jsonl` and its images."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from evaluator.core.errors import DataError
from evaluator.core.files import remove_path
from evaluator.core.signals import stop_signals_blocked
from evaluator.fresh.degrade import degraded
from evaluator.fresh.facts import random_of
from evaluator.fresh.memory import memory_figures
from evaluator.fresh.pages import pages
from evaluator.fresh.pairs import Pair, Row, image_names, pairs_of
from evaluator.fresh.set_hash import set_hash
from submissions.config.machine import core_count

N = 2000  # questions in a quarter's set, including twins and degraded copies
MEMORY_EVERY = 20  # at most one item in this many is about a published figure (see evaluator/fresh/memory.py)
PAIRS_PER_PROCESS = 32  # minimum: a process takes 2 s to start, a pair 0.2 s


def draw_set(seed: str, folder: Path, n: int = N, on_progress: Callable[[int, int], None] = lambda *_: None) -> str:
    """Draw `n` questions into a new folder and return the set's hash (see `set_hash`).

    `on_progress` is called with the number of pairs drawn so far and that of all pairs.

    Raises DataError if the seed is empty or not printable, `n` is odd (questions come in pairs), or the folder exists.
    """
    if not seed or not seed.isprintable() or n % 2:
        raise DataError("the seed must be printable text and the number of questions even, because each has a twin")
    partial_folder = folder.with_name(f"{folder.name}.{os.getpid()}.partial")
    remove_path(partial_folder)
    (partial_folder / "images").mkdir(parents=True)
    pairs = pairs_of_set(seed, n)
    processes = max(1, min(core_count(), len(pairs) // PAIRS_PER_PROCESS))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        draw_pair = partial(_draw_pair, seed, partial_folder)
        drawn: Iterator[None]
        if processes == 1:
            drawn = map(draw_pair, pairs)  # drawn in this process by the loop below; the pool then starts no process
        else:
            with stop_signals_blocked():  # a pool starts its processes when work is submitted
                drawn = pool.map(draw_pair, pairs, chunksize=4)
        for number, _ in enumerate(drawn, 1):
            on_progress(number, len(pairs))
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in shuffled_rows(seed, pairs))
    (partial_folder / "items.jsonl").write_text("".join(lines), encoding="utf-8")
    try:
        partial_folder.rename(folder)
    except OSError:
        remove_path(partial_folder)
        if folder.exists():  # maybe another process has drawn it meanwhile
            raise DataError(f"{folder} already exists: name a new folder") from None
        raise
    return set_hash(folder)


def pairs_of_set(seed: str, n: int) -> list[Pair]:
    """Return the pairs of a set with `n` questions: figures with their twins, and before them some figures without a twin.

    Those without a twin repeat figures of published sets with other numbers. They show whether a model remembers the
    published answers (see evaluator/fresh/memory.py).
    """
    without_twin = memory_figures(seed, n // MEMORY_EVERY)
    # Even, as `memory_figures` promises, so that the number of questions that are left for twins is even, too.
    count_without_twin = sum(len(rows) for figure in without_twin for rows in figure.rows)
    return [*without_twin, *pairs_of(seed, n - count_without_twin)]


def shuffled_rows(seed: str, pairs: Sequence[Pair]) -> list[Row]:
    """Return all rows in random order, so that a server that gets one question after another cannot pair twins."""
    rows: list[Row] = []
    for pair in pairs:
        for rows_of_figure in pair.rows:
            rows += rows_of_figure
    random_of(seed, "order").shuffle(rows)
    return rows


def _draw_pair(seed: str, folder: Path, pair: Pair) -> None:
    """Write the pictures of a pair: all pages of each figure, clean and, if the pair has such versions, degraded."""
    for place, facts in enumerate(pair.facts):  # 0: the original, 1: its twin
        clean_pages = pages(facts)
        for version in pair.versions:
            randomness = random_of(seed, pair.number, version, place)  # for noise and rotation
            for name, page in zip(image_names(seed, facts, place, version), clean_pages, strict=True):
                (folder / "images" / name).write_bytes(degraded(page, version, randomness))

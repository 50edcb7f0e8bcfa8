"""Draw a set of ko-fresh from its seed, in the documented schema: `items.jsonl` and its images."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from evaluator.core.errors import DataError
from evaluator.core.files import remove_path
from evaluator.core.signals import stop_signals_blocked
from evaluator.fresh.claims import choose_claims
from evaluator.fresh.degrade import DEGRADED, SUFFIXES, Version, degraded
from evaluator.fresh.facts import LAYOUTS, Facts, Layout, facts_of, random_of
from evaluator.fresh.pages import pages
from evaluator.fresh.question import Kind
from evaluator.fresh.questions import choose_questions

N = 2000  # questions in a quarter's set, including twins and degraded copies
QUESTIONS_PER_FIGURE = 3  # besides the four descriptions
VARIANTS = ("a", "b", "c", "d")  # a figure, its twin, and two that are never shown (see claims.py)
PAIRS_PER_PROCESS = 32  # minimum: a process takes 2 s to start, a pair 0.2 s
TWINS = ("original", "twin")
# Layouts that lose nothing without colours are degraded, every fifth of them: a tenth of all figures.
LADDER_LAYOUTS: tuple[Layout, ...] = ("table", "two_pages", "cards", "bar", "log", "dual", "pictogram")
LADDER_EVERY, LADDER_FIRST = 5, 3
PRINTED: tuple[Layout, ...] = ("table", "two_pages", "cards")  # layouts that print all values
MARKS: tuple[Kind, ...] = ("estimate", "cross", "trend")  # questions about the chart of a page
MAX_TRIES = 20  # to find values that allow four descriptions
Row = dict[str, Any]


@dataclass(frozen=True)
class Pair:
    """A figure and its twin, each with its rows of `items.jsonl`."""

    number: int
    facts: tuple[Facts, Facts]
    rows: tuple[list[Row], list[Row]]
    versions: tuple[Version, ...]


def pair_of(seed: str, number: int) -> Pair:
    """Return figure `number`, its twin with other numbers, and the questions asked about both in the same words."""
    for attempt in range(MAX_TRIES):
        # All four are drawn again: if one was chosen to suit the others or the questions, it could be told from them.
        variants = [facts_of(seed, number, f"{variant}{attempt}") for variant in VARIANTS]
        if four := choose_claims(variants, random_of(seed, number, "descriptions", attempt)):
            break
    facts, twin = variants[:2]
    asked = choose_questions(facts, twin, random_of(seed, number, "questions"), QUESTIONS_PER_FIGURE)
    versions: tuple[Version, ...] = ("clean", *DEGRADED) if is_on_ladder(facts) else ("clean",)
    first, second = (
        [
            _row(seed, own, place, version, question.kind, text=question.text, answer=answers[place])
            for question, *answers in asked
            for version in versions
        ]
        + [
            _row(seed, own, place, version, "description", choices=_true_first(four, place))
            for version in versions
            if four
        ]
        for place, own in enumerate((facts, twin))
    )
    return Pair(number, (facts, twin), (first, second), versions)


def is_on_ladder(facts: Facts) -> bool:
    """Return whether a figure is asked about in all versions."""
    return facts.layout in LADDER_LAYOUTS and sum(divmod(facts.number, len(LAYOUTS))) % LADDER_EVERY == LADDER_FIRST


def _row(
    seed: str,
    facts: Facts,
    place: int,
    version: Version,
    kind: Kind,
    *,
    text: str = "",
    answer: str = "",
    choices: Sequence[str] = (),
) -> Row:
    """Return a row in the documented schema. `place` is 0 for the original and 1 for the twin."""
    figure = _figure_name(seed, facts.number)
    pair, copy = f"{figure}-{kind}", "" if version == "clean" else f"-{version}"
    by_marks = kind in MARKS if facts.layout == "page" else facts.layout not in PRINTED
    return {
        "id": f"{pair}-{VARIANTS[place]}{copy}",
        "question": text,
        "answer": answer or choices[0],
        "choices": list(choices),
        "images": [f"images/{name}" for name in image_names(seed, facts, place, version)],
        "kind": kind,
        "layout": facts.layout,
        "reading": "marks" if by_marks else "printed",
        "version": version,
        "twin": TWINS[place],
        "pair": pair,
    }


def image_names(seed: str, facts: Facts, place: int, version: Version) -> list[str]:
    """Return the names of the pages of a figure."""
    stem, copy = f"{_figure_name(seed, facts.number)}{VARIANTS[place]}", "" if version == "clean" else f"-{version}"
    pages_of = ("-1", "-2") if facts.layout == "two_pages" else ("",)
    return [f"{stem}{page}{copy}.{SUFFIXES[version]}" for page in pages_of]


def _figure_name(seed: str, number: int) -> str:
    """Return the file name of a figure. It depends on the seed, so that it reveals nothing about the content."""
    return f"{random_of(seed, number, 'name').getrandbits(40):010x}"


def _true_first(four: list[str], place: int) -> list[str]:
    """Return the descriptions with the true one first. `four` has the one that is true of the twin second."""
    here, there, *nowhere = four
    return [there, here, *nowhere] if place else four


def draw_set(seed: str, folder: Path, n: int = N, on_progress: Callable[[int, int], None] = lambda *_: None) -> str:
    """Draw `n` questions into a new folder and return the set's hash (see `set_hash`).

    Raises DataError if the seed is empty or not printable, `n` is odd (each question has a twin), or the folder exists.
    """
    if not seed or not seed.isprintable() or n % 2:
        raise DataError("the seed must be printable text and the number of questions even, because each has a twin")
    partial_folder = folder.with_name(f"{folder.name}.{os.getpid()}.partial")
    remove_path(partial_folder)
    (partial_folder / "images").mkdir(parents=True)
    pairs = list(pairs_of(seed, n))
    processes = max(1, min(available_cores(), len(pairs) // PAIRS_PER_PROCESS))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        work = partial(_draw_pair, seed, partial_folder)
        with stop_signals_blocked():  # a pool starts its processes when work is submitted
            done = map(work, pairs) if processes == 1 else pool.map(work, pairs, chunksize=4)
        for number, _ in enumerate(done, 1):
            on_progress(number, len(pairs))
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in shuffled_rows(seed, pairs))
    (partial_folder / "items.jsonl").write_text("".join(lines), encoding="utf-8")
    try:
        partial_folder.rename(folder)
    except OSError:  # another process has drawn it meanwhile
        remove_path(partial_folder)
        raise DataError(f"{folder} already exists: name a new folder") from None
    return set_hash(folder)


def shuffled_rows(seed: str, pairs: Sequence[Pair]) -> list[Row]:
    """Return all rows in random order, so that a server that is asked one after another cannot pair twins."""
    rows = [row for pair in pairs for own in pair.rows for row in own]
    random_of(seed, "order").shuffle(rows)
    return rows


def pairs_of(seed: str, n: int) -> Iterator[Pair]:
    """Yield pairs with `n` questions in total. The last figure and its twin lose the questions beyond `n`."""
    left = n // 2
    for number in count():
        pair = pair_of(seed, number)
        kept = len(pair.rows[0][:left])
        yield replace(pair, rows=(pair.rows[0][:kept], pair.rows[1][:kept]))
        left -= kept
        if not left:
            return


def _draw_pair(seed: str, folder: Path, pair: Pair) -> None:
    for place, facts in enumerate(pair.facts):
        drawn = pages(facts)
        for version in pair.versions:
            chance = random_of(seed, pair.number, version, place)
            for name, page in zip(image_names(seed, facts, place, version), drawn, strict=True):
                (folder / "images" / name).write_bytes(degraded(page, version, chance))


def set_hash(folder: Path) -> str:
    """Return the SHA-256 of the names and contents of all files of a set."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return digest.hexdigest()


def available_cores() -> int:
    return len(os.sched_getaffinity(0))

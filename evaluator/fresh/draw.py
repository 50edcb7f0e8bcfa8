"""Draw a set of ko-fresh from its seed, in the documented schema: `items.jsonl` and its images."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from evaluator.core.errors import DataError
from evaluator.core.files import remove_path
from evaluator.core.signals import stop_signals_blocked
from evaluator.fresh.facts import Facts, facts_of, random_of
from evaluator.fresh.figures import draw, png
from evaluator.fresh.questions import Kind, choose_claims, choose_questions, difficulty
from evaluator.fresh.scan import as_scanned

N = 2000  # questions in a quarter's set, including twins
QUESTIONS_PER_FIGURE = 3  # besides the four descriptions
VARIANTS = ("a", "b")  # a figure and its twin
PAIRS_PER_PROCESS = 32  # minimum: a process takes 1 s to start, a pair 0.05 s
TWINS = ("original", "twin")
GREY_LAYOUTS = ("table", "merged", "bar", "pictogram", "cards")  # scanned in grey, because colours carry no meaning
MAX_TWIN_TRIES = 20  # to find a twin with other answers to all questions
Row = dict[str, Any]


@dataclass(frozen=True)
class Pair:
    """A figure and its twin, each with its rows of `items.jsonl`."""

    number: int
    facts: tuple[Facts, Facts]
    rows: tuple[list[Row], list[Row]]


def pair_of(seed: str, number: int) -> Pair:
    """Return figure `number`, its twin with other numbers, and the questions asked about both in the same words."""
    facts = facts_of(seed, number, VARIANTS[0])
    for attempt in count():
        twin = facts_of(seed, number, f"{VARIANTS[1]}{attempt}")
        chooser = random_of(seed, number, "questions", attempt)
        asked = choose_questions(facts, twin, chooser, QUESTIONS_PER_FIGURE)
        four = choose_claims(facts, twin, chooser)
        if (len(asked) == QUESTIONS_PER_FIGURE and four) or attempt >= MAX_TWIN_TRIES:
            break
    first, second = (
        [_row(seed, own, place, q.kind, text=q.text, answer=answers[place]) for q, *answers in asked]
        + ([_row(seed, own, place, "description", choices=_true_first(four, place))] if four else [])
        for place, own in enumerate((facts, twin))
    )
    return Pair(number, (facts, twin), (first, second))


def _row(
    seed: str, facts: Facts, place: int, kind: Kind, *, text: str = "", answer: str = "", choices: Sequence[str] = ()
) -> Row:
    """Return a row in the documented schema. `place` is 0 for the original and 1 for the twin."""
    figure = _figure_name(seed, facts.number)
    pair = f"{figure}-{kind}"
    return {
        "id": f"{pair}-{VARIANTS[place]}",
        "question": text,
        "answer": answer or choices[0],
        "choices": list(choices),
        "images": [f"images/{figure}{VARIANTS[place]}.png"],
        "layout": facts.layout,
        "twin": TWINS[place],
        "kind": kind,
        "difficulty": difficulty(kind, facts),
        "pair": pair,
    }


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
    pairs = list(_pairs(seed, n))
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


def _pairs(seed: str, n: int) -> Iterator[Pair]:
    """Yield pairs with `n` questions in total. The last figure and its twin lose the questions beyond `n`."""
    left = n // 2
    for number in count():
        pair = pair_of(seed, number)
        kept = len(pair.rows[0][:left])
        yield Pair(number, pair.facts, (pair.rows[0][:kept], pair.rows[1][:kept]))
        left -= kept
        if not left:
            return


def _draw_pair(seed: str, folder: Path, pair: Pair) -> None:
    for facts, variant in zip(pair.facts, VARIANTS, strict=True):
        image = draw(facts)
        if facts.scanned:
            image = as_scanned(image, random_of(seed, pair.number, "scan", variant), grey=facts.layout in GREY_LAYOUTS)
        (folder / f"images/{_figure_name(seed, pair.number)}{variant}.png").write_bytes(png(image))


def set_hash(folder: Path) -> str:
    """Return the SHA-256 of the names and contents of all files of a set."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return digest.hexdigest()


def available_cores() -> int:
    return len(os.sched_getaffinity(0))

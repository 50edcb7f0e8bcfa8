"""A set of ko-fresh from its seed, in the documented schema: `items.jsonl` and its images."""

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
from evaluator.fresh.scan import scanned

N = 2000  # questions of a quarter's set, twins included
QUESTIONS = 3  # of a figure, besides its descriptions
VARIANTS = ("a", "b")  # a figure and its twin
PAIRS_PER_PROCESS = 32  # at least: a process takes a second to start, a pair a twentieth
TWINS = ("original", "twin")
GREY = (
    "table",
    "merged",
    "bar",
    "pictogram",
    "cards",
)  # layouts of which a scan may be grey: colours tell nothing apart
TRIES = 20  # to find a twin that answers everything else
Row = dict[str, Any]


@dataclass(frozen=True)
class Pair:
    """A figure and its twin, each with its rows."""

    number: int
    facts: tuple[Facts, Facts]
    rows: tuple[list[Row], list[Row]]


def pair_of(seed: str, number: int) -> Pair:
    """A figure, its twin with other numbers, and what is asked of both in the same words."""
    facts = facts_of(seed, number, VARIANTS[0])
    for attempt in count():
        twin = facts_of(seed, number, f"{VARIANTS[1]}{attempt}")
        chooser = random_of(seed, number, "questions", attempt)
        asked = choose_questions(facts, twin, chooser, QUESTIONS)
        four = choose_claims(facts, twin, chooser)
        if (len(asked) == QUESTIONS and four) or attempt >= TRIES:
            break
    first, second = (
        [_row(seed, own, place, q.kind, text=q.text, answer=answers[place]) for q, *answers in asked]
        + ([_row(seed, own, place, "description", choices=_swapped(four, place))] if four else [])
        for place, own in enumerate((facts, twin))
    )
    return Pair(number, (facts, twin), (first, second))


def _row(
    seed: str, facts: Facts, place: int, kind: Kind, *, text: str = "", answer: str = "", choices: Sequence[str] = ()
) -> Row:
    """In the documented schema; `place` says which of the twins it is of."""
    figure = _name(seed, facts.number)
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


def _name(seed: str, number: int) -> str:
    """Of a figure; another one for each seed, so that no name tells what stands in it."""
    return f"{random_of(seed, number, 'name').getrandbits(40):010x}"


def _swapped(four: list[str], place: int) -> list[str]:
    """The right one first: of the twin that is the second."""
    here, there, *nowhere = four
    return [there, here, *nowhere] if place else four


def draw_set(seed: str, folder: Path, n: int = N, on_progress: Callable[[int, int], None] = lambda *_: None) -> str:
    """Draw `n` questions into a folder that is not there yet; returns the set's hash, see `set_hash`.

    Raises DataError for a seed that is no text, an odd number of questions (each has a twin), and where the folder is there.
    """
    if not seed or not seed.isprintable() or n % 2:
        raise DataError("a seed is text that is not empty, and the number of questions even: each has a twin")
    partial_folder = folder.with_name(f"{folder.name}.{os.getpid()}.partial")
    remove_path(partial_folder)
    (partial_folder / "images").mkdir(parents=True)
    pairs = list(_pairs(seed, n))
    processes = max(1, min(available_cores(), len(pairs) // PAIRS_PER_PROCESS))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        work = partial(_draw_pair, seed, partial_folder)
        with stop_signals_blocked():  # a pool starts its processes when it is given work
            done = map(work, pairs) if processes == 1 else pool.map(work, pairs, chunksize=4)
        for number, _ in enumerate(done, 1):
            on_progress(number, len(pairs))
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in shuffled_rows(seed, pairs))
    (partial_folder / "items.jsonl").write_text("".join(lines), encoding="utf-8")
    try:
        partial_folder.rename(folder)
    except OSError:  # another process was first
        remove_path(partial_folder)
        raise DataError(f"{folder} is there already: name a new folder") from None
    return set_hash(folder)


def shuffled_rows(seed: str, pairs: Sequence[Pair]) -> list[Row]:
    """In an order that tells a server nothing that is asked them one after another."""
    rows = [row for pair in pairs for own in pair.rows for row in own]
    random_of(seed, "order").shuffle(rows)
    return rows


def _pairs(seed: str, n: int) -> Iterator[Pair]:
    """As many as have `n` questions; the last one's are cut, in its twin too."""
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
            image = scanned(image, random_of(seed, pair.number, "scan", variant), grey=facts.layout in GREY)
        (folder / f"images/{_name(seed, pair.number)}{variant}.png").write_bytes(png(image))


def set_hash(folder: Path) -> str:
    """sha256 over the names and contents of all files of a set."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return digest.hexdigest()


def available_cores() -> int:
    return len(os.sched_getaffinity(0))

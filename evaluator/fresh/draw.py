"""A set of ko-fresh from its seed, in the documented schema: `items.jsonl` and its images."""

import hashlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from evaluator.files import remove_path
from evaluator.fresh.facts import Facts, facts_of, random_of
from evaluator.fresh.figures import draw, png
from evaluator.fresh.questions import choose_claims, choose_questions, difficulty
from evaluator.fresh.scan import scanned

N = 2000  # questions of a quarter's set, twins included
QUESTIONS = 3  # of a figure, besides its descriptions
VARIANTS = ("a", "b")  # a figure and its twin
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
    rows: tuple[list[Row], list[Row]] = ([], [])
    for place, own in enumerate((facts, twin)):
        common = {"images": [f"images/{number:05}{VARIANTS[place]}.png"], "layout": own.layout, "twin": TWINS[place]}
        for question, *answers in asked:
            name = f"{number:05}-{question.kind}"
            graded = {"kind": question.kind, "difficulty": difficulty(question.kind, own)}
            rows[place].append(
                {"id": f"{name}-{VARIANTS[place]}", "question": question.text, "answer": answers[place], "choices": []}
                | common
                | graded
                | {"pair": name}
            )
        if four:
            here, there, *nowhere = four
            choices = [here, there, *nowhere] if place == 0 else [there, here, *nowhere]
            name, graded = (
                f"{number:05}-description",
                {"kind": "description", "difficulty": difficulty("description", own)},
            )
            rows[place].append(
                {"id": f"{name}-{VARIANTS[place]}", "question": "", "answer": choices[0], "choices": choices}
                | common
                | graded
                | {"pair": name}
            )
    return Pair(number, (facts, twin), rows)


def draw_set(
    seed: str, folder: Path, n: int = N, on_progress: Callable[[int, int], None] = lambda *_: None, processes: int = 1
) -> str:
    """Draw `n` questions into a folder that is not there yet; returns the set's hash, see `set_hash`."""
    partial_folder = folder.with_name(f"{folder.name}.partial")
    remove_path(partial_folder)
    (partial_folder / "images").mkdir(parents=True)
    pairs = list(_pairs(seed, n))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        work = partial(_draw_pair, seed, partial_folder)
        done = map(work, pairs) if processes == 1 else pool.map(work, pairs, chunksize=4)
        for number, _ in enumerate(done, 1):
            on_progress(number, len(pairs))
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for pair in pairs for rows in pair.rows for row in rows)
    (partial_folder / "items.jsonl").write_text("".join(lines), encoding="utf-8")
    partial_folder.rename(folder)
    return set_hash(folder)


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
        (folder / f"images/{pair.number:05}{variant}.png").write_bytes(png(image))


def set_hash(folder: Path) -> str:
    """sha256 over the names and contents of all files of a set."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return digest.hexdigest()

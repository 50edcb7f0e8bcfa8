"""Choose the figures, questions and answers of a set of ko-fresh, as rows of the documented schema."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from evaluator.fresh.claims import choose_claims
from evaluator.fresh.degrade import DEGRADED, SUFFIXES, Version
from evaluator.fresh.facts import LAYOUTS, Facts, Layout, facts_of, random_of
from evaluator.fresh.korean import UNANSWERABLE
from evaluator.fresh.question import Kind
from evaluator.fresh.questions import choose_questions

QUESTIONS_PER_FIGURE = 3  # besides the four descriptions
VARIANTS = ("a", "b", "c", "d")  # a figure, its twin, and two that are never shown (see claims.py)
TWINS = ("original", "twin")
# The ladder is a figure in all versions: clean, and degraded in several ways (`degrade.py`). Of the layouts that lose nothing
# without colours, every fourth figure is on it: a tenth of all figures.
LADDER_LAYOUTS: tuple[Layout, ...] = ("table", "two_pages", "cards", "bar", "log", "dual", "pictogram")
LADDER_EVERY = 4
PRINTED: tuple[Layout, ...] = ("table", "two_pages", "cards")  # layouts that print all values
CHART_KINDS: tuple[Kind, ...] = ("estimate", "cross")  # need the chart of a page; others only its text and table
MAX_TRIES = 20  # to find values that allow four descriptions
Row = dict[str, Any]


@dataclass(frozen=True)
class Pair:
    """A figure and its twin, or a figure without one (see memory.py), each with its rows of `items.jsonl`."""

    number: int
    facts: tuple[Facts, ...]  # the figure, then its twin
    rows: tuple[list[Row], ...]  # for each of these figures, its rows
    versions: tuple[Version, ...]


def pair_of(seed: str, number: int) -> Pair:
    """Return figure `number`, its twin with other numbers, and the questions asked about both in the same words."""
    for attempt in range(MAX_TRIES):
        # All four are drawn again, because one that was chosen to suit the others could be told from them.
        variants = [facts_of(seed, number, f"{variant}{attempt}") for variant in VARIANTS]
        if four := choose_claims(variants, random_of(seed, number, "descriptions", attempt)):
            break  # if no try has four descriptions, the figure of the last try has none
    facts, twin = variants[:2]
    asked = choose_questions(facts, twin, random_of(seed, number, "questions"), QUESTIONS_PER_FIGURE)
    versions: tuple[Version, ...] = ("clean", *DEGRADED) if is_on_ladder(facts) else ("clean",)
    rows: list[list[Row]] = []
    for place, own in enumerate((facts, twin)):
        own_rows = [
            row_of(seed, own, place, version, question.kind, text=question.text, answer=answers[place])
            for question, *answers in asked
            for version in versions
        ]
        if four:
            choices = _true_first(four, place)
            own_rows += [row_of(seed, own, place, version, "description", choices=choices) for version in versions]
        rows.append(own_rows)
    return Pair(number, (facts, twin), tuple(rows), versions)


def is_on_ladder(facts: Facts) -> bool:
    """Return whether a figure is asked about in all versions."""
    cycle, place = divmod(facts.number, len(LAYOUTS))
    is_turn = (cycle + place) % LADDER_EVERY == LADDER_EVERY - 1  # each place has it once in LADDER_EVERY cycles
    return facts.layout in LADDER_LAYOUTS and is_turn


def row_of(
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
    pair = f"{figure}-{kind}"
    copy = "" if version == "clean" else f"-{version}"
    by_marks = kind in CHART_KINDS if facts.layout == "page" else facts.layout not in PRINTED
    return {
        "id": f"{pair}-{VARIANTS[place]}{copy}",
        "question": text,
        "answer": answer or choices[0],
        "choices": list(choices),
        "images": [f"images/{name}" for name in image_names(seed, facts, place, version)],
        "kind": "unanswerable" if answer == UNANSWERABLE else kind,
        "layout": facts.layout,
        "reading": "marks" if by_marks else "printed",
        "version": version,
        "twin": TWINS[place],
        "pair": pair,
    }


def image_names(seed: str, facts: Facts, place: int, version: Version) -> list[str]:
    """Return the names of the pages of a figure."""
    stem = f"{_figure_name(seed, facts.number)}{VARIANTS[place]}"
    copy = "" if version == "clean" else f"-{version}"
    page_numbers = ("-1", "-2") if facts.layout == "two_pages" else ("",)
    return [f"{stem}{number}{copy}.{SUFFIXES[version]}" for number in page_numbers]


def _figure_name(seed: str, number: int) -> str:
    """Return the file name of a figure. It depends on the seed, so that it reveals nothing about the content."""
    return f"{random_of(seed, number, 'name').getrandbits(40):010x}"


def _true_first(four: list[str], place: int) -> list[str]:
    """Return the descriptions with the true one first. `four` has the one that is true of the twin second."""
    here, there, *nowhere = four
    return [there, here, *nowhere] if place else four


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

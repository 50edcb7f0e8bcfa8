"""Generate the questions about a figure. The answer is a number with its unit, a name, a year, or 알 수 없음.

A question is asked about both variants of a figure in the same words, but with different answers. A model that memorised
the wording gains nothing. The exceptions are questions that neither figure can answer.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from evaluator.fresh import chart_questions as chart
from evaluator.fresh import table_questions as table
from evaluator.fresh.facts import Facts, Layout
from evaluator.fresh.korean import UNANSWERABLE
from evaluator.fresh.question import Question, answers_differ

UNANSWERED = 0.14  # chance that a question is replaced by one that this figure, its twin or both cannot answer

_GENERATORS: dict[Layout, tuple[Callable[[Facts], Iterator[Question]], ...]] = {
    "table": (table.lookups, table.ranks, table.differences, table.growths, table.per, table.shares, table.counts, table.footnotes),
    "two_pages": (table.lookups, table.differences, table.growths, table.per, table.shares, table.counts, table.footnotes),
    "page": (table.lookups, table.text_facts, chart.estimates, table.growths, chart.crosses, chart.trends),
    "cards": (table.lookups, table.ranks, table.sums, table.differences, table.years_before),
    "bar": (chart.estimates, table.ranks, chart.gaps),
    "log": (chart.estimates, table.ranks),
    "grouped": (chart.estimates, table.ranks, chart.gaps, chart.trends),
    "stacked": (chart.estimates, table.ranks, chart.totals),
    "area": (chart.estimates, chart.totals, table.ranks),
    "line": (chart.estimates, table.ranks, chart.gaps, chart.trends),
    "dual": (chart.estimates, chart.trends, chart.axes),
    "pie": (chart.chart_shares, table.ranks, chart.estimates),
    "pictogram": (table.lookups, table.ranks, table.sums, table.differences),
    "map": (chart.classes, chart.labels),
}  # fmt: skip


class Asked(NamedTuple):
    """A question with its answers for a figure and for its twin."""

    question: Question
    first: str
    second: str


def questions(facts: Facts) -> list[Question]:
    """Return all questions about figures with these districts, rows and years."""
    return [question for generate in _GENERATORS[facts.layout] for question in generate(facts)]


def absent_questions(facts: Facts) -> list[Question]:
    """Return questions in the same words about a row, a year or a district that the figure does not have."""
    row = facts.absent.row
    year = facts.absent.year
    group = facts.absent.group
    asked: list[Question] = []
    if row and facts.layout not in ("map", "dual"):  # their questions are written for a single row
        asked += _naming(facts.topic.said(row), replace(facts, rows=(*facts.rows, row)))
    years = sorted((*facts.years, year))
    asked += _naming(year, replace(facts, years=tuple(years)))
    if group:
        asked += _naming(group, replace(facts, groups=(*facts.groups, group)))
    return asked


def _naming(absent: str, wider: Facts) -> Iterator[Question]:
    """Yield the questions about `wider` that name `absent`, which the real figure lacks.

    `wider` has no values for it: only the words of the questions are used.
    """
    for question in questions(wider):
        if absent in question.text:
            yield Question(question.kind, question.text, lambda own: UNANSWERABLE)


def choose_questions(facts: Facts, twin: Facts, chooser: random.Random, count: int) -> list[Asked]:
    """Return up to `count` questions of different kinds, each with its answers for both variants.

    The answers differ by more than their tolerances, unless neither figure can answer the question. Each question that can be
    answered is replaced with the same chance by one in the same words that cannot, so the words do not tell which it is.
    """
    answerable: dict[str, list[Asked]] = {}
    hidden: list[Asked] = []  # one of the figures or both have a gap where the answer would be
    for question in questions(facts):
        first = question.answer(facts)
        second = question.answer(twin)
        if first is None or second is None:
            continue
        if UNANSWERABLE in (first, second):
            hidden.append(Asked(question, first, second))
        elif answers_differ(first, second):
            answerable.setdefault(question.kind, []).append(Asked(question, first, second))
    # These name something that both figures lack.
    absent = [Asked(question, UNANSWERABLE, UNANSWERABLE) for question in absent_questions(facts)]
    kinds = list(answerable)
    chooser.shuffle(kinds)
    chosen: list[Asked] = []
    for kind in kinds[:count]:
        asked = chooser.choice(answerable[kind])
        if chooser.random() < UNANSWERED:
            # Three of four times one that needs a look at the picture. If neither pool has one, the question stays.
            alike_hidden = _worded_as(facts, asked, hidden)
            alike_absent = _worded_as(facts, asked, absent)
            pools = (alike_hidden, alike_hidden, alike_hidden, alike_absent)
            filled = [pool for pool in pools if pool] or [[asked]]
            asked = chooser.choice(chooser.choice(filled))
        chosen.append(asked)
    return chosen


def _worded_as(facts: Facts, asked: Asked, others: Sequence[Asked]) -> list[Asked]:
    """Return those of the others that use the same words."""
    words = wording(facts, asked.question.text)
    return [other for other in others if wording(facts, other.question.text) == words]


def wording(facts: Facts, text: str) -> str:
    """Return the words of a question without names, years and the particles that follow them."""
    absent = facts.absent
    rows = [facts.topic.said(row) for row in (*facts.rows, absent.row) if row]
    names = (*facts.groups, absent.group, *facts.years, absent.year, *rows)
    pattern = "|".join(sorted((re.escape(name) for name in names if name), key=len, reverse=True))
    return re.sub(rf"({pattern})\S*", "＿", text)

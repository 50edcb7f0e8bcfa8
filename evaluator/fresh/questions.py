"""Generate the questions about a figure. The answer is a number with its unit, a name, a year, or 알 수 없음.

A figure and its twin show the same districts, rows and years with other numbers (see evaluator/fresh/facts.py). A question
is asked about both in the same words, but has different answers, so a model that memorised the wording gains nothing. The
exceptions are questions that neither figure can answer.
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

UNANSWERED = 0.14  # probability that a question is replaced by one that the figure, its twin or both cannot answer
HIDDEN_WEIGHT = 3  # of these questions, how many ask for a hidden value, for each one that names something absent

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
    """Return questions in the same words about a row, a year or a district (a "group") that the figure does not have."""
    row = facts.absent.row
    year = facts.absent.year
    group = facts.absent.group
    found: list[Question] = []
    # A map and a chart with two axes show one row, which their questions are about (`chart.axes` fails if there are two).
    if row and facts.layout not in ("map", "dual"):
        found += _naming(facts.topic.said(row), replace(facts, rows=(*facts.rows, row)))
    years = sorted((*facts.years, year))
    found += _naming(year, replace(facts, years=tuple(years)))
    if group:
        found += _naming(group, replace(facts, groups=(*facts.groups, group)))
    return found


def _naming(absent: str, wider_facts: Facts) -> Iterator[Question]:
    """Yield the questions about `wider_facts` that name `absent`, which only these facts have, and not the real figure.

    They have no values for it: only the words of the questions are used.
    """
    for question in questions(wider_facts):
        if absent in question.text:
            yield Question(question.kind, question.text, lambda own: UNANSWERABLE)


def choose_questions(facts: Facts, twin: Facts, chooser: random.Random, count: int) -> list[Asked]:
    """Return up to `count` questions of different kinds, each with its answers for the figure and its twin.

    The answers differ by more than their tolerances, unless neither figure can answer the question. Each chosen question is
    replaced with the same probability by one in the same words that cannot be answered, so that the words do not show which
    questions these are.
    """
    answerable: dict[str, list[Asked]] = {}
    hidden: list[Asked] = []  # one of the figures or both have a gap where the answer would be
    for question in questions(facts):
        first = question.answer(facts)
        second = question.answer(twin)
        if first is None or second is None:  # it has no single answer, for example because two rows are about equal
            continue
        if UNANSWERABLE in (first, second):
            hidden.append(Asked(question, first, second))
        elif answers_differ(first, second):
            answerable.setdefault(question.kind, []).append(Asked(question, first, second))
    absent = [Asked(question, UNANSWERABLE, UNANSWERABLE) for question in absent_questions(facts)]
    kinds = list(answerable)
    chooser.shuffle(kinds)
    chosen: list[Asked] = []
    for kind in kinds[:count]:
        asked = chooser.choice(answerable[kind])
        if chooser.random() < UNANSWERED:
            asked = _unanswerable_instead(facts, asked, hidden, absent, chooser)
        chosen.append(asked)
    return chosen


def _unanswerable_instead(
    facts: Facts, asked: Asked, hidden: Sequence[Asked], absent: Sequence[Asked], chooser: random.Random
) -> Asked:
    """Return a question in the same words that cannot be answered, or `asked` itself if there is none.

    Mostly it is one of `hidden`: the figure has the row and the year, but a gap where the value would be, so only a look at
    the picture shows it. Otherwise it names something that the figure does not have, which its headings show.
    """
    hidden_in_same_words = _worded_as(facts, asked, hidden)
    absent_in_same_words = _worded_as(facts, asked, absent)
    pools = [*[hidden_in_same_words] * HIDDEN_WEIGHT, absent_in_same_words]
    filled_pools = [pool for pool in pools if pool] or [[asked]]
    return chooser.choice(chooser.choice(filled_pools))


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

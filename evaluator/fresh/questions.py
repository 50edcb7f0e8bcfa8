"""Generate the questions about a figure: for a number with its unit, a name, a year, or 알 수 없음.

A question is asked about both variants of a figure in the same words, but with different answers. A model that memorised
the wording gains nothing. The exception are questions that neither figure can answer.
"""

import random
from collections.abc import Callable, Iterator

from evaluator.fresh import chart_questions as chart
from evaluator.fresh import table_questions as table
from evaluator.fresh.facts import Facts, Layout
from evaluator.fresh.korean import UNANSWERABLE, base_unit, topic_marker
from evaluator.fresh.question import EXACT, Question

_GENERATORS: dict[Layout, tuple[Callable[[Facts], Iterator[Question]], ...]] = {
    "table": (table.lookups, table.unknown, table.ranks, table.differences, table.growths, table.per, table.shares, table.counts, table.footnotes),
    "two_pages": (table.lookups, table.unknown, table.differences, table.growths, table.per, table.shares, table.counts, table.footnotes),
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
    "map": (chart.classes,),
}  # fmt: skip


def questions(facts: Facts) -> list[Question]:
    """Return all questions about figures with these districts, rows and years."""
    return [question for generate in _GENERATORS[facts.layout] for question in generate(facts)] + list(_absent(facts))


def _absent(facts: Facts) -> Iterator[Question]:
    """Ask for what the figure does not show: another row, another year, an exact value on a map."""
    row, year = facts.absent
    measure = facts.topic.measures[0]
    group = facts.groups[0]
    asked = [(facts.rows[0], year), *([(row, facts.years[-1])] if row else [])]
    if facts.layout == "map":
        asked.append((facts.rows[0], facts.years[0]))
    about = "" if facts.layout in EXACT else "약 "
    for one, when in asked:
        name = f"{when} {facts.where(group)}{one}의 {measure.name}"
        text = f"{name}{topic_marker(name)} {about}몇 {base_unit(measure.unit)}입니까?"
        yield Question("unanswerable", text, lambda own: UNANSWERABLE)


def choose_questions(facts: Facts, twin: Facts, chooser: random.Random, count: int) -> list[tuple[Question, str, str]]:
    """Return up to `count` questions of different kinds, each with its answers for both variants.

    The answers differ, unless neither figure can answer the question.
    """
    by_kind: dict[str, list[Question]] = {}
    for question in questions(facts):
        by_kind.setdefault(question.kind, []).append(question)
    kinds = sorted(by_kind, key=lambda kind: chooser.random() + (0.35 if kind == "unanswerable" else 0))
    chosen: list[tuple[Question, str, str]] = []
    for kind in kinds:
        chooser.shuffle(by_kind[kind])
        for question in by_kind[kind]:
            answers = question.answer(facts), question.answer(twin)
            if all(answers) and (answers[0] != answers[1] or answers[0] == UNANSWERABLE):
                chosen.append((question, str(answers[0]), str(answers[1])))
                break
        if len(chosen) == count:
            break
    return chosen

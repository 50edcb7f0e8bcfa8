"""Invent sample rows for any benchmark: figures of ko-fresh with questions, descriptions and transcripts."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, product
from typing import Any

from evaluator.fresh.claims import choose_claims
from evaluator.fresh.facts import Facts, Layout, facts_of, random_of
from evaluator.fresh.korean import UNANSWERABLE
from evaluator.fresh.pages import cell_text, measure_head, notes_of
from evaluator.fresh.pairs import VARIANTS
from evaluator.fresh.question import place_of
from evaluator.fresh.table_questions import lookups

SAMPLE_LAYOUTS: tuple[Layout, ...] = ("table", "pictogram", "cards", "bar")  # each has one page
CELLS = 8  # checks of cells of each page


@dataclass(frozen=True)
class Sample:
    """An invented figure. `facts` come first, then three variants with other numbers."""

    variants: tuple[Facts, ...]
    chooser: random.Random

    @property
    def facts(self) -> Facts:
        return self.variants[0]

    def question(self) -> tuple[str, str] | None:
        """Return a question for a number that is printed or counted, and the answer with its unit, or None if there is none."""
        if self.facts.layout == "bar":
            return None
        questions = list(lookups(self.facts))
        self.chooser.shuffle(questions)
        for question in questions:
            answer = question.answer(self.facts)
            if answer not in (None, UNANSWERABLE):
                return question.text, str(answer)
        return None

    def choices(self, *, korean: bool) -> tuple[str, list[str]] | None:
        """Return a question for the largest of four rows, and the four, the right one first."""
        facts = self.facts
        group = facts.groups[0]
        year = facts.years[-1]
        rows = [row for row in facts.rows if row != facts.excluded][:4]
        column = facts.column(group, year) or {}
        shown = {row: column[row] for row in rows if row in column}
        largest = place_of(facts, shown, 0) if len(shown) == 4 else None
        if largest is None:
            return None
        measure = facts.topic.measures[0].name
        text = f"Which of these has the largest {measure} in {year} ({group})?"
        if korean:
            text = f"{year} {group}에서 {measure} 값이 가장 큰 것은?"
        return text, [largest, *(row for row in shown if row != largest)]

    def descriptions(self) -> list[str] | None:
        """Return four descriptions of the figure, the true one first."""
        return choose_claims(self.variants, self.chooser)

    def transcript(self) -> str | None:
        """Return the page in Markdown with an HTML table, or None if it is not a plain table."""
        has_hanja = self.facts.style % 4 == 0  # in the title (`pages.py`); `is_sound` of the scoring rules refuses it
        if self.facts.layout != "table" or has_hanja:
            return None
        return _transcript(self.facts)

    def checks(self) -> Iterator[dict[str, Any]]:
        """Yield tests of the sentences and cells of a table, in the form of olmOCR-bench."""
        return _checks(self.facts)


def samples(seed: str) -> Iterator[Sample]:
    """Yield invented figures without end. Those of a seed are always the same."""
    for number in count():
        variants = tuple(facts_of(seed, number, variant) for variant in VARIANTS)
        if variants[0].layout in SAMPLE_LAYOUTS:
            yield Sample(variants, random_of(seed, number, "sample"))


def _checks(facts: Facts) -> Iterator[dict[str, Any]]:
    for sentence in (facts.title, f"자료: {facts.source}", *notes_of(facts)):
        yield {"type": "present", "text": sentence, "max_diffs": len(sentence) // 10}
    # Headers and footers must be absent. The page has none, so this is a page number that a model would have to invent.
    yield {"type": "absent", "text": f"- {facts.number} -"}
    cells = list(product(facts.groups, facts.rows, facts.years, (0, 1)))
    for group, row, year, measure in random.Random(facts.number).sample(cells, CELLS):
        check = {
            "type": "table",
            "cell": cell_text(facts.value(group, row, year, measure)),
            "left_heading": _row_head(facts, row),
            "top_heading": _year_head(facts, year),
        }
        if year != facts.years[0]:
            before = facts.years[facts.years.index(year) - 1]
            check["left"] = cell_text(facts.value(group, row, before, measure))
        yield check


def _transcript(facts: Facts) -> str:
    years = len(facts.years)
    units = ", ".join(dict.fromkeys(measure.unit for measure in facts.topic.measures))
    heads = "".join(f'<th colspan="{years}">{measure_head(facts, measure)}</th>' for measure in (0, 1))
    lines = [f'<tr><th rowspan="2" colspan="2">구분</th>{heads}</tr>']
    lines.append(f"<tr>{''.join(f'<th>{_year_head(facts, year)}</th>' for year in facts.years * 2)}</tr>")
    for group in facts.groups:
        first = f'<th rowspan="{len(facts.rows) + 1}">{group}</th>'
        for row in (None, *facts.rows):  # None is the row of subtotals
            values = (
                facts.value(group, row, year, measure) if row else facts.subtotal(group, year, measure)
                for measure, year in product((0, 1), facts.years)
            )
            cells = "".join(f"<td>{cell_text(value)}</td>" for value in values)
            lines.append(f"<tr>{first}<th>{_row_head(facts, row) if row else '소계'}</th>{cells}</tr>")
            first = ""
    table = "\n".join(["<table>", *lines, "</table>"])
    return "\n\n".join([f"# {facts.title}", f"(단위: {units})", table, *notes_of(facts), f"자료: {facts.source}"])


def _row_head(facts: Facts, row: str) -> str:
    return f"{row}1)" if row == facts.excluded else row


def _year_head(facts: Facts, year: str) -> str:
    return f"{year}p)" if facts.provisional and year == facts.years[-1] else year

"""Invent the figures of sample sets, which are those of ko-fresh with simpler questions.

`scripts.make_samples` draws them. The `invented_row` of each kind of benchmark makes a row from one method of `Sample`:
`question` (quantities), `choices` or `descriptions` (choices), `transcript` and `checks` (transcriptions).
"""

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
    """An invented figure, with three variants that show the same rows and years with other numbers."""

    variants: tuple[Facts, ...]  # the figure first
    seed: str

    @property
    def facts(self) -> Facts:
        """The figure itself."""
        return self.variants[0]

    def _chooser(self) -> random.Random:
        return random_of(self.seed, self.facts.number, "sample")

    def question(self) -> tuple[str, str] | None:
        """Return a question for a number that is printed or counted, and the answer with its unit, or None if there is none."""
        if self.facts.layout == "bar":
            return None
        questions = list(lookups(self.facts))  # for each printed value
        self._chooser().shuffle(questions)
        for question in questions:
            answer = question.answer(self.facts)
            if answer not in (None, UNANSWERABLE):
                return question.text, str(answer)
        return None

    def choices(self, *, korean: bool) -> tuple[str, list[str]] | None:
        """Return a question for the largest of four rows, and the four, the right one first.

        Return None if the figure has fewer rows or hides a value, or if another row is too close to the largest.
        """
        facts = self.facts
        group = facts.groups[0]
        year = facts.years[-1]
        values = facts.column(group, year) or {}
        # The row that a footnote leaves out of the subtotals has the mark of the footnote in its name, so it is no choice.
        rows = [row for row in facts.rows if row != facts.excluded][:4]
        value_by_choice = {row: values[row] for row in rows if row in values}
        if len(value_by_choice) < 4:
            return None
        largest = place_of(facts, value_by_choice, place=0)
        if largest is None:
            return None
        measure = facts.topic.measures[0].name
        text = f"Which of these has the largest {measure} in {year} ({group})?"
        if korean:
            text = f"{year} {group}에서 {measure} 값이 가장 큰 것은?"
        return text, [largest, *(row for row in value_by_choice if row != largest)]

    def descriptions(self) -> list[str] | None:
        """Return four descriptions of the figure, the true one first."""
        return choose_claims(self.variants, self._chooser())

    def transcript(self) -> str | None:
        """Return the page in Markdown with an HTML table, or None if it is not a plain table."""
        # Every fourth style has Chinese characters in the title (`pages.py`), which `is_sound` of the scoring rules refuses.
        has_hanja = self.facts.style % 4 == 0
        if self.facts.layout != "table" or has_hanja:
            return None
        return _transcript(self.facts)

    def checks(self) -> Iterator[dict[str, Any]]:
        """Yield tests of the sentences and cells of the page, in the form of olmOCR-bench. The figure must be a table."""
        return _checks(self.facts)


def samples(seed: str) -> Iterator[Sample]:
    """Yield invented figures without end. Those of a seed are always the same."""
    for number in count():
        variants = tuple(facts_of(seed, number, variant) for variant in VARIANTS)
        if variants[0].layout in SAMPLE_LAYOUTS:
            yield Sample(variants, seed)


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
    """Return a table as HTML, with the title, the units, the notes and the source around it."""
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

"""Answer questions of ko-fresh with rules over the printed values of a figure, which are given without a reading error.

They are a baseline: what is right without understanding a page, only from the wording of the questions and what is printed.
`make bench PARTS=fresh` and `make demo` show it beside other readers.

The rules cannot read values that are not printed. There they answer with a name of the figure or with 알 수 없음.
"""

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, DivisionByZero, InvalidOperation

from evaluator.fresh.korean import UNANSWERABLE, base_unit, multiplier, spoken
from evaluator.fresh.pages import punctual_share
from scripts.readers.printed import Printed

LETTERS = "ABCD"
DISTRICT = re.compile(r"[가-힣]+[구군](?=[ 과와의에])")
HIDDEN = "＃"  # stands for the name of a measure, in which the name of a row may be
Names = tuple[str, ...]


def answer(printed: Printed, text: str) -> str:
    """Return the answer to a prompt of ko-fresh."""
    if "질문: " in text:
        return f"정답: {_answer_to_question(printed, text.partition('질문: ')[2].strip())}"
    choices: list[tuple[str, str]] = re.findall(r"^([ABCD])\. (.+)$", text, re.MULTILINE)
    is_true = {letter: _claim(printed, choice) for letter, choice in choices}
    true_ones = [letter for letter, value in is_true.items() if value]
    undecided = [letter for letter, value in is_true.items() if value is None]  # their values are not printed
    return f"정답: {(true_ones or undecided or list(LETTERS))[0]}"


def _in_order(names: Names, text: str) -> list[str]:
    """Return the names that a text has, in their order. Longer names are found first."""
    places: dict[str, int] = {}
    for name in sorted(names, key=len, reverse=True):
        if name in text:
            places[name] = text.index(name)
            text = text.replace(name, "＿" * len(name))
    return sorted(places, key=lambda name: places[name])


class _Question:
    """The names in a question, and the printed values of the figure that it is about."""

    def __init__(self, printed: Printed, text: str) -> None:
        self.printed = printed
        self.text = text
        self.facts = printed.facts
        first, second = self.facts.topic.measures
        self.index = 1 if second.name in text else 0  # of the measure that is asked about
        self.unit = self.facts.topic.measures[self.index].unit
        self.rows = _in_order(self.facts.rows, text.replace(first.name, HIDDEN).replace(second.name, HIDDEN))
        self.groups = _in_order(self.facts.groups, text) or [self.facts.groups[0]]
        self.years = _in_order(printed.years, text)
        self.group = self.groups[0]
        self.year = (self.years or [self.facts.years[-1]])[0]

    @property
    def names_what_is_not_printed(self) -> bool:
        """Whether the question names a year or a district that the figure does not have."""
        named_years = re.findall(r"\d{4}년", self.text)
        return len(named_years) > len(self.years) or not set(DISTRICT.findall(self.text)) <= set(self.facts.groups)

    def value(
        self, row: str | None = None, *, group: str | None = None, year: str | None = None, index: int | None = None
    ) -> Decimal:
        """Return a printed value: by default that of the first row, group and year of the question, in its measure.

        Raises LookupError if it is not printed, or the question names no row.
        """
        index = self.index if index is None else index
        found = self.printed.cells[group or self.group, row or self.rows[0], year or self.year, index]
        if found is None:
            raise LookupError
        return found

    def spoken(self, value: Decimal) -> str:
        return spoken(value, self.unit)


def _answer_to_question(printed: Printed, text: str) -> str:
    """Return the answer by the first rule whose words the question has, or that it cannot be answered."""
    question = _Question(printed, text)
    if question.names_what_is_not_printed:
        return UNANSWERABLE
    rule = next((rule for words, rule in _RULES if re.search(words, text)), _looked_up)
    try:
        return rule(question)
    except (LookupError, ValueError, DivisionByZero, InvalidOperation):
        return UNANSWERABLE  # what the rule needs is not named or not printed


def _year_of_extreme(question: _Question) -> str:
    """중구의 사과 생산량이 가장 많았던 해는 몇 년입니까?"""
    series = {year: question.value(year=year) for year in question.facts.years}
    chosen = max if "많았던" in question.text else min
    return chosen(series, key=lambda year: series[year])


def _count(question: _Question) -> str:
    """사과가 배보다 많은 구는 모두 몇 곳입니까?"""
    first, second = question.rows[:2]
    groups = question.facts.groups
    larger = [group for group in groups if question.value(first, group=group) > question.value(second, group=group)]
    return f"{len(larger)}곳"


def _growth(question: _Question) -> str:
    """중구의 사과 생산량은 2019년부터 2020년까지 몇 % 늘었습니까?"""
    old, new = (question.value(year=year) for year in question.years)
    return _percent(100 * (new - old) / old)


def _share_of_subtotal(question: _Question) -> str:
    """소계에서 사과가 차지하는 비율은 몇 %입니까? The subtotal leaves one row out."""
    facts = question.facts
    subtotal = sum(question.value(row) for row in facts.rows if row != facts.excluded)
    return _percent(100 * question.value() / subtotal)


def _total_with_excluded(question: _Question) -> str:
    """소계에서 제외된 항목까지 더하면 얼마입니까?"""
    return question.spoken(sum((question.value(row) for row in question.facts.rows), Decimal()))


def _year_before(question: _Question) -> str:
    """전년도 사과 생산량은 얼마입니까? It follows from the printed growth."""
    growth = question.printed.growth[question.rows[0]]
    return question.spoken((question.value() / (1 + growth / 100)).quantize(Decimal(1)))


def _share_of_measure(question: _Question) -> str:
    """사과 판매량은 생산량의 몇 %입니까?"""
    first, second = question.facts.topic.measures
    part, whole = (0, 1) if question.text.index(first.name) < question.text.index(second.name) else (1, 0)
    return _percent(100 * _in_base_unit(question, part) / _in_base_unit(question, whole))


def _rate(question: _Question) -> str:
    """1가구당 인구는 몇 명입니까?"""
    before = question.text.partition("당")[0]
    per = 0 if question.facts.topic.measures[0].name.removesuffix(" 수") in before else 1
    counted = 1 - per
    ratio = _in_base_unit(question, counted) / _in_base_unit(question, per)
    unit = base_unit(question.facts.topic.measures[counted].unit)
    return f"{ratio.quantize(Decimal('0.1'), ROUND_HALF_UP):,}{unit}"


def _in_base_unit(question: _Question, index: int) -> Decimal:
    """Return the value of a measure without its multiplier: 3천 명 → 3000."""
    return question.value(index=index) * multiplier(question.facts.topic.measures[index].unit)


def _sum(question: _Question) -> str:
    """사과와 배를 합하면 얼마입니까?"""
    return question.spoken(question.value(question.rows[0]) + question.value(question.rows[1]))


def _difference(question: _Question) -> str:
    """사과와 배는 얼마나 차이가 납니까? 중구와 동구의 사과는 얼마나 차이가 납니까?"""
    if len(question.rows) == 2:
        return question.spoken(abs(question.value(question.rows[0]) - question.value(question.rows[1])))
    first, second = question.groups[:2]
    return question.spoken(abs(question.value(group=first) - question.value(group=second)))


def _looked_up(question: _Question) -> str:
    """중구의 사과 생산량은 얼마입니까?"""
    return question.spoken(question.value())


# Words of a question, and its rule. The first that is found decides, so the order matters.
_RULES: tuple[tuple[str, Callable[[_Question], str]], ...] = (
    ("기한 내", lambda question: f"{punctual_share(question.facts)}%"),
    ("무엇입니까|어디입니까", lambda question: _named(question.printed, question.text, question.group, question.year)),
    ("해는 몇 년", _year_of_extreme),
    ("모두 몇 곳", _count),
    ("늘었습니까", _growth),
    ("소계에서(?=.*비율)|비율(?=.*소계에서)", _share_of_subtotal),
    ("소계에서 제외된", _total_with_excluded),
    ("전년도", _year_before),
    ("의 몇 %입니까", _share_of_measure),
    (r"1\S+당", _rate),
    ("합하면", _sum),
    ("차이가", _difference),
)


def _named(printed: Printed, text: str, group: str, year: str) -> str:
    """Return the row at a place in descending order, or the first name if no values are printed."""
    facts = printed.facts
    column = {row: printed.cells.get((group, row, year, 0)) for row in facts.rows}
    known = {row: value for row, value in column.items() if value is not None}
    if not known:
        return (_in_order(facts.groups, text) if "어디" in text else list(facts.rows))[0]
    order = sorted(known, key=lambda row: -known[row])
    if "두 번째" in text:
        return order[1]
    return order[-1 if "적은" in text else 0]


def _claim(printed: Printed, text: str) -> bool | None:
    """Return whether a description is true, or None if its values are not printed."""
    facts = printed.facts
    words = text.replace(facts.topic.measures[0].name, "＃")
    groups, rows, years = (_in_order(names, words) for names in (facts.groups, facts.rows, facts.years))
    group = (groups or [facts.groups[0]])[0]
    cells = [(group, row, year, 0) for row in rows for year in years]
    values = [printed.cells.get(cell) for cell in cells]
    if "가장" in text and rows and years:
        column = {row: printed.cells.get((group, row, years[0], 0)) for row in facts.rows}
        known = {row: value for row, value in column.items() if value is not None}
        if not known:
            return None
        chosen = max if "가장 많은" in text else min
        return chosen(known, key=lambda row: known[row]) == rows[0]
    if len(values) != 2 or values[0] is None or values[1] is None:
        return None
    return values[0] > values[1] if "많았다" in text else values[0] < values[1]


def _percent(value: Decimal) -> str:
    return f"{value.quantize(Decimal('0.1'), ROUND_HALF_UP)}%"

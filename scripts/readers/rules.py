"""Answer questions of ko-fresh with rules over the printed values of a figure, which are given without a reading error.

The rules cannot read values that are not printed. There they answer with a name of the figure or with 알 수 없음.
"""

import re
from decimal import ROUND_HALF_UP, Decimal, DivisionByZero, InvalidOperation

from evaluator.fresh.korean import UNANSWERABLE, base_unit, multiplier, spoken
from evaluator.fresh.pages import punctual_share
from scripts.readers.printed import Printed

LETTERS = "ABCD"
DISTRICT = re.compile(r"[가-힣]+[구군](?=[ 과와의에])")
Names = tuple[str, ...]


def answer(printed: Printed, text: str) -> str:
    """Return the answer to a prompt of ko-fresh."""
    if "질문: " in text:
        return f"정답: {_question(printed, text.partition('질문: ')[2].strip())}"
    choices: list[tuple[str, str]] = re.findall(r"^([ABCD])\. (.+)$", text, re.MULTILINE)
    held = {letter: _claim(printed, choice) for letter, choice in choices}
    known = [letter for letter, value in held.items() if value]
    unknown = [letter for letter, value in held.items() if value is None]
    return f"정답: {(known or unknown or list(LETTERS))[0]}"


def _in_order(names: Names, text: str) -> list[str]:
    """Return the names that a text has, in their order. Longer names are found first."""
    places: dict[str, int] = {}
    for name in sorted(names, key=len, reverse=True):
        if name in text:
            places[name] = text.index(name)
            text = text.replace(name, "＿" * len(name))
    return sorted(places, key=lambda name: places[name])


def _question(printed: Printed, text: str) -> str:
    facts = printed.facts
    first, second = facts.topic.measures
    index = 1 if second.name in text else 0
    measure = facts.topic.measures[index]
    rows = _in_order(facts.rows, text.replace(first.name, "＃").replace(second.name, "＃"))
    groups = _in_order(facts.groups, text) or [facts.groups[0]]
    years = _in_order(printed.years, text)
    if len(re.findall(r"\d{4}년", text)) > len(years) or not set(DISTRICT.findall(text)) <= set(facts.groups):
        return UNANSWERABLE  # it names what is not printed
    year = (years or [facts.years[-1]])[0]
    group = groups[0]

    def value(group: str, row: str, year: str, index: int = index) -> Decimal:
        found = printed.cells[group, row, year, index]
        if found is None:
            raise LookupError
        return found

    try:
        if "기한 내" in text:
            return f"{punctual_share(facts)}%"
        if "무엇입니까" in text or "어디입니까" in text:
            return _named(printed, text, group, year)
        if "해는 몇 년" in text:
            series = {y: value(group, rows[0], y) for y in facts.years}
            return (max if "많았던" in text else min)(series, key=lambda y: series[y])
        if "모두 몇 곳" in text:
            pairs = [(value(g, rows[0], year), value(g, rows[1], year)) for g in facts.groups]
            return f"{sum(a > b for a, b in pairs)}곳"
        if "늘었습니까" in text:
            old, new = (value(group, rows[0], y) for y in years)
            return _percent(100 * (new - old) / old)
        if "소계에서" in text and "비율" in text:
            counted = [value(group, row, year) for row in facts.rows if row != facts.excluded]
            return _percent(100 * value(group, rows[0], year) / sum(counted))
        if "소계에서 제외된" in text:
            return spoken(sum((value(group, row, year) for row in facts.rows), Decimal()), measure.unit)
        if "전년도" in text:
            before = value(group, rows[0], year) / (1 + printed.growth[rows[0]] / 100)
            return spoken(before.quantize(Decimal(1)), measure.unit)
        if "의 몇 %입니까" in text:
            part, whole = (0, 1) if text.index(first.name) < text.index(second.name) else (1, 0)
            below, above = (facts.topic.measures[n] for n in (part, whole))
            share = value(group, rows[0], year, part) * multiplier(below.unit)
            return _percent(100 * share / (value(group, rows[0], year, whole) * multiplier(above.unit)))
        if per := re.search(r"1\S+당", text):
            little = 0 if first.name.removesuffix(" 수") in text[: per.start()] else 1
            below = facts.topic.measures[little]
            above = facts.topic.measures[1 - little]
            ratio = value(group, rows[0], year, 1 - little) * multiplier(above.unit)
            ratio /= value(group, rows[0], year, little) * multiplier(below.unit)
            return f"{ratio.quantize(Decimal('0.1'), ROUND_HALF_UP):,}{base_unit(above.unit)}"
        if "합하면" in text:
            return spoken(value(group, rows[0], year) + value(group, rows[1], year), measure.unit)
        if "차이가" in text and len(rows) == 2:
            return spoken(abs(value(group, rows[0], year) - value(group, rows[1], year)), measure.unit)
        if "차이가" in text:
            return spoken(abs(value(groups[0], rows[0], year) - value(groups[1], rows[0], year)), measure.unit)
        return spoken(value(group, rows[0], year), measure.unit)
    except (LookupError, ValueError, DivisionByZero, InvalidOperation):
        return UNANSWERABLE


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

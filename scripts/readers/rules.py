"""Answer questions from the numbers and words on a page, with rules that know the layouts of ko-fresh."""

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal

from evaluator.fresh.topics import TOPICS, Topic
from scripts.readers.text import Number, Page

UNKNOWN = "모름"
YEAR = re.compile(r"(20\d\d년)")
SAME_LINE, SAME_COLUMN = 14, 60  # pixels
LETTERS = "ABCD"


def answer(page: Page, text: str) -> str:
    """Return the answer to a prompt of ko-fresh, or UNKNOWN if no rule can read the page."""
    if "질문: " in text:
        question = text.partition("질문: ")[2].partition("\n")[0]
        return _question(page, question)
    choices: list[tuple[str, str]] = re.findall(r"^([ABCD])\. (.+)$", text, re.MULTILINE)
    held = {letter: _claim(page, choice) for letter, choice in choices}
    known = [letter for letter, value in held.items() if value]
    open_ones = [letter for letter, value in held.items() if value is None]
    return (known or open_ones or list(LETTERS))[0]


def _topic(words: str) -> tuple[Topic, list[str]] | None:
    """Return the topic of a text and the rows it names, in their order, or None."""
    best: tuple[int, Topic, list[str]] | None = None
    for topic in TOPICS:
        if topic.measure not in words:
            continue
        rows, left = [], words.replace(topic.measure, "＃")
        for row in sorted(topic.rows, key=len, reverse=True):
            if row in left:
                rows.append((left.index(row), row))
                left = left.replace(row, "＿" * len(row))
        if best is None or len(rows) > best[0]:
            best = len(rows), topic, [row for _, row in sorted(rows)]
    return (best[1], best[2]) if best else None


def _question(page: Page, question: str) -> str:
    known = _topic(question)
    if known is None:
        return UNKNOWN
    topic, rows = known
    years = YEAR.findall(question)
    year = years[0] if years else None
    shown = [row for row in topic.rows if page.word(row)]
    unit = topic.unit
    try:
        if "해는 몇 년" in question:
            series = {y: read(page, topic, rows[0], y) for y in _years(page)}
            return (max if "많았던" in question else min)(series, key=lambda y: series[y])
        if "은 항목의" in question:
            values = [read(page, topic, row, year) for row in shown]
            return f"{(max if '가장 많은' in question else min)(values):,} {unit}"
        first = read(page, topic, rows[0], year)
        if "몇 %" in question:
            total = sum((read(page, topic, row, year) for row in shown), Decimal())
            return f"{(100 * first / total).quantize(Decimal('0.1'), ROUND_HALF_UP)}%"
        if topic.converted and "바꾸어" in question:
            return f"{first * topic.converted[1]:,.0f} {topic.converted[0]}"
        if "합하면" in question:
            return f"{first + read(page, topic, rows[1], year):,} {unit}"
        if "차이는" in question and len(years) == 2:
            return f"{abs(first - read(page, topic, rows[0], years[1])):,} {unit}"
        if "차이는" in question:
            return f"{abs(first - read(page, topic, rows[1], year)):,} {unit}"
        return f"{first:,} {unit}"
    except (LookupError, ValueError, ArithmeticError):
        return UNKNOWN


def _claim(page: Page, text: str) -> bool | None:
    """Return whether a description is true, or None if it cannot be read."""
    known = _topic(text)
    if known is None or not known[1]:
        return None
    topic, rows = known
    years = YEAR.findall(text)
    shown = [row for row in topic.rows if page.word(row)]
    try:
        own = read(page, topic, rows[0], years[0])
        if "보다 많았다" in text:
            return own > read(page, topic, rows[1], years[0])
        if text.startswith(f"{years[0]}에는"):
            values = [read(page, topic, row, years[0]) for row in shown]
            return own == (max(values) if "많았다" in text else min(values))
        if "가장 많았다" in text:
            return own == max(read(page, topic, rows[0], year) for year in _years(page))
        return (read(page, topic, rows[0], years[1]) > own) == ("늘었다" in text)
    except (LookupError, ValueError, ArithmeticError):
        return None


def _years(page: Page) -> list[str]:
    return [year for year in (f"{n}년" for n in range(2014, 2026)) if page.word(year)]


def read(page: Page, topic: Topic, row: str, year: str | None) -> Decimal:
    """Return the value of a row in a year. Raises LookupError if no rule finds it on the page."""
    labels = page.word(row)
    if not labels:
        raise LookupError(row)
    if (per_icon := _icon_value(page)) is not None:
        return _icons(page, labels[0]) * per_icon
    heads = page.word(year) if year else []
    # In a table, the number is on the line of the label and below the year.
    for x, y in labels:
        cells = [n for n in page.numbers if abs(n.y - y) < SAME_LINE and n.x > x + 20]
        for head_x, head_y in heads:
            own = [n for n in cells if head_y < y and abs(n.x - head_x) < SAME_COLUMN]
            if own:
                return min(own, key=lambda n: abs(n.x - head_x)).value
    # In figures of a single year, it is above, below or next to the label.
    rules: tuple[Callable[[Number, float, float], bool], ...] = (
        lambda n, x, y: abs(n.y - y) < SAME_LINE and n.x > x + 30,  # a horizontal bar
        lambda n, x, y: abs(n.x - x) < 30 and 8 < n.y - y < 34,  # a slice of a pie
        lambda n, x, y: abs(n.x - x) < 40 and 34 <= n.y - y < 95,  # a card
        lambda n, x, y: abs(n.x - x) < 30 and n.y < y - 20,  # a vertical bar
    )
    for rule in rules:
        for x, y in labels:
            own = [n for n in page.numbers if rule(n, x, y)]
            if own:
                return min(own, key=lambda n: abs(n.y - y)).value
    raise LookupError(row)


def _icon_value(page: Page) -> Decimal | None:
    """Return the value of an icon of a pictogram, which the legend gives, or None."""
    for x, y in page.word("표식"):
        beside = [n for n in page.numbers if abs(n.y - y) < SAME_LINE and n.x > x + 60]
        if beside:
            return min(beside, key=lambda n: n.x).value
    return None


def _icons(page: Page, label: tuple[float, float]) -> Decimal:
    """Return the number of dark blocks to the right of a label. Raises LookupError if there are none."""
    from scipy import ndimage

    x, y = (int(place) for place in label)
    strip = page.grey[max(0, y - 14) : y + 14, x + 20 :] < 160
    labels, _ = ndimage.label(strip)
    blocks = [b for b in ndimage.find_objects(labels) if b[0].stop - b[0].start >= 12 and b[1].stop - b[1].start >= 12]
    if not blocks:
        raise LookupError("icons")
    return Decimal(len(blocks))

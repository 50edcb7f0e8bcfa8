"""Decide about answers that are a value: one read off a chart with a stated tolerance, such as `347건 (±12건)`, or an exact one.

KO-FRESH calls `matches_reading` for the former and `quantity_f1` for the latter.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from evaluator.benchmarks.scoring.bounds import is_bound
from evaluator.benchmarks.scoring.contradictions import gives_change
from evaluator.benchmarks.scoring.final_answer import asserted_quantities, strict_f1, without_remarks
from evaluator.benchmarks.scoring.final_text import final_text
from evaluator.benchmarks.scoring.names import MONTHS
from evaluator.benchmarks.scoring.notation import plain
from evaluator.benchmarks.scoring.quantities import Quantity, quantities, scan
from evaluator.benchmarks.scoring.quantity_sets import is_among
from evaluator.benchmarks.scoring.sentence_values import DENIED_AFTER, Reference
from evaluator.benchmarks.scoring.stated_answer import EITHER
from evaluator.benchmarks.scoring.units import are_interchangeable

_TOLERANCE = re.compile(r"(.+) \(±(.+)\)")  # of a gold answer: 347건 (±12건)
_MONTH_NAME = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d년")  # 2019년
_TWO_DIGITS = re.compile(r"\A\W{0,3}(\d\d)년(?=\W|\Z|입니다|이다)")  # 19년, in quotation marks or not
# Of an answer: 347건[ ± 10건]. (?<!\s)\s*+ begins at the start of white space only, because \s* would begin at each of its
# characters and take quadratic time on a long run.
_STATED_ERROR = re.compile(r"(?<!\s)\s*+±\s*[\d,.]+\S*")
_FRACTION = re.compile(r"(?<![\d/.])(?:([2-9]|10)분의\s?([1-9])|([1-9])/([2-9]|10))(?![\d/])")  # 4분의 1, 1/4
_NONE = re.compile(r"(?:한\s?\S{1,3}도\s|하나도\s)?없(?:음|습니다|다|어요)")  # for 0곳


class Reading(NamedTuple):
    """A value read from a chart, and how far an answer may be from it."""

    value: Quantity
    tolerance: Quantity


def reading_of(gold: str) -> Reading | None:
    """Return the reading that a gold answer such as `347건 (±12건)` describes, or None for other answers."""
    found = _TOLERANCE.fullmatch(gold)
    return Reading(quantities(found[1])[0], quantities(found[2])[0]) if found else None


def matches_reading(question: str, reading: Reading, output: str) -> bool:
    """Return whether an output asserts one value within the tolerance, or two, such as both ends of a range."""
    value, tolerance = reading
    text = _STATED_ERROR.sub("", without_remarks(final_text(output)))
    # A range is written with ~, so that its dash is not read as a minus sign.
    text = re.sub(r"(?<=\d)\s?[-–]\s?(?=\d)", "~", text)
    if EITHER.search(text):
        return False
    if value.unit == "%" and "%" not in text:
        text = _FRACTION.sub(_percentage, text)
    asserted = asserted_quantities(text, Reference(question, quantities(question), [value]))
    if not 1 <= len(asserted) <= 2:
        return False
    if _is_bounded(question, plain(text), asserted) or gives_change(question, asserted, text):
        return False
    for quantity in asserted:
        given = quantity.in_unit(value.unit)
        is_near = abs(Decimal(given.value) - value.value) <= tolerance.value
        if not is_near or not are_interchangeable(given.unit, value.unit):
            return False
    return True


def _percentage(match: re.Match[str]) -> str:
    """Return `25%` for a match of 4분의 1 or 1/4."""
    parts, part = (match[1], match[2]) if match[1] else (match[4], match[3])
    return f"{100 * int(part) / int(parts):g}%"


def _is_bounded(question: str, text: str, asserted: Sequence[Quantity]) -> bool:
    """Return whether a text, which `plain` has returned, only bounds or denies an asserted quantity: 최대 350건, 350건 이상.

    A bound of another quantity is part of the subject: "65세 이상 인구는 350명입니다".
    """
    mentions = [mention for mention in scan(text) if is_among(mention.quantity, asserted)]
    return any(is_bound(question, text, mention) or DENIED_AFTER.match(text, mention.end) for mention in mentions)


def quantity_f1(question: str, gold: str, output: str) -> float:
    """Return `strict_f1` of the final answer, with or without its remarks in brackets, whichever is higher.

    A change in the other direction than the question's earns nothing. English months, years of two digits and 없음 for
    zero are read as the gold answer writes them.
    """
    text = _MONTH_NAME.sub(lambda match: f"{1 + MONTHS.index(match[0].lower())}월", final_text(output))
    if _YEAR.fullmatch(gold):
        text = _TWO_DIGITS.sub(rf"{gold[:2]}\1년", text)
    if _is_opposite_change(question, gold, text):
        return 0.0
    if "달" in question and gold.endswith("개"):  # 3개월 for 3개, if months are counted
        text = text.replace("개월", "개")
    if _NONE.fullmatch(text) and quantities(gold)[0].value == 0:
        return 1.0
    score = strict_f1(question, gold, text)
    shorter = without_remarks(text)  # but never without an alternative: 5건 (또는 6건)
    if score == 1.0 or shorter == text or EITHER.search(text):
        return score
    return max(score, strict_f1(question, gold, shorter))


def _is_opposite_change(question: str, gold: str, text: str) -> bool:
    """Return whether the words beside the gold value say the other direction than the question: 227건 감소 for 늘었습니까.

    `strict_f1` finds this too, unless the text also has a word of the right direction: "227건 감소, 증가 아님".
    """
    of_gold = quantities(gold)
    senses = {quantity.sense for quantity in quantities(text) if is_among(quantity, of_gold)}
    if "늘었습니까" in question:
        return senses == {"-"}
    return "줄었습니까" in question and senses == {"+"}

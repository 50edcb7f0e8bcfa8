"""Decide which quantities an answer asserts, even if it shows its work before or after them.

This is the strict rule of KO-VQA and, through `readings`, that of KO-FRESH. `strict_match` and `strict_f1` compare what an
output asserts with the quantities of the gold answer:

    question "2018년보다 얼마나 늘었습니까?", gold "227건", output "7,131 - 6,904 = 227, 따라서 **227건** 증가" → 1.0

An explicit answer takes precedence over the numbers around it. `answer_passages` searches it in this order: in a box
(\\boxed), after a marker (정답:, 답은), after a conclusion (따라서, 즉), after 값은, in bold, in the first or the last sentence.
Which quantities of that passage count is decided by `sentence_values`: operands are not asserted, nor are years and ordinals
that label a row. An answer that names several candidates asserts all of them and is therefore wrong.
"""

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from itertools import islice, pairwise
from typing import NamedTuple

from evaluator.benchmarks.scoring.answer_passages import MARKER, MAX_PASSAGES, OFFERS_CHOICE, explicit_passages
from evaluator.benchmarks.scoring.asides import gives_value_beside_others
from evaluator.benchmarks.scoring.contradictions import means_another
from evaluator.benchmarks.scoring.named_values import gives_name, name_beside_value
from evaluator.benchmarks.scoring.notation import plain
from evaluator.benchmarks.scoring.number_words import factor_of
from evaluator.benchmarks.scoring.other_subjects import ASKS_YEAR
from evaluator.benchmarks.scoring.quantities import RATIO, Mention, Quantity, quantities, scan
from evaluator.benchmarks.scoring.quantity_sets import digits, distinct, is_among, is_rounding, same_quantities, without
from evaluator.benchmarks.scoring.sentence_values import (
    BRACKETS,
    EQUATION,
    MAX_VALUES,
    SENTENCE,
    Reference,
    asserted_in_sentence,
    clause_of,
    is_bare,
    names_year,
    without_compared_brackets,
    without_working,
)
from evaluator.benchmarks.scoring.stated_answer import stated_answer
from evaluator.benchmarks.scoring.swapped_values import swapped_share
from evaluator.benchmarks.scoring.units import BESIDE, UNIT_OF_DIFFERENCE
from evaluator.benchmarks.scoring.unsure_answers import is_unsure

_MIN_PARTS_AND_TOTAL = 3  # values of which one is a total: two parts and their sum
_CHOICE_OR_RANGE = re.compile(rf"{OFFERS_CHOICE.pattern}|~", re.IGNORECASE)  # or 5~6건
# Between a value and its repetition in brackets: 약 20.5% (정확히는 20.4994%).
_OPENS_BRACKET = re.compile(r"[^\d\n(]{0,10}\(\s*(?:정확히는?|약|총|원문|반올림)?\s*")
_AFTERTHOUGHT = re.compile(r"(\d[^.\n(]{0,20}[다요])\s?\([^()\n]*\)")  # 120명입니다 (남 70명, 여 50명)
_NAMED_YEAR = re.compile(r"(?:해|연도|년도|시기|시점)(?:은|는)\s(?:바로\s)?(\d{4})년")  # 가장 많은 해는 2018년
_ASKED_MULTIPLIER = re.compile(r"몇\s?((?:십|백|천|만|억|조)+)(?![가-힣]*[로서])")  # 몇 천 명, but not 몇 만으로


def strict_match(question: str, gold: str, output: str) -> bool:
    """Return whether an output asserts exactly the gold quantities. It may repeat quantities of the question.

    If the gold answer has no number, the texts must be equal apart from case, punctuation and white space.
    """
    return strict_f1(question, gold, output) == 1.0


def strict_f1(question: str, gold: str, output: str) -> float:
    """Return the F1 of the quantities that an output asserts against those of gold.

    It is from 0 to 1, and 1 if and only if `strict_match` is true. A gold answer that is a name and a value (인천 24.5%)
    requires the name too. The score is then the higher of two: of the whole gold answer, and of its value alone with the
    name in the question, as in "인천은 몇 %인가요?". The second one may be higher if the name is a quantity itself: with
    gold "2022년, 2,735명", "2018년 3,781명에서 감소하여 2022년 2,735명으로 가장 적었습니다" has 0.67 for the whole, and 1 for
    the value alone.
    """
    stated = stated_answer(output)
    if stated == gold:
        return 1.0
    name, value = name_beside_value(question, gold)
    if not name:
        return _quantity_f1(question, gold, stated)
    if not gives_name(name, value, stated):
        return 0.0
    return max(_quantity_f1(question, gold, stated), _quantity_f1(f"{question} {name}", value, stated))


def _quantity_f1(question: str, gold: str, output: str) -> float:
    """Return `strict_f1` of a stated answer, without regard to names in the gold answer.

    The order matters. What makes equal numbers wrong is checked before any numbers are compared: an answer that is not
    sure, swaps subjects, or is about something else. Then each comparison accepts more than the one before it: the same
    quantities; no others than the required ones; the asserted ones; the required one with remarks.
    """
    of_gold = quantities(gold)
    if not of_gold:
        return float(folded(gold) == folded(output))
    of_output = quantities(output)
    if not of_output or is_unsure(question, gold, output):
        return 0.0
    # The share of the gold values that the output gives to another subject. It is 1 if gold is "남자 41.5%, 여자 8.2%", and the
    # output is "남자 8.2%, 여자 41.5%".
    if swapped := swapped_share(gold, output):
        return 1 - swapped
    if means_another(question, gold, output):
        return 0.0
    if of_output == of_gold:
        return 1.0
    in_question = quantities(question)
    required, optional = _parts_of_gold(question, gold, of_output)
    not_optional = without(of_output, optional)
    if same_quantities(required, _without_repeated(not_optional, in_question, required)):
        return 1.0  # the output has no other quantities, so it does not matter which of them it asserts
    reference = Reference(question, in_question, required)
    asserted = without(asserted_quantities(output, reference), optional)
    if "약" in gold:  # 약 3.1배 may be given more exactly: 3.13배
        asserted = [_as_rounded(quantity, required) for quantity in asserted]
    if same_quantities(required, asserted):
        return 1.0
    if gives_value_beside_others(plain(output), reference):
        return 1.0
    distinct_asserted = distinct(asserted[:MAX_VALUES])
    # The two counts may differ: both 5건 and 5명 agree with a required 5.
    given = sum(is_among(quantity, required) for quantity in distinct_asserted)
    found = sum(is_among(quantity, distinct_asserted) for quantity in required)
    shared = min(given, found)
    return 2 * shared / (len(required) + len(distinct_asserted)) if shared else 0.0


class _GoldParts(NamedTuple):
    """What an answer must give, and what it may give beside that. Everything else that it asserts is wrong."""

    required: list[Quantity]
    optional: list[Quantity]


def _parts_of_gold(question: str, gold: str, of_output: Sequence[Quantity]) -> _GoldParts:
    """Return which quantities an answer must give, and which it may give.

    Of gold "2020년 603천 명 (전체의 12%)", 603천 명 is required. Four kinds are optional:
    - the year of a value: 2020년
    - a remark in brackets: 12%
    - the difference of the two values of gold, although gold does not have it
    - the other parts of a place or a time, although gold does not have them: 3층, if 301호 is required
    """
    of_gold = quantities(gold)
    outside_remarks = quantities(without_remarks(gold))
    years = _years_of_values(question, of_gold)
    required = _required(without(outside_remarks, years), quantities(question))
    optional = [
        *years,
        *without(of_gold, outside_remarks),
        *_difference_of_two(of_gold),
        *_other_parts_of_place_or_time(required, of_output),
    ]
    return _GoldParts(required, optional)


def without_remarks(text: str) -> str:
    """Return a text without remarks in brackets, unless they have its only quantity."""
    outside = BRACKETS.sub("", text)
    return outside if quantities(outside) else text


def _years_of_values(question: str, of_gold: Sequence[Quantity]) -> list[Quantity]:
    """Return the gold years that only say when a value was so, which an answer may leave out."""
    if ASKS_YEAR.search(question) or all(quantity.unit == "년" for quantity in of_gold):
        return []
    return list(filter(names_year, of_gold))


def _other_parts_of_place_or_time(required: Sequence[Quantity], of_output: Sequence[Quantity]) -> list[Quantity]:
    """Return the quantities of an output that complete a required place or time: 3층 if 301호 is required."""
    required_units = {quantity.unit for quantity in required}
    units_beside = {unit for quantity in required for unit in BESIDE.get(quantity.unit, ())}
    return [quantity for quantity in of_output if quantity.unit in units_beside - required_units]


def _difference_of_two(of_gold: Sequence[Quantity]) -> list[Quantity]:
    """Return the difference of the two gold quantities, or an empty list if there are not two of one unit.

    If the difference is a gold quantity itself, the list is empty too. The difference of 10명 and 5명 is 5명: as an optional
    quantity, it would let an answer leave out the required 5명.
    """
    if len(of_gold) != 2:
        return []
    first, second = of_gold
    if first.unit != second.unit:
        return []
    unit = UNIT_OF_DIFFERENCE.get(first.unit, first.unit)
    difference = Quantity(abs(Decimal(first.value) - Decimal(second.value)), unit)
    return [] if is_among(difference, of_gold) else [difference]


def asserted_quantities(output: str, reference: Reference) -> list[Quantity]:
    """Return the quantities that an answer asserts, without those of the question.

    The required quantities of the reference help to recognize labels, roundings and omitted multipliers. With question
    "합은 얼마입니까?", "525건과 447건의 합은 972건입니다." → 972건

    The order matters: a year as the answer and the sum of all other values are recognized in the whole text, before a
    passage is chosen; multipliers and percentages are set before quantities are compared with the required ones.
    """
    question, in_question, required = reference
    text = without_compared_brackets(_AFTERTHOUGHT.sub(r"\1", plain(output)))
    asks_year = ASKS_YEAR.search(question) and (not required or any(quantity.unit == "년" for quantity in required))
    named_years = set(_NAMED_YEAR.findall(text)) if asks_year else set()
    is_of_other_rank = "번째" in text and "번째" not in question  # 두 번째로 많은 해는 2017년
    if len(named_years) == 1 and not is_of_other_rank:
        return [Quantity(int(named_years.pop()), "년")]
    if (total := _total_of_parts(text)) and is_among(total, required):
        return [total]
    found = list(dict.fromkeys(_stated_quantities(output, text, reference)))
    if multiplier := _ASKED_MULTIPLIER.search(question):
        found = [_multiplied(quantity, multiplier[1], required) for quantity in found]
    found = [_in_percent(quantity, required) for quantity in found]
    # A difference in %p or a ratio is computed from the percentages beside it: 60%, 40%, 차이는 20%p
    if any(quantity.unit in ("%p", RATIO) for quantity in found):
        found = [quantity for quantity in found if quantity.unit != "%"]
    exact = [quantity for quantity in found[:MAX_VALUES] if is_among(quantity, required)]
    if exact and "(" in text and not _CHOICE_OR_RANGE.search(text):
        repeated = _rounded_beside(text, exact)
        found = [quantity for quantity in found if quantity not in repeated]
    return _without_repeated(found, in_question, required)


def _stated_quantities(output: str, text: str, reference: Reference) -> list[Quantity]:
    """Return the quantities that the explicit passages of an output assert, or all of its quantities if it has none."""
    passages = explicit_passages(output, text, reference)
    if not passages:
        return [mention.quantity for mention in scan(text)]
    found: list[Quantity] = []
    for passage in passages:
        clause = without_working(clause_of(passage.text, reference), reference.question)
        found += asserted_in_sentence(clause, reference, passage.limit)
    return found


def _total_of_parts(text: str) -> Quantity | None:
    """Return the value that is the sum of all others in a text: 120억 원 of "60억 원과 60억 원을 합한 120억 원".

    Return None if there is none, or the text lists candidates, marks its answer, or computes the sum by an equation.
    """
    if "=" in text or EQUATION.search(text) or MARKER.search(text) or OFFERS_CHOICE.search(text):
        return None
    bare = [match[0] for match in islice(SENTENCE.finditer(text), MAX_PASSAGES) if is_bare(match[0])]
    lists_candidates = len(bare) > 1 or any(len(scan(sentence)) > 1 for sentence in bare)
    return None if lists_candidates else _total(scan(text))


def _total(mentions: Sequence[Mention]) -> Quantity | None:
    """Return the first or the last of at least three values of one unit if it is the sum of all others."""
    values = [mention.quantity for mention in mentions if mention.quantity.unit != "년"]
    if not _MIN_PARTS_AND_TOTAL <= len(values) <= MAX_PASSAGES or len({value.unit for value in values}) > 1:
        return None
    sum_with_total = sum(Decimal(value.value) for value in values)
    return next((end for end in (values[-1], values[0]) if 2 * Decimal(end.value) == sum_with_total), None)


def _multiplied(quantity: Quantity, multiplier: str, required: Sequence[Quantity]) -> Quantity:
    """Return a bare number times the multiplier that a question asks for, if that gives a required quantity.

    387 as the answer to "몇 천 명?" is 387천.
    """
    if quantity.unit or is_among(quantity, required):
        return quantity
    multiplied = quantity._replace(value=quantity.value * factor_of(multiplier))
    return multiplied if is_among(multiplied, required) else quantity


def _in_percent(quantity: Quantity, required: Sequence[Quantity]) -> Quantity:
    """Return a bare fraction of 1 as a percentage if that is a required quantity: 0.574 for 57.4%."""
    if quantity.unit or not 0 < quantity.value < 1:
        return quantity
    percent = Quantity(100 * quantity.value, "%", quantity.sense)
    return percent if is_among(percent, required) else quantity


def _rounded_beside(text: str, exact: Sequence[Quantity]) -> list[Quantity]:
    """Return the quantities that repeat one of `exact` with fewer or more digits in or before brackets: 20.5% (20.4994%)."""
    found: list[Quantity] = []
    for mention, following in pairwise(scan(text)[:MAX_VALUES]):
        if not _OPENS_BRACKET.fullmatch(text, mention.end, following.start):
            continue
        outside = mention.quantity
        inside = following.quantity
        for quantity, other in ((outside, inside), (inside, outside)):
            if other in exact and quantity not in exact and is_rounding(quantity, [other]):
                found.append(quantity)
    return found


def _as_rounded(quantity: Quantity, required: Sequence[Quantity]) -> Quantity:
    """Return the required quantity that `quantity` gives more exactly, or `quantity` itself if there is none.

    With 3.1배 required, 3.13배 → 3.1배, and 3.2배 → 3.2배.
    """
    less_exact = [
        other for other in required if other.unit == quantity.unit and digits(quantity.value) > digits(other.value)
    ]
    return next((other for other in less_exact if is_rounding(quantity, [other])), quantity)


def _required(of_gold: list[Quantity], in_question: Sequence[Quantity]) -> list[Quantity]:
    """Return the gold quantities that must be asserted: those not in the question, or the first if all are.

    They are compared with ==, because the 1 of 1등 in a question agrees with 1반, but does not repeat it.
    """
    return [quantity for quantity in of_gold if quantity not in in_question] or of_gold[:1]


def _without_repeated(
    some: Sequence[Quantity], in_question: Sequence[Quantity], required: Sequence[Quantity]
) -> list[Quantity]:
    """Return quantities without those that only repeat the question."""
    return [quantity for quantity in some if not is_among(quantity, in_question) or is_among(quantity, required)]


def folded(text: str) -> str:
    """Return the letters and digits of a text in lower case and one character width: "LG CNS." → "lgcns"."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())

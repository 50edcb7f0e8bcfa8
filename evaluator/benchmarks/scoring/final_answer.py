"""Decide which quantities an answer asserts, even if it shows its work before or after them.

This is the strict rule of KO-VQA and, through `readings`, that of KO-FRESH. `strict_match` and `strict_f1` compare what an
output asserts with the quantities of the gold answer:

    question "2018년보다 얼마나 늘었습니까?", gold "227건", output "7,131 - 6,904 = 227, 따라서 **227건** 증가" → 1.0

An explicit answer takes precedence over the numbers around it. It is searched in this order: in a box (\\boxed), after a
marker (정답:, 답은), after a conclusion (따라서, 즉), in bold, in the first or the last sentence. Which quantities of that
passage count is decided by `sentence_values`: operands are not asserted, nor are years and ordinals that label a row. An
answer that names several candidates asserts all of them and is therefore wrong.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import islice, pairwise
from typing import NamedTuple

from evaluator.benchmarks.scoring.asides import gives_value_beside_others
from evaluator.benchmarks.scoring.contradictions import means_another
from evaluator.benchmarks.scoring.named_values import gives_name, name_beside_value
from evaluator.benchmarks.scoring.notation import plain
from evaluator.benchmarks.scoring.number_words import factor_of
from evaluator.benchmarks.scoring.other_subjects import ASKS_YEAR
from evaluator.benchmarks.scoring.quantities import RATIO, Mention, Quantity, quantities, scan
from evaluator.benchmarks.scoring.quantity_sets import (
    digits,
    distinct,
    has_unit_of,
    is_among,
    is_rounding,
    same_quantities,
    without,
)
from evaluator.benchmarks.scoring.sentence_values import (
    ASKS_TO_COMPARE,
    BECAUSE,
    BRACKETS,
    EQUATION,
    MAX_VALUES,
    SENTENCE,
    Reference,
    asserted_in_sentence,
    clause_of,
    is_bare,
    is_label,
    leads_to_another_value,
    names_year,
    shared_words,
    without_compared_brackets,
    without_working,
)
from evaluator.benchmarks.scoring.stated_answer import stated_answer
from evaluator.benchmarks.scoring.superlatives import is_about_another_place
from evaluator.benchmarks.scoring.swapped_values import swapped_share
from evaluator.benchmarks.scoring.units import BESIDE, UNIT_OF_DIFFERENCE
from evaluator.benchmarks.scoring.unsure_answers import is_unsure

# An output with more quantities that does not mark its answer is treated as a dump of numbers that asserts all of them.
MAX_UNMARKED_QUANTITIES = 10
# Markers, conclusions, bold texts, sentences or values of an answer. One with more is not read further.
_MAX_PASSAGES = 50
MAX_UNIT_LENGTH = 10  # characters after bold text in which its unit may be: **603**천 명
_MIN_PARTS_AND_TOTAL = 3  # values of which one is a total: two parts and their sum
_MAX_COMPARED = 2  # values at the start of a sentence of which one may be compared with the answer

# Words after which an answer is given. 값은 counts only if no other marker does.
_MARKER = re.compile(
    r"""
    (?<![가-힣A-Za-z])(?:최종\s?)?
    (?: 정답 | 해답 | 답변 | 답                       # 정답: 603천 명, 최종 답은 603천 명
      | (?<!의\ )(?<!년\ )값                          # 값은 603천 명, but not 두 해의 값은, 2020년 값은
      | (?:final\ )?answer                            # The answer is 603
    )
    \s*(?: 은 | 는 | : | = | is\b | \n
         | (?=\s\d) )                                 # 정답 603천 명
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CONCLUSION = re.compile(
    r"""
    (?<![가-힣A-Za-z])
    (?: 따라서 | 그러므로 | 그래서 | 고로 | 즉        # 따라서 603천 명, but not 즉시
      | 결론은 | 결론적으로 | 결과적으로 | 최종적으로 # 결론은 603천 명
      | 종합하면 | 요약하면                           # 종합하면 603천 명
      | therefore | thus | hence | so                 # so 603
    )
    (?![가-힣A-Za-z])
    | [∴⇒]                                            # ∴ 603천 명
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")  # \boxed{603\text{천 명}}
_BOLD = re.compile(  # **603천 명**, with a sign in front: △**5.2**%
    r"(?P<sign>[△▲▽▼]\s?|(?<![\w)])[-−])?(?:\*\*|__|<(?:b|strong)>)(?P<text>.+?)(?:\*\*|__|</(?:b|strong)>)"
)
_PREDICATE = re.compile(r"(?:[다요음임됨함]|=[^=]*+)\W*+$")  # end of a sentence: 합은 972건입니다; 525 + 447 = 972
_IS_SENTENCE = re.compile(r"(?!\s*[-•·|])|.*=")  # not an item of a list or a table, unless it has an equation
_OFFERS_CHOICE = re.compile(r"또는|혹은|아니면|\bor\b", re.IGNORECASE)  # 5건 또는 6건
_CHOICE_OR_RANGE = re.compile(rf"{_OFFERS_CHOICE.pattern}|~", re.IGNORECASE)  # or 5~6건
_ALTERNATIVE = re.compile(rf"\s*(?:{_OFFERS_CHOICE.pattern})", re.IGNORECASE)  # "또는 505천 명입니다"
# Between a value and its repetition in brackets: 약 20.5% (정확히는 20.4994%).
_OPENS_BRACKET = re.compile(r"[^\d\n(]{0,10}\(\s*(?:정확히는?|약|총|원문|반올림)?\s*")
_AFTERTHOUGHT = re.compile(r"(\d[^.\n(]{0,20}[다요])\s?\([^()\n]*\)")  # 120명입니다 (남 70명, 여 50명)
_NAMED_YEAR = re.compile(r"(?:해|연도|년도|시기|시점)(?:은|는)\s(?:바로\s)?(\d{4})년")  # 가장 많은 해는 2018년
_REMARK = re.compile(
    r"""
    [ \t]*
    (?: 이는 | 이것은 | 이\ 값은                      # 이는 전년보다 12건 많습니다
      | 이후 | 그\ 뒤                                 # 이후 700천 명이 되었습니다
      | 참고로 | 한편 | 출처                          # 참고로 2018년은 505천 명입니다
      | 왜냐하면 | 근거 | 해설 | 설명                 # 근거: …
      | \(                                            # (2018년은 505천 명)
    )
    """,
    re.VERBOSE,
)
# Words of a sentence that sums up what is before it.
_SUMS_UP = re.compile(
    r"""
    합 | 차 | 총 | 모두 | 빼 | 더하 | 나누            # 두 값의 합은 972건
    | 평균 | 비율 | 비중                              # 평균은 12건
    | 가장 | 최[대소고저솟댓]                         # 최댓값은 12건
    | 결과 | 반올림 | 계산 | 답                       # 계산하면 12건
    | 증가 | 감소 | 됩니다 | 된다 | 되어              # 12건이 됩니다
    """,
    re.VERBOSE,
)

_ASKED_MULTIPLIER = re.compile(r"몇\s?((?:십|백|천|만|억|조)+)(?![가-힣]*[로서])")  # 몇 천 명, but not 몇 만으로


class Passage(NamedTuple):
    """A part of an answer that gives it explicitly."""

    text: str
    limit: int | None = None  # quantities start before this offset; what follows bold text may only be their unit


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
    if swapped := swapped_share(gold, output):
        return 1 - swapped
    if means_another(question, gold, output):
        return 0.0
    if of_output == of_gold:
        return 1.0
    in_question = quantities(question)
    # Of gold "2020년 603천 명 (전체의 12%)", 603천 명 is required. The year and the remark may be given or left out.
    outside_remarks = quantities(without_remarks(gold))
    years = _years_of_values(question, of_gold)
    required = _required(without(outside_remarks, years), in_question)
    in_remarks = without(of_gold, outside_remarks)
    optional = years + in_remarks + _differences(of_gold) + _beside(required, of_output)
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


def without_remarks(text: str) -> str:
    """Return a text without remarks in brackets, unless they have its only quantity."""
    outside = BRACKETS.sub("", text)
    return outside if quantities(outside) else text


def _years_of_values(question: str, of_gold: Sequence[Quantity]) -> list[Quantity]:
    """Return the gold years that only say when a value was so, which an answer may leave out."""
    if ASKS_YEAR.search(question) or all(quantity.unit == "년" for quantity in of_gold):
        return []
    return list(filter(names_year, of_gold))


def _beside(required: Sequence[Quantity], of_output: Sequence[Quantity]) -> list[Quantity]:
    """Return the quantities of an output that say where or when a required place or time is: 3층 beside 301호."""
    units = {unit for quantity in required for unit in BESIDE.get(quantity.unit, ())}
    own = {quantity.unit for quantity in required}
    return [quantity for quantity in of_output if quantity.unit in units - own]


def _differences(of_gold: Sequence[Quantity]) -> list[Quantity]:
    """Return the difference of two gold quantities, which an answer may add. If it is one of them, return an empty list.

    The difference of 10명 and 5명 is 5, and the required 5명 would be left out with it.
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
    passages = _explicit_passages(output, text, reference)
    if passages:
        found = []
        for passage in passages:
            clause = without_working(clause_of(passage.text, reference), question)
            found += asserted_in_sentence(clause, reference, passage.limit)
    else:
        found = [mention.quantity for mention in scan(text)]
    found = list(dict.fromkeys(found))
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


def _explicit_passages(output: str, text: str, reference: Reference) -> list[Passage]:
    """Return the passages that give the answer explicitly; if there are none, all quantities of the output are asserted.

    `text` is the output after `plain`, which has no boxes and no bold. The first of these that has a value decides:

    1. a box: \\boxed{603천 명}
    2. a marker: 정답은 603천 명. 값은 counts only without a conclusion, because it may name a value of the working.
    3. a conclusion: 따라서 603천 명
    4. bold text whose values are the same everywhere: **603천 명**
    5. what `_unmarked_passages` finds in the sentences before the first remark
    """
    required = reference.required

    def has_value(passage: str) -> bool:
        return any(not is_label(passage, mention, reference) for mention in scan(passage))

    boxed = [plain(match[1]) for match in _BOXED.finditer(output)]
    if boxed := list(filter(has_value, boxed)):
        return list(map(Passage, boxed))
    markers = list(_MARKER.finditer(text))
    if len(markers) > _MAX_PASSAGES or len(_CONCLUSION.findall(text)) > _MAX_PASSAGES:
        return []
    answer_markers = [match for match in markers if not match[0].startswith("값")]
    marked = _marked_passages(text, answer_markers or markers, has_value)
    sentences = [match[0] for match in SENTENCE.finditer(text) if match[0].strip()]
    # The places of the sentences that are read: those with a value in a required unit or, if there are none, with any value.
    with_value = [place for place, sentence in enumerate(sentences) if has_value(sentence)]
    with_required_unit = [place for place in with_value if _has_required_unit(sentences[place], required)]
    places = with_required_unit or with_value
    endings = [sentences[place][match.end() :] for place in places for match in _CONCLUSION.finditer(sentences[place])]
    concluded = list(filter(has_value, endings))
    if marked and (answer_markers or not concluded):
        return list(map(Passage, marked))
    if concluded:
        # Sentences of nothing but a value are candidates too: of "5건. 따라서 6건입니다", both are asserted.
        candidates = [*concluded[:-1], *sentences]
        others = [other for other in candidates if is_bare(other) and _has_required_unit(other, required)]
        return list(map(Passage, [concluded[-1], *others]))
    if bold := list(islice(_bold_passages(output, has_value), _MAX_PASSAGES)):
        values = [distinct(asserted_in_sentence(passage.text, reference, passage.limit)) for passage in bold]
        if all(same_quantities(values[0], other) for other in values):
            return [bold[-1]]
    if not places or _unmarked_count(sentences) > MAX_UNMARKED_QUANTITIES:
        return []
    # The first sentence with a value is no remark, because there is nothing before it that it could be about.
    is_remark = [_is_remark(reference.question, sentence) for sentence in sentences]
    first_remark = next((place for place in places[1:] if is_remark[place]), len(sentences))
    before_remark = [sentences[place] for place in places if place < first_remark]
    return list(map(Passage, _unmarked_passages(before_remark, reference.question)))


def _marked_passages(text: str, markers: Sequence[re.Match[str]], has_value: Callable[[str], bool]) -> list[str]:
    """Return the passages after markers that have a value, and after the last of these the other candidates.

    A marker that ends its line is the heading of what follows, which is only the answer if it is nothing but a value.
    """
    marked: list[str] = []
    end = 0  # of the last passage
    for match in markers:
        passage = _passage_after(text, match.end())
        is_heading = "\n" in match[0]
        if passage and has_value(passage[0]) and (not is_heading or is_bare(passage[0])):
            marked.append(passage[0])
            end = passage.end()
    return [*marked, *_alternatives(text, end)] if marked else []


def _has_required_unit(sentence: str, required: Sequence[Quantity]) -> bool:
    """Return whether a sentence has a value that could be a required one by its unit."""
    return any(has_unit_of(mention.quantity.unit, required) for mention in scan(sentence))


def _unmarked_count(sentences: Sequence[str]) -> int:
    """Count the values of the sentences, except years, months and those of calculations before the last sentence."""
    counted = [sentence for sentence in sentences[:-1] if "=" not in sentence]
    values = [mention for sentence in [*counted, *sentences[-1:]] for mention in scan(sentence)]
    return sum(mention.quantity.unit not in ("년", "월") for mention in values)


def _unmarked_passages(sentences: Sequence[str], question: str) -> list[str]:
    """Return those of the sentences with a value that give an unmarked answer; empty if the sentences are a list.

    - the answer, then its components: "972건. 음식점은 525건, 숙박은 447건입니다." → the first sentence, if no other is bare
    - the answer, then another row: "부산은 300개소입니다. 서울은 120개소입니다." → the first one, if it has more words of the question
    - components, then the answer: "음식점은 525건입니다. 합은 972건입니다." → the last sentence, and those with only quantities
    - a list: the last sentence is a row, or does not sum up two or more others → none
    """
    first = sentences[0]
    last = sentences[-1]
    bare = [sentence for sentence in sentences if is_bare(sentence)]
    ends_with_line = "\n" in first  # and not with a full stop: it is the first row of a list
    if bare == [first] and not ends_with_line:
        return bare
    if len(sentences) == 2 and not BECAUSE.search(last) and _overlap(first, question) > _overlap(last, question):
        values = [mention for mention in scan(without_working(first, question)) if mention.quantity.unit != "년"]
        if len(values) == 1:
            return [first]
    is_row = not (_PREDICATE.search(last) and _IS_SENTENCE.match(last))
    sums_up = _SUMS_UP.search(last) or EQUATION.search(last)
    if (len(sentences) > 1 and is_row) or (len(sentences) > 2 and not sums_up):
        return []
    return [last, *(sentence for sentence in bare if sentence != last)]


def _is_remark(question: str, sentence: str) -> bool:
    """Return whether a sentence after the answer explains it, compares it, or is about another place of a ranking."""
    if _REMARK.match(sentence) or is_about_another_place(question, sentence):
        return True
    return _only_compares(question, sentence)


def _only_compares(question: str, sentence: str) -> bool:
    """Return whether a sentence compares the answer with another row: 2018년(3,274mg)보다 늘었습니다."""
    if ASKS_TO_COMPARE.search(question) or BECAUSE.search(sentence):
        return False
    values = [mention for mention in scan(sentence) if mention.quantity.unit != "년"]
    return any(leads_to_another_value(sentence, mention) for mention in values[:_MAX_COMPARED])


def _overlap(sentence: str, question: str) -> int:
    """Return how many words of a question a sentence shares."""
    return len(shared_words(sentence, question))


def _passage_after(text: str, start: int) -> re.Match[str] | None:
    """Return the text after a marker, which ends at `start`: the rest of its sentence or, if empty, the next one."""
    return next((match for match in SENTENCE.finditer(text, start) if re.search(r"\w", match[0])), None)


def _alternatives(text: str, start: int) -> Iterator[str]:
    """Yield the sentences from `start` on that name another candidate: "또는 505천 명입니다"."""
    for match in SENTENCE.finditer(text, start):
        if _ALTERNATIVE.match(match[0]) or is_bare(match[0]):
            yield match[0]


def _bold_passages(output: str, has_value: Callable[[str], bool]) -> Iterator[Passage]:
    """Yield the passages in bold that have a value. Their values start inside of the bold text.

    The text after it is included, because the unit may be there: **603**천 명.
    """
    for match in _BOLD.finditer(output):
        signed = f"{match['sign'] or ''}{match['text']}"
        bold = plain(signed)
        if has_value(bold):
            after = output[match.end() : match.end() + MAX_UNIT_LENGTH].partition("\n")[0]
            yield Passage(plain(signed + after), len(bold))


def _total_of_parts(text: str) -> Quantity | None:
    """Return the value that is the sum of all others in a text: 120억 원 of "60억 원과 60억 원을 합한 120억 원".

    Return None if there is none, or the text lists candidates, marks its answer, or computes the sum by an equation.
    """
    if "=" in text or EQUATION.search(text) or _MARKER.search(text) or _OFFERS_CHOICE.search(text):
        return None
    bare = [match[0] for match in islice(SENTENCE.finditer(text), _MAX_PASSAGES) if is_bare(match[0])]
    lists_candidates = len(bare) > 1 or any(len(scan(sentence)) > 1 for sentence in bare)
    return None if lists_candidates else _total(scan(text))


def _total(mentions: Sequence[Mention]) -> Quantity | None:
    """Return the first or the last of at least three values of one unit if it is the sum of all others."""
    values = [mention.quantity for mention in mentions if mention.quantity.unit != "년"]
    if not _MIN_PARTS_AND_TOTAL <= len(values) <= _MAX_PASSAGES or len({value.unit for value in values}) > 1:
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

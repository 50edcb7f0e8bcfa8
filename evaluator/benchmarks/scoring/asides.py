"""Give a second chance to an answer that has other values beside the required one: it is right if none of them competes.

`final_answer` asks this last, for an answer whose asserted quantities are not the required ones. To "2018년 화재 건수는?"
with gold 7,131건, "2018년 화재는 7,131건으로 전년보다 227건 늘었으며, OECD 평균은 8,000건입니다" is right.
Other values do not compete with the required one if they have another unit (756건 beside 24,797ha), are compared with it
(전년보다, 375천 톤이 늘어난), sum it up or divide it (합계, 건당), are what it is computed from, or belong to something that the
question does not name (OECD 평균은 3.7명).
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations
from typing import NamedTuple

from evaluator.benchmarks.scoring.other_subjects import has_other_label
from evaluator.benchmarks.scoring.quantities import Mention, Quantity, scan
from evaluator.benchmarks.scoring.quantity_sets import has_any, has_unit_of, is_among, is_rounding, same_quantities
from evaluator.benchmarks.scoring.sentence_values import (
    ASKS_TO_COMPARE,
    DENIED_AFTER,
    JOINS_VALUES,
    MAX_OTHERS,
    RANGE_AFTER,
    SENTENCE,
    Reference,
    is_bare,
    is_in_expression,
    is_label,
    is_year,
    leads_to_another_value,
    names_year,
    shared_words,
    without_compared_brackets,
    years_in,
)
from evaluator.benchmarks.scoring.superlatives import is_about_another_place, superlative
from evaluator.benchmarks.scoring.units import UNIT_OF_DIFFERENCE

MAX_VALUES = 20  # of an answer; one with more is a table
# Ends of a sentence with a predicate, or three English words.
_PREDICATE = re.compile(
    r"""
    (?: [다요음임됨함]                                          # 7,131건입니다, 7,131건임
      | 감소 | 증가 | 상승 | 하락 | 기록 | 차지                 # 227건 증가
    )
    [\s.!)\]\"'”’]*$
    | (?:[A-Za-z]+\s){3}                                        # there were 7,131
    """,
    re.VERBOSE,
)
_PARTICLE = re.compile(r"(?:은|는|이|가|을|를|의|에|에서|으로|로)$")  # 건수는
_MIN_WORD = 3  # letters of words that are compared as a whole
_WORD = re.compile(rf"[가-힣]{{{_MIN_WORD},}}")
_LIST_MARK = re.compile(r"\s*[-•·|*]")  # - 음식점: 5건
# An answer with one of these is never accepted here: it is undecided, contradicts itself, or computes in several steps.
_UNDECIDED = re.compile(
    r"""
    <think>
    | 중\s하나 | 사이(?:의|이|로|입|$)                          # 5건과 6건 중 하나, 5건과 6건 사이의
    | 또는 | 혹은 | 아니면 | 이거나 | \bor\b                    # 5건 또는 6건
    | (?<!알)(?<!볼)(?<!인할)(?<!악할)(?<!읽을)(?<!찾을)(?<!구할)(?<!산할)\s수도?\s있    # 5건일 수 있습니다, but not 알 수 있습니다
    | [을일할될]\s?가능성 | 정확하지 | 불확실                   # 5건일 가능성
    | 보이지만 | 듯하지만 | 다만 | 그러나 | 하지만 | 실제로는   # 5건으로 보이지만
    | [=≈≒→][^\n]*[=≈≒→]                                        # 5 + 6 = 11 = 11건
    """,
    re.IGNORECASE | re.VERBOSE,
)
# An answer with a marker or a conclusion is not accepted here either, because `final_answer` has already compared what that
# gives: "2018년 화재는 7,131건입니다. 따라서 답은 6,904건입니다."
_CONCLUDES = re.compile(
    r"""
    따라서 | 그러므로 | 이므로 | 결론 | 최종                    # 따라서 5건
    | 정답 | (?<![가-힣])답(?: 변 | 은 | : | 입니다 | 이다 | 임 )   # 답은 5건, but not 응답은
    | (?<![가-힣])값[은이]                                      # 값은 5건
    """,
    re.VERBOSE,
)
# The answer may be the sum or the difference of other values. Unlike in ASKS_TO_COMPARE, the words for a change are enough.
_ASKS_TO_COMPUTE = re.compile(
    r"""
    얼마나 | 차이 | 차는 | 대비 | 비해 | 보다                   # 2018년보다 얼마나
    | 증가 | 감소 | 줄었 | 줄어 | 늘었 | 늘어 | 변화 | 증감     # 몇 건 늘었습니까
    | 합 | 총 | 모두 | 전체                                     # 모두 몇 건
    """,
    re.VERBOSE,
)
_ASKS_FOR_SUM = re.compile(r"합|총|모두|전체|평균")  # 모두 몇 건

# What is right after or before a value that does not compete. Each comment has the value in brackets.
_COMPARED_AFTER = re.compile(
    r"\s?[가-힣A-Za-z0-9]{0,8}(?:과|와)\s(?:비교|견주)|에\s비[해하]"  # [3.7명]과 비교하면, [3.7명]에 비해
)
_CHANGE_AFTER = re.compile(
    r"""
    (?:\([^()]{0,20}\))? (?: 이 | 가 | 만큼 | 이나 | 나 | 씩 | 정도 | 가량 )? \s?(?:더\s)?
    (?: 증가 | 감소 | 상승 | 하락 | 늘 | 줄(?!기)               # [227건] 증가, [227건]이나 더 늘어
      | 많 | 적(?=[은다고었습게]) | 높(?!이) | 낮               # [227건] 더 많은, but not [227건] 적발
      | 크(?!기) | 작(?=[은다고았습게])                         # [227건] 더 작은, but not [227건] 작성
      | 차이 | 격차 | 상회 | 하회 | 웃도 | 밑도 | 앞서 | 뒤[지처진]   # [227건] 차이, [227건] 앞서
    )
    """,
    re.VERBOSE,
)
_CHANGE_BEFORE = re.compile(
    r"""
    (?: 차이 | 격차 | 차                                        # 차이는 약 [227건]
      | (?:증가|감소)\s?폭 | 증가량 | 감소량 | 증감             # 증가 폭은 [227건]
    )
    [는은가이]\s(?:약\s|총\s)?$
    """,
    re.VERBOSE,
)
_SUM_BEFORE = re.compile(
    r"""
    (?: 합계 | 합은 | 합이 | 전체 | 평균                        # 합계: [972건], 전체는 [972건]
      | 합하면 | 합치면 | 더하면                                # 합하면 모두 [972건]
    )
    [는은가이:]?,?\s(?:약\s|총\s|모두\s)?$
    """,
    re.VERBOSE,
)
_ROUGHLY_BEFORE = re.compile(r"(?:약|대략|거의)\s?$")  # 약 [970건]
_PER = r"""
    (?: 명 | 인 | 가구 | 호                                     # 가구당, but not 해당, 식당
      | 건 | 대 | 개 | 개소 | 곳                                # 건당
      | 일 | 시간 | 톤 | ha | km | 제곱                         # 시간당
    )
    당(?![가-힣])
    """
_ASKS_FOR_RATE = re.compile(_PER, re.VERBOSE)
_PER_BEFORE = re.compile(rf"{_PER}[^\d,.]{{0,20}}$", re.VERBOSE)  # 가구당 [2.3명]
_COMPARED_BEFORE = re.compile(
    r"""
    \b(?: (?:up|down)\ from                                     # up from about [3.7]
        | compared\ (?:to|with) | than                          # compared with [3.7]
        | versus | vs\.? | against                              # vs. [3.7]
      )
    \s(?:about\s)?[$€£₩]?$
    """,
    re.IGNORECASE | re.VERBOSE,
)
_YEAR_BEFORE = re.compile(r"\b(?:in|of|since|by|from|the)\s$", re.IGNORECASE)  # in [2018]

_RANGE_BEFORE = re.compile(r"\d\s?[~∼–-]\s?$")  # 15~[29세]


class Candidate(NamedTuple):
    """A value of an answer that competes to be the answer."""

    quantity: Quantity
    words: frozenset[str]  # words of the question that are between the candidate before it and this one
    # It is alone in its sentence, or the end of a range. It then competes whatever its words are.
    always_competes: bool
    is_stated: bool  # whether it is in a sentence, and not in a list


def gives_value_beside_others(text: str, reference: Reference) -> bool:
    """Return whether all values of a text that compete to be the answer are the required ones.

    `text` is an answer that `plain` has returned. To "2018년 화재 건수는?" with gold 7,131건,
    "2018년 화재는 7,131건으로 전년보다 227건 늘었습니다." → True; "화재는 7,131건이며, 화재는 6,904건입니다." → False

    The order matters. Operands are removed first, by their values: 7,131건 and 6,904건 of "2018년은 7,131건, 2017년은 6,904건으로
    227건 늘었습니다". Then the values of other things are left out. If those are many, the answer is a table, which is wrong
    whatever is asked.
    """
    question, _, required = reference
    if _UNDECIDED.search(text) or _CONCLUDES.search(text):
        return False
    # Candidates are told apart by the words before them, but a year by those after it: 2015년에 시행되었고 2016년에 개정되었습니다.
    if any(map(names_year, required)):
        return False
    if len(scan(text)) > MAX_VALUES or len(_years_in_sentences(text)) > 1 + MAX_OTHERS:
        return False
    candidates = list(_candidates(without_compared_brackets(text), reference))
    if len(required) == 2:
        candidates = [candidate for candidate in candidates if not _is_of_both(candidate.quantity, required)]
    if len(required) == 1 and candidates:
        remaining = _without_operands(question, text, candidates, required[0])
        candidates = _without_less_specific(remaining)
        left_out = [candidate for candidate in remaining if candidate not in candidates]
        # The values of a long list do no harm if a sentence behind the list says which of them is the answer.
        if _is_table(left_out, sentence_follows=remaining[-1].is_stated):
            return False
    # A single value that only a list has may be of any of its rows. Two values may be a list of two rows.
    is_stated = len(required) > 1 or any(candidate.is_stated for candidate in candidates)
    return is_stated and same_quantities(required, [candidate.quantity for candidate in candidates])


def _is_of_both(quantity: Quantity, required: Sequence[Quantity]) -> bool:
    """Return whether a quantity is the sum or the difference of the two required ones, and neither of them.

    With 525건 and 447건 required, it is 972건 or 78건.
    """
    first, second = required
    units = {first.unit, UNIT_OF_DIFFERENCE.get(first.unit)}
    if first.unit != second.unit or quantity.unit not in units or is_among(quantity, required):
        return False
    return quantity.value in (first.value + second.value, abs(first.value - second.value))


def _without_operands(question: str, text: str, candidates: Sequence[Candidate], gold: Quantity) -> list[Candidate]:
    """Return the candidates without two of which the last one, if it has the gold value, is the sum or the difference.

    Return all of them if the question does not ask to compute something, or if the last one always competes. Operands are
    looked for in the whole text, because one in an expression is not a candidate: 41,084개소 of
    "2016년 41,084개소 → 2020년 35,352개소, 총 5,732개소 감소".
    """
    last = candidates[-1]
    if not _ASKS_TO_COMPUTE.search(question) or last.always_competes or not last.quantity.agrees(gold):
        return list(candidates)
    others = [mention.quantity for mention in scan(text) if not mention.quantity.agrees(gold)]
    operands = [quantity for quantity in others if _may_be_operand(quantity, gold)]
    for pair in combinations(dict.fromkeys(operands), 2):
        first, second = pair
        if abs(gold.value) in (abs(first.value - second.value), first.value + second.value):
            return [candidate for candidate in candidates if candidate.quantity not in pair]
    return list(candidates)


def _may_be_operand(quantity: Quantity, gold: Quantity) -> bool:
    """Return whether the gold value may be the sum or the difference of a quantity and another one.

    The quantity is not a year, and has the unit of the gold value, or % for %p.
    """
    if names_year(quantity):
        return False
    is_percent_for_points = gold.unit == "%p" and quantity.unit == "%"  # 61 % - 60 % = 1 %p
    return is_percent_for_points or has_unit_of(quantity.unit, [gold])


def _without_less_specific(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates without those whose words are only a part of those of the candidate that has the most.

    One with a word of its own stays, and one that always competes. To "한국의 의사 수는?", 2.4명 is left out of
    "일본의 의사 수는 2.4명이며, 한국의 의사 수는 2.6명입니다": it has 의사 and 수는 before it, and 2.6명 has these and 한국.
    """
    most_words = max((candidate.words for candidate in candidates), key=len)
    remaining = []
    for candidate in candidates:
        is_less_specific = candidate.words < most_words  # of sets
        if candidate.always_competes or not is_less_specific:
            remaining.append(candidate)
    return remaining


def _years_in_sentences(text: str) -> set[int | Decimal]:
    """Return the years of the sentences of a text, without those of its lists."""
    years: set[int | Decimal] = set()
    for match in SENTENCE.finditer(text):
        if _is_statement(match[0]):
            years |= years_in([mention.quantity for mention in scan(match[0])])
    return years


def _is_table(left_out: Sequence[Candidate], *, sentence_follows: bool) -> bool:
    """Return whether the values that are left out are a table, in sentences or in a list that no sentence follows.

    Without this rule, an answer that gives all rows of a page would be right whatever is asked.
    """
    stated = {candidate.quantity for candidate in left_out if candidate.is_stated}
    listed = {candidate.quantity for candidate in left_out if not candidate.is_stated}
    return len(stated) > MAX_OTHERS or (len(listed) > MAX_OTHERS and not sentence_follows)


def _candidates(text: str, reference: Reference) -> Iterator[Candidate]:
    """Yield the values of a text that compete to be the answer, sentence by sentence.

    Sentences about another place of a ranking than the question's are skipped: 가장 적은 for 가장 많은.
    """
    question, in_question, required = reference
    sentences = [match[0] for match in SENTENCE.finditer(text)]
    operands: list[Quantity] = []
    for sentence in sentences:
        operands += [mention.quantity for mention in scan(sentence) if is_in_expression(sentence, mention)]
    asks_for_place = any(quantity.unit == "위" for quantity in required)  # 몇 위입니까?
    for sentence in sentences:
        if is_about_another_place(question, sentence):
            continue
        # If the question is about no place of a ranking, a sentence about one is a remark: 화재가 가장 많은 해는 2019년입니다.
        adds_ranking = superlative(sentence).place and not superlative(question).place and not asks_for_place
        if adds_ranking and not has_any(sentence, required):
            continue
        yield from _candidates_of_sentence(sentence, reference, [*in_question, *operands])


def _candidates_of_sentence(sentence: str, reference: Reference, no_answers: Sequence[Quantity]) -> Iterator[Candidate]:
    """Yield the competing values of a sentence, each with the question's words since the candidate before it.

    `no_answers` are values of the question and of calculations. A value that does not compete is skipped, and the words before
    it belong to the next one: 시행 중인 곳은 in "시행 중인 곳은 245건 가운데 39.2%입니다". A value that is joined with the
    candidate before it has the words of that: 화재 for both of "화재는 7,131건과 6,904건입니다".
    """
    candidate_end = 0  # of the last candidate
    words: frozenset[str] = frozenset()
    is_alone = is_bare(sentence) and len(scan(sentence)) == 1
    is_stated = _is_statement(sentence)
    for mention in scan(sentence):
        is_required = is_among(mention.quantity, reference.required)
        is_other = is_among(mention.quantity, no_answers) or _is_of_another_kind(sentence, mention, reference)
        if is_other and not is_required:
            continue
        if _is_aside(sentence, mention, reference, is_required=is_required):
            continue
        before = sentence[candidate_end : mention.start]
        if not JOINS_VALUES.fullmatch(before):
            words = _words_of_question(before, reference.question)
        candidate_end = mention.end
        is_in_range = bool(_RANGE_BEFORE.search(sentence[: mention.start]) or RANGE_AFTER.match(sentence, mention.end))
        yield Candidate(mention.quantity, words, is_alone or is_in_range, is_stated)


def _words_of_question(text: str, question: str) -> frozenset[str]:
    """Return the words of a question that a text has too, whole and by their first letters: 관광수입 and 관광.

    Whole words of _MIN_WORD letters tell apart what stems do not: 관광수입은 and 관광지출은 share 관광 only.
    """
    in_text = {_PARTICLE.sub("", word) for word in _WORD.findall(text)}
    in_question = {_PARTICLE.sub("", word) for word in _WORD.findall(question)}
    return frozenset(shared_words(text, question) | (in_text & in_question))


def _is_statement(sentence: str) -> bool:
    """Return whether a sentence has a predicate and is not an item of a list."""
    return bool(_PREDICATE.search(sentence)) and not _LIST_MARK.match(sentence)


def _is_of_another_kind(sentence: str, mention: Mention, reference: Reference) -> bool:
    """Return whether a value cannot be the answer: it labels a row, or has a unit that none of the required values has."""
    if is_label(sentence, mention, reference) or _is_year_in_english(sentence, mention):
        return True
    unit = mention.quantity.unit
    if not unit and (range_end := RANGE_AFTER.match(sentence, mention.end)):  # 15~29세
        following = next((other for other in scan(sentence) if other.end >= range_end.end()), None)
        unit = following.quantity.unit if following else ""
    return not has_unit_of(unit, reference.required)


def _is_year_in_english(sentence: str, mention: Mention) -> bool:
    is_bare_year = not mention.quantity.unit and is_year(mention.quantity.value)
    return is_bare_year and bool(_YEAR_BEFORE.search(sentence[: mention.start]))


def _is_aside(sentence: str, mention: Mention, reference: Reference, *, is_required: bool) -> bool:
    """Return whether a value of a sentence is only an aside: of another year, denied, compared, or part of an expression.

    These reasons hold for a required value too. The reasons after `is_required` (a rounding, another label, a change, a sum,
    a rate) do not: they are about what a value is, and the required one is what the question asks for.
    """
    question, in_question, required = reference
    before = sentence[: mention.start]
    if _is_of_another_year(sentence, mention, in_question) or DENIED_AFTER.match(sentence, mention.end):
        return True
    if leads_to_another_value(sentence, mention) or is_in_expression(sentence, mention):
        return True
    if _COMPARED_AFTER.match(sentence, mention.end) or _COMPARED_BEFORE.search(before):
        return True
    if is_required:
        return False
    if _ROUGHLY_BEFORE.search(before) and is_rounding(mention.quantity, required):
        return True
    clause = re.split(r"[,.]", before)[-1]
    if has_other_label(question, clause):  # 1차 for 2차
        return True
    is_change = _CHANGE_AFTER.match(sentence, mention.end) or _CHANGE_BEFORE.search(before)
    if is_change and not ASKS_TO_COMPARE.search(question):
        return True
    if _SUM_BEFORE.search(before) and not _ASKS_FOR_SUM.search(question):
        return True
    return bool(_PER_BEFORE.search(before)) and not _ASKS_FOR_RATE.search(question)


def _is_of_another_year(sentence: str, mention: Mention, in_question: Sequence[Quantity]) -> bool:
    """Return whether the last year before a value is not the one that the question names."""
    if _CHANGE_AFTER.match(sentence, mention.end):  # "2017년보다 [227건] 증가": 2017 is what it is compared with
        return False
    asked_years = years_in(in_question)
    years_before = [
        other.quantity.value
        for other in scan(sentence)
        if other.end <= mention.start and (names_year(other.quantity) or _is_year_in_english(sentence, other))
    ]
    return len(asked_years) == 1 and bool(years_before) and years_before[-1] not in asked_years

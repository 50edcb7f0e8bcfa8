"""Decide whether an answer gives the wanted value and says more about it than was asked.

Other values do not compete with it if they have another unit (756건 beside 24,797ha), are compared with it (전년보다, 375천 톤이
늘어난), sum it up or divide it (합계, 건당), are what it is computed from, or belong to something that the question does not name
(OECD 평균은 3.7명).
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations
from typing import NamedTuple

from evaluator.benchmarks.scoring.contradictions import labels_of
from evaluator.benchmarks.scoring.quantities import Quantity, Stated, scan
from evaluator.benchmarks.scoring.quantity_sets import has_any, has_unit_of, is_among, is_rounding, same_quantities
from evaluator.benchmarks.scoring.sentence_values import (
    ASKS_TO_COMPARE,
    DENIED_AFTER,
    MAX_OTHERS,
    RANGE_AFTER,
    SENTENCE,
    is_bare,
    is_compared,
    is_in_expression,
    is_label,
    is_year,
    names_year,
    shared_words,
    without_compared_brackets,
)
from evaluator.benchmarks.scoring.superlatives import is_about_another_place, superlative

MAX_VALUES = 20  # of an answer; one with more is a table
_IS_STATEMENT = re.compile(r"(?:[다요음임됨함]|감소|증가|상승|하락|기록|차지)[\s.!)\]\"'”’]*$|(?:[A-Za-z]+\s){3}")
_PARTICLE = re.compile(r"(?:은|는|이|가|을|를|의|에|에서|으로|로)$")
_IN_LIST = re.compile(r"\s*[-•·|*]")
# An answer with these is read by the rules for markers, conclusions and alternatives only.
_UNDECIDED = re.compile(
    r"<think>|중\s하나|사이(?:의|이|로|입|$)|또는|혹은|아니면|이거나|\bor\b|수도?\s있|가능|정확하지|불확실|보이지만|듯하지만|다만|그러나|하지만|실제로는"
    r"|[=≈≒→][^\n]*[=≈≒→]",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(r"따라서|그러므로|이므로|결론|최종|정답|답(?:변|은|:|입니다|이다|임)|값[은이]")
_ASKS_TO_COMPUTE = re.compile(
    r"얼마나|차이|차는|증가|감소|줄었|줄어|늘었|늘어|변화|증감|보다|대비|비해|합|총|모두|전체"
)
_ASKS_FOR_SUM = re.compile(r"합|총|모두|전체|평균")

# Around a value that does not compete.
_BESIDE = re.compile(r"\s?[가-힣A-Za-z0-9]{0,8}(?:과|와)\s(?:비교|견주)|에\s비[해하]")
_CHANGE = re.compile(
    r"(?:\([^()]{0,20}\))?(?:이|가|만큼|이나|나|씩|정도|가량)?\s?(?:더\s)?"
    r"(?:증가|감소|상승|하락|늘|줄|많|적|높|낮|크|작|차이|격차|상회|하회|웃도|밑도|앞서|뒤)"
)
_DIFFERENCE_BEFORE = re.compile(r"(?:차이|격차|차|(?:증가|감소)\s?폭|증가량|감소량|증감)[는은가이]\s(?:약\s|총\s)?$")
_SUM_BEFORE = re.compile(r"(?:합계|합하면|합치면|더하면|합은|합이|전체|평균)[는은가이:]?,?\s(?:약\s|총\s|모두\s)?$")
_ROUNDED_BEFORE = re.compile(r"(?:약|대략|거의)\s?$")
_PER_BEFORE = re.compile(
    r"(?:명|인|건|가구|호|대|개|개소|곳|일|시간|톤|ha|km|제곱)당(?![가-힣])[^\d,.]{0,20}$"
)  # not 해당
_COMPARED_BEFORE = re.compile(
    r"\b(?:(?:up|down) from|compared (?:to|with)|than|versus|vs\.?|against)\s(?:about\s)?[$€£₩]?$", re.IGNORECASE
)
_YEAR_BEFORE = re.compile(r"\b(?:in|of|since|by|from|the)\s$", re.IGNORECASE)
_RANGE_BEFORE = re.compile(r"\d\s?[~∼–-]\s?$")


class Mention(NamedTuple):
    """A value that competes to be the answer, and the words of the question that stand before it."""

    quantity: Quantity
    words: frozenset[str]
    always_competes: bool  # it is alone in its sentence, or the end of a range
    is_stated: bool  # in a sentence, not in a list


def gives_value_and_more(question: str, text: str, asked: Sequence[Quantity], wanted: Sequence[Quantity]) -> bool:
    """Return whether all values of a text that compete to be the answer are the wanted ones.

    Args:
        question: the question
        text: an answer without a marker, which `plain` has returned
        asked: the quantities of the question
        wanted: the quantities of the gold answer
    """
    if _UNDECIDED.search(text) or _CONCLUDES.search(text) or any(map(names_year, wanted)):
        return False
    if len(scan(text)) > MAX_VALUES or len(_stated_years(text)) > 1 + MAX_OTHERS:
        return False
    mentions = list(_mentions(question, without_compared_brackets(text), asked, wanted))
    if len(wanted) == 2:
        mentions = [mention for mention in mentions if not _is_of_both(mention.quantity, wanted)]
    if len(wanted) == 1 and mentions:
        mentions = _without_working(question, text, mentions, wanted[0])
        about = _about_question(mentions)
        if _is_table(mentions, [mention for mention in mentions if mention not in about]):
            return False
        mentions = about
    is_stated = len(wanted) > 1 or any(mention.is_stated for mention in mentions)
    return is_stated and same_quantities(wanted, [mention.quantity for mention in mentions])


def _is_of_both(quantity: Quantity, wanted: Sequence[Quantity]) -> bool:
    """Return whether a quantity is the sum or the difference of the two wanted ones, and none of them."""
    one, other = wanted
    return not is_among(quantity, wanted) and quantity.value in (one.value + other.value, abs(one.value - other.value))


def _without_working(question: str, text: str, mentions: Sequence[Mention], result: Quantity) -> list[Mention]:
    """Return mentions without the two before a result that it is the sum or the difference of, if the question asks for that."""
    last = mentions[-1]
    if not _ASKS_TO_COMPUTE.search(question) or last.always_competes or not last.quantity.agrees(result):
        return list(mentions)
    values = dict.fromkeys(stated.quantity for stated in scan(text) if not stated.quantity.agrees(result))
    for one, other in combinations(values, 2):
        if abs(result.value) in (abs(one.value - other.value), one.value + other.value):
            return [mention for mention in mentions if mention.quantity not in (one, other)]
    return list(mentions)


def _about_question(mentions: Sequence[Mention]) -> list[Mention]:
    """Return mentions without those whose words are only some of the words of the mention that repeats most of the question.

    To "한국의 의사 수는?", 3.7명 is left out of "OECD 평균은 3.7명이며, 한국의 의사 수는 2.6명입니다".
    """
    own = max((mention.words for mention in mentions), key=len)
    return [mention for mention in mentions if mention.always_competes or not mention.words < own]


def _stated_years(text: str) -> set[int | Decimal]:
    """Return the years of the sentences of a text, without those of its lists."""
    years: set[int | Decimal] = set()
    for match in SENTENCE.finditer(text):
        if _is_statement(match[0]):
            years.update(stated.quantity.value for stated in scan(match[0]) if stated.quantity.unit == "년")
    return years


def _is_table(mentions: Sequence[Mention], others: Sequence[Mention]) -> bool:
    """Return whether the values that are left out are a table, in sentences or in a list that no sentence concludes from.

    Else an answer that says all rows of a page would be right whatever is asked.
    """
    stated = {mention.quantity for mention in others if mention.is_stated}
    listed = {mention.quantity for mention in others if not mention.is_stated}
    return len(stated) > MAX_OTHERS or (len(listed) > MAX_OTHERS and not mentions[-1].is_stated)


def _mentions(question: str, text: str, asked: Sequence[Quantity], wanted: Sequence[Quantity]) -> Iterator[Mention]:
    """Yield the values of a text that compete to be the answer, sentence by sentence."""
    sentences = [match[0] for match in SENTENCE.finditer(text)]
    operands: list[Quantity] = []
    for sentence in sentences:
        operands += [stated.quantity for stated in scan(sentence) if is_in_expression(sentence, stated)]
    for sentence in sentences:
        is_about_place = superlative(sentence)[0] and not superlative(question)[0]
        if is_about_another_place(question, sentence) or (is_about_place and not has_any(sentence, wanted)):
            continue
        yield from _mentions_of_sentence(question, sentence, asked, wanted, [*asked, *operands])


def _mentions_of_sentence(
    question: str,
    sentence: str,
    asked: Sequence[Quantity],
    wanted: Sequence[Quantity],
    others: Sequence[Quantity],
) -> Iterator[Mention]:
    """Yield the competing values of a sentence, each with the words since the one before it.

    `others` are values of the question and of calculations. The words before an aside belong to the next value: 시행 중인 곳은
    in "시행 중인 곳은 245건 가운데 39.2%입니다".
    """
    position = 0
    is_alone = is_bare(sentence) and len(scan(sentence)) == 1
    is_stated = _is_statement(sentence)
    for stated in scan(sentence):
        is_wanted = is_among(stated.quantity, wanted)
        is_other = is_among(stated.quantity, others) or _is_of_another_kind(sentence, stated, asked, wanted)
        if is_other and not is_wanted:
            continue
        if _is_aside(question, sentence, stated, asked, wanted, is_wanted=is_wanted):
            continue
        words = _shared_words(sentence[position : stated.start], question)
        position = stated.end
        is_in_range = bool(_RANGE_BEFORE.search(sentence[: stated.start]) or RANGE_AFTER.match(sentence, stated.end))
        yield Mention(stated.quantity, words, is_alone or is_in_range, is_stated)


def _shared_words(text: str, question: str) -> frozenset[str]:
    """Return the words of a question that a text has too, whole and by their first letters: 관광수입 and 관광."""
    whole = {_PARTICLE.sub("", word) for word in re.findall(r"[가-힣]{3,}", text)}
    asked = {_PARTICLE.sub("", word) for word in re.findall(r"[가-힣]{3,}", question)}
    return frozenset(shared_words(text, question) | (whole & asked))


def _is_statement(sentence: str) -> bool:
    return bool(_IS_STATEMENT.search(sentence)) and not _IN_LIST.match(sentence)


def _is_of_another_kind(sentence: str, stated: Stated, asked: Sequence[Quantity], wanted: Sequence[Quantity]) -> bool:
    """Return whether a value cannot be the answer: it labels a row, or has a unit that none of the wanted values has."""
    if is_label(sentence, stated, asked, wanted) or _is_year_in_english(sentence, stated):
        return True
    unit = stated.quantity.unit
    if not unit and (end := RANGE_AFTER.match(sentence, stated.end)):  # 15~29세
        following = next((one for one in scan(sentence) if one.end > end.end()), None)
        unit = following.quantity.unit if following else ""
    return not has_unit_of(unit, wanted)


def _is_year_in_english(sentence: str, stated: Stated) -> bool:
    is_bare_year = not stated.quantity.unit and is_year(stated.quantity.value)
    return is_bare_year and bool(_YEAR_BEFORE.search(sentence[: stated.start]))


def _is_aside(
    question: str,
    sentence: str,
    stated: Stated,
    asked: Sequence[Quantity],
    wanted: Sequence[Quantity],
    *,
    is_wanted: bool,
) -> bool:
    """Return whether a sentence says a value of another year, denies it, compares it, or computes with it."""
    before = sentence[: stated.start]
    if _is_of_another_year(sentence, stated, asked) or DENIED_AFTER.match(sentence, stated.end):
        return True
    if is_compared(sentence, stated) or is_in_expression(sentence, stated):
        return True
    if _BESIDE.match(sentence, stated.end) or _COMPARED_BEFORE.search(before):
        return True
    if is_wanted:
        return False
    if _ROUNDED_BEFORE.search(before) and is_rounding(stated.quantity, wanted):
        return True
    if _is_of_another_label(question, before):
        return True
    is_change = _CHANGE.match(sentence, stated.end) or _DIFFERENCE_BEFORE.search(before)
    if is_change and not ASKS_TO_COMPARE.search(question):
        return True
    if _SUM_BEFORE.search(before) and not _ASKS_FOR_SUM.search(question):
        return True
    return bool(_PER_BEFORE.search(before)) and "당" not in question


def _is_of_another_label(question: str, before: str) -> bool:
    """Return whether the last label before a value is another one than the question's: 1차 for 2차."""
    asked = labels_of(question)
    last = re.split(r"[,.]", before)[-1]
    return any(noun in asked and labels.isdisjoint(asked[noun]) for noun, labels in labels_of(last).items())


def _is_of_another_year(sentence: str, stated: Stated, asked: Sequence[Quantity]) -> bool:
    """Return whether the last year before a value is not the one that the question names."""
    if _CHANGE.match(sentence, stated.end):  # since another year
        return False
    years = {one.value for one in asked if one.unit == "년"}
    before = [one for one in scan(sentence) if one.end <= stated.start]
    named = [one.quantity.value for one in before if one.quantity.unit == "년" or _is_year_in_english(sentence, one)]
    return len(years) == 1 and bool(named) and named[-1] not in years

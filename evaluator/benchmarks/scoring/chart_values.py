"""Decide whether the values that a passage asserts are the answer's: their numbers, factors, currencies and directions.

`strict_chart_answers` calls `same_value` for each passage that may give the answer: "1.2 million" agrees with "1,200K",
not with "1.2 billion", and "$5" does not agree with "€5".

Texts are compared in two forms: as they are written, for currencies, fractions and what a value is per, and as `readable`
returns them, for all that `scan` reads. The positions of a `Mention` are those in the readable text.
"""

import re
import unicodedata
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from evaluator.benchmarks.scoring.bounds import is_bound
from evaluator.benchmarks.scoring.chart_names import gives_name
from evaluator.benchmarks.scoring.chart_text import DENIAL_BEFORE, clause_about, folded, main_part
from evaluator.benchmarks.scoring.english_number_words import number_words_as_digits
from evaluator.benchmarks.scoring.names import none_in_common
from evaluator.benchmarks.scoring.notation import plain
from evaluator.benchmarks.scoring.number_words import factor_of
from evaluator.benchmarks.scoring.quantities import Mention, Quantity, scan

MAX_SHARE_ERROR = 0.5  # percentage points between a fraction and a percentage
MAX_ROUGH_SHARE_ERROR = 5  # between a fraction and a percentage beside it
_DIVISOR_OFFSET = 0.01  # is added to the value by which a difference is divided, so that the value may be 0
_PER_ONE = re.compile(r"(?<![\d,.])1\s?(?:인|명|가구|일)당")  # 1인당, whose 1 is not a value
_ASKS_AMOUNT = re.compile(
    r"""
    \bhow\ (?:many|much)\b                                                 # how many cars
    | \b(?: price | cost | amount | number | value | population            # what is the price
          | average | total | sales | revenue )\b                          # what is the total
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ASKS_TIME = re.compile(r"\b(?:years?|when|dates?|months?)\b", re.IGNORECASE)  # in which year
_YEAR = re.compile(r"(?<![\d.,])(?:1[89]|20)\d\d(?![\d%]|[.,]\d)")  # 1800 to 2099, but not in 2018% or 2018.5
# K, M, B and T after a number, as the Korean multipliers that `scan` reads.
_LETTER_FACTORS = {"k": "천", "m": "백만", "mn": "백만", "b": "십억", "bn": "십억", "t": "조", "tn": "조"}
_LETTER_FACTOR = re.compile(
    r"""
    (?<=\d)
    (?: \s?(K|M|B|T|[Bb]n|[Mm]n|[Tt]n)      # 5 K, 5M, 5 bn
      | (k|m|b)                             # 5k, but not 5 m
    )
    (?![A-Za-z\d])
    """,
    re.VERBOSE,
)
_FRACTION = re.compile(r"(?<![\d/.])(\d{1,3})/(\d{1,3})(?![\d/])")  # 1/4
_SEASON = re.compile(r"(?<!\d)((?:19|20)\d\d)/(?=\d\d(?!\d))")  # 2019/20 → 2019-20, for `_is_in_range`
_METRES = re.compile(r"(?<=\d)m\b")  # 5m
_CURRENCIES = {  # sign → the words for it
    "$": r"(?:US)?\$|(?:dollars?|usd)(?![A-Za-z])|달러",
    "€": "€|(?:euros?|eur)(?![A-Za-z])|유로",  # but not Europe
    "£": "£|(?:pounds?|gbp)(?![A-Za-z])|파운드",
    # 5 won, 5 million won and 5,000원입니다, but not "it won 5 seats", won't and 원인
    "₩": r"₩|(?:(?<=\d\s)|(?<=illion\s)|(?<=ousand\s))won(?![A-Za-z'’])|krw(?![A-Za-z])|원(?![가-힣])|(?<=[\d천만억조])\s?원",
    "¥": r"¥|(?:yen|jpy)(?![A-Za-z])|엔(?![가-힣])|(?<=[\d천만억조])\s?엔",
}
_COMPARED_WITH = re.compile(  # down from 41 in 2019
    r"\b(?: (?:down|up)\ from | compared\ (?:to|with) | versus | ahead\ of | followed\ by | than )\b",
    re.IGNORECASE | re.VERBOSE,
)
_CENTS = re.compile(r"(?<![\d.,])(\d{1,2})\s?(?:cents?|¢)(?![A-Za-z])", re.IGNORECASE)  # 25 cents
_DIGIT = re.compile(r"\d")
_VALUE = re.compile(r"(?<!\d)(?!(?:1[89]|20)\d\d(?!\d))\d")  # a digit that does not begin a year
_RANGE_BEFORE = re.compile(r"\d-$")  # before the 64 of 18-64
_RANGE_AFTER = re.compile(r"-\d")  # after its 18
_OUT_OF = re.compile(r"(?<=\d)\s(?:out\s)?of\s(?:the\s|all\s)?\d[\d,]*")  # 4 of the 9 countries
_NUMBER = re.compile(r"\d[\d.,]*")
_UNIT_WORD = re.compile(r"(?!to\b)[A-Za-z가-힣]{3,}|%")
# Between the two numbers of a range or a share: 16-24, 5 to 10, 1/3.
_JOINS_NUMBERS = re.compile(r"\s?(?:-|~|/|to\b|에서|부터)\s*")
_IN_SO_MANY = re.compile(r"(?<=\d)\s(?:in|(?:out\s)?of)\s(?:every\s)?(?=\d)", re.IGNORECASE)  # 3 in 10, 3 out of 10
# One in three, which `number_words_as_digits` leaves.
_ONE_IN = re.compile(r"\bone(?=\s(?:in|(?:out\s)?of)\s)", re.IGNORECASE)
_DENIED_PAIR = re.compile(r"(?:\b(?:not|except|than)|n't)\s(?:the\s)?$", re.IGNORECASE)  # before the pair: not [16-24]
_UNIT_AFTER_PER = re.compile(r"\bper\s(?:an?\s)?([A-Za-z]+)")  # per ton, per a ton
# Words of the change that a question asks about, by the sense that `scan` gives to a value.
_DIRECTIONS = {
    "+": re.compile(  # how much did it increase
        r"\b(?:increas\w*|rises?|rose|risen|rising|grows?|grew|grown|growing|gain(?:s|ed|ing)?)\b", re.IGNORECASE
    ),
    "-": re.compile(  # how much did it fall
        r"\b(?:decreas\w*|declin\w*|drop(?:s|ped|ping)?|falls?|fell|fallen|falling|reduc\w*)\b", re.IGNORECASE
    ),
}
# Units that may be missing, or that charts and answers give in other words: 12 % and 12, 5 people and 5.
PLAIN_UNITS = {"", "%", "달러", "명", "년", "개"}
_CURRENCY = re.compile(r"(?<![A-Za-z])[A-Z]{0,3}[$€£₩¥]")  # $, US$
_SIGNED_CURRENCY = re.compile(rf"(?<=[-−]){_CURRENCY.pattern}")  # -$100 is -100
_KOREAN_MULTIPLIER = "[십백천만억조]"
_ASKED_FACTOR = re.compile(
    rf"""
    (?<!\d\s)(?<!\ba\s)(?<!\bone\s)\b(thousand|million|billion|trillion)s?\b    # how many thousand, but not "1 million"
    | (?:몇|단위\s?[:：]?)\s?({_KOREAN_MULTIPLIER}+)                        # 몇 천 명
    | \(({_KOREAN_MULTIPLIER}+)                                            # (천 명)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ENGLISH_FACTORS = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
# Before the value that a sentence arrives at, behind the values that it is computed from: "12 and 15 makes a total of [27]".
_RESULT_BEFORE = re.compile(
    r"""
    (?:
        \b(?: increase | decrease | rise | drop | decline                  # an increase of [12]
            | difference | growth | gain | change | gap                    # the difference was [12]
            | total | average | sum | ratio | combined                     # a total of [27]
            | answer | result                                              # the result is [27]
          )
        \s(?:of|is|was)
      | \b(?: difference | total | answer | result | sum | average )
        \s equals                                                          # the sum equals [27]
      | \b(?: by | equals | gives | yields | makes                         # rose by [12], which gives [27]
            | totals | totaling | totalling )                              # totaling [27]
      | [=≈→]                                                              # 12 + 15 = [27]
    )
    \s*(?: about | approximately | around | roughly )?\s*[$€£₩]?$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Behind such a value: "27 cars in total".
_IN_TOTAL = re.compile(r"\s(?:\w+\s)?(?:in total|altogether|in all|combined)\b", re.IGNORECASE)


def same_value(question: str, answer: str, passage: str, tolerance: float) -> bool:
    """Return whether a passage gives the answer.

    The kind of answer decides how: a name, a range or share, a percentage that the passage writes as a fraction, a year, or
    else an amount, which must be the only value that the passage asserts. `tolerance` is relative and is for amounts only.
    """
    if not re.search("[0-9]", answer):
        return gives_name(question, answer, passage)
    mentions = scan(readable(answer))
    if mentions and mentions[-1].quantity.unit == "m":
        passage = _METRES.sub(" m", passage)  # otherwise it is read as million
    # Currencies are compared before equal texts, because folding drops their signs, so that $5 would equal €5.
    if _has_other_currency(answer, passage):
        return False
    if folded(answer) == folded(passage):  # Q3 2020, 12K, 1/3
        return True
    if pair := _pair_of(answer):
        return _gives_pair(answer, pair, passage)
    if not mentions:
        return False
    wanted = mentions[-1]
    if "%" in answer and _FRACTION.search(passage):  # before the two numbers of a fraction are read as values
        return _gives_fraction(wanted, passage)
    if _YEAR.fullmatch(answer.strip()) and not _asks_amount(question):
        return _gives_year(question, wanted, passage)
    return _gives_amount(question, answer, wanted, passage, tolerance)


def _gives_fraction(wanted: Mention, passage: str) -> bool:
    """Return whether the fractions of a passage are the wanted percentage: 1/4 or "about three quarters (76.4 %)".

    A percentage beside the fraction must be the wanted one. The fraction may then be rougher.
    """
    percentages = [mention.quantity.value for mention in scan(readable(passage)) if mention.quantity.unit == "%"]
    if any(percentage != wanted.quantity.value for percentage in percentages):
        return False
    max_error = MAX_ROUGH_SHARE_ERROR if percentages else MAX_SHARE_ERROR
    return all(_is_share(wanted, part, whole, max_error) for part, whole in _FRACTION.findall(passage))


def _gives_year(question: str, wanted: Mention, passage: str) -> bool:
    """Return whether the wanted year is the only one that a passage asserts."""
    passage = _without_comparison(passage)
    readable_passage = readable(passage)
    values = _asserted_values(question, passage, years=True)
    years = {value.quantity.value for value in values if _is_year(readable_passage, value)}
    return years == {wanted.quantity.value}


def _gives_amount(question: str, answer: str, wanted: Mention, passage: str, tolerance: float) -> bool:
    """Return whether all values that a passage asserts agree with the wanted one."""
    if _is_per_another(answer, passage):
        return False
    clause = clause_about(question, passage.replace("\n", " "), _DIGIT)
    # The clause ends at the first aside that follows a value. A year is no value, so "In 2020, compared with 2019, 12 cars
    # were sold" stays whole.
    clause = main_part(clause, _VALUE)
    given = _asserted_values(question, clause, years=False)
    return bool(given) and all(_agree(question, answer, wanted, clause, value, tolerance) for value in given)


class _Pair(NamedTuple):
    """A range or a share: 16-24, "$5 to $10", 1/3, "3 in 10"."""

    first: int | Decimal
    second: int | Decimal
    unit: str  # of the second number
    is_denied: bool


def _pair_of(answer: str) -> _Pair | None:
    """Return the two numbers of an answer that consists of a range or a share."""
    if len(_NUMBER.findall(answer)) != 2:
        return None
    pairs = _pairs_in(answer)
    return pairs[0] if len(pairs) == 1 else None


def _gives_pair(answer: str, wanted: _Pair, passage: str) -> bool:
    """Return whether a passage has ranges or shares, and all of them are the wanted one."""
    given_pairs = _pairs_in(passage)
    return bool(given_pairs) and all(_is_same_pair(answer, wanted, given) for given in given_pairs)


def _pairs_in(text: str) -> list[_Pair]:
    """Return the ranges and shares in a text: 16-24, 1/3, "3 in 10".

    Fractions in words (one third) are found only if `one_form` has written them in digits, as it has in passages.
    """
    text = number_words_as_digits(_ONE_IN.sub("1", unicodedata.normalize("NFKC", text)))
    text = readable(_IN_SO_MANY.sub("/", text))
    found = []
    for first, second in pairwise(scan(text)):
        if _JOINS_NUMBERS.fullmatch(text, first.end, second.start):
            is_denied = _DENIED_PAIR.search(text, 0, first.start) is not None
            found.append(_Pair(first.quantity.value, second.quantity.value, second.quantity.unit, is_denied))
    return found


def _is_same_pair(answer: str, wanted: _Pair, given: _Pair) -> bool:
    """Return whether two ranges or shares are the same. If the answer names no unit, it may be any: 16-24 and 16세~24세."""
    is_of_unit = given.unit in ("", wanted.unit) or not _UNIT_WORD.search(answer)
    return (given.first, given.second) == (wanted.first, wanted.second) and is_of_unit and not given.is_denied


def _without_comparison(passage: str) -> str:
    """Return a passage up to a comparison with another year: "It was 2020, down from 41 in 2019" → "It was 2020, "."""
    compared = _COMPARED_WITH.search(passage)
    return passage[: compared.start()] if compared and _YEAR.search(passage[: compared.start()]) else passage


def _asks_amount(question: str) -> bool:
    """Return whether a question asks for an amount, so that an answer such as 2035 is not a year."""
    return bool(_ASKS_AMOUNT.search(question)) and not _ASKS_TIME.search(question)


def _is_share(wanted: Mention, part: str, whole: str, max_error: float) -> bool:
    """Return whether a fraction is the wanted percentage, up to an error in percentage points: 1/4 is 25 %."""
    return int(whole) > 0 and abs(100 * int(part) / int(whole) - float(wanted.quantity.value)) < max_error


def readable(text: str) -> str:
    """Return a text in which `scan` reads values: "$5.2M" → "5.2백만", "twelve cars" → "12 cars".

    Currency signs are left out, because `same_value` compares them by itself.
    """
    text = number_words_as_digits(unicodedata.normalize("NFKC", text))
    text = _SIGNED_CURRENCY.sub("", text)
    text = _CURRENCY.sub(" ", text)
    text = _PER_ONE.sub("", text)
    text = _SEASON.sub(r"\1-", text)
    text = _OUT_OF.sub("", text)
    text = _CENTS.sub(lambda match: f"{int(match[1]) / 100} dollars", text)
    return plain(_LETTER_FACTOR.sub(lambda match: _LETTER_FACTORS[(match[1] or match[2]).lower()], text))


def _asserted_values(question: str, passage: str, *, years: bool) -> list[Mention]:
    """Return the values that a passage asserts: the one it arrives at, or all but years and those of the question.

    Years are left out unless `years`, which is for answers that are a year. If a passage has no other values than such, they
    are returned. The list is empty if one of the asserted values is denied. To "How many of the 40 cars in 2020 were red?",
    "In 2020, 12 of the 40 cars were red" asserts 12.
    """
    text = readable(passage)
    values = [mention for mention in scan(text) if not _is_in_range(text, mention)] or list(scan(text))
    if not years:
        values = [value for value in values if not _is_year(text, value)] or values
    in_question = {mention.quantity.value for mention in scan(readable(question))}
    values = [value for value in values if value.quantity.value not in in_question] or values
    results = [value for value in values if _is_result(text, value)]
    if results:
        values = results[-1:]
    is_denied = any(
        DENIAL_BEFORE.search(text[: value.start].lower()) or is_bound(question, text, value) for value in values
    )
    return [] if is_denied else values


def _is_result(text: str, value: Mention) -> bool:
    """Return whether a sentence says that it arrives at a value: "a total of 27"."""
    return bool(_RESULT_BEFORE.search(text[: value.start]) or _IN_TOTAL.match(text, value.end))


def _is_in_range(text: str, value: Mention) -> bool:
    """Return whether a value without a unit is one end of a range: 18-64."""
    is_end = _RANGE_BEFORE.search(text[: value.start]) or _RANGE_AFTER.match(text, value.end)
    return bool(is_end) and not value.quantity.unit


def _is_year(text: str, value: Mention) -> bool:
    return value.quantity.unit in ("", "년") and bool(_YEAR.match(text, value.start))


def _agree(question: str, answer: str, wanted: Mention, clause: str, given: Mention, tolerance: float) -> bool:
    """Return whether a value of the answer and one of a clause agree: they differ by less than `tolerance`, years by nothing.

    A factor such as K or M counts, unless the question asks in it (how many thousand). `%` may be missing.
    """
    wanted_quantity = wanted.quantity
    given_quantity = given.quantity
    if _is_other_direction(question, given_quantity):
        return False
    if wanted_quantity.agrees(given_quantity):
        return True
    if len({wanted_quantity.unit, given_quantity.unit} - PLAIN_UNITS) > 1:
        return False
    if _is_year(readable(answer), wanted) and not _asks_amount(question):
        return wanted_quantity.value == given_quantity.value
    factor = _asked_factor(question)
    wanted_value = wanted_quantity.value
    given_value = given_quantity.value
    # "How many thousand cars?" is answered by 12 for 12,000 cars. Without a factor of its own, the answer of the test set is
    # always meant so. A value of a response may be meant so (12), or be written out (12,000); with its own factor (12K) it
    # is not.
    is_wanted_in_factor = factor > 1 and not _has_factor(answer, wanted)
    may_be_in_factor = factor > 1 and not _has_factor(clause, given)
    pairs = []
    if is_wanted_in_factor:
        pairs.append((wanted_value * factor, given_value))
        if may_be_in_factor:
            pairs.append((wanted_value, given_value))
    else:
        pairs.append((wanted_value, given_value))
        if may_be_in_factor:
            pairs.append((wanted_value, given_value * factor))
    return any(_is_near(float(w), float(g), tolerance) for w, g in pairs)


def _is_near(wanted: float, given: float, tolerance: float) -> bool:
    """Return whether two values differ by less than `tolerance` of the wanted one, which may be 0.

    As in the published rule, values much smaller than _DIVISOR_OFFSET are near each other whatever they are.
    """
    return abs(wanted - given) / (_DIVISOR_OFFSET + abs(wanted)) < tolerance


def _is_other_direction(question: str, given: Quantity) -> bool:
    """Return whether a question asks about a rise and the answer is a fall, or the reverse."""
    asked_senses = [sense for sense, words in _DIRECTIONS.items() if words.search(question)]
    return len(asked_senses) == 1 and given.sense in _DIRECTIONS and given.sense not in asked_senses


def _is_per_another(answer: str, passage: str) -> bool:
    """Return whether two texts name different units for one measure per another: per ton, per ounce."""
    return none_in_common(_units_after_per(answer), _units_after_per(passage))


def _has_other_currency(answer: str, passage: str) -> bool:
    """Return whether two texts have amounts in different currencies."""
    return none_in_common(_currencies(answer), _currencies(passage))


def _currencies(text: str) -> set[str]:
    return {sign for sign, words in _CURRENCIES.items() if re.search(rf"(?<![A-Za-z])(?:{words})", text, re.IGNORECASE)}


def _units_after_per(text: str) -> set[str]:
    return {word.lower().removesuffix("s") for word in _UNIT_AFTER_PER.findall(text)}


def _has_factor(text: str, mention: Mention) -> bool:
    """Return whether a value of a text is written with a multiplier. Its position is that in the readable text."""
    return bool(re.search(_KOREAN_MULTIPLIER, readable(text)[mention.start : mention.end]))


def _asked_factor(question: str) -> int:
    """Return the factor that a question asks in, or 1: 1000 for "how many thousand" and 몇 천 명."""
    asked = _ASKED_FACTOR.search(question)
    if asked is None:
        return 1
    english, how_many, in_brackets = asked.groups()
    return _ENGLISH_FACTORS[english.lower()] if english else factor_of(how_many or in_brackets)

"""Decide whether the values that a passage asserts are the answer's: their numbers, factors, currencies and directions."""

import re
import unicodedata

from evaluator.benchmarks.scoring.chart_names import gives_name
from evaluator.benchmarks.scoring.chart_text import DENIAL_BEFORE, clause_about, folded, main_part
from evaluator.benchmarks.scoring.names import number_words_as_digits
from evaluator.benchmarks.scoring.numerals import factor_of
from evaluator.benchmarks.scoring.quantities import Mention, Quantity, plain, scan

MAX_SHARE_ERROR = 0.5  # percentage points between a fraction and a percentage
_BASE = re.compile(r"(?<![\d,.])1\s?(?:인|명|가구|일)당")
_ASKS_AMOUNT = re.compile(
    r"\bhow (?:many|much)\b|\b(?:price|cost|amount|number|value|population|average|total|sales|revenue)\b",
    re.IGNORECASE,
)
_ASKS_TIME = re.compile(r"\b(?:years?|when|dates?|months?)\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d.,])(?:1[89]|20)\d\d(?![\d%]|[.,]\d)")
_LETTER_FACTORS = {"k": "천", "m": "백만", "mn": "백만", "b": "십억", "bn": "십억", "t": "조", "tn": "조"}
_LETTER_FACTOR = re.compile(r"(?<=\d)(?:\s?(K|M|B|T|[Bb]n|[Mm]n|[Tt]n)|(k|m|b))(?![A-Za-z\d])")
_FRACTION = re.compile(r"(?<![\d/.])(\d{1,3})/(\d{1,3})(?![\d/])")
_CURRENCIES = {
    "$": r"\$|dollars?|usd|달러",
    "€": "€|euros?|eur|유로",
    "£": "£|pounds?|gbp|파운드",
    "₩": "₩|won|krw|원(?![가-힣])",
    "¥": "¥|yen|jpy|엔(?![가-힣])",
}
_CENTS = re.compile(r"(?<![\d.,])(\d{1,2})\s?(?:cents?|¢)(?![A-Za-z])", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_VALUE = re.compile(r"(?<!\d)(?!(?:1[89]|20)\d\d(?!\d))\d")  # but no year
_RANGE_BEFORE = re.compile(r"\d-$")
_RANGE_AFTER = re.compile(r"-\d")
_OUT_OF = re.compile(r"(?<=\d)\s(?:out\s)?of\s(?:the\s|all\s)?\d[\d,]*")  # 4 of the 9 countries
_PER = re.compile(r"\bper\s(?:an?\s)?([A-Za-z]+)")
# Words of the change that a question asks about, by the sense that `scan` gives to a value.
_DIRECTIONS = {
    "+": re.compile(r"\b(?:increas\w*|rise|rose|grow|grew|gain)\b", re.IGNORECASE),
    "-": re.compile(r"\b(?:decreas\w*|declin\w*|drop|fall|fell|reduc\w*)\b", re.IGNORECASE),
}
PLAIN_UNITS = {"", "%", "달러", "명", "년", "개"}  # may be missing, or be what is counted in other words
_CURRENCY = re.compile(r"(?<![A-Za-z])[A-Z]{0,3}[$€£₩¥]")
_SIGNED_CURRENCY = re.compile(rf"(?<=[-−]){_CURRENCY.pattern}")  # -$100 is -100
_SCALE_WORD = "[십백천만억조]"
_ASKED_FACTOR = re.compile(
    rf"\b(thousand|million|billion|trillion)s?\b|(?:몇|단위\s?[:：]?)\s?({_SCALE_WORD}+)|\(({_SCALE_WORD}+)",
    re.IGNORECASE,
)
_FACTORS = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
# Stands before the value that a sentence arrives at, after the values that it is computed from.
_ARRIVES = re.compile(
    r"(?:\b(?:increase|decrease|rise|drop|decline|difference|growth|gain|change|gap|total|average|sum|ratio|combined)\s(?:of|is|was)"
    r"|\b(?:difference|total|answer|result|sum|average)\s(?:is|was|of|equals)|\b(?:by|equals|gives|yields|makes|totals|totaling|totalling)|[=≈→])\s*(?:about|approximately|around|roughly)?\s*[$€£₩]?$",
    re.IGNORECASE,
)
_IN_TOTAL = re.compile(r"\s(?:\w+\s)?(?:in total|altogether|in all|combined)\b", re.IGNORECASE)


def same_value(question: str, answer: str, passage: str, tolerance: float) -> bool:
    """Return whether a passage has only one value and it is the answer's.

    Years must be exact, and a factor such as K or M counts, unless the question asks in it. `%` may be missing.
    """
    if not re.search("[0-9]", answer):
        return gives_name(question, answer, passage)
    if _other_currency(answer, passage):
        return False
    if folded(answer) == folded(passage):  # Q3 2020, 12K, 1/3
        return True
    wanted = scan(readable(answer))
    if not wanted:
        return False
    if "%" in answer and (fractions := _FRACTION.findall(passage)):
        return all(_is_share(wanted[-1], *pair) for pair in fractions) and _only_share(passage, wanted[-1])
    if _YEAR.fullmatch(answer.strip()) and not _asks_amount(question):
        text = readable(passage)
        given = [one for one in _asserted_values(question, passage, years=True) if _is_year(text, one)]
        return {one.quantity.value for one in given} == {wanted[-1].quantity.value}
    part = main_part(clause_about(question, passage.replace("\n", " "), _DIGIT), _VALUE)
    given = _asserted_values(question, part, years=False)
    return bool(given) and all(_agree(question, answer, wanted[-1], passage, one, tolerance) for one in given)


def _asks_amount(question: str) -> bool:
    """Return whether a question asks for an amount, so that an answer such as 2035 is no year."""
    return bool(_ASKS_AMOUNT.search(question)) and not _ASKS_TIME.search(question)


def _is_share(wanted: Mention, part: str, whole: str) -> bool:
    """Return whether a fraction is a percentage: 1/4 is 25 %."""
    return int(whole) > 0 and abs(100 * int(part) / int(whole) - float(wanted.quantity.value)) < MAX_SHARE_ERROR


def _only_share(passage: str, wanted: Mention) -> bool:
    """Return whether a passage has no percentage beside its fraction but the wanted one."""
    given = [one.quantity for one in scan(readable(passage)) if one.quantity.unit == "%"]
    return all(one.value == wanted.quantity.value for one in given)


def readable(text: str) -> str:
    """Return a text in which `scan` reads values: factors in letters become words, and numbers in words digits."""
    text = number_words_as_digits(unicodedata.normalize("NFKC", text))
    text = _SIGNED_CURRENCY.sub("", text)
    text = _CURRENCY.sub(" ", text)
    text = _BASE.sub("", text)
    text = _OUT_OF.sub("", text)
    text = _CENTS.sub(lambda match: f"{int(match[1]) / 100} dollars", text)
    return plain(_LETTER_FACTOR.sub(lambda match: _LETTER_FACTORS[(match[1] or match[2]).lower()], text))


def _asserted_values(question: str, passage: str, *, years: bool) -> list[Mention]:
    """Return the values that a passage asserts: the one it arrives at, or all but years and those of the question."""
    text = readable(passage)
    every = [one for one in scan(text) if not _is_in_range(text, one)] or list(scan(text))
    if not years and (values := [one for one in every if not _is_year(text, one)]):
        every = values
    asked = {one.quantity.value for one in scan(readable(question))}
    if others := [one for one in every if one.quantity.value not in asked]:
        every = others
    if arrived := [one for one in every if _ARRIVES.search(text[: one.start]) or _IN_TOTAL.match(text, one.end)]:
        every = arrived[-1:]
    return [] if any(DENIAL_BEFORE.search(text[: one.start].lower()) for one in every) else every


def _is_in_range(text: str, one: Mention) -> bool:
    """Return whether a value without a unit is one end of a range: 18-64."""
    return bool(_RANGE_BEFORE.search(text[: one.start]) or _RANGE_AFTER.match(text, one.end)) and not one.quantity.unit


def _is_year(text: str, one: Mention) -> bool:
    return one.quantity.unit in ("", "년") and bool(_YEAR.match(text, one.start))


def _agree(question: str, answer: str, wanted: Mention, passage: str, given: Mention, tolerance: float) -> bool:
    """Return whether two values agree, also if one of them is in the factor that the question asks in."""
    some = wanted.quantity
    others = given.quantity
    if _is_other_direction(question, others) or _is_per_another(answer, passage):
        return False
    if some.agrees(others):
        return True
    if len({some.unit, others.unit} - PLAIN_UNITS) > 1:
        return False
    if _is_year(readable(answer), wanted) and not _asks_amount(question):
        return some.value == others.value
    factor = _asked_factor(question)
    pairs = [(some.value, others.value)]
    if factor > 1 and not _has_factor(answer, wanted):
        factors = (factor,) if _has_factor(passage, given) else (1, factor)
        pairs = [(some.value * factor, others.value) for factor in factors]
    elif factor > 1 and not _has_factor(passage, given):
        pairs.append((some.value, others.value * factor))
    return any(abs(float(w) - float(g)) / (0.01 + abs(float(w))) < tolerance for w, g in pairs)


def _is_other_direction(question: str, given: Quantity) -> bool:
    """Return whether a question asks about a rise and the answer is a fall, or the reverse."""
    asked = [sense for sense, words in _DIRECTIONS.items() if words.search(question)]
    return len(asked) == 1 and given.sense in _DIRECTIONS and given.sense not in asked


def _is_per_another(answer: str, passage: str) -> bool:
    """Return whether two texts name different units for one measure per another: per ton, per ounce."""
    some = _units_after_per(answer)
    others = _units_after_per(passage)
    return bool(some and others) and not some & others


def _other_currency(answer: str, passage: str) -> bool:
    """Return whether two texts have amounts in different currencies."""
    some = _currencies(answer)
    others = _currencies(passage)
    return bool(some and others) and some.isdisjoint(others)


def _currencies(text: str) -> set[str]:
    return {sign for sign, words in _CURRENCIES.items() if re.search(rf"(?<![A-Za-z])(?:{words})", text, re.IGNORECASE)}


def _units_after_per(text: str) -> set[str]:
    return {word.lower().removesuffix("s") for word in _PER.findall(text)}


def _has_factor(text: str, stated: Mention) -> bool:
    return bool(re.search(_SCALE_WORD, readable(text)[stated.start : stated.end]))


def _asked_factor(question: str) -> int:
    """Return the factor that a question asks in, as "how many thousand" and 몇 천 명 do, or 1."""
    asked = _ASKED_FACTOR.search(question)
    if asked is None:
        return 1
    return _FACTORS[asked[1].lower()] if asked[1] else factor_of(asked[2] or asked[3])

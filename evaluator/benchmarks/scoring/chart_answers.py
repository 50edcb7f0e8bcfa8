"""Compare gold answers with responses exactly as InfoChartQA's published scorer does, including its mistakes.

`infochartqa` calls `reference_match` for the metric `em`. `strict_chart_answers` uses the groups of question types and the
tolerances, and none of the comparisons.

source: CoolDawnAnt/InfoChartQA, eval/ (the rules, reimplemented). Mistakes in the rules are kept and documented,
because the published numbers depend on them.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

# Values of `question_type_id`, grouped by how the answers are compared.
AS_ANSWER_IS = {1, 2, 101, 102}  # as values if the gold answer is one, else as texts
AS_TEXT_OR_VALUE = {13, 14, 15, 103, 113}  # right as either
EXACT_NUMBER = {54, 72}
ROUGH_NUMBER = {10, 11, 12, 50, 51, 52, 110}
TEXT = {60, 61, 70, 80, 90}
UNORDERED = {40, 41, 42, 43, 44}  # lists
ORDERED = {71}
ORDERED_BY_CHARACTER = {30}  # ordered lists too, but the published code compares single characters (`reference_match`)
CHOICES = {202, 1919810, 1919811, 1919812}

# The relative error allowed.
EXACT_TOLERANCE = 0.001
ROUGH_TOLERANCE = 0.05
UNITS = {
    "K": 1e3, "k": 1e3, "M": 1e6, "m": 1e6, "million": 1e6, "b": 1e9, "B": 1e9, "bn": 1e9, "Bn": 1e9, "Billion": 1e9,
    "T": 1e12, "%": 1e-2, "Cr": 1e8,
}  # fmt: skip
FACTORS = (100, 1_000, 1_000_000, 1_000_000_000)  # a response off by one of these is right: it may omit %, K, M or B

_NUMBER_RUN = re.compile(r"[0-9+-][0-9+,.-]*")
# Thousands grouped by commas with a decimal point, and grouped by any character with a decimal comma. The published
# regex has an unescaped dot there.
_COMMA_GROUPED = re.compile(r"[-+]?\d{1,3}(?:,\d{3})*(?:\.\d*)?")
_ANY_GROUPED = re.compile(r"[-+]?\d{1,3}(?:.\d{3})*(?:,\d*)?")


def reference_match(question_type: int, answer: str, response: str) -> bool:
    """Return whether the published scorer accepts the response. If it crashes or decides at random, return False."""
    if question_type in AS_ANSWER_IS:
        if mostly_digits(answer):
            return value_match(answer, response, EXACT_TOLERANCE)
        return text_match(answer, response)
    if question_type in ROUGH_NUMBER:
        return value_match(answer, response, ROUGH_TOLERANCE)
    if question_type in AS_TEXT_OR_VALUE:
        return answer.lower() in response.lower() or value_match(answer, response, EXACT_TOLERANCE)
    if question_type in UNORDERED:
        wanted = answer.replace(" ", "").split(",")
        return unordered_match(wanted, response.replace("\n", ",").replace(" ", "").split(","))
    if question_type in TEXT:
        return text_match(answer, response)
    if question_type in ORDERED:
        return ordered_match(answer.replace(" ", "").split(","), _ranked_items(response))
    if question_type in ORDERED_BY_CHARACTER:
        # The published code iterates over the letters of the answer where items were meant: a mistake that is kept.
        given = response.split(",")
        return any(ordered_match(character.split(","), given) for character in answer)
    if question_type in CHOICES:
        return choice_match(answer, response)
    return value_match(answer, response, EXACT_TOLERANCE)  # EXACT_NUMBER, and types that are not listed


def text_match(answer: str, response: str) -> bool:
    """Return whether the response contains the answer or the two are 80 % alike, ignoring case."""
    answer = answer.lower()
    response = response.lower()
    return answer in response or _alike(answer, response, 0.8)


def value_match(answer: str, response: str, tolerance: float) -> bool:
    """Return whether the last numbers of both texts agree within the relative tolerance, with or without their units.

    An answer without a digit is compared as text.
    """
    if not re.search("[0-9]", answer):
        return text_match(answer, response)
    wanted, wanted_unit = last_quantity(answer)
    given, given_unit = last_quantity(response.replace("\n", " "))
    if wanted is None or given is None:
        return False  # the published scorer crashes if the answer is not a number, for example "10-15"
    pairs = [(wanted * x, given * y) for x in (wanted_unit, 1.0) for y in (given_unit, 1.0)]
    pairs += [(factor * wanted, given) for factor in FACTORS]
    pairs += [(wanted, factor * given) for factor in FACTORS]
    return any(abs(w - g) / (0.01 + abs(w)) < tolerance for w, g in pairs)  # + 0.01 as published: w may be 0


def unordered_match(wanted: Sequence[str], given: Sequence[str]) -> bool:
    """Return whether the lists have equal length and each wanted item pairs with the first unused item like it."""
    if len(wanted) != len(given):
        return False
    free = list(given)
    for item in wanted:
        place = next((i for i, other in enumerate(free) if _item_match(item, other, 0.8)), None)
        if place is None:
            return False
        del free[place]
    return True


def ordered_match(wanted: Sequence[str], given: Sequence[str]) -> bool:
    """Return whether the lists agree item by item up to the end of the shorter one. A repeated item is wrong."""
    for items in (wanted, given):
        if len({i.strip() for i in items}) < len(items):
            return False
    return all(_item_match(w, g, 0.6) for w, g in zip(wanted, given, strict=False))


def choice_match(answer: str, response: str) -> bool:
    """Return whether both name the same set of letters. Only the last ten characters of a long response are read."""
    tail = response[-10:] if len(response) > 50 else response
    given = {_letter(part) for part in tail.split(",")}
    wanted = {_letter(part) for part in answer.upper().split(",")}
    if None in given or None in wanted:
        return False  # the published code guesses a letter here
    return given == wanted


def _letter(part: str) -> str | None:
    """Return the last letter A–D in brackets or, if there is none, the last one between spaces."""
    for mark in ",.!?;:'":
        part = part.strip(mark)
    padded = f" {part} "
    for form in ("({})", " {} "):
        places = {padded.rfind(form.format(letter)): letter for letter in "ABCD"}
        if (last := max(places)) >= 0:
            return places[last]
    return None


def _item_match(wanted: str, given: str, threshold: float) -> bool:
    """Return whether one item contains the other or they are alike. Every item contains an empty one."""
    return wanted in given or given in wanted or _alike(wanted.lower().strip(), given.lower().strip(), threshold)


def _alike(wanted: str, given: str, threshold: float) -> bool:
    """Return whether the similarity of two texts, from 0 to 1, is at least the threshold."""
    matcher = SequenceMatcher(None, wanted, given)
    # Check two upper bounds first, because the ratio itself is by far the slowest.
    return all(bound() >= threshold for bound in (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio))


def _ranked_items(response: str) -> list[str]:
    """Return the items of a ranking separated by commas, line breaks, `<` or `>`, perhaps after "Ranking:"."""
    text = response.replace("\n\n", "").replace("\n", ",").replace(" ", "").replace("<", ",").replace(">", ",")
    return (text.split(":")[1] if text.count(":") == 1 else text).split(",")


def mostly_digits(text: str) -> bool:
    """Return whether most characters of a text are digits or belong to amounts: "$1.2B", but not "March 2018"."""
    digits = sum(c.isdigit() or c in ".,$BTK" for c in text)
    return digits > len(text) - digits


def last_quantity(text: str) -> tuple[float | None, float]:
    """Return the last number of the last word with a digit, and the factor of its unit.

    The unit is in the same word or else in the next one; the factor is 1 if there is none. The number is None if it
    cannot be parsed.
    """
    words = text.split(" ")
    for place in range(len(words) - 1, -1, -1):
        if re.search("[0-9]", words[place]):
            word = words[place].replace("$", "").replace("\n", "")
            unit = _last_unit(word) or (_last_unit(words[place + 1]) if place + 1 < len(words) else "")
            return _number(_NUMBER_RUN.findall(word)[-1]), UNITS.get(unit, 1.0)
    return None, 1.0


def _last_unit(word: str) -> str:
    """Return the last run of letters and percent signs in a word."""
    end = len(word)
    while end and not (word[end - 1].isalpha() or word[end - 1] == "%"):
        end -= 1
    start = end
    while start and (word[start - 1].isalpha() or word[start - 1] == "%"):
        start -= 1
    return word[start:end]


def _number(run: str) -> float | None:
    """Parse a run of digits, signs, points and commas: `1,234.5`, `1.234,5`, and `2018,36.8`, which is 36.8.

    Return None if it is not a number.
    """
    run = run.removesuffix(".")
    negative = run.startswith("-")
    run = run[1:] if run.startswith(("+", "-")) else run
    if not _COMMA_GROUPED.fullmatch(run):
        european = _ANY_GROUPED.fullmatch(run)
        run = run.replace(".", "").replace(",", ".") if european else run.rpartition(",")[2]
    try:
        value = float(run.replace(",", ""))
    except ValueError:
        return None
    return -value if negative else value

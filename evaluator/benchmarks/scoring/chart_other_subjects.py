"""Decide whether a passage of a response to InfoChartQA is about something else than the question.

It may be about another country or month, another subject, another place of a ranking or another year. A passage that says
nothing of the kind is about the question. `strict_chart_answers` removes the passages that are about something else, so that
their values and names are not taken for the answer. `other_subjects` has such rules for the Korean benchmarks.
"""

import re

from evaluator.benchmarks.scoring.chart_text import main_part, years_in
from evaluator.benchmarks.scoring.names import COUNTRIES, MONTHS, none_in_common, one_form

# In texts that `one_form` has returned, which writes these names in lower case.
_MONTH_NAME = re.compile(rf"(?<![a-z])(?:{'|'.join(MONTHS)})(?![a-z])")
COUNTRY_NAME = re.compile(rf"(?<![a-z])(?:{'|'.join(COUNTRIES)})(?![a-z])")


def names_another(answer: str, passage: str) -> bool:
    """Return whether an answer is a month or a country, and a passage, which `one_form` has returned, names only others."""
    return any(names_only_others(pattern, one_form(answer), passage) for pattern in (_MONTH_NAME, COUNTRY_NAME))


def names_only_others(pattern: re.Pattern[str], known_text: str, text: str) -> bool:
    """Return whether both texts have names that the pattern matches, but none of them is in both.

    It is False if one of the texts has no such name.
    """
    return none_in_common(set(pattern.findall(known_text)), set(pattern.findall(text)))


# Words of which only one can be true of what a question is about.
_OPPOSITES = tuple(
    (re.compile(rf"\b(?:{first})\b", re.IGNORECASE), re.compile(rf"\b(?:{second})\b", re.IGNORECASE))
    for first, second in (
        (r"north(?:ern)?", r"south(?:ern)?"),
        (r"east(?:ern)?", r"west(?:ern)?"),
        ("upper", "lower"),
        ("inner", "outer"),
        ("urban", "rural"),
        ("females?|women|girls", "males?|men|boys"),
        ("domestic", "foreign"),
        ("public", "private"),
        ("imports?", "exports?"),
        ("births?", "deaths?"),
    )
)
# Verbs of what something had, behind its name: "Gaon had 287".
_HAD = r"""
(?: has | had | have | got | gets | saw | sees | received | attracted        # Gaon had 287
  | carried | handled | recorded | reported | reached                        # Gaon carried 287
  | produced | sold | exported | employed                                    # Gaon sold 287
)
"""
_SUBJECT = re.compile(rf"^\W*([A-Z][a-z]{{2,}})\s{_HAD}\b", re.MULTILINE | re.VERBOSE)
_NO_SUBJECT = {  # words at the start of a sentence that name nothing
    "It", "They", "This", "That", "These", "Those", "There", "Each", "Both", "She", "Who", "Which", "You", "All", "Total", "People",
}  # fmt: skip
_NAME_IN_QUESTION = re.compile(r"(?<=[a-z,]\s)[A-Z][a-z]{2,}")  # Nuri, behind the first word


def is_of_other_subject(question: str, passage: str) -> bool:
    """Return whether a passage gives its value to another subject than the question's: Gaon for Nuri, north for south.

    A passage without a subject, or that names the question's too, is about the question.
    """
    for pair in _OPPOSITES:
        asked = [bool(word.search(question)) for word in pair]
        given = [bool(word.search(passage)) for word in pair]
        if sum(asked) == sum(given) == 1 and asked != given:
            return True
    asked_names = set(_NAME_IN_QUESTION.findall(question))
    subjects = set(_SUBJECT.findall(passage)) - _NO_SUBJECT
    is_named = any(name in passage for name in asked_names)
    return bool(asked_names and subjects) and not is_named and not any(subject in question for subject in subjects)


_MOST = (
    r"(?:largest|highest|biggest|greatest|longest|tallest|most\s(?:common|popular|frequent|expensive|visited|populous))"
)
_LEAST = r"(?:smallest|lowest|shortest|fewest|(?<!at\s)least|most\s(?:rare|uncommon))"
_RANK_ENDS = {
    "most": re.compile(rf"\b{_MOST}\b", re.IGNORECASE),
    "least": re.compile(rf"\b{_LEAST}\b", re.IGNORECASE),
}
_ORDINALS = {"2nd": "second", "3rd": "third", "4th": "fourth", "5th": "fifth"}
_SUPERLATIVE = re.compile(
    rf"\b(?:(second|third|fourth|fifth|2nd|3rd|4th|5th)[\s-])?(?:{_MOST}|{_LEAST})\b", re.IGNORECASE
)


def is_of_other_rank(question: str, passage: str) -> bool:
    """Return whether a passage is about another place of a ranking than the question: the lowest, the third largest.

    A place of a ranking has two parts: the end that is counted from (most or least) and the number (first, second). "The
    second lowest" has "least" and "second". Each part is compared on its own, unless the question or the passage lacks it.
    Only the first clause is compared, because what follows may be about others: "Samsung holds 21 %, behind Apple, the
    largest".
    """
    clause = re.split(r"[,;](?!\d)", passage)[0]
    return _counts_from_other_end(question, clause) or _has_other_number(question, clause, passage)


def _counts_from_other_end(question: str, clause: str) -> bool:
    """Return whether a question and a clause each count from one end of a ranking, and these differ."""
    asked_ends = _ends_in(question)
    given_ends = _ends_in(clause)
    return len(asked_ends) == len(given_ends) == 1 and asked_ends != given_ends


def _has_other_number(question: str, clause: str, passage: str) -> bool:
    """Return whether a question asks for one number of a ranking, and a clause of a passage has only other numbers."""
    asked_numbers = _numbers_in(question)
    if len(asked_numbers) != 1:
        return False
    (asked_number,) = asked_numbers
    # `_numbers_in` finds only numbers before a superlative. "Food is the largest, and Rent is second" has the number too.
    if re.search(rf"\b{asked_number}\b", passage, re.IGNORECASE):
        return False
    return none_in_common(asked_numbers, _numbers_in(clause))


def _ends_in(text: str) -> set[str]:
    """Return from which ends of a ranking a text counts: "the second largest" → {"most"}."""
    return {end for end, words in _RANK_ENDS.items() if words.search(text)}


def _numbers_in(text: str) -> set[str]:
    """Return the numbers of places in a text: "the largest", "the second lowest" → {"first", "second"}."""
    numbers: set[str] = set()
    for match in _SUPERLATIVE.finditer(text):
        number = (match[1] or "first").lower()
        numbers.add(_ORDINALS.get(number, number))
    return numbers


_DIGIT = re.compile(r"\d")


def is_of_other_year(question: str, passage: str) -> bool:
    """Return whether a question names a single year, and a passage has years, but not this one: "In 2017, …" for 2018.

    Years in an aside of the passage do not count.
    """
    asked_years = years_in(question)
    given_years = years_in(main_part(passage, _DIGIT))
    return len(asked_years) == 1 and none_in_common(asked_years, given_years)

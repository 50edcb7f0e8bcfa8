"""Decide whether a passage gives a name as the answer, in any of its common forms.

`gives_name("Which country leads?", "Japan", "Japan leads with 12 %, ahead of Italy.")` is true. It is false if the passage
lists the name among others, denies it, or says another one that contains it (New Mexico for Mexico).
"""

import re

from evaluator.benchmarks.scoring.chart_text import DENIAL_BEFORE, FUNCTION_WORD, clause_about, folded, main_part
from evaluator.benchmarks.scoring.names import one_form

MIN_COMPOUND = 8  # letters of a word that may be written as two: Health care for Healthcare
MAX_FILLER_WORDS = 20  # beside the answer in its sentence; with more it is only mentioned
# What is around a name. The texts are in lower case and in the form of `one_form`.
_VALUE_OF_NAME = re.compile(r",\s?(?:at\s|with\s|약\s)?[$€£₩]?\d[^,]*$")
_RUNNER_UP = re.compile(  # after a name: " came in a distant second"
    r"[^.,;]{0,15}\s(?:is|was|comes?|came|ranks?|ranked|follows?|followed|placed|takes?|took)\b[^.,;]{0,20}\b(?P<place>second|third|next|behind|runner)\b"
)
_DENIED_AFTER = re.compile(
    r"[^.,;]{0,40}\s(?:has|have|had) no\b|\s*(?:is|are|was)\s+(?:not|wrong|incorrect)\b|이?\s*아니"
)
# Next to a name in a list, but not after a year: "Japan, Italy and Spain", "In 2019, Japan".
_LISTED_BEFORE = re.compile(r"(?:[;/|·&>]|(?<![\d.])(?!(?:19|20)\d\d,)\d\S*,|\band\b|및|와|과)\s*$")
_LISTED_AFTER = re.compile(r"\s*(?:[;/|·&]|and\b|및|와|과)")
_HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])")  # Asia-Pacific
_WORD = re.compile(r"[a-z]{4,}")
_HAS_WORD = re.compile(r"\w")
_HAS_LETTER = re.compile(r"[^\W\d]")
# Right before a name these make another one: New Mexico, South Sudan, Non-smokers.
_MAKES_ANOTHER = re.compile(
    r"\b(?:new|north|south|east|west|northern|southern|eastern|western|central|equatorial|papua|inner|outer|upper|lower|greater|former"
    r"|non|self|un|semi|not|dis|ex|somewhat|very|quite|rather|slightly|moderately|extremely|partly|fully)\s$"
)
# Nouns that a name may be given without: Solar for Solar power.
_WHAT_IT_IS = {
    "power", "energy", "industry", "sector", "category", "color", "colour", "brand", "platform", "app", "generation", "airline",
    "company", "corporation", "inc", "group", "party",
}  # fmt: skip


def gives_name(question: str, answer: str, passage: str) -> bool:
    """Return whether a passage gives the answer, rather than mentioning it among many words or in a list."""
    if folded(answer) == folded(passage):
        return True
    if not re.search(r"\band\b|&", answer):  # else its own "and" would end a clause
        passage = clause_about(question, passage, _HAS_LETTER)
    if not re.search(r"\d", answer):
        passage = _VALUE_OF_NAME.sub("", passage)  # Germany, at 12.3%
    names = _forms_of(question, answer, passage)
    passage = _stemmed(one_form(passage).lower().replace(" & ", " and ").partition(" — ")[0])
    passage = main_part(passage, _HAS_WORD).strip(" .*()[]\"'")
    return any(_asserts_name(question, name, passage) for name in names)


def _forms_of(question: str, answer: str, passage: str) -> list[str]:
    """Return the forms in which a name may be given: without what it is (Solar for Solar power), a person's last name."""
    name = _stemmed(one_form(answer).lower().strip().replace(" & ", " and "))
    *first, last = name.split() or [""]
    forms = [name]
    if first and last in _WHAT_IT_IS:
        forms.append(" ".join(first))
    is_person = len(first) in (1, 2) and re.match(r"\W*who\b", question, re.IGNORECASE) and _HAS_LETTER.match(name)
    if is_person and not _has_first_name(answer.split()[-1], passage):
        forms.append(last)
    return forms


def _has_first_name(last: str, passage: str) -> bool:
    """Return whether a passage has a word with a capital letter right before a last name: Kimbal Musk."""
    return re.search(rf"[A-Z][\w.'-]*\s+{re.escape(last)}", passage) is not None


def _stemmed(text: str) -> str:
    """Return a text in lower case without hyphens, in which a noun and its plural are the same: city and cities, box and boxes."""
    return _WORD.sub(lambda match: _stem(match[0]), _HYPHEN.sub(" ", text))


def _stem(word: str) -> str:
    """Return a noun without its plural ending: cities → city, boxes → box, but not bus."""
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if word.endswith("ie"):
        return f"{word[:-2]}y"
    return word[:-1] if word.endswith(("se", "xe", "che", "she", "ze", "oe")) else word


def _asserts_name(question: str, name: str, passage: str) -> bool:
    """Return whether a passage says that a name is the answer. Both are stemmed and in the form of `one_form`.

    The last mention of the name decides. It must not be denied, be behind the first, or be one of a list, and the passage is
    a sentence of at most MAX_FILLER_WORDS other words, or nothing but the name and one word: Apple Inc.
    """
    if folded(name) == folded(passage):
        return True
    pattern = r"\s(?:the\s)?".join(map(re.escape, name.split()))  # East Asia and (the) Pacific
    if len(name) >= MIN_COMPOUND and name.isalpha():  # Health care
        pattern = r"[\s-]?".join(name)
    matches = list(re.finditer(rf"(?<![a-z0-9.]){pattern}(?![a-z0-9]|[.,]\d)", passage))
    if not matches:
        return False
    before = passage[: matches[-1].start()]
    after = passage[matches[-1].end() :]
    if DENIAL_BEFORE.search(before) or _DENIED_AFTER.match(after):
        return False
    if (runner_up := _RUNNER_UP.match(after)) and runner_up["place"] not in question.lower():
        return False
    if _MAKES_ANOTHER.search(before):
        return False
    if _LISTED_BEFORE.search(before) or _LISTED_AFTER.match(after):
        return False
    other_words = len(before.split()) + len(after.split())
    is_sentence = bool(FUNCTION_WORD.search(passage))
    return other_words <= 1 or (other_words <= MAX_FILLER_WORDS and is_sentence)

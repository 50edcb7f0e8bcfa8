"""Decide whether a passage gives a name as the answer, in any of its common forms."""

import re

from evaluator.benchmarks.scoring.chart_text import DENIAL, FUNCTION_WORD, clause_about, folded, main_part
from evaluator.benchmarks.scoring.names import one_form

MIN_COMPOUND = 8  # letters of a word that may be written as two
MAX_FILLER_WORDS = 20  # beside the answer in its sentence
_VALUE_OF_NAME = re.compile(r",\s?(?:at\s|with\s|약\s)?[$€£₩]?\d[^,]*$")
_RUNNER_UP = re.compile(
    r"[^.,;]{0,15}\s(?:is|was|comes?|came|ranks?|ranked|follows?|followed|placed|takes?|took)\b[^.,;]{0,20}\b(?:second|third|next|behind|runner)\b"
)
_DENIED_AFTER = re.compile(
    r"[^.,;]{0,40}\s(?:has|have|had) no\b|\s*(?:is|are|was)\s+(?:not|wrong|incorrect)\b|이?\s*아니"
)
_LISTED_BEFORE = re.compile(r"(?:[;/|·&>]|(?<![\d.])(?!(?:19|20)\d\d,)\d\S*,|\band\b|및|와|과)\s*$")
_LISTED_AFTER = re.compile(r"\s*(?:[;/|·&]|and\b|및|와|과)")
_HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])")  # Asia-Pacific
_PLURAL = re.compile(
    r"(?<![a-z])([a-z]{2,}(?=ies(?![a-z]))|[a-z]+(?:s|x|ch|sh|z|[b-gj-np-tvwxz]o)(?=es(?![a-z]))|[a-z]{2,}[^\Wsui\d](?=s(?![a-z])))(ies|es|s)"
)
# Nouns that a name may be given without: Solar for Solar power.
_WHAT_IT_IS = {
    "power", "energy", "industry", "sector", "category", "color", "colour", "brand", "platform", "app", "generation", "airline",
    "company", "corporation", "inc", "group", "party",
}  # fmt: skip


def gives_name(question: str, answer: str, passage: str) -> bool:
    """Return whether a sentence gives the answer, rather than mentioning it among many words or in a list."""
    if folded(answer) == folded(passage):
        return True
    if not re.search(r"\band\b|&", answer):
        passage = clause_about(question, passage, re.compile(r"[^\W\d]"))
    if not re.search(r"\d", answer):
        passage = _VALUE_OF_NAME.sub("", passage)
    passage = _singular(one_form(passage).lower().replace(" & ", " and ").partition(" — ")[0])
    passage = main_part(passage, re.compile(r"\w")).strip(" .*()[]\"'")
    return any(_asserts_name(question, name, passage) for name in _forms_of(question, answer))


def _forms_of(question: str, answer: str) -> list[str]:
    """Return the forms in which a name may be given: without what it is (Solar for Solar power), a person's last name."""
    name = _singular(one_form(answer).lower().strip().replace(" & ", " and "))
    *first, last = name.split() or [""]
    forms = [name]
    if first and last in _WHAT_IT_IS:
        forms.append(" ".join(first))
    if 1 <= len(first) <= 2 and re.match(r"\W*who\b", question, re.IGNORECASE) and not re.search(r"\d", name):
        forms.append(last)
    return forms


def _singular(text: str) -> str:
    """Return a text in lower case with its plurals in the singular and without hyphens."""
    text = _HYPHEN.sub(" ", text)
    return _PLURAL.sub(lambda match: match[1] + ("y" if match[2] == "ies" else ""), text)


def _asserts_name(question: str, name: str, passage: str) -> bool:
    """Return whether a passage, both in one form, says that a name is the answer."""
    if folded(name) == folded(passage):
        return True
    letters = re.escape(name)
    if len(name) >= MIN_COMPOUND and name.isalpha():  # Health care
        letters = r"[\s-]?".join(name)
    every = list(re.finditer(rf"(?<![a-z0-9.]){letters}(?![a-z0-9]|[.,]\d)", passage))
    if not every:
        return False
    found = every[-1]
    before = passage[: found.start()]
    after = passage[found.end() :]
    if DENIAL.search(before) or _DENIED_AFTER.match(after):
        return False
    if (runner_up := _RUNNER_UP.match(after)) and runner_up[0].split()[-1] not in question.lower():
        return False
    others = len(before.split()) + len(after.split())
    is_listed = _LISTED_BEFORE.search(before) or _LISTED_AFTER.match(after)
    return not is_listed and others <= MAX_FILLER_WORDS and (others <= 1 or bool(FUNCTION_WORD.search(passage)))

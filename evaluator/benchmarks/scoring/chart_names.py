"""Decide whether a passage gives a name as the answer, in any of its common forms.

`gives_name("Which country leads?", "Japan", "Japan leads with 12 %, ahead of Italy.")` is true. It is false if the passage
lists the name among others, denies it, or says another one that contains it (New Mexico for Mexico).

`strict_chart_answers` calls it for questions to InfoChartQA that are answered with a name, `chart_values` for values that
have words beside the number.
"""

import re

from evaluator.benchmarks.scoring.chart_text import (
    DENIAL_BEFORE,
    FUNCTION_WORD,
    clause_about,
    folded,
    main_part,
    stems_of,
)
from evaluator.benchmarks.scoring.names import COUNTRIES, one_form

MIN_COMPOUND = 8  # letters of a word that may be written as two: Health care for Healthcare
MAX_FILLER_WORDS = 20  # beside the answer in its sentence; with more it is only mentioned

# The value behind a name at the end of a clause: "Germany, at 12.3%".
_VALUE_OF_NAME = re.compile(r",\s?(?:at\s|with\s|약\s)?[$€£₩]?\d[^,]*$")

# What is right before or right after a name, in texts that `_stemmed` has returned. "does" is "doe" there.
_RUNNER_UP = re.compile(  # " came in a distant second"
    r"[^.,;]{0,15}\s(?:is|was|comes?|came|ranks?|ranked|follows?|followed|placed|takes?|took)\b[^.,;]{0,20}\b(?P<place>second|third|next|behind|runner)\b"
)
_NOT = r"(?:\s+not\b(?!\s+(?:only|just)\b)|n['’]t\b)"
_DENIED_AFTER = re.compile(
    rf"""
      [^.,;]{{0,40}} \s(?:has|have|had)[ ]no\b          # " in 2020 had no growth"
    | \s* (?:is|are|was|were) {_NOT}                    # " is not", " isn't", but not " is not only"
    | \s* (?:is|are|was|were) \s+ (?:wrong|incorrect)\b
    | 이?\s*아니                                        # "이 아니다"
    """,
    re.VERBOSE,
)
# Denies the name only if words of the question follow: " does not lead", but not " did not decline".
_VERB_DENIED_AFTER = re.compile(rf"\s*(?:(?:do|does?|did|has|have|had|can|could|will|would){_NOT}|cannot\b|never\b)")
_ASKS_FOR_DENIED = re.compile(r"\b(?:not|never|no(?!\.))\b|n['’]t\b|아닌|않|없", re.IGNORECASE)
_LISTED_BEFORE = re.compile(
    r"""
    (?:
        [;/|·&>]                                        # "Italy; ", "Italy > "
      | (?<![\d.]) (?!(?:1[89]|20)\d\d,) \d\S*,         # "Italy 12%, ", but not "In 1880, "
      | \band\b                                         # "Italy and "
      | 및 | 와                                         # "이탈리아 및 ", "이탈리아와 "
      | (?<![결효]) (?<!\b성) 과                        # "미국과 ", but not "조사 결과 ", "효과 ", "성과 "
    )
    \s*$
    """,
    re.VERBOSE,
)
_LISTED_AFTER = re.compile(r"\s*(?:[;/|·&]|and\b|및|와|과)")  # " and Spain", "와 한국"
# The name's own value at the start of a sentence: "With 12%, ", "At about $1,234, ", "With a share of 12%, ".
_INTRODUCTION = re.compile(r"\W*(?:with|at)\s(?:an?\s\w+\sof\s)?(?:about\s|around\s|only\s)?[$€£₩]?\d\S*,\s*")
# Before a name, makes it another: New Mexico, South Sudan, Democratic Republic of the Congo, Non smokers, Air Canada.
_MAKES_ANOTHER = re.compile(
    r"\b(?:new|north|south|east|west|northern|southern|eastern|western|central|equatorial|papua|inner|outer|upper|lower|greater|former|democratic"
    r"|american|british|french|air"
    r"|non|self|un|semi|not|dis|ex|somewhat|very|quite|rather|slightly|moderately|extremely|partly|fully)\s$"
)
_MAKES_ANOTHER_AFTER = re.compile(r"\sbissau\b")  # Guinea Bissau
# Behind the name of a country, makes it that of a company: Japan Airlines.
_COMPANY_AFTER = re.compile(r"\s(?:airline|airway|bank|post|railway|steel|tobacco|telecom)\b")
# Nouns that a name may be given without: Solar for Solar power.
_WHAT_IT_IS = {
    "power", "energy", "industry", "sector", "category", "color", "colour", "brand", "platform", "app", "generation", "airline",
    "company", "corporation", "inc", "group", "party",
}  # fmt: skip

# Elon Musk, Elon Reeve Musk, Vincent van Gogh. The particle of a last name is in lower case: van.
_PERSON = re.compile(
    r"""
    [A-Z][\w.'’-]*
    (?: \s(?P<particle>[a-z][\w.'’-]*) | \s[\w.'’-]+ )?
    \s(?P<last>[A-Z][\w.'’-]*)
    """,
    re.VERBOSE,
)
_COMPARISON = re.compile(  # got[ more rain than the upper valley] in August
    r"""
    \s (?: more | less | fewer | higher | lower )\b [^.,;]{0,30} \s than \s [^.,;]{1,40}?
    (?= \s (?: in | during | on ) \s )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_HYPHEN = re.compile(r"(?<=[a-z])[-‐‑–](?=[a-z])")  # Asia-Pacific
_WORD = re.compile(r"[a-z]{4,}")
_NOT_PLURAL = ("lens", "news")
# An aside ends the passage only behind a word or a number: the answer may be the 2018 of "2018, compared with 2017".
_HAS_WORD = re.compile(r"\w")
# Only clauses with a letter are compared with the question. A clause of numbers gives no name.
_HAS_LETTER = re.compile(r"[^\W\d]")


def gives_name(question: str, answer: str, passage: str) -> bool:
    """Return whether a passage gives the answer, rather than mentioning it among many words or in a list."""
    if folded(answer) == folded(passage):
        return True
    clause = _clause_as_written(question, answer, passage)
    main_words = _main_words(clause)
    # `_forms_of` reads capital letters, so it gets the clause as written.
    return any(_asserts_name(question, name, main_words) for name in _forms_of(question, answer, clause))


def _clause_as_written(question: str, answer: str, passage: str) -> str:
    """Return the clause of a passage that is about the question, without the name's value and a repeated comparison.

    "Germany, at 12.3%" → "Germany". An answer with digits keeps its value.
    """
    clause = passage
    if not re.search(r"\band\b|&", answer):  # else the "and" of the answer would end a clause
        clause = clause_about(question, passage, _HAS_LETTER)
    if not re.search(r"\d", answer):
        clause = _VALUE_OF_NAME.sub("", clause)
    if _begins_with_asked_comparison(question, answer, clause):
        clause = _COMPARISON.sub(" ", clause)  # else `main_part` would end it at "than"
    return clause


def _main_words(clause: str) -> str:
    """Return a clause up to its first aside or dash, in the forms of `_normal` and `_stemmed`."""
    before_dash = _normal(clause).partition(" — ")[0]
    main = main_part(before_dash, _HAS_WORD)  # before `_stemmed`, because it knows "because" and not "becaus"
    return _stemmed(main).strip(" .*()[]\"'")


def _begins_with_asked_comparison(question: str, answer: str, passage: str) -> bool:
    """Return whether a passage repeats a comparison of the question before it gives the answer.

    To "In which month did A get more rain than B?", "A got more rain than B in May" does.
    """
    compared = _COMPARISON.search(passage)
    if compared is None:
        return False
    beginning = passage[: compared.end()]
    return folded(answer) not in folded(beginning) and stems_of(beginning) <= stems_of(question)


def _normal(text: str) -> str:
    """Return a text in lower case and in the form of `one_form`, with "and" for "&"."""
    return one_form(text).lower().replace(" & ", " and ")


def _forms_of(question: str, answer: str, passage: str) -> list[str]:
    """Return the forms in which a passage may give a name: whole, without what it is (Solar for Solar power), a last name.

    The forms are those of `_normal` and `_stemmed`. The passage is as written, because its capital letters tell whether it
    has another first name.
    """
    name = _stemmed(_normal(answer).strip())
    *first, last = name.split() or [""]
    forms = [name]
    without_last = " ".join(first)
    is_optional = last in _WHAT_IT_IS or _asks_which(question, last)
    if without_last and is_optional and without_last not in _COUNTRIES:  # Japan is not Japan Airlines
        forms.append(without_last)
    person = _PERSON.fullmatch(answer.strip()) if re.match(r"\W*who\b", question, re.IGNORECASE) else None
    is_country_or_company = name in _COUNTRIES or last in _WHAT_IT_IS  # South Korea, Samsung Group
    if person and not is_country_or_company and not _has_first_name(person["particle"] or "", person["last"], passage):
        forms.append(last)
    return forms


def _asks_which(question: str, noun: str) -> bool:
    """Return whether a question asks which of several things of one kind: which line, what type of line."""
    return re.search(rf"\b(?:which|what)\s(?:\w+\s){{0,2}}{re.escape(noun)}\b", _stemmed(question.lower())) is not None


def _has_first_name(particle: str, last: str, passage: str) -> bool:
    """Return whether a passage has a word with a capital letter right before a last name: Kimbal Musk, Theo van Gogh.

    `particle` is that of the last name, which a passage may leave out or write with a capital letter, or "".
    """
    last_name = re.escape(last)
    first_name = r"[A-Z][\w.'-]*"
    if particle:
        particle_and_space = rf"(?i:{re.escape(particle)})\s+"
        last_name = rf"(?:{particle_and_space})?{last_name}"
        first_name = rf"(?!{particle_and_space}){first_name}"
    return re.search(rf"{first_name}\s+{last_name}", passage) is not None


def _stemmed(text: str) -> str:
    """Return a text, which must be in lower case, with a noun and its plural made equal: city and cities, box and boxes."""
    return _WORD.sub(lambda match: _stem(match[0]), text)


def _stem(word: str) -> str:
    """Return a noun and its plural in one form, which may be no word: box, boxes → box; house, houses → hous; bus → bus."""
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and word not in _NOT_PLURAL:
        word = word[:-1]
    if len(word) == 3:  # "pies" is "pie" now, as the singular is, which has too few letters for `_WORD`
        return word
    if word.endswith("ie"):
        return f"{word[:-2]}y"
    return word[:-1] if word.endswith(("se", "xe", "che", "she", "ze", "oe")) else word


_COUNTRIES = {_stemmed(name) for name in COUNTRIES}


def _asserts_name(question: str, name: str, passage: str) -> bool:
    """Return whether a passage says that a name is the answer. Both have the forms of `_normal` and `_stemmed`.

    The last mention of the name decides. It must not be denied, be that of a runner-up, be part of another name, or be one
    of a list. The passage is a sentence of at most MAX_FILLER_WORDS other words, or the name with one word: Apple Inc.
    """
    name = _HYPHEN.sub(" ", name)
    if folded(name) == folded(_HYPHEN.sub(" ", passage)):
        return True
    mentions = list(_mention_of(name).finditer(passage))
    if not mentions:
        return False
    before = passage[: mentions[-1].start()]
    after = passage[mentions[-1].end() :]
    is_another = _MAKES_ANOTHER.search(before) or _MAKES_ANOTHER_AFTER.match(after)
    is_company = name in _COUNTRIES and _COMPANY_AFTER.match(after)
    is_listed = _LISTED_BEFORE.search(before) and not _INTRODUCTION.fullmatch(before)
    if is_another or is_company or is_listed or _LISTED_AFTER.match(after):
        return False
    if _is_denied(question, before, after) or _is_runner_up(question, after):
        return False
    other_words = len(before.split()) + len(after.split())
    is_sentence = bool(FUNCTION_WORD.search(passage)) or _repeats_verb(question, after)
    return other_words <= 1 or (other_words <= MAX_FILLER_WORDS and is_sentence)


def _repeats_verb(question: str, after: str) -> bool:
    """Return whether the word behind a name is one of the question: "carried" for "Which port carried the most?".

    `after` is a text of `_stemmed`, so the question is brought into that form too.
    """
    found = re.match(r"\s(?:[a-z]+ly\s)?([a-z]+)", after)
    return found is not None and bool(stems_of(found[1]) & stems_of(_stemmed(question.lower())))


def _mention_of(name: str) -> re.Pattern[str]:
    """Return the pattern of a name in a passage. It is not a part of a word, of a number or of a name with a hyphen.

    East Asia and Pacific may be "East Asia and the Pacific", Healthcare may be "health-care", and Guinea is not in
    "Guinea-Bissau".
    """
    pattern = r"(?:\s(?:the\s)?|[-‐‑–])".join(map(re.escape, name.split()))
    if len(name) >= MIN_COMPOUND and name.isalpha():
        pattern = r"[\s-]?".join(name)
    return re.compile(
        rf"""
        (?<![a-z0-9.]) (?<![a-z][-‐‑–]) (?<!\d[-‐‑–])          # not in Guinea-Bissau, 2019-2020
        {pattern}
        (?! [a-z0-9] | (?<=[a-z])[-‐‑–][a-z] | (?<=\d)[-‐‑–]\d | [.,]\d )
        """,
        re.VERBOSE,
    )


def _is_denied(question: str, before: str, after: str) -> bool:
    """Return whether the words around a name deny it: "not Japan", "Japan is not …". "Which is not …?" asks for that."""
    if DENIAL_BEFORE.search(before):
        return True
    if _ASKS_FOR_DENIED.search(question):
        return False
    if _DENIED_AFTER.match(after):
        return True
    denied = _VERB_DENIED_AFTER.match(after)
    if denied is None:
        return False
    return bool(stems_of(after[denied.end() :]) & stems_of(_stemmed(question.lower())))


def _is_runner_up(question: str, after: str) -> bool:
    """Return whether the words after a name put it in a place that the question does not ask for: "came in second"."""
    runner_up = _RUNNER_UP.match(after)
    return runner_up is not None and not re.search(rf"\b{runner_up['place']}\b", question, re.IGNORECASE)

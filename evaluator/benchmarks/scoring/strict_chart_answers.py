"""Score the final answer of a response by InfoChartQA's strict rule: the published comparisons without their mistakes.

Texts must be equal apart from case, punctuation and articles. Numbers must be within the published tolerance, but years
must be exact, and a response may not omit a factor such as K or M. A response that names several candidates, denies the
answer or only bounds it is wrong.
"""

import re
import unicodedata

from evaluator.benchmarks.scoring.chart_answers import (
    ANY_CHARACTER,
    CHOICES,
    EXACT,
    EXACT_NUMBER,
    NUMERIC_OR_TEXT,
    ORDERED,
    ROUGH,
    ROUGH_NUMBER,
    TEXT_OR_NUMBER,
    UNORDERED,
    last_quantity,
    mostly_digits,
)
from evaluator.benchmarks.scoring.letters import asserted_letters
from evaluator.benchmarks.scoring.stated_answer import stated_answer

MAX_CANDIDATE_WORDS = 4  # in one item of a list of candidates
MAX_FILLER_WORDS = 15  # beside the answer in its sentence
MAX_LENGTH = 2000  # characters of a response; a longer one is not searched for an answer
_ANSWER = re.compile(
    r"(?:answer|정답|(?<![가-힣])답)\W{0,4}(?:is\b|:|은|는|=)[\s*:(\"'\[]{0,4}([^\n]*?)(?:\.\s|\.?$|\n)",
    re.IGNORECASE | re.MULTILINE,
)
_CONCLUSION = re.compile(r"(?:\b(?:therefore|thus|hence|so)\b|따라서|→)[ ,:]*([^\n]+)$", re.IGNORECASE)
_TAGGED = re.compile(r"<answer>(.*?)</answer>|\\boxed\{(?:\\text\{)?([^{}]*)\}", re.IGNORECASE | re.DOTALL)
_EITHER = re.compile(r"(?<![A-Za-z])or(?![A-Za-z])|또는|혹은|아니면|either", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s*(?:\n|,(?!\d{3})|[;/|·])\s*")
_HARD_SEPARATOR = re.compile(r"\s*[\n;/|·]\s*")
# Starts a remark, or a mention of another item.
_ASIDE = re.compile(
    r"\s*\(|,?\s*\b(?:compared|versus|vs|followed|than|whereas|while|but|down from|up from|ahead of|because|since|as)\b|,\s*(?:with|which|not)\b"
)
_DENIAL = re.compile(
    r"(?:\b(?:not|neither|nor|except|but|than|before|after|over|under|between|least|most)|n't)\s+(?:an?\s|the\s)?$|아니|아닙"
)
_FUNCTION_WORD = re.compile(
    r"\b(?:is|was|are|were|has|had|have|with|the|it|in|at|by)\b|[가-힣](?:은|는|이|가)(?![가-힣])|다$|요$",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\d.,])(?:1[89]|20)\d\d(?![\d%]|[.,]\d)")
_LENGTH = re.compile(r"\d\s*(mm|cm|km|m|inch(?:es)?|ft|kg|mg|g|t)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def strict_match(question_type: int, answer: str, response: str) -> bool:
    """Return whether the final answer of a response is right. An empty response is always wrong."""
    response = stated_answer(response)
    if not response:
        return False
    if question_type in CHOICES:
        wanted = {letter for letter in answer.upper() if letter in "ABCD"}
        return bool(wanted) and asserted_letters(response) == wanted
    if question_type in ORDERED | ANY_CHARACTER | UNORDERED:
        given = _items(response)
        if given is None:
            return False
        items = [_folded(item) for item in answer.split(",")]
        return given == items if question_type not in UNORDERED else sorted(given) == sorted(items)
    passage = final_passage(response)
    if passage is None:
        return _folded(answer) == _folded(response)
    tolerance = ROUGH if question_type in ROUGH_NUMBER else EXACT
    if question_type in ROUGH_NUMBER | EXACT_NUMBER or (question_type in NUMERIC_OR_TEXT and mostly_digits(answer)):
        return _same_value(answer, passage, tolerance)
    if question_type in TEXT_OR_NUMBER and re.search("[0-9]", answer):
        return _gives_answer(answer, passage) or _same_value(answer, passage, tolerance)
    return _gives_answer(answer, passage)


def _items(response: str) -> list[str] | None:
    """Return the folded items of a list, or None if it names alternatives or denies an item.

    Items are separated by commas, line breaks, `<`, `>`, `→`, `&` or "and", perhaps after a colon or a verb.
    """
    if _EITHER.search(response) or re.search(r"\bnot\b", response, re.IGNORECASE):
        return None
    text = re.split(r"\n\s*\n", _without_remarks(response))[-1].strip()
    lead = re.match(r"[^,\n:]*(?::|\b(?:are|is))\s+", text)
    text = text[lead.end() :] if lead else text
    text = re.sub(r"^\s*(?:\d+[.)]|[-*•])\s+", "", text, flags=re.MULTILINE)
    return [_folded(item) for item in re.split(r"\n|,|<|>|→|&|\band\b", text) if item.strip()]


def final_passage(response: str) -> str | None:
    """Return the part of a response that gives its answer: after a marker, the only words in bold, or its last sentence.

    None if the response is a list of candidates.
    """
    if len(response) > MAX_LENGTH:
        return None
    if tagged := [match[1] or match[2] or "" for match in _TAGGED.finditer(response)]:
        return tagged[0] if len(set(map(_folded, tagged))) == 1 else None
    if marked := [str(match[1]) for match in _ANSWER.finditer(response)]:
        return marked[-1] if len(set(map(_folded, marked))) == 1 and not _EITHER.search(marked[-1]) else None
    if (concluded := _CONCLUSION.search(_last_line(response))) and not _EITHER.search(concluded[1]):
        return str(concluded[1])
    response = _without_remarks(response)
    bold = set(re.findall(r"\*\*(.+?)\*\*", response))
    if len(bold) == 1:
        return str(bold.pop())
    if bold or _EITHER.search(response):
        return None
    for separator, most in ((_SEPARATOR, 2), (_HARD_SEPARATOR, 1)):
        parts = separator.split(response)
        if len(parts) > most and all(len(part.split()) <= MAX_CANDIDATE_WORDS for part in parts):
            return None
    return str(re.split(r"(?<=[.!?])\s+(?=\w)", _last_line(response))[-1])


def _last_line(response: str) -> str:
    return [line for line in response.splitlines() if line.strip()][-1].strip()


def _without_remarks(response: str) -> str:
    """Return a response without text in brackets, or unchanged if nothing else would remain."""
    text = re.sub(r"(?<!\s)\s*+\([^()\n]*+\)", "", response)
    return text if re.search(r"\w", text) else response


def _main_part(passage: str, has_answer: re.Pattern[str]) -> str:
    """Return a passage up to the first aside after text that may be the answer, which `has_answer` matches."""
    for aside in _ASIDE.finditer(passage):
        if has_answer.search(passage[: aside.start()]):
            return passage[: aside.start()]
    return passage


def _gives_answer(answer: str, passage: str) -> bool:
    """Return whether a sentence gives the answer, rather than mentioning it among many words or in a list."""
    if _folded(answer) == _folded(passage):
        return True
    answer, passage = answer.lower().strip(), _main_part(passage.lower(), re.compile(r"\w")).strip(" .*()[]\"'")
    if _folded(answer) == _folded(passage):
        return True
    every = list(re.finditer(rf"(?<![a-z0-9.]){re.escape(answer)}(?![a-z0-9]|[.,]\d)", passage))
    if not every:
        return False
    found = every[-1]
    before, after = passage[: found.start()], passage[found.end() :]
    if _DENIAL.search(before) or re.match(r"\s*(?:is|are|was)\s+(?:not|wrong|incorrect)\b|이?\s*아니", after):
        return False
    others = len(before.split()) + len(after.split())
    is_listed = re.search(r"(?:[;/|·&>]|(?<![\d.])(?!(?:19|20)\d\d,)\d\S*,|\band|및|와|과)\s*$", before) or re.match(
        r"\s*(?:[;/|·&]|and\b|및|와|과)", after
    )
    return not is_listed and others <= MAX_FILLER_WORDS and (others <= 1 or bool(_FUNCTION_WORD.search(passage)))


def _same_value(answer: str, passage: str, tolerance: float) -> bool:
    """Return whether a passage has only one value and it is the answer's.

    Years must be exact, and a factor such as K or M must be written. Only `%` may be missing.
    """
    if not re.search("[0-9]", answer):
        return _gives_answer(answer, passage)
    if re.search(r"[^\W\d_]", answer) and _gives_answer(answer, passage):  # Q3 2020, 12K
        return True
    is_year = bool(_YEAR.fullmatch(answer.strip()))
    passage = _main_part(passage.replace("\n", " "), _NUMBER)
    if not is_year and len(_NUMBER.findall(_YEAR.sub("", passage))) > 0:
        passage = _YEAR.sub("", passage)
    numbers = list(_NUMBER.finditer(passage))
    distinct = {match[0].rstrip(",").replace(",", "") for match in numbers}
    if not numbers or _DENIAL.search(passage[: numbers[-1].start()].lower()):
        return False
    if len(distinct) > 1 and not re.search(r"[=≈]\s*\S*$|[=≈]\s*[\d.,]+", passage):
        return False
    units = [unit[1].lower() if (unit := _LENGTH.search(text)) else "" for text in (answer, passage)]
    if all(units) and units[0] != units[1]:
        return False
    (wanted, wanted_unit), (given, given_unit) = last_quantity(answer), last_quantity(passage.strip(" .*"))
    if wanted is None or given is None:
        return False
    if is_year:
        return wanted == given
    pairs = [(wanted * wanted_unit, given * given_unit)]
    pairs += [(wanted, given)] if {wanted_unit, given_unit} <= {1.0, 1e-2} else []
    return any(abs(w - g) / (0.01 + abs(w)) < tolerance for w, g in pairs)


def _folded(text: str) -> str:
    """Return a text without case, punctuation, white space and a leading article. Signs and decimal points are kept."""
    folded = re.sub(r"^\W*(?:the|a|an)\s+", "", unicodedata.normalize("NFKC", text).casefold().strip())
    return re.sub(r"(?<!\d)\.|\.(?!\d)|[^\w.+%-]|_", "", folded)

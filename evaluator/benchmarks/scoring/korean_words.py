"""Judge whether an answer is in Korean. Names, numbers, units and code do not count against it.

Benchmarks with Korean questions add the result to their scores (`with_language`) for the metric `in_korean`: 1 for
"서울의 LG CNS입니다", 0 for "It is Seoul", no value for "1,402".
"""

import re
import unicodedata
from collections.abc import Mapping

# What is not prose: code, formulas, markup, addresses.
_NOT_PROSE = re.compile(
    r"```.*?```|`[^`]*`|\$[^$]*\$|\\[A-Za-z]+|<[^<>]{1,200}>|https?://\S+|(?<!\S)\S+@\S+", re.DOTALL
)
_IN_BRACKETS = re.compile(r"[(（\[【][^()（）\[\]【】]*[)）\]】]")
_HANGUL = re.compile(r"[가-힣ㄱ-ㆌ]+")  # without ㆍ, which stands between words
# Kana (without ・, which stands between words), Han, Cyrillic, Greek words of several letters, Arabic, Hebrew, Devanagari, Thai.
_OTHER_SCRIPT = re.compile(
    r"[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|[\u0400-\u052f]{2,}|[\u0370-\u03ff]{3,}"
    r"|[\u0590-\u06ff]+|[\u0900-\u097f]+|[\u0e00-\u0e7f]+"
)
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]+(?:['’-][A-Za-zÀ-ɏ]+)*")
_ENDS_IN_NUMBER = re.compile(r"\d\s?$")
MAX_NESTING = 3  # of brackets inside brackets
MAX_UNIT = 3  # letters of a lower-case word that is a unit if it follows a number, such as kg or won
# English words with which answers begin, or which they consist of, and which may have a capital. Any other word with a capital
# may be a name or a unit.
_ENGLISH = frozenset({
    "an", "and", "answer", "are", "as", "based", "because", "but", "by", "cannot", "chart", "data", "does",
    "document", "final", "for", "from", "given", "graph", "here", "however", "image", "in", "is", "it", "no",
    "none", "not", "of", "on", "question", "result", "so", "step", "table", "that", "the", "therefore", "there",
    "these", "this", "thus", "to", "total", "unanswerable", "unit", "unknown", "value", "was", "we", "were",
    "which", "yes",
})  # fmt: skip


def in_korean(question: str, answer: str) -> float | None:
    """Return 1 if the words of an answer are Korean, 0 if not.

    Return None if the question is not in Korean, or the answer has no words that tell a language, such as `1,402` or
    `LG CNS`. Words of the question may be repeated, and what is in brackets explains Korean words. A word in another
    script, such as Han, is not Korean; Latin words may not be more than Korean ones.
    """
    if not _HANGUL.search(question):
        return None
    prose = _NOT_PROSE.sub(" ", unicodedata.normalize("NFC", answer))
    asked = {word.casefold() for word in _LATIN.findall(question)}
    korean = len(_HANGUL.findall(prose))  # those in brackets too
    if korean:
        prose = _without_brackets(prose)  # what explains the Korean words
    latin = sum(_is_foreign(found, asked) for found in _LATIN.finditer(prose))
    other = [word for word in _OTHER_SCRIPT.findall(prose) if word not in question]
    if not (korean or latin or other):
        return None
    return float(not other and korean > 0 and korean >= latin)


def with_language(values: Mapping[str, float], question: str, answer: str) -> dict[str, float]:
    """Return the scores of an answer, with whether it is in Korean if that can be judged."""
    judged = in_korean(question, answer)
    return dict(values) if judged is None else {**values, "in_korean": judged}


def _is_foreign(found: re.Match[str], asked: set[str]) -> bool:
    """Return whether a Latin word is neither a name, a unit nor a word of the question."""
    word = found[0]
    folded = word.casefold()
    if len(word) == 1 or folded in asked:
        return False
    has_capital = word != folded
    if has_capital:
        return folded in _ENGLISH
    before = found.string[max(0, found.start() - 2) : found.start()]
    is_unit = len(word) <= MAX_UNIT and _ENDS_IN_NUMBER.search(before)
    return not is_unit


def _without_brackets(text: str) -> str:
    """Return a text without what is in brackets: "서울(the capital (Seoul) of korea)" -> "서울 "."""
    for _ in range(MAX_NESTING):
        text = _IN_BRACKETS.sub(" ", text)  # the innermost ones
    return text

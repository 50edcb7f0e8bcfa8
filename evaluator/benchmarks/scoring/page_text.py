"""Bring the texts of pages and checks into one form before they are compared, as olmOCR-bench does."""

import re
import unicodedata

_LINE_BREAK = re.compile(r"<br/?>")
# Emphasis, each with what replaces it, in the order of olmOCR-bench. The fifth has a match only if a tag was between marks.
_EMPHASIS = (
    (re.compile(r"\*\*(.*?)\*\*"), r"\1"),  # **350**
    (re.compile(r"__(.*?)__"), r"\1"),  # __350__
    (re.compile(r"</?b>"), ""),  # <b>350</b>
    (re.compile(r"</?i>"), ""),  # <i>350</i>
    (re.compile(r"(\*\*|__)(.*?)\1"), r"\2"),  # *<b>*350**
    (re.compile(r"(\*|_)(.*?)\1"), r"\2"),  # *350*, _350_
)
_PLAIN_MARKS = str.maketrans("‘’‚“”„＿–—‑‒−µ", "'''\"\"\"_-----μ")


def normalized(text: str) -> str:
    """Return a text without emphasis and line breaks, with plain quotes and dashes: "**“350”** –\\n2" → '"350" - 2'."""
    text = _LINE_BREAK.sub(" ", text)
    for pattern, inside in _EMPHASIS:
        text = pattern.sub(inside, text)
    one_line = re.sub(r"\s+", " ", text)
    return unicodedata.normalize("NFC", one_line).translate(_PLAIN_MARKS)

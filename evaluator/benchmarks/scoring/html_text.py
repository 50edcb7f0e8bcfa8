"""HTML as the official KorQuAD 2 script compares it: text only, no punctuation, lower case, no white space.

The official rule is BeautifulSoup on lxml. Where all tags only frame text, cutting them out gives the same; where not,
the same parser does, without BeautifulSoup's tree of Python objects; what BeautifulSoup treats in a way of its own goes
the official way. Each step hands on what it is not sure of.
"""

import re
import string
import threading
import warnings
from collections.abc import Sequence
from functools import cache

import numpy as np
from lxml import etree
from numpy.typing import NDArray

_MARKS = "《》〈〉‘’"
_ASCII_REMOVED = (string.punctuation + string.whitespace).encode()
# Tags that only frame text, as they mostly stand in a page: no attributes, at most 9 characters between < and >.
_NAMES = (
    "a|td|tr|th|li|b|i|p|ul|ol|br|sup|sub|span|tbody|thead|tfoot|table|caption|dd|dt|dl|small|big|div|center|font|em"
    "|strong|u|s|code|h1|h2|h3|h4|h5|h6|hr|img|cite|abbr|tt"
)
_FRAMING = {form for name in _NAMES.split("|") for form in (name, f"/{name}", f"{name}/") if len(form) <= 9}
_WITH_ATTRIBUTES = re.compile(rf"<(?:{_NAMES})(?:[ \n]+[a-z]+=\"[^\"<>&\x00-\x1f]*\")*[ \n]*/?>", re.ASCII)
_PUNCTUATION_ENTITY = re.compile("&(?:amp|lt|gt|quot|nbsp);")  # stands for what is removed anyway
_CUT_OFF_TAG = re.compile("</?[a-z][a-z0-9]*\\Z")
# Characters the parser drops or changes, and constructs BeautifulSoup has a way of its own with.
_OWN_WAY = (
    re.compile(r"^\ufeff|[\x00-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]"),
    re.compile(
        r"<(?:[!?]|/?(?:meta|textarea|title|noscript|plaintext|xmp|iframe|html|head|body|frameset|frame|noframes"
        r"|noembed)\b)",
        re.IGNORECASE,
    ),
)
_NOT_TEXT = ("script", "style", "template", "rt", "rp")  # BeautifulSoup leaves their text out
_BETWEEN = "\0"  # stands between the texts of a batch
_BATCH = 500  # texts; their numbers must fit in 9 bits
_DROP, _KEEP, _UNSURE = range(3)
_text_of = etree.XPath("string()")
_local = threading.local()  # a parser must not be shared by threads


def normalize(html: str) -> str:
    """The characters of an answer that count. Source: the official KorQuAD 2 evaluation script's rules."""
    return _stripped(_text(html))


def normalize_many(texts: Sequence[str]) -> list[str]:
    """Each text normalized. Most are cut by arrays over many texts at once, each distinct text a single time."""
    distinct = list(dict.fromkeys(texts))
    normalized: dict[str, str] = {}
    for first in range(0, len(distinct), _BATCH):
        level = {text: own for text in distinct[first : first + _BATCH] if (own := _level(text)) is not None}
        cut = _cut(list(level.values()))
        normalized |= {text: clean for text, clean in zip(level, cut, strict=True) if clean is not None}
    for text in distinct:
        if text not in normalized:
            normalized[text] = normalize(text)
    return [normalized[text] for text in texts]


def _level(text: str) -> str | None:
    """The text with as many < as >, or None: without some of what is removed anyway, a tag cut off at either end."""
    if "&" in text:
        text = _PUNCTUATION_ENTITY.sub(" ", text)
    if _BETWEEN in text:
        return None
    if text.count("<") == text.count(">"):
        return text
    head, bracket, rest = _CUT_OFF_TAG.sub("", text).partition("<")
    text = head.replace(">", " ") + bracket + rest
    return text if text.count("<") == text.count(">") else None


def _stripped(text: str) -> str:
    """Lower case, without punctuation and white space. ASCII goes by bytes, many times faster than by characters."""
    text = text.lower()
    for mark in _MARKS:
        text = text.replace(mark, "")
    text = text.encode("utf-8", "surrogatepass").translate(None, _ASCII_REMOVED).decode("utf-8", "surrogatepass")
    return "".join(text.split())


def _cut(texts: list[str]) -> list[str | None]:
    """Each text normalized, None where it is not sure that tags can be cut out. Each has as many < as >."""
    codes = np.frombuffer(_BETWEEN.join(texts).encode("utf-16-le", "surrogatepass"), np.uint16)
    kinds = _kinds()[codes]
    opening, closing = np.flatnonzero(codes == ord("<")), np.flatnonzero(codes == ord(">"))
    crossed = (opening > closing) | np.append(closing[:-1] > opening[1:], False)[: len(opening)]
    odd = ~crossed & ~_is_framing(codes, opening, closing)
    for place in np.flatnonzero(odd):
        tag = codes[opening[place] : closing[place] + 1].tobytes().decode("utf-16-le", "surrogatepass")
        odd[place] = not _WITH_ATTRIBUTES.fullmatch(tag)
    doubtful = np.concatenate([np.flatnonzero(kinds == _UNSURE), opening[odd | crossed], closing[crossed]])
    unsure = set(np.searchsorted(np.flatnonzero(codes == 0), doubtful).tolist())
    steps = np.zeros(len(codes), np.int8)
    steps[opening] = 1
    steps[closing] = -1
    kept = (kinds != _DROP) & (np.cumsum(steps, dtype=np.int8) == 0)
    clean = codes[kept].tobytes().decode("utf-16-le", "surrogatepass").lower().split(_BETWEEN)
    return [None if place in unsure else text for place, text in enumerate(clean)] if texts else []


def _is_framing(codes: NDArray[np.uint16], opening: NDArray[np.intp], closing: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether what stands between each pair of places is one of _FRAMING."""
    lengths = closing - opening - 1
    names = np.zeros(len(opening), np.int64)
    for place in range(min(9, lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > place)
        names[longer] = names[longer] << 7 | np.minimum(codes[opening[longer] + 1 + place], 127)
    known = _framing_codes()
    found = np.minimum(np.searchsorted(known, names), len(known) - 1)
    is_known: NDArray[np.bool_] = (known[found] == names) & (lengths <= 9)
    return is_known


@cache
def _framing_codes() -> NDArray[np.int64]:
    def code(name: str) -> int:
        total = 0
        for letter in name:
            total = total << 7 | ord(letter)
        return total

    return np.array(sorted(map(code, _FRAMING)), np.int64)


@cache
def _kinds() -> NDArray[np.uint8]:
    """What becomes of each UTF-16 code unit."""
    return np.array([_kind(chr(code)) for code in range(0x10000)], np.uint8)


def _kind(character: str) -> int:
    if character in "&Σ":  # an entity; a letter whose lower case hangs on its neighbours
        return _UNSURE
    if character == _BETWEEN:
        return _KEEP
    if character.isspace() or character in _MARKS or character in string.punctuation:
        return _DROP
    return _KEEP if character.isprintable() else _UNSURE


def _text(html: str) -> str:
    if any(pattern.search(html) for pattern in _OWN_WAY):
        return soup_text(html)
    parser = getattr(_local, "parser", None)
    if parser is None:
        parser = _local.parser = etree.HTMLParser(huge_tree=True)
    try:
        tree = etree.fromstring(html, parser)
        etree.strip_elements(tree, *_NOT_TEXT, with_tail=False)
        return str(_text_of(tree))
    except (etree.LxmlError, ValueError, TypeError):  # nothing in it but broken markup
        return soup_text(html)


def soup_text(html: str) -> str:
    """The official way."""
    from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)
        return BeautifulSoup(html, "lxml").get_text()


def character_f1(given: Sequence[str], gold: Sequence[str]) -> list[float]:
    """F1 over the multisets of characters of each pair of normalized texts, from 0 to 1. Nothing shared is 0."""
    scores = [1.0 if a == b and b else 0.0 for a, b in zip(given, gold, strict=True)]
    pairs = [place for place, (a, b) in enumerate(zip(given, gold, strict=True)) if a != b and a and b]
    for first in range(0, len(pairs), _BATCH):
        batch = pairs[first : first + _BATCH]
        lengths = np.array([(len(given[n]), len(gold[n])) for n in batch])
        shared = _shared([given[n] for n in batch], [gold[n] for n in batch], lengths)
        for n, score in zip(batch, (2 * shared / lengths.sum(axis=1)).tolist(), strict=True):
            scores[n] = score
    return scores


def _shared(given: list[str], gold: list[str], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many characters each pair has in common: all characters sorted by pair, character and side, then counted."""
    codes = np.frombuffer("".join(given + gold).encode("utf-32-le", "surrogatepass"), np.int32)
    places = np.arange(len(given), dtype=np.int32) << 22  # above 21 bits of character and 1 of side
    keys = codes << 1 | np.repeat(np.concatenate([places, places | 1]), lengths.T.ravel())
    keys.sort()
    starts = np.flatnonzero(np.diff(keys >> 1, prepend=-1))
    in_gold = np.add.reduceat(keys & 1, starts)
    common = np.minimum(in_gold, np.diff(starts, append=len(keys)) - in_gold)
    return np.bincount(keys[starts] >> 22, weights=common, minlength=len(given)).astype(np.int64)

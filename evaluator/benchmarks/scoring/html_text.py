"""Normalize HTML as the official KorQuAD 2 script does: text only, lower case, no punctuation, no white space.

`"<b>Seoul</b>, 서울"` → `"seoul서울"`. `korquad_2` normalizes gold answers and outputs with `normalize_many`, compares
them, and gives partial credit with `character_f1`. Answers are whole tables, so all this is written for speed. The
official script uses BeautifulSoup on lxml. Three methods give the same result. Each leaves the texts that it might get
wrong to the next one:

1. If all tags only frame text, cut them out with array operations.
2. Parse with lxml, without BeautifulSoup's tree of Python objects.
3. Use BeautifulSoup, for constructs that it handles differently from lxml.
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
# Tags that only frame text, in their most common form: no attributes, at most _MAX_TAG characters between < and >.
_MAX_TAG = 9  # characters of _TAG_BITS each, which fit in an int64
_TAG_BITS = 7
_NOT_ASCII = 2**_TAG_BITS - 1  # stands for all characters beyond ASCII, which no tag has
_NAMES = (
    "table|caption|tbody|thead|tfoot|tr|th|td"
    "|ul|ol|li|dl|dt|dd"
    "|div|p|br|hr|center|h1|h2|h3|h4|h5|h6"
    "|a|b|i|u|s|em|strong|small|big|sup|sub|span|font|code|tt|cite|abbr|img"
)
_TAG_FORMS = (form for name in _NAMES.split("|") for form in (name, f"/{name}", f"{name}/"))
_FRAMING_TAGS = {form for form in _TAG_FORMS if len(form) <= _MAX_TAG}
_WITH_ATTRIBUTES = re.compile(  # <td colspan="2">, <br />
    rf"<(?:{_NAMES})(?:[ \n]+[a-z]+=\"[^\"<>&\x00-\x1f]*\")*[ \n]*/?>", re.ASCII
)
_PUNCTUATION_ENTITY = re.compile("&(?:amp|lt|gt|quot|nbsp);")  # their characters are removed anyway
_CUT_OFF_TAG = re.compile("</?[a-z][a-z0-9]*\\Z")  # "서울</td"
# Characters that the parser drops or changes, and constructs of which BeautifulSoup may return another text than lxml.
_NEEDS_SOUP = (
    re.compile(
        r"""
        ^\ufeff                                                # a byte order mark
        | [\x00-\x08\x0b-\x1f\x7f-\x9f]                        # control characters
        | [\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]             # what is not a character, and half of a pair
        """,
        re.VERBOSE,
    ),
    re.compile(
        r"""
        <
        (?: [!?]                                               # <!-- … -->, <?xml … ?>
          | /?(?: meta | title | html | head | body            # <title>
                | frameset | frame | noframes | iframe         # <iframe src="…">
                | textarea | noscript | plaintext | xmp | noembed
              )\b
        )
        """,
        re.IGNORECASE | re.VERBOSE,
    ),
)
_NOT_TEXT = ("script", "style", "template", "rt", "rp")  # BeautifulSoup omits their text
_SEPARATOR = "\0"  # separates the texts of a batch
_LETTER_BITS, _SIDE_BITS = 21, 1  # of the int32 in `_count_shared`
_BATCH_SIZE = 500  # texts; their indices must fit in the 9 bits that are left of an int32, beside its sign
_DROP, _KEEP, _UNSURE = range(3)  # actions for a character; an _UNSURE one needs a parser
_text_of = etree.XPath("string()")
_local = threading.local()  # a parser must not be shared between threads


def normalize(html: str) -> str:
    """Return the characters of an answer that are compared, by the rules of the official KorQuAD 2 evaluation script."""
    return _stripped(_text(html))


def normalize_many(texts: Sequence[str]) -> list[str]:
    """Normalize texts, each distinct text once and most of them with array operations over a whole batch."""
    distinct = list(dict.fromkeys(texts))
    normalized: dict[str, str] = {}
    for first in range(0, len(distinct), _BATCH_SIZE):
        batch = distinct[first : first + _BATCH_SIZE]
        attempts = {text: _balanced(text) for text in batch}
        balanced = {text: attempt for text, attempt in attempts.items() if attempt is not None}
        clean_texts = _normalize_balanced(list(balanced.values()))
        normalized |= {text: clean for text, clean in zip(balanced, clean_texts, strict=True) if clean is not None}
    for text in distinct:
        if text not in normalized:
            normalized[text] = normalize(text)
    return [normalized[text] for text in texts]


def _balanced(text: str) -> str | None:
    """Return a text with as many `<` as `>`, or None if it cannot be balanced.

    Only characters that normalizing removes anyway are changed: entities of punctuation, a tag cut off at the end,
    and any `>` before the first `<`. "<i>서울</i" → "<i>서울"; "<<i>" → None
    """
    if "&" in text:
        text = _PUNCTUATION_ENTITY.sub(" ", text)
    if _SEPARATOR in text:  # it would be read as two texts
        return None
    if text.count("<") == text.count(">"):
        return text
    head, bracket, rest = _CUT_OFF_TAG.sub("", text).partition("<")
    text = head.replace(">", " ") + bracket + rest
    return text if text.count("<") == text.count(">") else None


def _stripped(text: str) -> str:
    """Return a text in lower case without punctuation and white space: "Seoul, 서울" → "seoul서울".

    ASCII is removed from the bytes, which is many times faster than from characters.
    """
    text = text.lower()
    for mark in _MARKS:
        text = text.replace(mark, "")
    text = text.encode("utf-8", "surrogatepass").translate(None, _ASCII_REMOVED).decode("utf-8", "surrogatepass")
    return "".join(text.split())


def _normalize_balanced(texts: list[str]) -> list[str | None]:
    """Normalize texts with as many `<` as `>` by cutting out tags. Return None for those that need a parser.

    All texts are one array of UTF-16 code units. The n-th `<` and the n-th `>` are taken for one tag. Both are of the same
    text, because each text has as many of the one as of the other.
    """
    if not texts:
        return []
    codes = np.frombuffer(_SEPARATOR.join(texts).encode("utf-16-le", "surrogatepass"), np.uint16)
    actions = _character_actions()[codes]
    opening = np.flatnonzero(codes == ord("<"))
    closing = np.flatnonzero(codes == ord(">"))
    is_reversed = opening > closing  # a `>` before its `<`
    is_nested = np.zeros(len(opening), bool)  # another `<` before its `>`
    is_nested[:-1] = opening[1:] < closing[:-1]
    crossed = is_reversed | is_nested
    unknown = ~crossed & ~_is_framing(codes, opening, closing)
    for place in np.flatnonzero(unknown):
        tag = codes[opening[place] : closing[place] + 1].tobytes().decode("utf-16-le", "surrogatepass")
        unknown[place] = not _WITH_ATTRIBUTES.fullmatch(tag)
    unsure_places = np.concatenate([np.flatnonzero(actions == _UNSURE), opening[unknown | crossed], closing[crossed]])
    # The number of separators before a place is the index of its text. One unsure place makes its whole text unsure.
    unsure_texts = set(np.searchsorted(np.flatnonzero(codes == 0), unsure_places).tolist())
    depth_changes = np.zeros(len(codes), np.int8)
    depth_changes[opening] = 1
    depth_changes[closing] = -1
    # The `>` itself is outside, but is dropped as punctuation. Nested brackets may overflow, but their texts are unsure.
    is_outside_tags = np.cumsum(depth_changes, dtype=np.int8) == 0
    kept = (actions != _DROP) & is_outside_tags
    clean = codes[kept].tobytes().decode("utf-16-le", "surrogatepass").lower().split(_SEPARATOR)
    return [None if number in unsure_texts else text for number, text in enumerate(clean)]


def _is_framing(codes: NDArray[np.uint16], opening: NDArray[np.intp], closing: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return for each pair of brackets whether the text between them is one of _FRAMING_TAGS.

    Each text is packed into an integer of 7 bits a character, as in `_framing_codes`. Characters beyond ASCII become
    _NOT_ASCII.
    """
    lengths = closing - opening - 1
    packed = np.zeros(len(opening), np.int64)
    for place in range(min(_MAX_TAG, lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > place)
        letters = np.minimum(codes[opening[longer] + 1 + place], _NOT_ASCII)
        packed[longer] = packed[longer] << _TAG_BITS | letters
    framing = _framing_codes()
    nearest = np.minimum(np.searchsorted(framing, packed), len(framing) - 1)
    is_framing: NDArray[np.bool_] = (framing[nearest] == packed) & (lengths <= _MAX_TAG)
    return is_framing


@cache
def _framing_codes() -> NDArray[np.int64]:
    """Return _FRAMING_TAGS in ascending order, each packed into an integer of 7 bits a character."""

    def code(name: str) -> int:
        total = 0
        for letter in name:
            total = total << _TAG_BITS | ord(letter)
        return total

    return np.array(sorted(map(code, _FRAMING_TAGS)), np.int64)


@cache
def _character_actions() -> NDArray[np.uint8]:
    """Return the action for each UTF-16 code unit: _DROP, _KEEP or _UNSURE, which needs a parser."""
    return np.array([_character_action(chr(code)) for code in range(0x10000)], np.uint8)


def _character_action(character: str) -> int:
    """Return whether a character is dropped or kept, or needs a parser. The separator counts as text here.

    Characters of two code units, such as emoji, need a parser, because the halves are not printable.
    """
    if character in "&Σ":  # an entity; a letter whose lower case depends on its neighbours
        return _UNSURE
    if character == _SEPARATOR:
        return _KEEP
    if character.isspace() or character in _MARKS or character in string.punctuation:
        return _DROP
    return _KEEP if character.isprintable() else _UNSURE


def _text(html: str) -> str:
    """Return the text of HTML by lxml or, where that differs from the official script, by BeautifulSoup."""
    if any(pattern.search(html) for pattern in _NEEDS_SOUP):
        return soup_text(html)
    parser = getattr(_local, "parser", None)
    if parser is None:
        parser = _local.parser = etree.HTMLParser(huge_tree=True)
    try:
        tree = etree.fromstring(html, parser)
        etree.strip_elements(tree, *_NOT_TEXT, with_tail=False)
        return str(_text_of(tree))
    except (etree.LxmlError, ValueError, TypeError):  # the text is nothing but broken markup
        return soup_text(html)


def soup_text(html: str) -> str:
    """Return the text of HTML as the official script extracts it."""
    from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)
        return BeautifulSoup(html, "lxml").get_text()


def character_f1(given: Sequence[str], gold: Sequence[str]) -> list[float]:
    """Return the F1 over the multisets of characters of each pair of normalized texts, from 0 to 1.

    A pair with an empty text has 0, even if both are empty, as in the official script.
    """
    scores = [1.0 if a == b and b else 0.0 for a, b in zip(given, gold, strict=True)]
    different = [place for place, (a, b) in enumerate(zip(given, gold, strict=True)) if a != b and a and b]
    for first in range(0, len(different), _BATCH_SIZE):
        batch = different[first : first + _BATCH_SIZE]
        lengths = np.array([(len(given[n]), len(gold[n])) for n in batch])
        shared = _count_shared([given[n] for n in batch], [gold[n] for n in batch], lengths)
        for n, score in zip(batch, (2 * shared / lengths.sum(axis=1)).tolist(), strict=True):
            scores[n] = score
    return scores


def _count_shared(given: list[str], gold: list[str], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many characters each pair has in common: 2 for "서울시" and "서울특별".

    `lengths` has the two lengths of each pair. Each character of the batch is one integer: 9 bits for its pair, 21 bits
    for the character, and 1 bit for its side (1: gold). These are sorted, so that the same characters of a pair are
    counted together. A character is in common as often as it is on the side that has fewer of it.
    """
    below_pair = _LETTER_BITS + _SIDE_BITS
    codes = np.frombuffer("".join(given + gold).encode("utf-32-le", "surrogatepass"), np.int32)
    pairs = np.arange(len(given), dtype=np.int32) << below_pair
    sides = np.repeat(np.concatenate([pairs, pairs | 1]), lengths.T.ravel())
    keys = codes << _SIDE_BITS | sides
    keys.sort()
    starts = np.flatnonzero(np.diff(keys >> _SIDE_BITS, prepend=-1))
    in_gold = np.add.reduceat(keys & 1, starts)
    counts = np.diff(starts, append=len(keys))
    common = np.minimum(in_gold, counts - in_gold)
    return np.bincount(keys[starts] >> below_pair, weights=common, minlength=len(given)).astype(np.int64)

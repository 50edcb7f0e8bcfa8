"""HTML as the official KorQuAD 2 script compares it: text only, no punctuation, lower case, no white space.

The official rule is BeautifulSoup on lxml. Where all tags only frame text, cutting them out gives the same; where not,
the same parser does, without BeautifulSoup's tree of Python objects; what BeautifulSoup treats in a way of its own goes
the official way. Each step hands on what it is not sure of.
"""

import re
import string
import threading
import warnings
from collections import Counter
from collections.abc import Sequence

from lxml import etree

_MARKS = "《》〈〉‘’"
_ASCII_REMOVED = (string.punctuation + string.whitespace).encode()
# Tags that only frame text, and entities that stand for punctuation or space: the parser and the rule drop them.
_FRAMING = (
    "a|td|tr|th|li|b|i|p|ul|ol|br|sup|sub|span|tbody|thead|tfoot|table|caption|dd|dt|dl|small|big|div|center|font|em"
    "|strong|u|s|code|h[1-6]|hr|img|blockquote|cite|abbr|tt"
)
_DROPPED = re.compile(
    rf"</?(?:{_FRAMING})(?:>|(?:[ \n]+[a-z]+=\"[^\"<>&\x00-\x1f]*\")*[ \n]*/?>)|&(?:amp|lt|gt|quot|nbsp);", re.ASCII
)
# Characters the parser drops or changes, and constructs BeautifulSoup has a way of its own with.
_OWN_WAY = re.compile(
    r"^\ufeff|[\x00-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]|<[!?]"
    r"|</?(?:meta|textarea|title|noscript|plaintext|xmp|iframe|html|head|body|frameset|frame|noframes|noembed)\b",
    re.IGNORECASE,
)
_NOT_TEXT = ("script", "style", "template", "rt", "rp")  # BeautifulSoup leaves their text out
_BETWEEN = "\0"  # stands between the texts of a batch: no white space, no punctuation, and in no text that is sure
_BATCH = 500  # texts; past that a batch is no faster, and one that holds a NUL is redone one by one
_text_of = etree.XPath("string()")
_local = threading.local()  # a parser must not be shared by threads


def normalize(html: str) -> str:
    """The characters of an answer that count. Source: the official KorQuAD 2 evaluation script's rules."""
    return normalize_many([html])[0]


def normalize_many(texts: Sequence[str]) -> list[str]:
    """Each text normalized. A batch is cut and cleaned as one string: for short texts the calls cost, not the work."""
    normalized: list[str] = []
    for first in range(0, len(texts), _BATCH):
        batch = texts[first : first + _BATCH]
        joined = "".join(_DROPPED.sub("", _BETWEEN.join(batch)).split())
        bare = joined.split(_BETWEEN)
        clean = _stripped(joined).split(_BETWEEN)
        if len(bare) != len(batch):
            normalized += [_stripped(_parsed_text(text)) for text in batch]
            continue
        for text, rest, result in zip(batch, bare, clean, strict=True):
            sure = "<" not in rest and "&" not in rest and rest.isprintable()
            normalized.append(result if sure else _stripped(_parsed_text(text)))
    return normalized


def _stripped(text: str) -> str:
    """Lower case, without punctuation and ASCII space. ASCII goes by bytes, many times faster than by characters."""
    text = text.lower()
    for mark in _MARKS:
        text = text.replace(mark, "")
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII_REMOVED).decode("utf-8", "surrogatepass")


def _parsed_text(html: str) -> str:
    return "".join(_text(html).split())


def _text(html: str) -> str:
    if _OWN_WAY.search(html):
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


def character_f1(given: str, gold: str) -> float:
    """F1 over the multisets of characters of two normalized texts, from 0 to 1. Nothing shared is 0."""
    if given == gold:
        return 1.0 if gold else 0.0
    if len(given) + len(gold) < 100:  # counting each character anew is faster while texts are short
        shared = sum(min(given.count(c), gold.count(c)) for c in set(given).intersection(gold))
    else:
        in_gold = Counter(gold)
        shared = sum(min(n, in_gold[c]) for c, n in Counter(given).items() if c in in_gold)
    return 2 * shared / (len(given) + len(gold)) if shared else 0.0

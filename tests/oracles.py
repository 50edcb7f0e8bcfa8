"""Plain implementations of the published rules: slow, short, and easy to believe. Tests and benchmarks hold ours to them."""

import re
import string
import warnings
from collections import Counter

from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning

warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)


def korquad_normalize(text: str) -> str:
    """Text of the parsed HTML, some brackets and quotes and all ASCII punctuation out, lower case, no white space."""
    text = BeautifulSoup(text, "lxml").get_text()
    text = re.sub("['\"《》<>〈〉()‘’]", " ", text)
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return "".join(text.split())


def korquad_scores(prediction: str, gold: str) -> tuple[bool, float]:
    """Exact match, and F1 over characters."""
    given, wanted = korquad_normalize(prediction), korquad_normalize(gold)
    shared = sum((Counter(given) & Counter(wanted)).values())
    if not shared:
        return given == wanted, 0.0
    precision, recall = shared / len(given), shared / len(wanted)
    return given == wanted, 2 * precision * recall / (precision + recall)

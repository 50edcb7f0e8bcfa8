"""Implement the published scoring rules as short and slow references for tests and speed measurements."""

import re
import string
import warnings
from collections import Counter
from random import Random

from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning

warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)


def korquad_normalize(text: str) -> str:
    """Return the lower-case text of the HTML without ASCII punctuation, white space and some brackets and quotes."""
    text = BeautifulSoup(text, "lxml").get_text()
    text = re.sub("['\"《》<>〈〉()‘’]", " ", text)
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return "".join(text.split())


def korquad_scores(prediction: str, gold: str) -> tuple[bool, float]:
    """Return the exact match and the F1 over characters."""
    given = korquad_normalize(prediction)
    wanted = korquad_normalize(gold)
    shared = sum((Counter(given) & Counter(wanted)).values())
    if not shared:
        return given == wanted, 0.0
    precision = shared / len(given)
    recall = shared / len(wanted)
    return given == wanted, 2 * precision * recall / (precision + recall)


FRAGMENTS = [
    *"<>&;/='\"", " ", "\n", "\r\n", "\0", "\x0b", "\x1f", "\x85", "\xa0", "\u200b", "\u2028", "\u3000", "\ufeff", "\ue000",
    "<td>", "</td>", "<p>", "</p>", "<br/>", "<br />", "<BR>", "<b", "</", "/>", "<1>", "< a>", "</>", "<o:p>", "<a href=\"x\">",
    "<font color=", "<a b=c>", "<table>", "</table>", "<tr>", "<ul>", "<li>", "<!--", "-->", "<?x?>", "<![CDATA[", "&amp;", "&lt",
    "&#44", "&nbsp;", "&#x", "&#0;", "&copy", "&notit;", "<html>", "</html>", "<body>", "</body>", "<head>", "<title>", "<link>",
    "<select>", "<option>", "<svg>", "<math>", "<pre>\n", "<form>", "<object>", "<frameset>", "<noframes>", "<rt>", "</rt>", "<rp>",
    "<script>", "</script>", "<style>", "</style>", "<template>", "<textarea>", "가나", "12.5%", "《제목》", "‘따옴표’", "ABC def",
]  # fmt: skip


def korquad_mutants(texts: list[str], count: int, seed: int) -> list[str]:
    """Return malformed HTML: texts with inserted fragments, removed stretches and pasted pieces of other texts."""
    random = Random(seed)
    made = []
    for _ in range(count):
        text = random.choice(texts)
        start = random.randrange(max(1, len(text) - 300))
        text = text[start : start + 300]
        for _ in range(random.randint(1, 4)):
            at = random.randrange(len(text) + 1)
            action = random.random()
            if action < 0.6:
                text = text[:at] + random.choice(FRAGMENTS) + text[at:]
            elif action < 0.8:
                text = text[:at] + text[at + random.randint(1, 20) :]
            else:
                text = text[:at] + random.choice(texts)[:100] + text[at:]
        made.append(text)
    return made

"""Find the final text of an output: what follows the last `정답:`, which KO-FRESH's prompt asks for, or else all of it.

The rules of names, abstentions and values (`given_names`, `abstention`, `readings`) read an output through `final_text`.
"""

import re
from typing import NamedTuple

from evaluator.benchmarks.scoring.stated_answer import stated_answer

_MARKED = re.compile(  # "정답: 347건입니다.": group 1 is the rest of the line
    r"""
    (?<![가-힣A-Za-z]) (?:정답|(?:최종[ ])?답변|답|(?:final[ ])?answer)
    (?: \W{0,6}?[:：] | 은(?=\s) | (?<=^정답)[ ](?=\S{1,20}$) )   # "정답 아파트" is a line
    \W*?                             # left out: "정답: **347건**", "정답: 「아파트」"
    (?=                              # the first character of an answer
        [\w(\\$①-⑳-]                # "347건", "(주)한빛", "\boxed{…}", "$5$", "① 아파트", "-5%"
      | [△▲▽▼]                       # "△5.2%"
      | [−–—‑](?=[\d.]) | \.(?=\d)   # "−5.2%", ".5%"
    )
    ([^\n]+)
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
WRAPPERS = " *_`\"'“”\t\n"  # characters around an answer
LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)]|[①-⑳])\s+")  # "- ", "1. ", "① "


class Part(NamedTuple):
    """A part of a text, as in `text[start:end]`."""

    start: int
    end: int


def final_text(output: str) -> str:
    """Return what follows the last `정답:` of the stated answer of an output, or all of the stated answer."""
    stated = stated_answer(output)
    final = final_part(stated)
    # A point at the start is kept, because it may be that of .5%.
    return stated[final.start : final.end].lstrip(WRAPPERS).rstrip(f"{WRAPPERS}.")


def final_part(stated: str) -> Part:
    """Return the part of a stated answer after the last `정답:`: the rest of the line or, if that begins a list, all text."""
    marked = list(_MARKED.finditer(stated))
    if not marked:
        return Part(0, len(stated))
    start, end = marked[-1].span(1)
    is_list = LIST_MARK.match(marked[-1][1])
    return Part(start, len(stated) if is_list else end)

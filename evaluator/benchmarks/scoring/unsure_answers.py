"""Decide whether an answer does not commit to its value: it does not know, or denies or bounds the only value it has."""

import re

from evaluator.benchmarks.scoring.quantities import Mention, plain, scan
from evaluator.benchmarks.scoring.quantity_sets import distinct
from evaluator.benchmarks.scoring.sentence_values import DENIED_AFTER, MAX_VALUES

MAX_DENIAL_LENGTH = 2000  # characters of an answer that is checked for denying or bounding its only value
_BOUND_REACH = 12  # characters before a value in which the rules look for a denial or a bound

_DENIED_BEFORE = re.compile(r"(?:\bnot|n't|≠)\s*(?:the\s)?$", re.IGNORECASE)
_BOUND_AFTER = re.compile(  # 60 km 이상, 300건을 넘는
    r"\s?(?:[A-Za-zμ]{1,4}/?[a-z]{0,3}(?:세?제곱)?\s)?(?:이상|이하|미만|초과|이전|이후|[을를] (?:넘|초과)|[과와] 비슷|\s등\W*$|보다 (?:많|적|높|낮|크|작)|내외 또는|에 가깝|근처)"
)
_BOUND_BEFORE = re.compile(
    r"(?:최소|최대|적어도|많아야|[<>≤≥]|\b(?:at least|at most|(?:more|less|fewer) than|over|under))\s*$", re.IGNORECASE
)
_BOUND_WORD = re.compile(r"최소|최대|적어도|많아야|이내|까지|at least|at most|up to", re.IGNORECASE)
_UNSURE = re.compile(
    r"알 수 없|확인할 수 없|판단할 수 없|(?:판단|확정|단정|특정)하기\s?(?:어렵|힘들)|어느 쪽(?:이|인지)|수도 있고|모르겠|확실하지 않|표에 없습니다"
)


def is_unsure(output: str, gold: str) -> bool:
    """Return whether an answer says that the value is unknown, or denies or bounds its only value: 300건 이상, not 300.

    A bound does not count if the gold answer has one too.
    """
    text = plain(output)
    if _UNSURE.search(text):
        return True
    mentions = scan(text) if len(text) < MAX_DENIAL_LENGTH else ()
    if len(distinct([mention.quantity for mention in mentions[:MAX_VALUES]])) != 1:
        return False
    may_be_bound = bool(_BOUND_AFTER.search(gold) or _BOUND_WORD.search(gold))
    return any(_is_denied(text, mention) or (not may_be_bound and _is_bound(text, mention)) for mention in mentions)


def _is_denied(text: str, mention: Mention) -> bool:
    before = max(0, mention.start - _BOUND_REACH)
    return bool(DENIED_AFTER.match(text, mention.end) or _DENIED_BEFORE.search(text, before, mention.start))


def _is_bound(text: str, mention: Mention) -> bool:
    before = max(0, mention.start - _BOUND_REACH)
    return bool(_BOUND_AFTER.match(text, mention.end) or _BOUND_BEFORE.search(text, before, mention.start))

"""Decide whether an answer does not commit to its value: it does not know, or denies or bounds the only value it has.

`final_answer` asks this before it compares numbers: to gold 300건, "300건 이상입니다", "300건은 아닙니다" and "300건인지 알 수
없습니다" are wrong, although their number is right.
"""

import re

from evaluator.benchmarks.scoring.bounds import is_bound
from evaluator.benchmarks.scoring.notation import plain
from evaluator.benchmarks.scoring.quantities import Mention, quantities, scan
from evaluator.benchmarks.scoring.quantity_sets import distinct, is_among
from evaluator.benchmarks.scoring.sentence_values import DENIED_AFTER, MAX_VALUES

MAX_DENIAL_LENGTH = 2000  # characters of an answer that is checked for denying or bounding its only value
_DENIAL_REACH = 12  # characters before a value in which a denial is looked for

_DENIED_BEFORE = re.compile(r"(?:\bnot|n't|≠)\s*(?:the\s)?$", re.IGNORECASE)  # "not [300]"
# Says that a value is near another one, or one of several. That is an answer only if gold has a tolerance, and then
# `readings.matches_reading` judges it, which does not call `is_unsure`.
_NEAR_AFTER = re.compile(
    r"""
    \s?
    (?: [과와]\ 비슷 | 에\ 가깝 | 에\ 근접 | 가까이 | 근처     # [300건]에 가깝습니다
      | 내외\ 또는                                 # [300건] 내외 또는 그 이상, but not [300건] 내외
      | \s등\W*$                                  # [300건] 등
    )
    """,
    re.VERBOSE,
)
# A gold answer with one of these words is itself a bound: 최대치는 300건. They are searched anywhere in the gold answer, because
# `is_bound` reads only the words beside a value, and does not know 까지.
_WORD_OF_GOLD_BOUND = re.compile(
    r"""
    최소 | 최대 | 적어도 | 많아야 | 이내 | 까지               # 최소 300건, 300건 이내
    | at\ least | at\ most | up\ to                           # at least 300
    """,
    re.IGNORECASE | re.VERBOSE,
)
_UNSURE = re.compile(
    r"""
    알\ 수\ 없 | 확인할\ 수\ 없 | 판단할\ 수\ 없              # 알 수 없습니다
    | (?: 판단 | 확정 | 단정 | 특정 )하기\s?(?: 어렵 | 힘들 ) # 단정하기 어렵습니다
    | 어느\ 쪽(?:이|인지) | 수도\ 있고                        # 300건일 수도 있고
    | 모르겠 | 확실하지\ 않 | 표에\ 없습니다                  # 모르겠습니다
    """,
    re.VERBOSE,
)
# Ends an answer that denies what it says of its value: 402번은 시청으로 가지 않습니다, but not 300건으로 많지 않습니다.
_DENIED_PREDICATE = re.compile(
    r"(?![많크높적낮작]지|르지|변하지)[가-힣]지(?:는|도)?\s?(?:않|못)(?!은|는|한|하는)[가-힣]*[\s.!]*$"
)
_ASKS_FOR_DENIED = re.compile(r"않|못|없|아닌|안\s")  # 시청으로 가지 않는 버스는?


def is_unsure(question: str, gold: str, output: str) -> bool:
    """Return whether an answer says that the value is unknown, or denies or bounds its only value.

    It is for "300건인지 알 수 없습니다", "300건은 아닙니다", "not 300" and "300건 이상". Values of the question may be
    repeated. A bound does not count if the gold answer has one too. An answer with two values is left to the rules that
    choose among them: in "300건 이상인 달은 5개입니다" the bound is not the answer's.
    """
    text = plain(output)
    if _UNSURE.search(text):
        return True
    if len(text) >= MAX_DENIAL_LENGTH:
        return False
    mentions = scan(text)
    asks_for_denied = _ASKS_FOR_DENIED.search(f"{question} {gold}")
    if len(mentions) == 1 and not asks_for_denied and _DENIED_PREDICATE.search(text):
        return True
    in_question = quantities(question)
    not_in_question = [mention for mention in mentions[:MAX_VALUES] if not is_among(mention.quantity, in_question)]
    values_of_answer = not_in_question or mentions
    if len(distinct([mention.quantity for mention in values_of_answer])) != 1:
        return False
    if any(_is_denied(text, mention) for mention in values_of_answer):
        return True
    plain_gold = plain(gold)
    if _WORD_OF_GOLD_BOUND.search(plain_gold) or any(
        is_bound(question, plain_gold, mention) for mention in scan(plain_gold)
    ):
        return False
    return any(_is_bound_or_near(question, text, mention) for mention in values_of_answer)


def _is_denied(text: str, mention: Mention) -> bool:
    """Return whether a text denies a value, as "300건은 아닙니다" and "not 300" do."""
    before = max(0, mention.start - _DENIAL_REACH)
    return bool(DENIED_AFTER.match(text, mention.end) or _DENIED_BEFORE.search(text, before, mention.start))


def _is_bound_or_near(question: str, text: str, mention: Mention) -> bool:
    """Return whether a value is only a bound, or near the one that is meant: 300건 이상, 300건에 가깝습니다."""
    return is_bound(question, text, mention) or bool(_NEAR_AFTER.match(text, mention.end))

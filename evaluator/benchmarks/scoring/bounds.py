"""Decide whether a text only bounds a value: 300건 이상, 300건을 밑돕니다, at least 300.

All strict rules about values ask `is_bound`, so that a bound means the same in all benchmarks. Examples have the value in
brackets.
"""

import re
from typing import NamedTuple

from evaluator.benchmarks.scoring.quantities import Mention

_REACH = 24  # characters before a value in which a bound is looked for; the longest is "greater than about "
# Between a value and what follows it, parts of verbose patterns.
_OTHER_UNIT = r"(?:[A-Za-zμ]{1,4}/?[a-z]{0,3}(?:세?제곱)?\s)?"  # [60] km 이상, in a unit that is not read
_DEGREE = r"(?:(?:조금|약간|다소|살짝|훨씬|크게|한참|더|아직|채|조차)\s)*"

_BOUND_AFTER = re.compile(
    rf"""
    \s?
    {_OTHER_UNIT}
    (?: 가량 | 정도 )?
    (?: 이상 | 이하 | 이내 | 미만 | 초과 | 이전 | 이후           # [300건] 이상
      | [은는이가을를도]? \s? {_DEGREE}
        (?: (?:못\s?)? 넘(?!버|어[지져졌])                       # [300건]을 조금 넘습니다, but not 넘버, 넘어졌습니다
          | 초과 | 상회 | 하회 | 돌파                            # [300건]을 상회합니다
          | [웃밑][도돈돌돔돕돎]                                 # [300건]을 웃돕니다
          | (?:안|못)\s?[돼되된될됨됩] | 되지\s?[않못]           # [300건]이 채 안 됩니다
        )
      | 에[는도]? \s? {_DEGREE}
        (?: 못\s?[미이] | 미치지 | 이르지 | 도?달하지 | 미달      # [300건]에 못 미칩니다
          | 육박                                                 # [300건]에 육박합니다
        )
      | 보다[는도]? \s? {_DEGREE}
        (?: 많 | 적 | 높 | 낮 | 크 | 큰 | 큽 | 작                # [300건]보다 많습니다
          | 길 | 긴 | 깁 | 짧 | 넓 | 좁                          # [300년]보다 깁니다
          | 무겁 | 가볍 | 비싸 | 비쌉 | 싸 | 쌉                  # [300원]보다 비쌉니다
          | 빠르 | 빠릅 | 느리 | 느립 | 위 | 아래                # [300초]보다 빠릅니다
        )
      | \+ (?=[가-힣]|\W*$)                                     # [300]+건
      | (?: or | and ) \s (?: more|less|fewer|over|above|below )\b   # [300] or more
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# The value is the largest or smallest: a bound, unless the question asks for that.
_EXTREME_AFTER = re.compile(
    rf"""
    \s? {_OTHER_UNIT} (?: 가량 | 정도 )?
    [은는이가을를도]? \s? {_DEGREE} (?:최대|최소)(?!\s?[값치])      # [300건]이 최대입니다
    """,
    re.VERBOSE,
)
_ASKS_FOR_EXTREME = re.compile(r"가장|제일|최[고대저소]")  # 하루 최대 방문객은
_BOUND_BEFORE = re.compile(
    r"""
    (?: (?:최소|최대)(?:한|로)? | 적어도 | 많아야                # 최대 [300건], but not 최대값은 [300건]
      | [<>≤≥]
      | \b(?: at\ least | at\ most | up\ to                    # at least [300]
            | (?:more|less|fewer|greater|higher|lower)\ than     # more than [300]
            | over | under | above | below                       # over [300]
          )
    )
    \s*(?:약|about)?\s*$
    """,
    re.IGNORECASE | re.VERBOSE,
)


class _Limit(NamedTuple):
    """A kind of bound that a question may ask for. To "최대 몇 명입니까?", "최대 300명입니다" gives the value."""

    asks: re.Pattern[str]  # searched in the question: 최대 몇 명
    before: re.Pattern[str]  # searched right before the value: 최대 [300명]
    after: re.Pattern[str]  # matched right after it: [300명] 이하


def _limit(asks: str, before: str, after: str) -> _Limit:
    """Return a limit from the words of its question and those before and after a value, in verbose patterns."""
    return _Limit(
        re.compile(asks, re.IGNORECASE | re.VERBOSE),
        re.compile(rf"(?:{before})\s*(?:약|about)?\s*$", re.IGNORECASE | re.VERBOSE),
        re.compile(rf"\s?{_OTHER_UNIT}(?:{after})", re.IGNORECASE | re.VERBOSE),
    )


_ASKED_VALUE = r"(?: 몇 | 얼마 | 며칠 | 언제 ) \s? [가-힣A-Za-z㎡%]{0,6} \s?"  # 몇 명, 얼마
_NEVER = r"(?!)"  # matches nothing
_LIMITS = (
    _limit(
        rf"최[대고장] | 상한 | 한도 | 정원 | 수용 | 기준치 | 허용 | {_ASKED_VALUE} (?: 까지 | 이하 | 이내 )"  # 몇 명까지
        r" | \b(?: maximum | at\ most | up\ to )\b",
        r"최[대고장](?:한|로)? | 많아야 | ≤ | at\ most | up\ to",  # 최대 [300명]
        r"이하 | 이내 | or\ (?:less|fewer|below)",  # [300명] 이하
    ),
    _limit(
        rf"최[소저단] | 하한 | 적어도 | {_ASKED_VALUE} 이상 | \b(?: minimum | at\ least )\b",  # 몇 명 이상
        r"최[소저단](?:한|로)? | 적어도 | ≥ | at\ least",  # 최소 [5명]
        r"이상 | \+ | or\ (?:more|over|above)",  # [5명] 이상
    ),
    _limit(rf"{_ASKED_VALUE} 미만 | \bless\ than\b", r"< | less\ than", r"미만"),  # 몇 명 미만: [50명] 미만
    _limit(
        rf"{_ASKED_VALUE} (?: [을를]? \s? 넘 | 초과 ) | \bmore\ than\b",  # 몇 명을 넘으면
        r"> | more\ than",
        r"[을를]? \s? 넘 | 초과",  # [50명]을 넘으면
    ),
    _limit(rf"{_ASKED_VALUE} 이전", _NEVER, r"이전"),  # 몇 년 이전: [2018년] 이전
    _limit(rf"{_ASKED_VALUE} 이후", _NEVER, r"이후"),
)


def is_bound(question: str, text: str, mention: Mention) -> bool:
    """Return whether a text, which `plain` has returned, only bounds one of its values.

    A bound of the kind that the question asks for is the answer: "최소 5명" and "5명 이상" to "최소 몇 명이 필요합니까?".
    """
    if _EXTREME_AFTER.match(text, mention.end) and not _ASKS_FOR_EXTREME.search(question):
        return True
    reach_start = max(0, mention.start - _REACH)
    bounds_after = _BOUND_AFTER.match(text, mention.end)
    bounds_before = _BOUND_BEFORE.search(text, reach_start, mention.start)
    if not (bounds_after or bounds_before):
        return False
    asked = [limit for limit in _LIMITS if limit.asks.search(question)]
    is_asked_after = any(limit.after.match(text, mention.end) for limit in asked)
    is_asked_before = any(limit.before.search(text, reach_start, mention.start) for limit in asked)
    return bool(bounds_after and not is_asked_after) or bool(bounds_before and not is_asked_before)

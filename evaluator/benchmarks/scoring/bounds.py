"""Decide whether a text only bounds a value: 300건 이상, 300건을 밑돕니다, at least 300.

All strict rules about values use these patterns, so that a bound means the same in all benchmarks. Examples have the value
in brackets.
"""

import re

from evaluator.benchmarks.scoring.quantities import Mention

_REACH = 12  # characters before a value in which a bound is looked for
# Between a value and a verb or adjective, a part of verbose patterns.
_DEGREE = r"(?:(?:조금|약간|다소|살짝|훨씬|크게|한참|더|아직|채|조차)\s)*"

_BOUND_AFTER = re.compile(
    rf"""
    \s?
    (?:[A-Za-zμ]{{1,4}}/?[a-z]{{0,3}}(?:세?제곱)?\s)?            # [60] km 이상, in a unit that is not read
    (?: 가량 | 정도 )?
    (?: 이상 | 이하 | 미만 | 초과 | 이전 | 이후                  # [300건] 이상
      | [은는이가을를도]? \s? {_DEGREE}
        (?: 넘(?!버)                                             # [300건]을 조금 넘습니다
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
    \s? (?:[A-Za-zμ]{{1,4}}/?[a-z]{{0,3}}(?:세?제곱)?\s)? (?: 가량 | 정도 )?
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


def is_bound(question: str, text: str, mention: Mention) -> bool:
    """Return whether a text, which `plain` has returned, only bounds one of its values."""
    if _EXTREME_AFTER.match(text, mention.end) and not _ASKS_FOR_EXTREME.search(question):
        return True
    before = max(0, mention.start - _REACH)
    return bool(_BOUND_AFTER.match(text, mention.end) or _BOUND_BEFORE.search(text, before, mention.start))

"""Decide which of the quantities in one sentence it asserts, and which are operands, labels of rows, or about other rows.

"2018년 6,904건에서 227건 증가한 7,131건입니다" has four quantities: 2018년 labels a row, 6,904건 and 227건 are operands, and
only 7,131건 is asserted. `answer_passages` picks the sentences, and `final_answer` calls `asserted_in_sentence` for each. Other
modules use single rules of this one.

Sentences are texts that `plain` has returned. Rules look at the words right before and after a quantity, so most patterns
below are matched at the end of a quantity (`…_AFTER`, `…_ENDING`) or searched right before its start (`…_BEFORE`). In their
examples the quantity is in brackets: [6,904건]에서.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from evaluator.benchmarks.scoring.names import own_words
from evaluator.benchmarks.scoring.quantities import Mention, Quantity, quantities, scan
from evaluator.benchmarks.scoring.quantity_sets import is_among, without
from evaluator.benchmarks.scoring.units import TIMES


class Reference(NamedTuple):
    """What an answer is judged by: the question and the quantities of its gold answer."""

    question: str
    in_question: Sequence[Quantity]
    required: Sequence[Quantity]  # of the gold answer, without those that may be left out


MAX_OTHERS = 3  # values of other rows that an answer may give beside its own; with more it is a table
MAX_VALUES = 200  # quantities that are read of a passage; one with more is a table, and asserts them all
# Characters before a quantity in which the rules look for its operator, a name such as G20, its label, or its subject.
_OPERATOR_REACH, _NAME_REACH, _LABEL_REACH, SUBJECT_REACH = 8, 4, 12, 20
_STEM = 2  # letters by which words are compared: 화재 of 화재는
_MIN_YEAR, _MAX_YEAR = 1900, 2100
_MAX_LABEL = 1000  # labels of rows are smaller: 제3, 코로나19, 12월
_MAX_ROWS = 100  # counts of rows are smaller: 4개 항목 중

SENTENCE = re.compile(r"[^\n]+?(?:[.!?。](?=\s|$)|\n|$)")  # ends at a line or a mark before white space, not in 3.5
RANGE_AFTER = re.compile(r"\s?[~∼–-]\s?\d")  # after the 15 of 15~29세
# What may surround a value in a sentence that has nothing else: "따라서 약 7,131건입니다."
_FILLER = re.compile(
    r"""
    (?:
        따라서 | 즉 | 약 | 총             # 따라서 약 [7,131건]
      | 입니다 | 이다 | 이며 | 이고       # [7,131건]입니다
      | 일\ 수(?:도)?\ 있습니다           # [7,131건]일 수도 있습니다
      | [^\w+*/×÷=≈≒]                     # "[7,131건]." but no operators
    )*
    """,
    re.VERBOSE,
)
# Between and after two candidates: 5건 또는 6건, 5건이지만 6건도 가능.
_OR = re.compile(
    r"""
    (?:이)?\s*
    (?: 또는 | 혹은 | 아니면              # [5건] 또는 약 [6건]
      | 이나 | 거나                       # [5건]이나 [6건], [5건]이거나 [6건]
      | or\b                              # [5] or [6]
    )
    \s*(?:약\s?)?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ALSO_POSSIBLE = re.compile(
    r"""
    (?: 일\s?수도 | 도 | 역시 )           # [6건]일 수도 있습니다
    \s?
    (?: 가능 | 있 | 될 | 맞 | 정답 )      # [6건]도 가능합니다, [6건] 역시 정답
    """,
    re.VERBOSE,
)
# The word before a quantity, without its particle, in group 1: 부상자 in "부상자는 약 [291,608명]".
SUBJECT = re.compile(
    r"""
    ([가-힣A-Za-z]+?) ['\"’”]?
    (?: 은 | 는 | 이 | 가 | 의            # 부상자는 [291,608명]
      | : | 의\ 경우                      # 부상자: [291,608명], 부상자의 경우 [291,608명]
    )?
    \s*(?:약|총)?\s*$
    """,
    re.VERBOSE,
)
JOINS_VALUES = re.compile(r"\s?(?:과|와|및|,)\s?")  # between values of one subject: 7,131건과 6,904건
# Between two values: words that label the second one, as in `, 기계적 요인: `, but not in `(전기적 요인), `.
_LABEL_BEFORE = re.compile(r"(?!\s?\()[^가-힣A-Za-z]*[가-힣A-Za-z]")
_BESIDE_YEAR = re.compile(r"(?:에는|에|은|는|의|도|:)?\s*(?:약|총)?\s*")  # between a year and its value: 2021년에는 19%
_OF_YEAR = re.compile(r"(?:에|에는|의)?\s*")  # between a year and an operand: 2018년의 6,904건
_SHOWS_WORKING = re.compile(r"[→+]")
# 603천 명 (전체의 12%), with the white space before it. That is tried from its start only, else it takes quadratic time.
BRACKETS = re.compile(r"(?<!\s)\s*+\([^()]*\)")
# Before a value in brackets: what it belongs to. After words such as 정확히는, the brackets repeat the value before them.
_BRACKET_LABEL = re.compile(
    r"""
    \s* \(
    (?! 실제 | 정확 | 사실 | 원래 | 정답 | 답 | 값 | 최[대소종] | 약 | 추정 | 계산 | 반올림 | 또는 | 혹은 | 단위 )   # (정확히는 [297명])
    [^()]{1,20}?
    (?: 은 | 는                                     # (여자는 [6.1년])
      | 이?면 | 라면 | 일\ 때 | 의\ 경우            # (10년이면 [2.35%])
      | :
      | (?<=[가-힣]{2}) | (?<=\d[년월])             # (청소년 [2,000원]), (4월 [3,120명])
    )
    \s (?:약\s)?
    """,
    re.VERBOSE,
)
_COMPARED_BRACKETS = re.compile(
    r"""
    \([^()]*\)
    (?=
        (?:과|와)\s(?:비교|견주|함께|달리|더불어)   # 인천(24.5%)과 함께, 서울(3건)과 비교하면
      | 보다                                        # 인천(24.5%)보다
      | 의\s(?:약\s)?[\d.]+\s?%                     # 인천(24.5천 명)의 약 30%
      | 에\s(?:비|이어)                             # 인천(24.5%)에 비해, 인천(24.5%)에 이어
    )
    """,
    re.VERBOSE,
)
# Separate working from the answer, and the answer from a remark or a comparison.
BECAUSE = re.compile(r"(?:이)?므로,?\s|이기 때문에,?\s")  # 447건이므로, 합은 …
_COMPARISON_BREAK = re.compile(
    r"""
    (?<=[\d가-힣%)])
    (?:
        (?:(?:으로|로|이며|이고),|(?:이며|이고)(?=\s))      # 972건으로, 전년보다 12건 많습니다
      | \s가장\s?(?:많|적|높|낮|크|작)[가-힣]*(?:고|며),    # 972건으로 가장 많고, 서울은 …
    )
    """,
    re.VERBOSE,
)
# In an answer: the value before it is compared with another one. In a question: the result of such a comparison is asked for.
_COMPARES = re.compile(
    r"""
    대비 | 보다 | 차이                              # 전년 대비, 전년보다
    | 앞서 | 앞질 | 뒤처 | 뒤지                     # 서울에 앞서며
    | 증가 | 감소 | 변화 | 변동                     # 12건 증가했습니다
    | 넘어 | 넘는 | 돌파 | 육박 | 웃도 | 밑도       # 평균을 웃도는
    | 미치지 | 미달 | 못\ 미                        # 평균에 못 미칩니다
    """,
    re.VERBOSE,
)
# Between a quantity and its ending: [6,904건](2018년)에서, [60세] 이상에서. A part of verbose patterns.
_BEFORE_ENDING = r"(?:\([^()]{0,30}\))? [)\]}.…]* \s? (?: 이상 | 이하 | 미만 | 초과 | 년 | 년도 | 도 )?"
# These endings make a quantity the subject or the object of its sentence, or attach it to a noun.
_SUBJECT_OR_OBJECT = re.compile(
    _BEFORE_ENDING
    + r"""
    (?: (?:은|는|이|가|에|의|로) (?![가-힣])            # [6,904건]은 2018년의 값입니다
      | [을를] (?![가-힣]|\s?차지)                      # [227건]을 더하면, but not [12%]를 차지합니다
      | 으로                                            # [6,904건]으로
    )
    """,
    re.VERBOSE,
)
# After these endings and _AMONG, another value must follow, which is the one that is asserted. See `leads_to_another_value`.
_LEADS_ON = re.compile(
    _BEFORE_ENDING
    + r"""
    (?: (?:와|과)는?\s(?:다른|별개|구분)                # [6,904건]과는 다른
      | 에서 | 보다 | 대비 | 부터 | 까지                # [6,904건]에서, [6,904건]보다
      | [가-힣]{0,2}당 (?![가-힣])                      # [1명]당
      | (?:이)?므로 | 이라서                            # [6,904건]이므로
      | 인 (?=\s)                                       # [6,904건]인 2018년
      | (?:을|를)?\s? (?:포함|제외) (?=[\s하])          # [20건]을 제외하면
      | (?:이|가|만큼|이나)? \s?                        # [227건]이 증가한 7,131건, [227건]만큼 늘어난 7,131건
        (?: 증가 | 감소 | 상승 | 하락 | 늘어 | 줄어 | 오르 | 내리 | 늘 | 줄 | 오 | 내 )
        (?: 한 | 하여 | 해 | 해서 | 난 | 나 | 든 | 들어 | 른 | 린 | 은 )
        \s (?=[^.]*\d)
      | \s (?:대비|이상|이하|이후|이전) (?:인)? (?![가-힣])              # [2018년] 이후
    )
    """,
    re.VERBOSE,
)
_AMONG = re.compile(
    _BEFORE_ENDING + r"[가-힣·\s]{0,8} (?:중|가운데) (?:에서|에)? (?![가-힣]|\s?하나)",  # [10명] 중, [10명] 학생 가운데
    re.VERBOSE,
)
EQUATION = re.compile(r"[-−–+*/×÷(^]|(?:times|div|frac)\b")  # 525 - 447; without one of these, = only repeats a value
_OPERATOR_AFTER = re.compile(
    r"""
    (?:\s?\([^()\n]{1,20}\))? [)\]}]* \s*           # [525](건) - 447
    (?:
        [-−–+*×÷=<>≈→] (?!\s*$)                     # [525] - 447, but not a dash at the end
      | / (?=\s*[\d(])                              # [525] / 447, but not [4.2권]/명
      | (?:times|div)\b                             # [525] times 447, of LaTeX
    )
    """,
    re.VERBOSE,
)
_OPERATOR_BEFORE = re.compile(r"(?:[-−–+*/×÷]|\b(?:times|div))\s*[(\[{]*$")  # 525 - ([447]
_JOINED = re.compile(r"(?:\([^()]{0,30}\))?(?:과|와)(?![가-힣])")  # after the first operand: 525개와 447개의 차이
_ARITHMETIC = re.compile(
    r"""
    보다 | 차이 | 차는 | 차가 | 의\ 차 | 비교       # 525개와 447개의 차이
    | 의\ 합 | 합은 | 합계 | 합하 | 더하 | 더한     # 525개와 447개의 합은
    | 빼 | 뺀 | 곱하 | 나누
    | 평균 | 비율
    | 중\s(?!하나).*\d                              # 525개와 447개 중 525개, but not 중 하나
    """,
    re.VERBOSE,
)
_CLAUSE_ENDING = re.compile(
    r"""
    \s?
    (?: (?P<comma> , )                              # [5건], 합계는
      | (?:이|였|이었)?고(?![가-힣])                # [5건]이고 합계는
      | (?:이)?며(?![가-힣])                        # [5건]이며 합계는
      | 인데 | 이지만 | 지만                        # [5건]이지만 합계는
    )
    """,
    re.VERBOSE,
)
# In a question: it is about several rows or values. Unlike in _COMPARES, a word such as 증가 is not enough.
ASKS_TO_COMPARE = re.compile(
    r"""
    보다 | 비교 | 대비                              # 2018년보다 얼마나
    | 차이 | 차는 | 증감 | 변화                     # 두 값의 차이는
    | 합하 | 합은 | 합이 | 더하 | 곱하 | 나누       # 두 값을 합하면
    | 각각                                          # 남녀는 각각 몇 명
    """,
    re.VERBOSE,
)
# The white space after a clause: …672건이며, 부주의는…
_CLAUSE_BREAK = re.compile(
    r"""
    (?<=데)\s비해\s                                 # 672건인 데 비해 부주의는
    | (?<=반면)(?:에)?,?\s                          # 672건인 반면 부주의는
    | (?<=며)(?:,\s|\s)                             # 672건이며, 부주의는
    | (?<=[이하했었였았]고)(?:,\s|\s)               # 672건이고 부주의는
    | (?<=지만)(?:,\s|\s)                           # 672건이지만 부주의는
    | (?<=다가)(?:,\s|\s)                           # 672건이다가 2020년에는
    | (?<=는데)(?:,\s|\s)                           # 672건이었는데 부주의는
    """,
    re.VERBOSE,
)
# Before a quantity: its subject, or the = whose result it is.
_SUBJECT_OR_EQUALS = re.compile(
    r"""
    (?: [가-힣A-Za-z](?:은|는|이|가)                # 음식점은 [5건]
      | 의\s경우                                    # 음식점의 경우 [5건]
      | (?P<equals> = )                             # 525 + 447 = [972건]
    )
    \s*(?:약|총)?\s*$
    """,
    re.VERBOSE,
)

# Quantities that name a row: 2021년, 3위, 1학년, 코로나19, 표 2. See `is_label`.
_LABEL_UNITS = {
    "년",
    "월",
    "일",
    "위",
    "호",
    "번",
    "대",
    "세",
    "등급",
    "단계",
    "동",
    "주",
    "학년",
    "반",
    "차",
    "층",
    "쪽",
    "권",
}
_ORDINAL = re.compile(
    r"""
    \s?
    (?: 급 | 등 | 순위                              # 1급, 1등
      | 학기 | 분기 | 반기                          # 3분기
      | 부 | 절                                     # 2부
      | 권역 | 지구                                 # 2지구
    )
    """,
    re.VERBOSE,
)
_ROWS = re.compile(  # after the count of the rows
    r"""
    \s?
    (?: 해(?:의|간) | 달 | 연도                     # [5]해간, [3]달
      | 항목 | 종류 | 지역 | 부문 | 분야            # [4개] 항목 중
      | 중(?:에서)?(?![가-힣])                      # [4개] 중에서, but not [4개] 중학교
      | 간(?![가-힣]) | 동안 | 사이 | 만에          # [5년]간, [5년] 만에
    )
    """,
    re.VERBOSE,
)
_IN_NAME = re.compile(r"(?:코로나|[A-Z])-?$")  # 코로나[19], G[20]
_NUMBERED = re.compile(r"(?:제|표|그림|항목|No\.)\s?$|(?<![A-Za-z])[A-Za-z]-?$")  # 표 [2], 제[3], A-[1]
# Follows a quantity that the answer denies or questions.
DENIED_AFTER = re.compile(
    r"""
    (?:\s?(?:정도|가량|남짓|쯤))? \s?(?:이|가|은|는|을|를)?\s?   # [603명] 정도가 아니라
    (?:
        아니(?!면) | 아닙 | 아님 | not\b            # [603명]이 아니라, but not 아니면 (or)
      | 틀린 | 될\ 수\ 없 | \(오답                  # [603명]은 될 수 없습니다
      | 제외 | 뺀\ 나머지 | 빼면\ 됩니다            # [603명]을 뺀 나머지
      | (?:의\ )?절반                               # [603명]의 절반
      | 추정\ 불가                                  # [603명] 추정 불가
    )
    | \s?
    (?: 입니까 | 인가요 | 인지\ 알\ 수              # [603명]인가요
      | 이\ 맞습니까                                # [603명]이 맞습니까
    )
    | (?:이)?지\ 않                                 # [603명]이지 않습니다
    """,
    re.VERBOSE,
)
_RANGE_WORD = re.compile(r"\s?(?:까지|사이|범위|~)")  # [603명] 사이


def shared_words(sentence: str, question: str) -> set[str]:
    """Return the words of a question that a sentence has too, by their first two letters: 화재 for 화재는 and 화재가.

    Two letters tell most Korean nouns apart, and leave out the particle behind them.
    """
    stems = {word[:_STEM] for word in re.findall(r"[가-힣]{2,}", sentence)}
    asked_stems = {word[:_STEM] for word in re.findall(r"[가-힣]{2,}", question)}
    return stems & asked_stems


def without_compared_brackets(text: str) -> str:
    """Return a text without brackets with the values of others: 인천(24.5%)과 함께, 다른 지역(서울 3, 대전 4)과 비교하면."""
    return _COMPARED_BRACKETS.sub("", text)


def without_working(sentence: str, question: str) -> str:
    """Return a sentence without the working before its answer and the comparison after it.

    "525건과 447건이므로 합은 972건이며, 전년보다 12건 많습니다" → "합은 972건"
    """
    mentions = scan(sentence)
    if not mentions:
        return sentence
    reason_ends = [match.end() for match in BECAUSE.finditer(sentence) if match.end() <= mentions[-1].start]
    result = sentence[reason_ends[-1] :] if reason_ends else sentence
    first_value_end = scan(result)[0].end
    # To "몇 건 증가했습니까?", the comparison is the answer: nothing is cut from "972건으로, 12건 증가했습니다".
    asks_for_change = _COMPARES.search(question)
    comparisons = [] if asks_for_change else [match.start() for match in _COMPARES.finditer(result)]
    for match in _COMPARISON_BREAK.finditer(result):
        is_before_comparison = bool(comparisons) and match.end() <= comparisons[-1]
        if first_value_end <= match.start() and ("가장" in match[0] or is_before_comparison):
            return result[: match.start()]
    return result


def clause_of(sentence: str, reference: Reference) -> str:
    """Return the clause of a sentence that is about the question's subject, or the whole sentence if none stands out.

    Other clauses are about other rows: "전기적 요인은 672건이며, 부주의는 1,284건입니다". A question that compares rows or asks
    for several values is about all of them.
    """
    question = reference.question
    if len(reference.required) != 1 or ASKS_TO_COMPARE.search(question):
        return sentence
    clauses = [clause for clause in _CLAUSE_BREAK.split(sentence) if without(quantities(clause), reference.in_question)]
    if not 1 < len(clauses) <= 1 + MAX_OTHERS:
        return sentence
    words_of_clauses = own_words([shared_words(clause, question) for clause in clauses])
    about_subject = [clause for clause, words in zip(clauses, words_of_clauses, strict=True) if words]
    return about_subject[0] if len(about_subject) == 1 else sentence


def asserted_in_sentence(sentence: str, reference: Reference, limit: int | None = None) -> list[Quantity]:
    """Return the quantities that a sentence asserts: 7,131건 of "2018년 6,904건에서 227건 증가한 7,131건입니다".

    Quantities that start at the offset `limit` or behind it are ignored, see `answer_passages.Passage`.
    """
    mentions = [mention for mention in scan(sentence) if limit is None or mention.start < limit]
    if len(mentions) > MAX_VALUES:
        return [mention.quantity for mention in mentions]
    # Alternatives come first. They are asserted together, whatever else the sentence has, and so are wrong: 5건 또는 6건.
    if alternatives := _alternative_values(sentence, mentions):
        return alternatives
    # Of "2022년 18%, 2021년 19%", this is the value of the asked year. The rules below would keep 2021년 and both shares.
    if of_asked_year := _value_of_asked_year(sentence, mentions, reference):
        return [of_asked_year]
    # Ranges and denials are looked for beside the chosen values only: a denied operand says nothing about the answer.
    chosen = _chosen_values(sentence, mentions, reference)
    # All values are asserted with a range, because its start may look like an operand: [340건]에서 350건 사이. The answer is right
    # if the gold answer is a range too, such as 347건 (±12건).
    if any(_RANGE_WORD.match(sentence, mention.end) for mention in chosen):
        return [mention.quantity for mention in mentions]
    return [mention.quantity for mention in _after_last_denied(sentence, chosen)]


def _chosen_values(sentence: str, mentions: Sequence[Mention], reference: Reference) -> list[Mention]:
    """Return the values that are neither labels, nor operands, nor of another row than the question's.

    If there are none, return one all the same: the last label of a sentence with labels only, else the last value outside of
    expressions, if possible one that does not lead to another value. Values in an expression are never returned.
    """
    values = [mention for mention in mentions if not is_label(sentence, mention, reference)]
    if not values:
        return list(mentions[-1:])
    outside_expressions = values
    if EQUATION.search(sentence):
        outside_expressions = [mention for mention in values if not is_in_expression(sentence, mention)]
    if of_asked_row := _values_of_asked_row(sentence, values, outside_expressions, reference):
        return of_asked_row
    final = [mention for mention in outside_expressions if not leads_to_another_value(sentence, mention)]
    return (final or outside_expressions)[-1:]


def _after_last_denied(sentence: str, chosen: Sequence[Mention]) -> list[Mention]:
    """Return the values without a denied one and all before it: 500명 of "603명 정도가 아니라 500명"."""
    start = 0
    for place, mention in enumerate(chosen, start=1):
        if DENIED_AFTER.match(sentence, mention.end):
            start = place
    return list(chosen[start:])


def _values_of_asked_row(
    sentence: str, values: Sequence[Mention], outside_expressions: Sequence[Mention], reference: Reference
) -> list[Mention]:
    """Return the values that are not operands, remarks in brackets, or values of another row than the question's.

    The order matters: which year belongs to an operand is known only when the operands are, and subjects are compared
    among the values that are left.
    """
    remaining = [mention for mention in outside_expressions if not _is_operand(sentence, mention, reference.required)]
    remaining = _without_bracketed_remarks(sentence, remaining, reference)
    operands = [mention for mention in values if mention not in remaining]
    remaining = [mention for mention in remaining if not _is_year_of(sentence, mention, operands)]
    remaining = _value_of_named_subject(reference.question, sentence, remaining)
    other_rows = [
        mention for mention, following in pairwise(remaining) if _is_of_other_row(sentence, mention, following)
    ]
    return [mention for mention in remaining if mention not in other_rows]


def _is_operand(sentence: str, mention: Mention, required: Sequence[Quantity]) -> bool:
    """Return whether the words after a quantity make it an operand or the subject: 6,904건에서, 447개와 (of a sum)."""
    if _JOINED.match(sentence, mention.end) and _ARITHMETIC.search(sentence):
        return True
    is_marked = leads_to_another_value(sentence, mention) or _SUBJECT_OR_OBJECT.match(sentence, mention.end)
    return bool(is_marked) and not _has_required_sense(mention, required)


def _alternative_values(sentence: str, mentions: Sequence[Mention]) -> list[Quantity]:
    """Return the quantities that a sentence offers as alternatives: `5건 또는 6건`, `5건이지만 6건도 가능`."""
    found: list[Quantity] = []
    for mention, following in pairwise(mentions):
        is_joined = _OR.fullmatch(sentence, mention.end, following.start)
        if is_joined or _ALSO_POSSIBLE.match(sentence, following.end):
            found += [mention.quantity, following.quantity]
    return found


def _value_of_asked_year(sentence: str, mentions: Sequence[Mention], reference: Reference) -> Quantity | None:
    """Return the value beside the question's year, if a sentence has values of several years, else None.

    To a question about 2022년, "2021년 19%에서 2022년 18%로" has 18%.
    """
    asked_years = years_in(reference.in_question)
    if len(asked_years) != 1 or ASKS_TO_COMPARE.search(reference.question):
        return None
    by_year: dict[int | Decimal, list[Quantity]] = {}
    for year, following in pairwise(mentions):
        is_beside = _BESIDE_YEAR.fullmatch(sentence, year.end, following.start)
        if year.quantity.unit == "년" and following.quantity.unit != "년" and is_beside:
            by_year.setdefault(year.quantity.value, []).append(following.quantity)
    of_asked_year = by_year.get(asked_years.pop(), [])
    has_several_years = 1 < len(by_year) <= 1 + MAX_OTHERS
    return of_asked_year[0] if len(of_asked_year) == 1 and has_several_years else None


def leads_to_another_value(sentence: str, mention: Mention) -> bool:
    """Return whether the ending of a quantity says that another value follows, which is the asserted one.

    6,904건에서, 6,904건보다, 6,904건이므로, 10명 중, 227건 증가한
    """
    if _LEADS_ON.match(sentence, mention.end):
        return True
    # In "7,131건은 최근 5년 중", 중 does not belong to the quantity, which is the subject.
    is_subject_or_object = bool(_SUBJECT_OR_OBJECT.match(sentence, mention.end))
    return not is_subject_or_object and bool(_AMONG.match(sentence, mention.end))


def is_in_expression(sentence: str, mention: Mention) -> bool:
    """Return whether a quantity is an operand of an expression, as 525 and 447 are in `525 - 447 = 78`."""
    return bool(
        _OPERATOR_AFTER.match(sentence, mention.end)
        or _OPERATOR_BEFORE.search(sentence, max(0, mention.start - _OPERATOR_REACH), mention.start)
    )


def _has_required_sense(mention: Mention, required: Sequence[Quantity]) -> bool:
    """Return whether a quantity is a required one and has its sense: 60세 이상에서, 227건 증가한 for 227건 증가."""
    quantity = mention.quantity
    return bool(quantity.sense) and any(quantity.sense == other.sense and quantity.agrees(other) for other in required)


def _without_bracketed_remarks(sentence: str, found: Sequence[Mention], reference: Reference) -> list[Mention]:
    """Return the quantities without those in brackets that are remarks, or all if nothing else is left.

    A remark has another unit than the answer (60세 이상(6,223천 명)), shows how it is computed (+12건 (36건 → 48건)), or is
    about another subject (8.4년(여자는 6.1년)).
    """
    brackets = list(BRACKETS.finditer(sentence))
    units = {"", *(quantity.unit for quantity in reference.required)}

    def is_remark(mention: Mention) -> bool:
        around = [bracket for bracket in brackets if bracket.start() < mention.start < bracket.end()]
        if any(_is_of_another(sentence[bracket.start() : mention.start], reference) for bracket in around):
            return True
        return any(_SHOWS_WORKING.search(bracket[0]) or mention.quantity.unit not in units for bracket in around)

    kept = [mention for mention in found if not is_remark(mention)]
    return kept or list(found)


def _is_of_another(label: str, reference: Reference) -> bool:
    """Return whether a label in brackets names a subject or a case that the question does not: "(여자는 ", "(10년이면 "."""
    named = _BRACKET_LABEL.fullmatch(label)
    if named is None:
        return False
    if in_label := quantities(label):
        return not any(is_among(quantity, reference.in_question) for quantity in in_label)
    return not shared_words(label.split()[0], reference.question)


def _value_of_named_subject(question: str, sentence: str, found: Sequence[Mention]) -> list[Mention]:
    """Return the one value whose subject the question names, or all: 부상자 in "사망자 2,916명, 부상자 291,608명".

    A value that is joined with the one before it has the subject of that: both of "부상자 2,916명과 291,608명" are returned.
    """
    if not 1 < len(found) <= 1 + MAX_OTHERS:
        return list(found)
    if ASKS_TO_COMPARE.search(question):
        return list(found)
    subjects = [SUBJECT.search(sentence, max(0, mention.start - SUBJECT_REACH), mention.start) for mention in found]
    for place, (before, mention) in enumerate(pairwise(found), start=1):
        if JOINS_VALUES.fullmatch(sentence, before.end, mention.start):
            subjects[place] = subjects[place - 1]
    if not all(subjects):
        return list(found)
    # First compare all words before a value. Its last word alone may be in the question although the value is of another
    # subject: 요인 in "전기적 요인 화재 건수: 672건, 기계적 요인: 281건".
    with_words = _values_with_words_of_their_own(question, sentence, found)
    if len(with_words) == 1:
        return with_words
    named = [
        mention
        for mention, subject in zip(found, subjects, strict=True)
        if subject and len(subject[1]) > 1 and subject[1] in question
    ]
    return named if len(named) == 1 else list(found)


def _values_with_words_of_their_own(question: str, sentence: str, found: Sequence[Mention]) -> list[Mention]:
    """Return the values with words of the question before them that no other value has: 전기적 in "전기적 요인 672건".

    Return none if the words stand behind the values, in brackets, or a value has none: 672건(전기적 요인), "672건, 281건".
    """
    starts = [0, *(mention.end for mention in found[:-1])]
    labels = [sentence[start : mention.start] for start, mention in zip(starts, found, strict=True)]
    if any(JOINS_VALUES.fullmatch(label) or not _LABEL_BEFORE.match(label) for label in labels):
        return []
    words_of_values = own_words([shared_words(label, question) for label in labels])
    return [mention for mention, words in zip(found, words_of_values, strict=True) if words]


def _is_year_of(sentence: str, mention: Mention, operands: Sequence[Mention]) -> bool:
    """Return whether a quantity is the year of an operand: 2018년 in "2018년 6,904건에서 227건 증가한 7,131건"."""
    if mention.quantity.unit != "년":
        return False
    return any(_OF_YEAR.fullmatch(sentence, mention.end, operand.start) for operand in operands)


def _is_of_other_row(sentence: str, mention: Mention, following: Mention) -> bool:
    """Return whether a quantity has another subject than the answer's: 5건 in "음식점은 5건, 합계는 8건입니다".

    It has a subject, and a clause ends after it. If the clause ends with a comma and not with words, the following quantity
    must have a subject too, or be the result of an equation.
    """
    ending = _CLAUSE_ENDING.match(sentence, mention.end)
    before = _subject_or_equals(sentence, mention)
    if ending is None or before is None or before["equals"]:
        return False
    return ending["comma"] is None or _subject_or_equals(sentence, following) is not None


def _subject_or_equals(sentence: str, mention: Mention) -> re.Match[str] | None:
    """Return the match of _SUBJECT_OR_EQUALS right before a quantity, if there is one."""
    return _SUBJECT_OR_EQUALS.search(sentence, max(0, mention.start - _LABEL_REACH), mention.start)


def is_label(sentence: str, mention: Mention, reference: Reference) -> bool:
    """Return whether a quantity only labels a row: a year, 1호선, 3분기, 표 2.

    The order of the checks matters: what the answer itself is (a year, a value of this unit) comes first, so that no later
    rule takes it for a label; names (코로나19, 표 2) come before years, and years before small numbers.
    """
    quantity = mention.quantity
    value, unit, _ = quantity
    required = reference.required
    answer_is_year = bool(required) and all(map(names_year, required))
    if answer_is_year and unit != "년":
        may_be_the_year = unit == "" and is_year(value)  # 2018, written without 년
        return not may_be_the_year  # any other value, such as 7,131건, only says what happened in that year
    if value != int(value) or any(unit and unit == other.unit for other in required):
        return False
    if unit in TIMES and is_among(quantity, required):  # 세 번 for 세 해
        return False
    name_start = max(0, mention.start - _NAME_REACH)
    if not unit and value < _MAX_LABEL and _IN_NAME.search(sentence, name_start, mention.start):  # 코로나19
        return True
    if _NUMBERED.search(sentence, name_start, mention.start):  # 표 2
        return True
    if names_year(quantity):
        # A year labels a row, unless the question names one year and this is another one. That is then compared with the gold
        # answer, so that the value of a wrong year is wrong: 2020년 26명.
        asked_years = years_in(reference.in_question)
        is_wrong_year = len(asked_years) == 1 and value not in asked_years
        return not is_wrong_year
    if 0 <= value < _MAX_ROWS and unit in ("", "개", "년") and _ROWS.match(sentence, mention.end):  # 4개 항목 중
        return True
    if not 0 <= value < _MAX_LABEL:
        return False
    if unit in _LABEL_UNITS:  # 3위
        return True
    word_start = mention.end - 1 if unit == "분" else mention.end  # 3분기 was read as 3분
    return unit in ("", "분") and bool(_ORDINAL.match(sentence, word_start))


def years_in(some: Sequence[Quantity]) -> set[int | Decimal]:
    """Return the values of the quantities in 년, which are years or durations."""
    return {quantity.value for quantity in some if quantity.unit == "년"}


def names_year(quantity: Quantity) -> bool:
    """Return whether a quantity is a year, and not a duration or an age."""
    return quantity.unit == "년" and is_year(quantity.value)


def is_year(value: int | Decimal) -> bool:
    return _MIN_YEAR <= value <= _MAX_YEAR


def is_bare(sentence: str) -> bool:
    """Return whether a sentence has only quantities, which makes it a candidate answer and not working.

    "따라서 약 7,131건입니다." → True; "화재는 7,131건입니다." and "2020년: 7,131건" → False
    """
    mentions = scan(sentence)
    if not mentions or _is_table_row(mentions):
        return False
    between = [sentence[before.end : after.start] for before, after in pairwise(mentions)]
    texts = [sentence[: mentions[0].start], *between, sentence[mentions[-1].end :]]
    return all(map(_FILLER.fullmatch, texts))


def _is_table_row(mentions: Sequence[Mention]) -> bool:
    """Return whether quantities are a year and its value, as a line of a table has: 2020년: 2조 9,500억 원."""
    units = [mention.quantity.unit for mention in mentions]
    return len(units) == 2 and units[0] == "년" and units[1] != "년"

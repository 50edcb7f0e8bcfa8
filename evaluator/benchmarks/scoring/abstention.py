"""Decide whether an output says that a question cannot be answered: 알 수 없음, 자료에 없습니다, n/a.

KO-FRESH has questions that its pictures do not answer, and calls `abstains` and `hesitates`.
"""

import re
from collections.abc import Iterator, Sequence

from evaluator.benchmarks.scoring.final_text import final_text
from evaluator.benchmarks.scoring.quantities import Quantity, quantities
from evaluator.benchmarks.scoring.sentence_values import years_in

_UNKNOWN = re.compile(  # says that a question cannot be answered
    r"""
    # 알 수 없습니다, 찾을 수가 없음; but not 알 수 없으면, 알 수 없는 것은 아님
      (?:알|확인할|판단할|구할|계산할|답할|찾을|볼|읽을|특정할|파악할|산출할|구분할) \s?수(?:가|는)?\s?없
        (?!으면) (?! (?:음|는[ ]것)(?:은|이)[ ]아[니님] )
    # 모릅니다, 모르겠습니다, 모름; but not 모름지기
    | 모릅니다 | 모르겠 | 모름(?!지기)
    # 확인 불가, 파악하기 어렵습니다
    | (?:확인|파악|판단|산출|식별|특정|계산) (?: (?:이|은|는)?[ ]?불가 | 하기(?:는|가)?\s?(?:어렵|힘들|불가) )
    # 답하기 어렵습니다, 답변 드리기 힘듭니다
    | 답변?(?:을|를)?\s?(?:드리기|하기)?\s?(?:어렵|힘들)
    # 자료에 없음, 표에 2020년이 없습니다, 값 미제공; but not 목표가 없는, 이미지에는 빈칸이 없습니다, 자료가 없는 지역은 안산시
    | (?: 정보|자료|데이터|이미지|그림|(?<![목대발좌투])표|기록|값 ) (?:가|는|에|에는|에서|이)?
        (?: [ ] (?!빈칸|누락|오류|결측|문제|예외|변화|차이) \S+ )? [ ]?
        (?: 없(?!이) (?! 는\s\S+[은는:](?!\S) ) | 미제공 | 미기재 )
    # 정보가 부족함, 자료 불충분; but not 정보 부족률, 자료가 부족하지 않습니다
    | (?:정보|자료|데이터|근거) (?:가|이)?[ ]? (?:부족|불충분|모자라) (?! \S?하지\s?않 | 하지\s?않 | \s?(?:률|율|비율|건수|지역|계층) )
    # 해당 사항 없음
    | 해당[ ]?(?:사항)?[ ]?없음
    # 알려지지 않았다, 존재하지 않습니다. 제시되어 있지 않다 is left out: many answers say so before they compute the value
    | 알려지지[ ]않 | 제시되지[ ]않 | (?:존재하지|싣고[ ]있지|담고[ ]있지)\s?않
    # 나와 있지 않습니다
    | (?:나타나|나와|적혀|실려|들어|쓰여|그려져)\s?있지\s?않
    # 표시되지 않았다, 기재되어 있지 않음, 제공 안 됨; but not 제공 안내
    | (?:표시|제공|기재|기록|명시|수록|공개|표기|언급|포함) (?:되어|돼|되지|하지)?\s?(?:있지\s?)?
        (?: 않 | 안(?=\s?[되된돼됨하함했나]) )
    # 미상, 비공개입니다, 불명으로, 비공개 자료이다; but not 미상환액, 의미상, 비공개 기록물, 원인 불명 화재
    | (?<![가-힣]) (?:미상|불명|미기재|비공개) (?:\s?(?:상태|자료|정보|항목|값))?
        (?= 입니다|이다|임|이며|이고|이므로|이라|여서|인[ ]|으?로|되|\s?처리 | \s*(?:[^\w\s]|\Z) | [ ]*\n )
    | 불명확
    # n/a, unknown, not given, does not show, cannot be determined, no data
    | \bn/?a\b | \bunknown\b
    | \bnot[ ](?:available|given|shown|provided|stated|specified|known|listed)
    | \b(?:does|do|did)(?:[ ]not|n't)[ ](?:\w+[ ])?(?:provide|show|give|contain|include|state|mention|specify|list|report|indicate|say)
    | \bcan(?:'t|not)[ ](?:be[ ])?(?:determine|known|tell|answer|say)
    | \binsufficient[ ](?:data|information) | \bno[ ](?:data|information)
    """,
    re.IGNORECASE | re.VERBOSE,
)
# The exact value is not shown, but the answer estimates it.
_CONCESSION = re.compile(
    r"(?:정확한|구체적인|실제)\s(?:값|수치|숫자)[은이가][^.\n]{1,30}?(?:지만|으나|는데|므로|아서|어서)[,\s]"
)
_YEAR_BEFORE_BRACKET = re.compile(r"((?:19|20)\d\d년)\s?\(([^()]*)\)")  # 2018년(347건)


def hesitates(output: str) -> bool:
    """Return whether an output says that the question cannot be answered, whatever else it says."""
    return bool(_UNKNOWN.search(_CONCESSION.sub("", final_text(output))))


def abstains(question: str, output: str) -> bool:
    """Return whether an output says that the question cannot be answered, and gives no value instead.

    It may give values of the question, anything in 년, and values of other years: "2018년은 347건이고, 2020년은 알 수 없습니다" to
    "2020년 건수는?".
    """
    in_question = quantities(question)
    clauses = _clauses_of_asked_year(in_question, final_text(output))
    given = [quantity for clause in clauses for quantity in quantities(clause)]
    known_values = {quantity.value for quantity in in_question}
    others = [quantity for quantity in given if quantity.unit != "년" and quantity.value not in known_values]
    return hesitates(output) and not others


def _clauses_of_asked_year(in_question: Sequence[Quantity], text: str) -> Iterator[str]:
    """Yield the clauses of a text that are not about another year than the question's."""
    asked_years = years_in(in_question)
    text = _YEAR_BEFORE_BRACKET.sub(r"\1 \2", text)  # brackets end a clause, but the value in them is of that year
    for clause in re.split(r"(?<=[.!?])\s|,\s|[\n;()]", text):
        if years_in(quantities(clause)) <= asked_years or not asked_years:
            yield clause

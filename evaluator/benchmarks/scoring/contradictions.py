"""Decide whether an answer gives its value to another subject, place, base, period, bound or direction than it should.

The numbers of such an answer are right, and what it says is wrong: 대구는 20,646천 원 for 부산, 감소 for 증가, 천 명당 for 만 명당.
`final_answer` calls `means_another` before it compares numbers. The rules compare words of the output with words of the
question and the gold answer; an output that leaves them out contradicts nothing.
"""

import re
from collections.abc import Sequence

from evaluator.benchmarks.scoring.comparisons import is_reversed
from evaluator.benchmarks.scoring.notation import plain
from evaluator.benchmarks.scoring.other_subjects import (
    DENIED_SUBJECT,
    denies_subject,
    has_other_base,
    has_other_label,
    has_other_number,
    has_other_prefix,
    has_other_subject,
    is_of_other_rank,
    lacks_subject,
    names_other_place,
)
from evaluator.benchmarks.scoring.quantities import Quantity, quantities, scan
from evaluator.benchmarks.scoring.quantity_sets import is_among, without
from evaluator.benchmarks.scoring.sentence_values import names_year

# Groups of words of which only one can be true. Two texts contradict each other if each has words of exactly one group, and the
# groups differ.
_Groups = Sequence[re.Pattern[str]]
_PERIODS = [
    re.compile(r"시간당|시급"),
    re.compile(r"하루|일평균|일일|매일(?![가-힣]{2})|(?<![\d가-힣])(?<!월\s)1일\s(?=\d)"),  # 1일 3회
    re.compile(r"매주|주당|주\s?평균|일주일|(?<![\d가-힣])주\s(?=\d)"),  # 주 3회
    re.compile(r"월평균|매월|한 달|매달|(?<![\d가-힣])월\s(?=\d|얼마|몇)"),  # 월 3회
    re.compile(r"연간|연평균|매년|한 해|연회비|(?<![\d가-힣])연\s(?=\d|얼마|몇)"),  # 연 3회
]
_DIRECTIONS = [
    re.compile(r"증가|상승|(?<![가-힣])늘(?=[가-힣]|\s것)"),  # but not 늘 (always)
    re.compile(r"감소|하락|(?<![가-힣])줄(?=[어었여였인일임고며면]|이[고며면는던기지]|\s것)"),  # but not 줄 (a row)
]
_BALANCES = [re.compile("이익|흑자"), re.compile("손실|적자")]
_BOUNDS = [
    re.compile(
        r"""
        최대 | 이내 | 이하 | 많아야 | at\ most | up\ to
        # but not until a time: 2023년까지, 5월까지, 3월 2일까지, 현재까지
        | (?<![월시말])(?<!\d{4}년)(?<!월\ \d일)(?<!월\ \d\d일)(?<!현재)(?<!지금)까지
        """,
        re.VERBOSE,
    ),
    re.compile(
        r"""
        최소 | 적어도 | at\ least
        | 이상 (?!\s?(?:기온|기후|고온|저온|징후|반응|증상|기상))  # but not 이상 기온, an unusual temperature
        """,
        re.VERBOSE,
    ),
]
_WITH_OR_WITHOUT = [re.compile("포함"), re.compile("제외")]
_HAVING = [
    re.compile(r"있다['’”\"]?(?:고|는)|['‘“\"]있"),  # 있다는 응답
    re.compile(r"없다['’”\"]?(?:고|는)|['‘“\"]없"),
]
_OPPOSITES = [
    [re.compile(word), re.compile(opposite)]
    for word, opposite in (
        ("상반기", "하반기"),
        ("오전", "오후"),
        ("남성|남자|남학생", "여성|여자|여학생"),
        ("수출", "수입(?!액?원)"),  # but not 수입원, a source of income
        ("전입", "전출"),
        ("출생", "사망"),
        ("사망자", "부상자"),
        ("취업자", "실업자"),
        ("입국", "출국"),
        ("매출", "매입"),
        ("세입", "세출"),
        ("공립", "사립"),
        ("도시", "농촌"),
        ("입학", "졸업"),
        ("최고", "최저"),
        ("지상", "지하"),
        (r"(?<![가-힣])표\s?\d", r"(?<![가-힣])그림\s?\d"),
        ("북위", "남위"),
        ("동경(?=\\s?\\d)", "서경"),
        ("위도|북위|남위", "경도|동경(?=\\s?\\d)|서경"),
        (r"규모\s?\d", r"진도\s?\d"),
        ("첫차", "막차|마지막 (?:열차|버스)"),
        ("정답률", "오답률"),
        ("내국인", "외국인"),
        ("지출", "수입(?!액?원|품)"),  # nor 수입품, imported goods, because 수입 is income here
        ("전세", "월세"),
        ("상위", "하위"),
        ("유료", "무료"),
        ("찬성", "반대"),
        ("개선", "악화"),
        ("상향", "하향"),
        ("확대", "축소"),
        ("신설", "폐지"),
    )
]
# What an answer names beside what its value is about.
_SET_APART = re.compile(r"[가-힣]{2,10}[이가]\s아(?:닌|니라|니고)")  # 졸업생이 아닌
_COMPARED_WITH = re.compile(  # 여자보다, 여자의 평균(6.1년)보다
    r"[가-힣]{2,10}(?:의\s[가-힣]{1,10})?\s?(?:\([^()]*\))?(?:보다|에\s?비해)"
)
_BRACKET_WITH_NUMBER = re.compile(r"\([^()]*\d[^()]*\)")  # (월평균 300건)
# A question or a gold answer with one of these may mean a change: 전년보다 몇 명 많습니까.
_MEANS_CHANGE = re.compile(
    r"""
    증가 | 감소 | 증감 | 상승 | 하락 | 성장 | 확대 | 축소 | 인상 | 인하 | 절감 | 삭감 | 순증 | 순이동 | 순유[입출]   # 증가 폭은, 몇 % 상승
    | 늘 | 줄 | 오르 | 오른 | 올[랐라린렸] | 내[려렸리린] | 떨어 | 높아 | 낮아 | 많아 | 적어    # 몇 명 늘었습니까
    | 변화 | 변동 | 차이 | 격차 | 대비 | 보다 | 비해 | 비교 | 전년 | 얼마나                   # 2018년 대비 몇 %
    | 추가 | 신규 | 새로 | 개선 | 악화 | 회복 | 추월 | 앞선 | 앞서 | 뒤[진처]                # 새로 생긴 곳은
    """,
    re.VERBOSE,
)
_CHANGED_AFTER = re.compile(  # [227건]이나 늘었습니다, [227건] 감소, but not [227건] 증가 추세
    r"""
    \s? (?: 가량 | 정도 | 만큼 )? (?: 이 | 가 | 이나 | 나 )? \s? (?:더\s)?
    (?: 늘[었어렸린] | 줄[었어였인] | 올랐 | 떨어졌
      | (?: 증가 | 감소 | 상승 | 하락 ) (?!\s?(?:추|세|율|폭))
    )
    """,
    re.VERBOSE,
)


def gives_change(known: str, wanted: Sequence[Quantity], output: str) -> bool:
    """Return whether an output gives the wanted values only as changes, although a level is asked for.

    `known` is the question, and the gold answer too if it may have a word for a change. To "취업자는 몇 명인가요?", "548천 명
    늘었습니다" is about another number, and "548천 명으로 늘었습니다" is not.
    """
    if _MEANS_CHANGE.search(known):
        return False
    text = plain(output)
    given = [mention for mention in scan(text) if is_among(mention.quantity, wanted)]
    return bool(given) and all(_CHANGED_AFTER.match(text, mention.end) for mention in given)


def means_another(question: str, gold: str, output: str) -> bool:
    """Return whether an output gives its value to another subject, base, period, bound or direction than the gold answer."""
    known = f"{question} {gold}"
    required = quantities(gold)
    return (
        lacks_subject(question, gold, output)  # only 24.5% for 인천이며 24.5%
        or has_other_base(known, output)  # 천 명당 for 만 명당
        or names_other_place(known, output)  # 대구 for 부산
        or is_of_other_rank(question, gold, output)  # 두 번째로 높은 지역 for 가장 높은 지역
        or is_reversed(question, output)  # 여성이 남성보다 for 남성이 여성보다
        or has_other_number(gold, output)  # 표 4-2 for 표 2-4
        or has_other_prefix(question, output)  # 불만족 for 만족
        or (denies_subject(output, required) and not DENIED_SUBJECT.search(known))  # 받지 못한 가구 for 받은 가구
        or has_other_label(known, output)  # C등급 for B등급
        or has_other_subject(question, gold, output)  # 풍력 발전 for 태양광 발전
        # 548천 명 늘었습니다 for 548천 명입니다. A number that the question has too may be given as a change.
        or gives_change(known, without(required, quantities(question)), output)
        or _says_opposite(question, gold, output)  # 감소 for 증가
    )


def _says_opposite(question: str, gold: str, output: str) -> bool:
    """Return whether an output has the word of another group than the question and the gold answer."""
    known = f"{question} {gold}"
    said = _SET_APART.sub(" ", output)
    # A question has bounds and exclusions of its own, which say what is counted: 300건 이상인 달은 몇 번인가요?
    if any(_differ(groups, gold, said) for groups in (_BOUNDS, _WITH_OR_WITHOUT)):
        return True
    if _differ(_PERIODS, known, _BRACKET_WITH_NUMBER.sub(" ", said)):
        return True
    # Brackets with only a year say what the value itself is about: 3명입니다(2023년 여성).
    about_value = _COMPARED_WITH.sub(" ", _BRACKET_WITH_NUMBER.sub(_kept_if_only_years, said))
    if any(_differ(groups, known, about_value) for groups in _OPPOSITES):
        return True
    # What a question calls an increase may be a decrease: 증가율은 얼마인가요? -3.2%
    is_decrease = any(quantity.value < 0 for quantity in quantities(gold))
    if not is_decrease and any(_differ(groups, known, said) for groups in (_DIRECTIONS, _BALANCES)):
        return True
    return _differ(_HAVING, known, said)


def _kept_if_only_years(bracket: re.Match[str]) -> str:
    """Return a text in brackets, or a space if it has a value that is not a year: (2023년) stays, (여자는 6.1년) does not."""
    return bracket[0] if all(map(names_year, quantities(bracket[0]))) else " "


def _differ(groups: _Groups, known: str, output: str) -> bool:
    """Return whether each text has words of one group only, and not of the same."""
    known_groups = _groups_in(groups, known)
    given_groups = _groups_in(groups, output)
    return len(known_groups) == len(given_groups) == 1 and known_groups != given_groups


def _groups_in(groups: _Groups, text: str) -> set[int]:
    """Return the places of the groups that a text has a word of."""
    return {place for place, group in enumerate(groups) if group.search(text)}

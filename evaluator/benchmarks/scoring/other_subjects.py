"""Decide whether an answer is about another subject, place, label or base than its question: 대구는 20,646천 원 for 부산.

`contradictions` calls these rules. An answer that names no subject contradicts nothing. Each rule compares the words of the
answer with those of the question and the gold answer; `known` is the two joined. To "부산의 소득은 얼마인가요?" with gold
20,646천 원, "대구는 20,646천 원입니다" names another place, and "20,646천 원입니다" names none.
"""

import re
from collections.abc import Sequence
from itertools import pairwise, product

from evaluator.benchmarks.scoring.named_values import LATIN_SENTENCE, names_in
from evaluator.benchmarks.scoring.names import none_in_common, places_in
from evaluator.benchmarks.scoring.notation import plain
from evaluator.benchmarks.scoring.quantities import Quantity, quantities, scan
from evaluator.benchmarks.scoring.quantity_sets import has_any, is_among
from evaluator.benchmarks.scoring.superlatives import RANK, is_about_another_place

MAX_SHORT_NAME = 3  # letters; two names of at most as many are the same if they begin with the same letter: 남성, 남자
_STEM = 2  # letters of a short name without its ending: 서울 of 서울시
_MIN_SHARED = 2  # letters that the end of a name and the start of another share: 기업 of 민간기업 and 기업체
_MAX_BETWEEN = 3  # characters between two letters of a shorter name: 전기[ 자동]차
# Asks for a name and its value.
_ASKS_NAME_AND_VALUE = re.compile(
    r"""
    (?: 어디 | 무엇 | 누구 | 어느\ [가-힣]+ )
    (?: 이며 | 이고 | 인지 | 인가요?[,\s]+그리고 )                        # 어디이며 얼마인가요
    | (?: 과 | 와 | 및 )\s?(?: 그 | 해당 | 그때 | 이때 )(?![가-힣]*\s?중) # 가장 많은 지역과 그 값은
    """,
    re.VERBOSE,
)
ASKS_YEAR = re.compile(r"몇 년|몇년|언제|어느 해|해는|연도|시기")  # 가장 많은 해는

# Nouns: what a text is about.
_PARTICLE = re.compile(r"(?:은|는|이|가|을|를|의|에|에서|으로|로|도|와|과)$")  # 발전의
_IS_HANGUL = re.compile(r"[가-힣]+")
# Words that describe, count or join, and do not name a thing: by their ending, or as a whole.
_NO_NAME = re.compile(
    r"""
    (?: 은 | 는 | 을 | 를 | 에 | 에서 | 로 | 와 | 과 | 및 | 등 )$    # the particle of another word: 서울은
    | (?: 된 | 한 | 인 | 할 | 던 )$                                        # a modifier: 증가한
    | (?: 중 | 별 | 보다 | 대비 | 따르면 | 보면                            # 지역별, 자료에 따르면
        | 경우 | 기준 | 현재 | 년도 | 간 )$                                # 2020년 기준
    | ^(?: 지역 | 부문 | 분야 | 대상 | 관련 | 주요 | 기타                  # 주요 산업
         | 전체 | 합계 | 총 | 평균 | 남녀 | 각 | 모든 | 전국 | 국내 )$     # 전체 인구
    | ^(?: 설문 | 조사 | 질문 | 자료 | 문서 | 이미지                       # 조사 대상
         | 표 | 그림 | 차트 | 그래프                                       # 차트 제목
         | 정답 | 답변 | 답 | 따라서 | 결론 | 최종 )$                      # 최종 인구
    | ^(?: 연간 | 올해 | 최근 | 전년 | 당시 | 그해                         # 연간 인구
         | 해당 | 이번 | 다음 | 위 | 아래 | 같은 | 다른 | 이 | 그 )$       # 해당 인구
    """,
    re.VERBOSE,
)
_VERB = re.compile(r"(?:하|되|받|시키)(?:는|고|며|여|어|지)$")  # 차지하는
_ASKS_WHICH = re.compile(rf"{ASKS_YEAR.pattern}|가장|번째|어느|어떤|무슨|무엇|각각|[과와]\s")  # 어느 지역, 수출과 수입
# Denies what the counted persons or things did: 받지 못한 가구의 비율.
DENIED_SUBJECT = re.compile(
    r"""
    지\s?(?: 못 | 않 )(?: 한 | 은 | 는 | 았던 )\s                         # 받지 못한 가구의 비율은
    [가-힣\s]{0,12}?
    (?: 비율 | 비중 | 수 | 건수 | 인원 | 가구 | 사람 | 명 | 개소 )
    (?: 은 | 는 | 이 | 가 | 의 )
    """,
    re.VERBOSE,
)
# A thing of several that have a number or a letter: B등급, 2호선. Not the month of a publication: 6월에 발표된.
_LABEL = re.compile(
    r"""
    (?<![A-Za-z\d가-힣]) ([A-Z]|\d{1,2}) \s?
    ( 등급 | 형 | 타입                                                     # B등급, B형
    | 호선 | 지구 | 단지 | 구역 | 공장 | 지점                              # 2호선, 3공장
    | (?:/4)?분기 | 그룹 | 학년                                            # 3분기, 3/4분기
    | 월(?!\s?(?:평균|별|간|세|급|발표|기준)|에서|에\s(?:발표|공표|공개))      # 5월
    | (?<=0)대(?=$|[^가-힣]|의|이상|에|는|가|에서)                         # 60대
    | 차(?=[\s가-힣]*[율률])                                               # 2차 접종률, but not 2차 of a time
    )
    """,
    re.VERBOSE,
)
# Behind a label that another is compared with: 1차(87.9%)보다.
_COMPARED_AFTER = re.compile(r"\s?(?:\([^()]*\)|\))?(?:의\s[\d,.]+\S*)?\s?(?:보다|대비|에\s비해|이후)")
# What a rate is per: 천 명당, 10만 명당, km제곱당.
_BASE = re.compile(
    r"""
    (?<![\d,.])
    (?! (?: 해 | 정 | 수 | 담 | 부 | 적 | 상 | 타 | 합 | 식 | 강 | 입 | 야 | 여 )당 )   # but not 해당, 담당
    ( (?:[\d,.]{1,20}\s?)? [십백천만억]{0,6}\s?                            # 10만 명당, 천 명당
      (?: k?m제곱 | k?m | [km]?[gl]                                        # km제곱당, 100g당
        | [가-힣㎢㎡]{1,3} )                                               # 가구당
    )
    당(?![가-힣])
    """,
    re.VERBOSE,
)
_COMPARES = re.compile(r"보다|대비|비해|전월|전년|다음으로")
_ASKS_FIRST = re.compile(rf"가장|제일|최[고대저소다]|(?<!\d)1{RANK}")  # 가장 많은 지역은
# Begins a sentence about what comes after the first.
_RUNNER_UP = re.compile(  # 다음으로 대구가 …, but not 열두 번째
    rf"\s*(?:그\s?다음|다음으로|뒤이어|(?<![열물른])두 번째|(?<!\d)2(?:번째|{RANK}))"
)
# Numbers of two parts, such as those of a table, and fractions.
_TWO_PARTS = re.compile(r"(?<![\d.,])(\d{1,3})\s?[-–/]\s?(\d{1,3})(?![\d%])")
_PART_OF_WHOLE = re.compile(r"(\d{1,3})분의\s?(\d{1,3})")  # 4분의 3
_NUMBER_OF_TWO = re.compile(r"\W*(?:표|그림|부록|별표|사진)?\W*\d{1,3}\s?[-–/]\s?\d{1,3}\W*")
_DENYING_PREFIX = re.compile(r"(?<![가-힣])([불미비무])([가-힣]{2})")  # 불만족, 미참여
_DENIES = re.compile(r"않|못|없|아닌|아니|제외|이외|\s외|빼|뺀|나머지|안\s|[가-힣]\s전\s")
_CLAUSE_BREAK = re.compile(  # 서울이 가장 높고[, ]부산이 다음으로 높다
    r"\n|(?<=[고며])[,\s]\s?|,\s|(?<=지만)\s|(?<=는데)[,\s]"
)
_FOLLOWS = re.compile(r"이어|다음|뒤[를이]")
_NAME_ENDING = re.compile(r"(?:이며|이고|으로|(?<=[가-힣]{2})(?:로|은|는|이|가|의|과|와))$")  # 인천이며, but not 종이


def lacks_subject(question: str, gold: str, output: str) -> bool:
    """Return whether an output leaves out what gold names before its value, although the question asks for a name.

    For gold "인천이며 24.5%", that is 인천. `named_values.gives_name` requires the name beside the value, but only if it is
    before the last value. This rule reads names anywhere in the output, for example 폐암 in "폐암 36.3명(인구 10만 명당)".
    """
    if not _ASKS_NAME_AND_VALUE.search(question):
        return False
    text = plain(gold)
    mentions = scan(text)
    before = text[: mentions[0].start] if mentions else ""
    names = [_NAME_ENDING.sub("", word) for word in re.findall(r"[가-힣A-Za-z]{2,}", before)]
    asked_names = [name for name in names if len(name) > 1 and name not in question]
    return not all(names_in(name, output) for name in asked_names)


def is_of_other_rank(question: str, gold: str, output: str) -> bool:
    """Return whether an output gives the gold value only to another place of a ranking than the question's.

    To "두 번째로 높은 지역은 몇 %입니까?", "가장 높은 지역은 4.8%입니다"; to "가장 높은 지역은?", "다음으로 대구가 4.8%입니다".
    """
    asks_first = bool(_ASKS_FIRST.search(question)) and not _RUNNER_UP.search(question)
    wanted = quantities(gold)[-1:]
    sentences = [match[0] for match in LATIN_SENTENCE.finditer(plain(output))]
    with_value = [sentence for sentence in sentences if has_any(sentence, wanted)]
    if not with_value:
        return False
    if asks_first and all(map(_RUNNER_UP.match, with_value)):
        return True
    if _FOLLOWS.search(output):  # it may name two places: 가장 많은 서울에 이어 부산이 2,941명
        return False
    clauses = _CLAUSE_BREAK.split("\n".join(with_value))
    own_clauses = [clause for clause in clauses if has_any(clause, wanted)]
    return bool(own_clauses) and all(is_about_another_place(question, clause) for clause in own_clauses)


def has_other_number(gold: str, output: str) -> bool:
    """Return whether the gold answer is a number of two parts, and an output has others: 표 4-2 for 표 2-4, 4/3 for 3/4."""
    if not _NUMBER_OF_TWO.fullmatch(gold):
        return False
    given = _two_parts(output)
    return bool(given) and given != _two_parts(gold)


def _two_parts(text: str) -> set[tuple[str, str]]:
    """Return the numbers of two parts in a text: 표 2-4 → {("2", "4")}, 4분의 3 → {("3", "4")}."""
    fractions = {(part, whole) for whole, part in _PART_OF_WHOLE.findall(text)}
    return fractions | set(_TWO_PARTS.findall(text))


def has_other_prefix(question: str, output: str) -> bool:
    """Return whether an output denies a word of the question by a prefix, or the reverse: 불만족 for 만족, 만족 for 불만족.

    If one of them denies it in other words, they may mean the same: 주택이 없는 가구, 무주택 가구.
    """
    if _DENIES.search(question) or _DENIES.search(output):
        return False
    return _is_denied_by_prefix(question, output) or _is_denied_by_prefix(output, question)


def _is_denied_by_prefix(text: str, other: str) -> bool:
    """Return whether a text has a word only as it is (만족), and `other` only with a prefix that denies it (불만족)."""
    for prefix, stem in _DENYING_PREFIX.findall(other):
        word = re.compile(rf"(?<![가-힣]){stem}")
        if word.search(text) and prefix + stem not in text and not word.search(other):
            return True
    return False


def names_other_place(known: str, output: str) -> bool:
    """Return whether an output names places, and none of those of its question and gold answer: 대구 for 부산."""
    return none_in_common(places_in(known), places_in(output))


def has_other_label(known: str, output: str) -> bool:
    """Return whether an output is about another label than its question and gold answer: C등급 for B등급, 6월 for 5월.

    Those that the output compares with do not count. In a question that compares, any of its labels may be named.
    """
    if _COMPARES.search(known):
        return False
    asked_labels = _labels_of(known)
    given_labels = _labels_of(output)
    return any(given_labels[noun].isdisjoint(asked_labels[noun]) for noun in asked_labels.keys() & given_labels.keys())


def _labels_of(text: str) -> dict[str, set[str]]:
    """Return the labels of a text by the noun that they belong to: B등급과 C등급 → {"등급": {"B", "C"}}."""
    labels: dict[str, set[str]] = {}
    for label in _LABEL.finditer(text):
        if not _COMPARED_AFTER.match(text, label.end()):
            noun = label[2].removeprefix("/4")
            labels.setdefault(noun, set()).add(label[1].lstrip("0"))
    return labels


def has_other_subject(question: str, gold: str, output: str) -> bool:
    """Return whether an output is about another thing of the kind that a question asks about: 풍력 발전 for 태양광 발전.

    It then names the kind (발전) with another noun before it, and the question's own noun (태양광) nowhere. Only words before
    the first value count, because later ones may be a comparison. A question that asks which thing it is names none, and an
    answer about two things may have one word for both: 무역 금액의 차이 for 수출 금액과 수입 금액의 차이.
    """
    if _ASKS_WHICH.search(question):
        return False
    known = f"{question} {gold}"
    asked_names = _names_by_kind(question)
    given_names = _names_by_kind(_before_value(output))
    for kind in asked_names.keys() & given_names.keys():
        has_asked = any(_stem(name) in output for name in asked_names[kind])
        is_known = any(_is_within(name, known) for name in given_names[kind])
        is_same = any(_is_same_name(*pair) for pair in product(asked_names[kind], given_names[kind]))
        if not (has_asked or is_known or is_same):
            return True
    return False


def _before_value(output: str) -> str:
    """Return the part of an output up to its first value that is not a year."""
    text = plain(output)
    first = next((mention for mention in scan(text) if mention.quantity.unit != "년"), None)
    return text[: first.start] if first else text


def _names_by_kind(text: str) -> dict[str, set[str]]:
    """Return the nouns that stand right before another noun, by that noun: 태양광 발전의 → {"발전": {"태양광"}}."""
    names: dict[str, set[str]] = {}
    words = re.findall(r"[가-힣]+|[^\s가-힣]+", text)
    for word, following in pairwise(words):
        name = word.removesuffix("의")
        kind = _PARTICLE.sub("", following)
        is_name = len(name) > 1 and bool(_IS_HANGUL.fullmatch(word)) and not _NO_NAME.search(name)
        is_kind = len(kind) > 1 and not _NO_NAME.search(kind) and not _VERB.search(following)
        if is_name and is_kind:
            names.setdefault(kind, set()).add(name)
    return names


def _is_same_name(first: str, second: str) -> bool:
    """Return whether two nouns may name the same thing: 남성 and 남자, 청년 and 청년층, 학생 and 초등학생."""
    are_short = max(len(first), len(second)) <= MAX_SHORT_NAME
    if are_short and first[0] == second[0]:
        return True
    return _overlaps(first, second) or _overlaps(second, first)


def _overlaps(name: str, other: str) -> bool:
    """Return whether a name begins or ends with another, or its ending is the beginning of that: 민간기업, 기업체."""
    if name.startswith(other) or name.endswith(other):
        return True
    return any(name.endswith(other[:length]) for length in range(_MIN_SHARED, len(other)))


def _stem(name: str) -> str:
    """Return what other forms of a short name begin with: 서울 of 서울시."""
    return name[:_STEM] if len(name) <= MAX_SHORT_NAME else name


def _is_within(name: str, text: str) -> bool:
    """Return whether a text has the letters of a name in their order, as 전기 자동차 has those of 전기차."""
    return re.search(rf".{{0,{_MAX_BETWEEN}}}".join(name), text) is not None


def denies_subject(output: str, of_gold: Sequence[Quantity]) -> bool:
    """Return whether an output gives the gold value to those who did not do something: 받지 못한 가구의 비율이 28.4%."""
    text = plain(output)
    denied = DENIED_SUBJECT.search(text)
    if denied is None:
        return False
    following = next((mention for mention in scan(text) if mention.start >= denied.end()), None)
    return following is not None and is_among(following.quantity, of_gold)


def has_other_base(known: str, output: str) -> bool:
    """Return whether the rates of two texts are per different bases: 천 명당, 만 명당."""
    known_bases = _bases(known)
    given_bases = _bases(output)
    return bool(known_bases and given_bases) and not any(is_among(base, given_bases) for base in known_bases)


def _bases(text: str) -> list[Quantity]:
    """Return what the rates of a text are per: 1,000명 in 천 명당 3.8건."""
    bases = (base if re.match(r"\d", base) else f"1{base}" for base in _BASE.findall(plain(text)))
    return [quantity for base in bases for quantity in quantities(base)]

"""Decide whether an answer gives its value to another subject, place, base, period, bound or direction than it should.

The numbers of such an answer are right, and what it says is wrong: 대구는 20,646천 원 for 부산, 감소 for 증가, 천 명당 for 만 명당.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product

from evaluator.benchmarks.scoring.named_values import LATIN_SENTENCE, names_in
from evaluator.benchmarks.scoring.names import places_in
from evaluator.benchmarks.scoring.quantities import Quantity, plain, quantities, scan
from evaluator.benchmarks.scoring.quantity_sets import distinct, has_any, is_among
from evaluator.benchmarks.scoring.sentence_values import DENIED_AFTER, MAX_VALUES, SUBJECT

MAX_DENIAL_LENGTH = 2000  # characters of an answer that is checked for denying or bounding its only value
MAX_SHORT_NAME = 3  # letters of names that are variants of one if they begin with the same letter
_ASKS_NAME_AND_VALUE = re.compile(
    r"(?:어디|무엇|누구|어느 [가-힣]+)(?:이며|이고|인지|인가요?[,\s]+그리고)|(?:과|와|및)\s?(?:그|해당|그때|이때)(?![가-힣]*\s?중)"
)
ASKS_YEAR = re.compile(r"몇 년|몇년|언제|어느 해|해는|연도|시기")
_PERIODS = [
    re.compile(words)
    for words in (r"시간당|시급", r"하루|일평균|일일", r"월평균|매월|한 달|매달", r"연간|연평균|매년|한 해")
]
_DIRECTIONS = [re.compile(r"증가|상승|(?<![가-힣])늘"), re.compile(r"감소|하락|(?<![가-힣])줄")]
_BOUNDS = [re.compile(r"최대|이내|이하|많아야|까지|at most|up to"), re.compile(r"최소|이상|적어도|at least")]
_WITH_OR_WITHOUT = [re.compile("포함"), re.compile("제외")]
# Words of which a gold answer may have one and a wrong answer the other.
_OPPOSITES = [
    [re.compile(one), re.compile(other)]
    for one, other in (
        ("상반기", "하반기"), ("오전", "오후"), ("남성|남자|남학생", "여성|여자|여학생"), ("수출", "수입(?!액?원)"), ("전입", "전출"), ("출생", "사망"), ("사망자", "부상자"), ("취업자", "실업자"), ("입국", "출국"), ("매출", "매입"), ("세입", "세출"),
        ("공립", "사립"), ("도시", "농촌"), ("입학", "졸업"), ("최고", "최저"), ("상위", "하위"), ("유료", "무료"), ("찬성", "반대"), ("개선", "악화"), ("흑자", "적자"), ("상향", "하향"), ("확대", "축소"), ("신설", "폐지"),
    )
]  # fmt: skip
_PARTICLE = re.compile(r"(?:은|는|이|가|을|를|의|에|에서|으로|로|도|와|과)$")
_IS_HANGUL = re.compile(r"[가-힣]+")
# No names of things: words that describe, count or join.
_NO_NAME = re.compile(
    r"(?:은|는|을|를|에|에서|으로|로|와|과|된|한|인|할|던|및|등|중|별|보다|대비|따르면|보면|경우|기준|현재|년도|간)$"
    r"|^(?:지역|부문|분야|대상|관련|주요|기타|전체|합계|평균|남녀|설문|조사|연간|해당|이번|모든|전국|국내|올해|최근|다음|위|아래|표|그림|총|각|전년|당시|같은|다른|이|그|그해|정답|답변|답|따라서|결론|최종|질문|자료|문서|이미지|차트|그래프)$"
)
_VERB = re.compile(r"(?:하|되|받|시키)(?:는|고|며|여|어|지)$")  # 차지하는
_ASKS_WHICH = re.compile(rf"{ASKS_YEAR.pattern}|가장|번째|어느|어떤|무슨|무엇|각각|[과와]\s")
_HAVING = [re.compile(r"있다['’”\"]?(?:고|는)|['‘“\"]있"), re.compile(r"없다['’”\"]?(?:고|는)|['‘“\"]없")]
# Denies what the counted persons or things did: 받지 못한 가구의 비율.
_DENIED_SUBJECT = re.compile(
    r"지\s?(?:못|않)(?:한|은|는|았던)\s[가-힣\s]{0,12}?(?:비율|비중|수|건수|인원|가구|사람|명|개소)(?:은|는|이|가|의)"
)
_LABEL = re.compile(
    r"(?<![A-Za-z\d가-힣])([A-Z]|\d{1,2})\s?(등급|형|호선|차(?=[\s가-힣]*[율률])|분기|지구|그룹|단지|구역|타입|공장|지점)(?!\s?(?:\([^()]*\))?\s?(?:보다|대비|에 비해))"
)
_BASE = re.compile(r"(?<![\d,.])((?:[\d,.]{1,20}\s?)?[십백천만억]{0,6}\s?(?:k?m제곱|[가-힣㎢㎡]{1,3}))당(?![가-힣])")
_ASKS_FIRST = re.compile(r"가장|제일|최[고대저소다]|1위")
_RUNNER_UP = re.compile(r"\s*(?:그\s?다음|다음으로|뒤이어|두 번째|2번째|2위)")
_NAME_ENDING = re.compile(r"(?:이며|이고|으로|로|은|는|이|가|의|과|와)$")
_DENIED_BEFORE = re.compile(r"(?:\bnot|n't|≠)\s*(?:the\s)?$", re.IGNORECASE)
_BOUND_AFTER = re.compile(
    r"\s?(?:[A-Za-zμ]{1,4}/?[a-z]{0,3}(?:세?제곱)?\s)?(?:이상|이하|미만|초과|이전|이후|[을를] (?:넘|초과)|[과와] 비슷|\s등\W*$|보다 (?:많|적|높|낮|크|작)|내외 또는|에 가깝|근처)"
)
_BOUND_BEFORE = re.compile(
    r"(?:최소|최대|적어도|많아야|[<>≤≥]|\b(?:at least|at most|(?:more|less|fewer) than|over|under))\s*$", re.IGNORECASE
)
_BOUND_WORD = re.compile(r"최소|최대|적어도|많아야|이내|까지|at least|at most|up to", re.IGNORECASE)
_UNSURE = re.compile(
    r"알 수 없|확인할 수 없|판단할 수 없|(?:판단|확정|단정|특정)하기\s?(?:어렵|힘들)|어느 쪽(?:이|인지)|수도 있고|모르겠|확실하지 않|표에 없습니다"
)


def means_another(question: str, gold: str, output: str) -> bool:
    """Return whether an output gives its value to another subject, base, period, bound or direction than the gold answer."""
    if not _names_subject(question, gold, output) or _other_base(gold, output):
        return True
    if any(_differ(words, gold, output) for words in (_BOUNDS, _WITH_OR_WITHOUT)):
        return True
    if _differ(_PERIODS, f"{question} {gold}", output):
        return True
    if _denies_subject(output, quantities(gold)) and not _DENIED_SUBJECT.search(f"{question} {gold}"):
        return True
    if any(_differ(words, f"{question} {gold}", output) for words in _OPPOSITES):
        return True
    if any(_differ(words, question, output) for words in (_DIRECTIONS, _HAVING)):
        return True
    if _other_place(f"{question} {gold}", output):
        return True
    if _is_runner_up(question, gold, output):
        return True
    return _other_label(question, output) or _other_subject(question, gold, output)


def _is_runner_up(question: str, gold: str, output: str) -> bool:
    """Return whether an output gives the gold value only to what comes next, and the question asks for the first."""
    if not _ASKS_FIRST.search(question) or _RUNNER_UP.search(question):
        return False
    sentences = [match[0] for match in LATIN_SENTENCE.finditer(plain(output))]
    giving = [sentence for sentence in sentences if has_any(sentence, quantities(gold)[-1:])]
    return bool(giving) and all(map(_RUNNER_UP.match, giving))


def _other_place(known: str, output: str) -> bool:
    """Return whether an output names places, and none of those of its question and gold answer: 대구 for 부산."""
    asked = places_in(known)
    given = places_in(output)
    return bool(asked and given) and asked.isdisjoint(given)


def _other_subject(question: str, gold: str, output: str) -> bool:
    """Return whether an output is about another thing of the kind that a question asks about: 풍력 발전 for 태양광 발전.

    It then names the kind with another noun before it, and the question's own noun nowhere.
    """
    if _ASKS_WHICH.search(question):
        return False
    known = f"{question} {gold}"
    asked = _named_kinds(question)
    for kind, names in _named_kinds(_before_value(output)).items():
        own = asked.get(kind, set())
        is_named = any(_stem(name) in output for name in own) or any(_is_within(name, known) for name in names)
        if own and not is_named and not any(_is_same_name(*pair) for pair in product(own, names)):
            return True
    return False


def _before_value(output: str) -> str:
    """Return the part of an output up to its first value that is no year."""
    text = plain(output)
    first = next((stated for stated in scan(text) if stated.quantity.unit != "년"), None)
    return text[: first.start] if first else text


def _named_kinds(text: str) -> dict[str, set[str]]:
    """Return the nouns that stand right before another noun, by that noun: 발전 → 태양광."""
    found: dict[str, set[str]] = {}
    words = re.findall(r"[가-힣]+|[^\s가-힣]+", text)
    for name, following in pairwise(words):
        noun = _PARTICLE.sub("", following)
        own = name.removesuffix("의")
        is_name = len(own) > 1 and bool(_IS_HANGUL.fullmatch(name)) and not _NO_NAME.search(own)
        if is_name and len(noun) > 1 and not _NO_NAME.search(noun) and not _VERB.search(following):
            found.setdefault(noun, set()).add(own)
    return found


def _is_same_name(one: str, other: str) -> bool:
    """Return whether two nouns may name the same thing: 남성 and 남자, 청년 and 청년층, 학생 and 초등학생."""
    are_short = max(len(one), len(other)) <= MAX_SHORT_NAME
    if are_short and one[0] == other[0]:
        return True
    return any(_overlaps(*pair) for pair in ((one, other), (other, one)))


def _overlaps(one: str, other: str) -> bool:
    """Return whether a name begins or ends with another, or its ending is the beginning of that: 민간기업, 기업체."""
    if one.startswith(other) or one.endswith(other):
        return True
    return any(one.endswith(other[:length]) for length in range(2, len(other)))


def _stem(name: str) -> str:
    """Return what other forms of a short name begin with: 서울 of 서울시."""
    return name[:2] if len(name) <= MAX_SHORT_NAME else name


def _is_within(name: str, text: str) -> bool:
    """Return whether a text has the letters of a name in their order, as 전기 자동차 has those of 전기차."""
    return re.search(".{0,3}".join(name), text) is not None


def _denies_subject(output: str, wanted: Sequence[Quantity]) -> bool:
    """Return whether an output gives the wanted value to those who did not: 받지 못한 가구의 비율이 28.4%."""
    text = plain(output)
    denied = _DENIED_SUBJECT.search(text)
    if denied is None:
        return False
    following = next((stated for stated in scan(text) if stated.start >= denied.end()), None)
    return following is not None and is_among(following.quantity, wanted)


def _other_label(question: str, output: str) -> bool:
    """Return whether an output is about another label than the question: C등급 for B등급, 2호선 for 3호선."""
    asked = labels_of(question)
    given = labels_of(output)
    return any(given[noun].isdisjoint(labels) for noun, labels in asked.items() if noun in given)


def labels_of(text: str) -> dict[str, set[str]]:
    """Return the labels of a text by the noun that they belong to."""
    found: dict[str, set[str]] = {}
    for label, noun in _LABEL.findall(text):
        found.setdefault(noun, set()).add(label)
    return found


def _names_subject(question: str, gold: str, output: str) -> bool:
    """Return whether an output names what the gold answer names, if the question asks for that as well as for its value."""
    if not _ASKS_NAME_AND_VALUE.search(question):
        return True
    text = plain(gold)
    stated = scan(text)
    before = text[: stated[0].start] if stated else ""
    names = [_NAME_ENDING.sub("", word) for word in re.findall(r"[가-힣A-Za-z]{2,}", before)]
    return all(names_in(name, output) for name in names if len(name) > 1 and name not in question)


def _other_base(gold: str, output: str) -> bool:
    """Return whether two rates are per different bases: 천 명당, 만 명당."""
    some = _bases(gold)
    others = _bases(output)
    return bool(some and others) and not any(is_among(base, others) for base in some)


def _differ(words: Sequence[re.Pattern[str]], one: str, other: str) -> bool:
    """Return whether each text has words of one group only, and not of the same."""
    some = _groups_in(words, one)
    others = _groups_in(words, other)
    return len(some) == len(others) == 1 and some != others


def _groups_in(words: Sequence[re.Pattern[str]], text: str) -> set[int]:
    return {place for place, group in enumerate(words) if group.search(text)}


def _bases(text: str) -> list[Quantity]:
    """Return what the rates of a text are per: 1,000명 in 천 명당 3.8건."""
    bases = (base if re.match(r"\d", base) else f"1{base}" for base in _BASE.findall(plain(text)))
    return [quantity for base in bases for quantity in quantities(base)]


def swapped_share(gold: str, output: str) -> float:
    """Return the share of the gold quantities that an output gives to another subject: 남자 8.2%, 여자 41.5% for the reverse."""
    by_year = _by_year(plain(gold))
    if len(by_year) > 1 and (swapped := _swapped(by_year, _by_year(plain(output)))):
        return swapped
    wanted = _by_subject(plain(gold))
    return _swapped(wanted, _values_of(wanted, plain(output)))


def _swapped(wanted: Mapping[str, Quantity], given: Mapping[str, Quantity]) -> float:
    """Return the share of the wanted values whose subjects are given another one's value."""
    shared = wanted.keys() & given.keys()
    if len(shared) < 2:
        return 0.0
    wrong = 0
    for subject in shared:
        own = given[subject]
        others = [value for name, value in wanted.items() if name != subject]
        wrong += not own.agrees(wanted[subject]) and any(map(own.agrees, others))
    return wrong / len(wanted)


def _by_year(text: str) -> dict[str, Quantity]:
    """Return the first value after each year of a text."""
    found: dict[str, Quantity] = {}
    for year, following in pairwise(scan(text)[:MAX_VALUES]):
        if year.quantity.unit == "년" != following.quantity.unit:
            found.setdefault(str(year.quantity.value), following.quantity)
    return found


def _values_of(subjects: Iterable[str], text: str) -> dict[str, Quantity]:
    """Return the first value of each of these subjects: the first one after its name, if no other value stands between."""
    found: dict[str, Quantity] = {}
    position = 0
    for stated in scan(text)[:MAX_VALUES]:
        if stated.quantity.unit == "년":
            continue
        named = [subject for subject in subjects if subject in text[position : stated.start]]
        if len(named) == 1:
            found.setdefault(named[0], stated.quantity)
        position = stated.end
    return found


def _by_subject(text: str) -> dict[str, Quantity]:
    """Return the quantities of a text by the word before each, for those that have one."""
    found: dict[str, Quantity] = {}
    for stated in scan(text)[:MAX_VALUES]:
        if subject := SUBJECT.search(text, max(0, stated.start - 20), stated.start):
            found.setdefault(subject[1], stated.quantity)
    return found


def is_unsure(output: str, gold: str) -> bool:
    """Return whether an answer denies or bounds its only value, or states that the answer is unknown."""
    text = plain(output)
    if _UNSURE.search(text):
        return True
    stated = scan(text) if len(text) < MAX_DENIAL_LENGTH else []
    if len(distinct([one.quantity for one in stated[:MAX_VALUES]])) != 1:
        return False
    may_be_bound = _BOUND_AFTER.search(gold) or _BOUND_WORD.search(gold)
    return any(
        DENIED_AFTER.match(text, one.end)
        or _DENIED_BEFORE.search(text, max(0, one.start - 12), one.start)
        or (not may_be_bound and _BOUND_AFTER.match(text, one.end))
        or (not may_be_bound and _BOUND_BEFORE.search(text, max(0, one.start - 12), one.start))
        for one in stated
    )

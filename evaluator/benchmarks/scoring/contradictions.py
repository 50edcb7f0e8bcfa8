"""Decide whether an answer gives its value to another subject, place, base, period, bound or direction than it should.

The numbers of such an answer are right, and what it says is wrong: 대구는 20,646천 원 for 부산, 감소 for 증가, 천 명당 for 만 명당.
`final_answer` calls `is_unsure`, `swapped_share` and `means_another` before it compares numbers. Each compares words of the
output with words of the question and the gold answer; an output that leaves them out contradicts nothing.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product

from evaluator.benchmarks.scoring.named_values import LATIN_SENTENCE, names_in
from evaluator.benchmarks.scoring.names import places_in
from evaluator.benchmarks.scoring.quantities import Mention, Quantity, plain, quantities, scan
from evaluator.benchmarks.scoring.quantity_sets import distinct, has_any, is_among
from evaluator.benchmarks.scoring.sentence_values import DENIED_AFTER, MAX_VALUES, SUBJECT, SUBJECT_REACH

MAX_DENIAL_LENGTH = 2000  # characters of an answer that is checked for denying or bounding its only value
MAX_SHORT_NAME = 3  # letters of names that are variants of one if they begin with the same letter
_BOUND_REACH = 12  # characters before a value in which the rules look for a denial or a bound
_ASKS_NAME_AND_VALUE = re.compile(
    r"(?:어디|무엇|누구|어느 [가-힣]+)(?:이며|이고|인지|인가요?[,\s]+그리고)|(?:과|와|및)\s?(?:그|해당|그때|이때)(?![가-힣]*\s?중)"
)
ASKS_YEAR = re.compile(r"몇 년|몇년|언제|어느 해|해는|연도|시기")

# Groups of words. Two texts contradict each other if each has words of exactly one group, and the groups differ. `means_another`
# says what an output is compared with: the question, the gold answer or both.
_Groups = Sequence[re.Pattern[str]]
_PERIODS = [
    re.compile(words)
    for words in (r"시간당|시급", r"하루|일평균|일일", r"월평균|매월|한 달|매달", r"연간|연평균|매년|한 해")
]
_DIRECTIONS = [  # but not 줄 (a row) and 늘 (always)
    re.compile(r"증가|상승|(?<![가-힣])늘(?=[가-힣]|\s것)"),
    re.compile(r"감소|하락|(?<![가-힣])줄(?=[어었여였인일임고며면]|이[고며면는던기지]|\s것)"),
]
_BOUNDS = [  # but not 2023년까지, 현재까지 and 이상 기온
    re.compile(
        r"최대|이내|이하|많아야|(?<![월시말])(?<!\d{4}년)(?<!월 \d일)(?<!월 \d\d일)(?<!현재)(?<!지금)까지|at most|up to"
    ),
    re.compile(r"최소|이상(?!\s?(?:기온|기후|고온|저온|징후|반응|증상|기상))|적어도|at least"),
]
_WITH_OR_WITHOUT = [re.compile("포함"), re.compile("제외")]
_OPPOSITES = [
    [re.compile(word), re.compile(opposite)]
    for word, opposite in (
        ("상반기", "하반기"),
        ("오전", "오후"),
        ("남성|남자|남학생", "여성|여자|여학생"),
        ("수출", "수입(?!액?원)"),
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
        ("상위", "하위"),
        ("유료", "무료"),
        ("찬성", "반대"),
        ("개선", "악화"),
        ("흑자", "적자"),
        ("상향", "하향"),
        ("확대", "축소"),
        ("신설", "폐지"),
    )
]
_HAVING = [re.compile(r"있다['’”\"]?(?:고|는)|['‘“\"]있"), re.compile(r"없다['’”\"]?(?:고|는)|['‘“\"]없")]

# Nouns: what a text is about.
_PARTICLE = re.compile(r"(?:은|는|이|가|을|를|의|에|에서|으로|로|도|와|과)$")
_IS_HANGUL = re.compile(r"[가-힣]+")
# Words that describe, count or join, and do not name a thing.
_NO_NAME = re.compile(
    r"(?:은|는|을|를|에|에서|으로|로|와|과|된|한|인|할|던|및|등|중|별|보다|대비|따르면|보면|경우|기준|현재|년도|간)$"
    r"|^(?:지역|부문|분야|대상|관련|주요|기타|전체|합계|평균|남녀|설문|조사|연간|해당|이번|모든|전국|국내|올해|최근|다음|위|아래|표|그림|총|각|전년|당시|같은|다른|이|그|그해|정답|답변|답|따라서|결론|최종|질문|자료|문서|이미지|차트|그래프)$"
)
_VERB = re.compile(r"(?:하|되|받|시키)(?:는|고|며|여|어|지)$")  # 차지하는
_ASKS_WHICH = re.compile(rf"{ASKS_YEAR.pattern}|가장|번째|어느|어떤|무슨|무엇|각각|[과와]\s")
# Denies what the counted persons or things did: 받지 못한 가구의 비율.
_DENIED_SUBJECT = re.compile(
    r"지\s?(?:못|않)(?:한|은|는|았던)\s[가-힣\s]{0,12}?(?:비율|비중|수|건수|인원|가구|사람|명|개소)(?:은|는|이|가|의)"
)
_LABEL = re.compile(  # B등급, 2호선, but not if it is compared with: 1차보다
    r"(?<![A-Za-z\d가-힣])([A-Z]|\d{1,2})\s?(등급|형|호선|차(?=[\s가-힣]*[율률])|분기|지구|그룹|단지|구역|타입|공장|지점)(?!\s?(?:\([^()]*\))?\s?(?:보다|대비|에 비해))"
)
_BASE = re.compile(  # 천 명당, 10만 명당, km제곱당
    r"(?<![\d,.])((?:[\d,.]{1,20}\s?)?[십백천만억]{0,6}\s?(?:k?m제곱|[가-힣㎢㎡]{1,3}))당(?![가-힣])"
)
_ASKS_FIRST = re.compile(r"가장|제일|최[고대저소다]|1위")
# Begins a sentence about what comes after the first.
_RUNNER_UP = re.compile(r"\s*(?:그\s?다음|다음으로|뒤이어|두 번째|2번째|2위)")
_NAME_ENDING = re.compile(r"(?:이며|이고|으로|로|은|는|이|가|의|과|와)$")

# Of an answer that denies its value, only bounds it, or does not commit to it.
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


def means_another(question: str, gold: str, output: str) -> bool:
    """Return whether an output gives its value to another subject, base, period, bound or direction than the gold answer."""
    known = f"{question} {gold}"
    required = quantities(gold)
    if not _names_subject(question, gold, output) or _has_other_base(gold, output):
        return True
    # A question has bounds and exclusions of its own, which say what is counted: 300건 이상인 달은 몇 번인가요?
    if any(_differ(groups, gold, output) for groups in (_BOUNDS, _WITH_OR_WITHOUT)):
        return True
    if any(_differ(groups, known, output) for groups in (_PERIODS, *_OPPOSITES)):
        return True
    if _denies_subject(output, required) and not _DENIED_SUBJECT.search(known):
        return True
    # What a question calls an increase may be a decrease: 증가율은 얼마인가요? -3.2%
    is_decrease = any(quantity.value < 0 for quantity in required)
    if not is_decrease and _differ(_DIRECTIONS, known, output):
        return True
    if _differ(_HAVING, question, output):
        return True
    if _names_other_place(known, output) or _is_runner_up(question, gold, output):
        return True
    return _has_other_label(question, output) or _has_other_subject(question, gold, output)


def _is_runner_up(question: str, gold: str, output: str) -> bool:
    """Return whether an output gives the gold value only to what comes next, and the question asks for the first."""
    if not _ASKS_FIRST.search(question) or _RUNNER_UP.search(question):
        return False
    sentences = [match[0] for match in LATIN_SENTENCE.finditer(plain(output))]
    with_value = [sentence for sentence in sentences if has_any(sentence, quantities(gold)[-1:])]
    return bool(with_value) and all(map(_RUNNER_UP.match, with_value))


def _names_other_place(known: str, output: str) -> bool:
    """Return whether an output names places, and none of those of its question and gold answer: 대구 for 부산."""
    known_places = places_in(known)
    given_places = places_in(output)
    return bool(known_places and given_places) and known_places.isdisjoint(given_places)


def _has_other_subject(question: str, gold: str, output: str) -> bool:
    """Return whether an output is about another thing of the kind that a question asks about: 풍력 발전 for 태양광 발전.

    It then names the kind (발전) with another noun before it, and the question's own noun (태양광) nowhere.
    """
    if _ASKS_WHICH.search(question):
        return False
    known = f"{question} {gold}"
    asked_names = _names_by_kind(question)
    for kind, names in _names_by_kind(_before_value(output)).items():
        asked = asked_names.get(kind, set())
        is_named = any(_stem(name) in output for name in asked) or any(_is_within(name, known) for name in names)
        if asked and not is_named and not any(_is_same_name(*pair) for pair in product(asked, names)):
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
        kind = _PARTICLE.sub("", following)
        name = word.removesuffix("의")
        is_name = len(name) > 1 and bool(_IS_HANGUL.fullmatch(word)) and not _NO_NAME.search(name)
        if is_name and len(kind) > 1 and not _NO_NAME.search(kind) and not _VERB.search(following):
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
    return any(name.endswith(other[:length]) for length in range(2, len(other)))


def _stem(name: str) -> str:
    """Return what other forms of a short name begin with: 서울 of 서울시."""
    return name[:2] if len(name) <= MAX_SHORT_NAME else name


def _is_within(name: str, text: str) -> bool:
    """Return whether a text has the letters of a name in their order, as 전기 자동차 has those of 전기차."""
    return re.search(".{0,3}".join(name), text) is not None


def _denies_subject(output: str, of_gold: Sequence[Quantity]) -> bool:
    """Return whether an output gives the gold value to those who did not do something: 받지 못한 가구의 비율이 28.4%."""
    text = plain(output)
    denied = _DENIED_SUBJECT.search(text)
    if denied is None:
        return False
    following = next((mention for mention in scan(text) if mention.start >= denied.end()), None)
    return following is not None and is_among(following.quantity, of_gold)


def _has_other_label(question: str, output: str) -> bool:
    """Return whether an output is about another label than the question: C등급 for B등급, 2호선 for 3호선."""
    asked_labels = labels_of(question)
    given_labels = labels_of(output)
    return any(given_labels[noun].isdisjoint(asked_labels[noun]) for noun in asked_labels.keys() & given_labels.keys())


def labels_of(text: str) -> dict[str, set[str]]:
    """Return the labels of a text by the noun that they belong to: B등급과 C등급 → {"등급": {"B", "C"}}."""
    labels: dict[str, set[str]] = {}
    for label, noun in _LABEL.findall(text):
        labels.setdefault(noun, set()).add(label)
    return labels


def _names_subject(question: str, gold: str, output: str) -> bool:
    """Return whether an output names what gold names before its value, or the question does not ask for a name."""
    if not _ASKS_NAME_AND_VALUE.search(question):
        return True
    text = plain(gold)
    mentions = scan(text)
    before = text[: mentions[0].start] if mentions else ""
    names = [_NAME_ENDING.sub("", word) for word in re.findall(r"[가-힣A-Za-z]{2,}", before)]
    return all(names_in(name, output) for name in names if len(name) > 1 and name not in question)


def _has_other_base(gold: str, output: str) -> bool:
    """Return whether the rates of two texts are per different bases: 천 명당, 만 명당."""
    gold_bases = _bases(gold)
    given_bases = _bases(output)
    return bool(gold_bases and given_bases) and not any(is_among(base, given_bases) for base in gold_bases)


def _differ(groups: _Groups, known: str, output: str) -> bool:
    """Return whether each text has words of one group only, and not of the same."""
    known_groups = _groups_in(groups, known)
    given_groups = _groups_in(groups, output)
    return len(known_groups) == len(given_groups) == 1 and known_groups != given_groups


def _groups_in(groups: _Groups, text: str) -> set[int]:
    """Return the places of the groups that a text has a word of."""
    return {place for place, group in enumerate(groups) if group.search(text)}


def _bases(text: str) -> list[Quantity]:
    """Return what the rates of a text are per: 1,000명 in 천 명당 3.8건."""
    bases = (base if re.match(r"\d", base) else f"1{base}" for base in _BASE.findall(plain(text)))
    return [quantity for base in bases for quantity in quantities(base)]


def swapped_share(gold: str, output: str) -> float:
    """Return the share of the gold quantities, from 0 to 1, that an output gives to another subject or year.

    It is 1 for "남자 8.2%, 여자 41.5%" if gold is "남자 41.5%, 여자 8.2%".
    """
    by_year = _by_year(plain(gold))
    if len(by_year) > 1 and (swapped := _swapped(by_year, _by_year(plain(output)))):
        return swapped
    by_subject = _by_subject(plain(gold))
    return _swapped(by_subject, _values_of(by_subject, plain(output)))


def _swapped(of_gold: Mapping[str, Quantity], given: Mapping[str, Quantity]) -> float:
    """Return the share of the gold values whose subjects are given the value of another one. Both map subjects to values."""
    shared = of_gold.keys() & given.keys()
    if len(shared) < 2:
        return 0.0
    wrong = 0
    for subject in shared:
        value = given[subject]
        of_others = [other for name, other in of_gold.items() if name != subject]
        wrong += not value.agrees(of_gold[subject]) and any(map(value.agrees, of_others))
    return wrong / len(of_gold)


def _by_year(text: str) -> dict[str, Quantity]:
    """Return the first value after each year of a text."""
    values: dict[str, Quantity] = {}
    for year, following in pairwise(scan(text)[:MAX_VALUES]):
        if year.quantity.unit == "년" != following.quantity.unit:
            values.setdefault(str(year.quantity.value), following.quantity)
    return values


def _values_of(subjects: Iterable[str], text: str) -> dict[str, Quantity]:
    """Return the first value of each of these subjects: the first one after its name, if no other value is between."""
    values: dict[str, Quantity] = {}
    position = 0
    for mention in scan(text)[:MAX_VALUES]:
        if mention.quantity.unit == "년":
            continue
        named = [subject for subject in subjects if subject in text[position : mention.start]]
        if len(named) == 1:
            values.setdefault(named[0], mention.quantity)
        position = mention.end
    return values


def _by_subject(text: str) -> dict[str, Quantity]:
    """Return the quantities of a text by the word before each, for those that have one."""
    values: dict[str, Quantity] = {}
    for mention in scan(text)[:MAX_VALUES]:
        if subject := SUBJECT.search(text, max(0, mention.start - SUBJECT_REACH), mention.start):
            values.setdefault(subject[1], mention.quantity)
    return values


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

"""Decide which quantities an answer asserts, even if it shows its work before or after them.

This is the strict rule of KO-VQA and the rule of KO-FRESH. An explicit answer takes precedence over the numbers around
it. It is searched in this order: after a marker (정답:, 답은, \\boxed), after a conclusion (따라서, 즉), in bold, in the
last sentence. Operands are not asserted, nor are years and ordinals that label a row. An answer that names several
candidates asserts all of them and is therefore wrong.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import islice, pairwise, product

from evaluator.benchmarks.scoring.names import places_in
from evaluator.benchmarks.scoring.numerals import factor_of
from evaluator.benchmarks.scoring.quantities import RATIO, TIMES, Quantity, Stated, plain, quantities, scan
from evaluator.benchmarks.scoring.stated_answer import stated_answer

MAX_DENIAL_LENGTH = 2000  # characters of an answer that is checked for denying or bounding its only value
# Beyond one of these limits a text is treated as a dump of numbers that asserts all of them.
MAX_UNMARKED_QUANTITIES = 10  # in an output that does not mark its answer
MAX_SHORT_NAME = 3  # letters of names that are variants of one if they begin with the same letter
MAX_MARKERS = 50  # markers or conclusions in an answer
MAX_VALUES = 200  # quantities in a passage; F1 is computed from at most as many

# Locate the answer.
_MARKER = re.compile(
    r"(?<![가-힣A-Za-z])(?:최종\s?)?(?:정답|해답|답변|답|값|(?:final )?answer)\s*(?:은|는|:|=|is\b|\n|(?=\s\d))",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(
    r"(?<![가-힣A-Za-z])(?:따라서|그러므로|그래서|결론은|결론적으로|결과적으로|최종적으로|종합하면|요약하면|고로|즉|therefore|thus|hence|so)(?![가-힣A-Za-z])|[∴⇒]",
    re.IGNORECASE,
)
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_BOLD = re.compile(r"(?:\*\*|__|<(?:b|strong)>)(.+?)(?:\*\*|__|</(?:b|strong)>)")
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?。](?=\s|$)|\n|$)")
_PREDICATE = re.compile(r"(?:[다요음임됨함]|=[^=]*+)\W*+$")
_IS_SENTENCE = re.compile(r"(?!\s*[-•·|])|.*=")  # not an item of a list or a table, unless it has an equation
_BARE = re.compile(
    r"(?:따라서|즉|약|총|입니다|이다|이며|이고|일 수(?:도)? 있습니다|[^\w+*/×÷=])*"
)  # what may surround a value in a sentence that has nothing else
_ALTERNATIVE = re.compile(r"\s*(?:또는|혹은|아니면|or\b)", re.IGNORECASE)
_OR = re.compile(r"(?:이)?\s*(?:또는|혹은|아니면|이나|거나|or\b)\s*(?:약\s?)?", re.IGNORECASE)
_ALSO_POSSIBLE = re.compile(r"(?:일\s?수도|도|역시)\s?(?:가능|있|될|맞|정답)")
_SUBJECT = re.compile(r"([가-힣A-Za-z]+?)['\"’”]?(?:은|는|이|가|의|:|의 경우)?\s*(?:약|총)?\s*$")
_BESIDE_YEAR = re.compile(r"(?:에는|에|은|는|의|도|:)?\s*(?:약|총)?\s*")
_SHOWS_WORKING = re.compile(r"[→+]")
_OPENS_BRACKET = re.compile(r"[^\d\n(]{0,10}\(\s*(?:정확히는?|약|총|원문|반올림)?\s*")
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_AFTERTHOUGHT = re.compile(r"(\d[^.\n(]{0,20}[다요])\s?\([^()\n]*\)")  # 120명입니다 (남 70명, 여 50명)
_ASKS_NAME_AND_VALUE = re.compile(r"(?:과|와|및)\s?(?:그|해당|그때|이때)(?![가-힣]*\s?중)")
_ASKS_YEAR = re.compile(r"몇 년|몇년|언제|어느 해|해는|연도|시기")
_NAMED_YEAR = re.compile(r"(?:해|연도|년도|시기|시점)(?:은|는)\s(?:바로\s)?(\d{4})년")
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
        ("공립", "사립"), ("도시", "농촌"), ("입학", "졸업"), ("최고", "최저"), ("상위", "하위"), ("유료", "무료"), ("찬성", "반대"), ("신설", "폐지"),
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
_ASKS_WHICH = re.compile(rf"{_ASKS_YEAR.pattern}|가장|번째|어느|어떤|무슨|무엇|각각|[과와]\s")
_HAVING = [re.compile(r"있다['’”\"]?(?:고|는)|['‘“\"]있"), re.compile(r"없다['’”\"]?(?:고|는)|['‘“\"]없")]
# Denies what the counted persons or things did: 받지 못한 가구의 비율.
_DENIED_SUBJECT = re.compile(
    r"지\s?(?:못|않)(?:한|은|는|았던)\s[가-힣\s]{0,12}?(?:비율|비중|수|건수|인원|가구|사람|명|개소)(?:은|는|이|가|의)"
)
_LABEL = re.compile(
    r"(?<![A-Za-z\d가-힣])([A-Z]|\d{1,2})\s?(등급|형|호선|분기|지구|그룹|단지|구역|타입|공장|지점)(?!\s?(?:\([^()]*\))?\s?(?:보다|대비|에 비해))"
)
_BASE = re.compile(r"(?<![\d,.])((?:[\d,.]{1,20}\s?)?[십백천만억]{0,6}\s?(?:k?m제곱|[가-힣㎢㎡]{1,3}))당(?![가-힣])")
_NAME_ENDING = re.compile(r"(?:이며|이고|으로|로|은|는|이|가|의|과|와)$")
_EITHER = re.compile(r"또는|혹은|아니면|\bor\b|~", re.IGNORECASE)

# Separate working from the answer, and the answer from a remark or a comparison.
_BECAUSE = re.compile(r"(?:이)?므로,?\s|이기 때문에,?\s")
_REMARK = re.compile(r"[ \t]*(?:이는|이것은|이 값은|참고로|한편|왜냐하면|근거|해설|설명|출처|\()")
_COMPARISON = re.compile(r"(?<=[\d가-힣%)])(?:(?:으로|로|이며|이고),|\s가장\s?(?:많|적|높|낮|크|작)[가-힣]*(?:고|며),)")
_COMPARES = re.compile(
    r"대비|보다|앞서|앞질|뒤처|뒤지|차이|증가|감소|변화|변동|넘어|넘는|돌파|육박|웃도|밑도|미치지|미달|못 미"
)

# Follow a quantity that is an operand or the subject and therefore not asserted.
_OPERAND = re.compile(
    r"(?:\([^()]{0,30}\))?[)\]}.…]*\s?(?:이상|이하|미만|초과|년|년도|도)?(?:(?:은|는|이|가|에|의|로)(?![가-힣])|[을를](?![가-힣]|\s?차지)|으로"
    r"|(?P<compared>(?:와|과)는?\s(?:다른|별개|구분)|에서|보다|대비|부터|까지|[가-힣]{0,2}당(?![가-힣])|(?:이)?므로|이라서|인(?=\s)|(?:을|를)?\s?(?:포함|제외)(?=[\s하])|[가-힣·\s]{0,8}(?:중|가운데)(?:에서|에)?(?![가-힣]|\s?하나)"
    r"|(?:이|가|만큼|이나)?\s?(?:증가|감소|상승|하락|늘어|줄어|오르|내리|늘|줄|오|내)(?:한|하여|해|해서|난|나|든|들어|른|린|은)\s(?=[^.]*\d)"
    r"|\s(?:대비|이상|이하|이후|이전)(?:인)?(?![가-힣])))"
)
_EQUATION = re.compile(r"[-−–+*/×÷(^]|(?:times|div|frac)\b")  # without one of these, = only repeats a value
_OPERATOR_AFTER = re.compile(r"[)\]}]*\s*(?:[-−–+*×÷=<>≈→](?!\s*$)|/(?=\s*[\d(])|(?:times|div)\b)")  # not in 4.2권/명
_OPERATOR_BEFORE = re.compile(r"(?:[-−–+*/×÷]|\b(?:times|div))\s*[(\[{]*$")
_JOINED = re.compile(r"(?:\([^()]{0,30}\))?(?:과|와)(?![가-힣])")
_ARITHMETIC = re.compile(
    r"보다|차이|차는|차가|의 차|의 합|합은|합계|합하|더하|더한|빼|뺀|비교|평균|비율|곱하|나누|중\s(?!하나).*\d"
)
_CLAUSE = re.compile(r"\s?(?:(,)|(?:이|였|이었)?고(?![가-힣])|(?:이)?며(?![가-힣])|인데|이지만|지만)")
_ASKS_TO_COMPARE = re.compile(r"보다|차이|차는|합하|합은|합이|더하|비교|곱하|나누|대비|증감|변화|각각")
_CLAUSE_END = re.compile(
    r"(?<=데)\s비해\s|(?<=반면)(?:에)?,?\s|(?<=며)(?:,\s|\s)|(?<=[이하했었였았]고)(?:,\s|\s)|(?<=지만)(?:,\s|\s)|(?<=는데)(?:,\s|\s)"
)
_CUE = re.compile(
    r"합|차|총|모두|평균|비율|비중|가장|최[대소고저솟댓]|결과|반올림|계산|답|나누|빼|더하|증가|감소|됩니다|된다|되어"
)
_LABELLED = re.compile(r"(?:[가-힣A-Za-z](?:은|는|이|가)|의\s경우|(=))\s*(?:약|총)?\s*$")
_LABEL_UNITS = {"년", "월", "일", "위", "호", "번", "대", "세", "등급", "단계", "동", "주"}
_ORDINAL = re.compile(r"\s?(?:차|등|학년|학기|급|번째|순위|분기|반기|부|절|쪽|페이지|층|권역|지구|호선)")
_ROWS = re.compile(
    r"\s?(?:항목|종류|지역|부문|분야|연도|중(?:에서)?(?![가-힣])|간(?![가-힣])|동안|사이|만에)"
)  # "4개 항목 중"
_NUMBERED = re.compile(r"(?:제|표|그림|항목|No\.)\s?$|(?<![A-Za-z])[A-Za-z]-?$")
_SCALE = re.compile(r"몇\s?((?:십|백|천|만|억|조)+)(?![가-힣]*[로서])")

# Follow or precede a quantity that the answer denies, questions or uses as a bound.
_DENIED_AFTER = re.compile(
    r"\s?(?:이|가|은|는|을|를)?\s?(?:아니(?!면)|아닙|아님|not\b|틀린|될 수 없|제외|뺀 나머지|빼면 됩니다|(?:의 )?절반|추정 불가|\(오답)"
    r"|\s?(?:입니까|인가요|인지 알 수|이 맞습니까)|(?:이)?지 않"
)
_DENIED_BEFORE = re.compile(r"(?:\bnot|n't|≠)\s*(?:the\s)?$", re.IGNORECASE)
_BOUND_AFTER = re.compile(
    r"\s?(?:[A-Za-zμ]{1,4}/?[a-z]{0,3}(?:세?제곱)?\s)?(?:이상|이하|미만|초과|이전|이후|[을를] (?:넘|초과)|[과와] 비슷|\s등\W*$|보다 (?:많|적|높|낮|크|작)|내외 또는|에 가깝|근처)"
)
_BOUND_BEFORE = re.compile(
    r"(?:최소|최대|적어도|많아야|[<>≤≥]|\b(?:at least|at most|(?:more|less|fewer) than|over|under))\s*$", re.IGNORECASE
)
_BOUND_WORD = re.compile(r"최소|최대|적어도|많아야|이내|까지|at least|at most|up to", re.IGNORECASE)
_RANGE = re.compile(r"\s?(?:까지|사이|범위|~)")
_UNSURE = re.compile(r"알 수 없|확인할 수 없|판단할 수 없|모르겠|확실하지 않|표에 없습니다")


def strict_match(question: str, gold: str, output: str) -> bool:
    """Return whether an output asserts exactly the gold quantities. It may repeat quantities of the question.

    If the gold answer has no number, the texts must be equal apart from case, punctuation and white space.
    """
    return strict_f1(question, gold, output) == 1.0


def strict_f1(question: str, gold: str, output: str) -> float:
    """Return the F1 of the quantities that an output asserts against those of gold.

    It is from 0 to 1, and 1 if and only if `strict_match` is true.
    """
    output = stated_answer(output)
    if output == gold:
        return 1.0
    wanted = quantities(gold)
    if not wanted:
        return float(folded(gold) == folded(output))
    stated = quantities(output)
    if not stated or _is_unsure(output, gold):
        return 0.0
    if swapped := _swapped(gold, output):
        return 1 - swapped
    if _means_another(question, gold, output):
        return 0.0
    if stated == wanted:
        return 1.0
    asked = quantities(question)
    answers = quantities(without_remarks(gold))
    years = _years_of_values(question, wanted)
    optional = years + _differences(wanted) + _without(wanted, answers)
    wanted = _required(_without(answers, years), asked)
    if _same_quantities(wanted, _without_asked(_without(stated, optional), asked, wanted)):
        return 1.0
    given = _without(asserted_quantities(output, question, asked, wanted), optional)
    if _same_quantities(wanted, given):
        return 1.0
    given = _distinct(given[:MAX_VALUES])
    shared = min(sum(_is_among(q, wanted) for q in given), sum(_is_among(q, given) for q in wanted))
    return 2 * shared / (len(wanted) + len(given)) if shared else 0.0


def _means_another(question: str, gold: str, output: str) -> bool:
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
    return _other_label(question, output) or _other_subject(question, gold, output)


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
    return any(longer.startswith(name) or longer.endswith(name) for longer, name in ((one, other), (other, one)))


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
    return following is not None and _is_among(following.quantity, wanted)


def _other_label(question: str, output: str) -> bool:
    """Return whether an output is about another label than the question: C등급 for B등급, 2호선 for 3호선."""
    asked = _labels(question)
    given = _labels(output)
    return any(given[noun].isdisjoint(labels) for noun, labels in asked.items() if noun in given)


def _labels(text: str) -> dict[str, set[str]]:
    """Return the labels of a text by the noun that they belong to."""
    found: dict[str, set[str]] = {}
    for label, noun in _LABEL.findall(text):
        found.setdefault(noun, set()).add(label)
    return found


def without_remarks(text: str) -> str:
    """Return a text without remarks in brackets, unless they have its only quantity."""
    without = _BRACKETS.sub("", text)
    return without if quantities(without) else text


def _years_of_values(question: str, wanted: Sequence[Quantity]) -> list[Quantity]:
    """Return the gold years that only say when a value was so, which an answer may leave out."""
    if _ASKS_YEAR.search(question) or all(quantity.unit == "년" for quantity in wanted):
        return []
    return [quantity for quantity in wanted if quantity.unit == "년" and _is_year(quantity.value)]


def _differences(wanted: Sequence[Quantity]) -> list[Quantity]:
    """Return the difference of two gold quantities, which an answer may add."""
    if len(wanted) != 2:
        return []
    difference = Quantity(abs(Decimal(wanted[0].value) - Decimal(wanted[1].value)), "")
    return [] if _is_among(difference, wanted) else [difference]


def _names_subject(question: str, gold: str, output: str) -> bool:
    """Return whether an output names what the gold answer names, if the question asks for that as well as for its value."""
    if not _ASKS_NAME_AND_VALUE.search(question):
        return True
    text = plain(gold)
    stated = scan(text)
    before = text[: stated[0].start] if stated else ""
    names = [_NAME_ENDING.sub("", word) for word in re.findall(r"[가-힣A-Za-z]{2,}", before)]
    wanted = [name for name in names if len(name) > 1 and name not in question]
    return all(re.search(rf"(?<![가-힣A-Za-z]){re.escape(name)}", output) for name in wanted)


def _other_base(gold: str, output: str) -> bool:
    """Return whether two rates are per different bases: 천 명당, 만 명당."""
    some = _bases(gold)
    others = _bases(output)
    return bool(some and others) and not any(_is_among(base, others) for base in some)


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


def _without(some: Sequence[Quantity], others: Sequence[Quantity]) -> list[Quantity]:
    return [quantity for quantity in some if not _is_among(quantity, others)]


def asserted_quantities(
    output: str, question: str, asked: Sequence[Quantity], wanted: Sequence[Quantity]
) -> list[Quantity]:
    """Return the quantities that an answer asserts, without those of the question.

    Args:
        output: the answer, as the model wrote it
        question: the question
        asked: the quantities of the question
        wanted: the quantities of the gold answer, which help to recognize labels, roundings and omitted multipliers
    """
    text = _AFTERTHOUGHT.sub(r"\1", plain(output))
    named = set(_NAMED_YEAR.findall(text)) if _ASKS_YEAR.search(question) else set()
    if len(named) == 1 and ("번째" in question or "번째" not in text):
        return [Quantity(int(named.pop()), "년")]
    if (total := _total_of_parts(text)) and _is_among(total, wanted):
        return [total]
    passages = _explicit_passages(output, text, question, asked, wanted)
    if passages:
        found = []
        for passage, limit in passages:
            clause = _clause_of(question, passage, asked, wanted)
            found += _in_sentence(question, _without_working(clause, question), asked, wanted, limit)
    else:
        found = [stated.quantity for stated in scan(text)]
    scale = _SCALE.search(question)
    found = [_scaled(quantity, scale[1], wanted) if scale else quantity for quantity in dict.fromkeys(found)]
    found = [_in_percent(quantity, wanted) for quantity in found]
    if any(quantity.unit in ("%p", RATIO) for quantity in found):  # of the percentages beside it
        found = [quantity for quantity in found if quantity.unit != "%"]
    exact = [quantity for quantity in found[:MAX_VALUES] if _is_among(quantity, wanted)]
    if exact and "(" in text and not _EITHER.search(text):
        repeated = _rounded_beside(text, exact)
        found = [quantity for quantity in found if quantity not in repeated]
    return _without_asked(found, asked, wanted)


def _explicit_passages(
    output: str, text: str, question: str, asked: Sequence[Quantity], wanted: Sequence[Quantity]
) -> list[tuple[str, int | None]]:
    """Return the passages that give the answer explicitly.

    Each comes with the offset before which its quantities must start, or None for the whole passage.
    """

    def has_value(passage: str) -> bool:
        return any(not _is_label(passage, stated, asked, wanted) for stated in scan(passage))

    if boxed := [passage for match in _BOXED.finditer(output) if has_value(passage := plain(match[1]))]:
        return [(passage, None) for passage in boxed]
    markers = list(_MARKER.finditer(text))
    if len(markers) > MAX_MARKERS or len(_CONCLUSION.findall(text)) > MAX_MARKERS:
        return []
    plain_markers = [match for match in markers if not match[0].startswith("값")]
    marked = []
    for match in plain_markers or markers:
        passage = _passage_after(text, match.end())
        if has_value(passage) and ("\n" not in match[0] or _is_bare(passage)):
            marked.append(passage)
    sentences = [match[0] for match in _SENTENCE.finditer(text) if match[0].strip()]
    places = [place for place, sentence in enumerate(sentences) if has_value(sentence)]
    endings = [sentences[place][match.end() :] for place in places for match in _CONCLUSION.finditer(sentences[place])]
    concluded = list(filter(has_value, endings))
    if marked and (plain_markers or not concluded):
        return [(passage, None) for passage in [*marked, *_alternatives(text, marked[-1])]]
    if concluded:
        return [(passage, None) for passage in [concluded[-1], *filter(_is_bare, [*concluded[:-1], *sentences])]]
    if bold := list(islice(_bold_passages(output, has_value), MAX_MARKERS)):
        values = [_distinct(_in_sentence(question, passage, asked, wanted, limit)) for passage, limit in bold]
        if all(_same_quantities(values[0], other) for other in values):
            return [bold[-1]]
    if not places or _unmarked_count(sentences) > MAX_UNMARKED_QUANTITIES:
        return []
    is_remark = [bool(_REMARK.match(one)) or _only_compares(question, one) for one in sentences]
    remark = next((place for place in places[1:] if is_remark[place]), len(sentences))
    before_remark = [sentences[place] for place in places if place < remark]
    return [(passage, None) for passage in _unmarked_passages(before_remark, question)]


def _unmarked_count(sentences: Sequence[str]) -> int:
    """Return how many values the sentences have, without those of a calculation before the last one."""
    counted = [sentence for sentence in sentences[:-1] if "=" not in sentence]
    return sum(len(scan(sentence)) for sentence in [*counted, *sentences[-1:]])


def _unmarked_passages(sentences: Sequence[str], question: str) -> list[str]:
    """Return those of the sentences with a value that give an unmarked answer; empty if the sentences are a list."""
    bare = [sentence for sentence in sentences if _is_bare(sentence)]
    if len(bare) == 1 and bare[0] == sentences[0] and "\n" not in bare[0]:  # the answer, then its components
        return bare
    is_row_first = len(sentences) == 2 and _overlap(sentences[0], question) > _overlap(sentences[1], question)
    values = [stated for stated in scan(_without_working(sentences[0], question)) if stated.quantity.unit != "년"]
    if is_row_first and len(values) == 1:  # the answer, then another row
        return [sentences[0]]
    if len(sentences) > 1 and not (_PREDICATE.search(sentences[-1]) and _IS_SENTENCE.match(sentences[-1])):
        return []
    if len(sentences) > 2 and not (_CUE.search(sentences[-1]) or _EQUATION.search(sentences[-1])):
        return []  # a list of rows
    return [sentences[-1], *(one for one in bare if one != sentences[-1])]


def _only_compares(question: str, sentence: str) -> bool:
    """Return whether a sentence compares the answer with another row: 2018년(3,274mg)보다 늘었습니다."""
    if _ASKS_TO_COMPARE.search(question):
        return False
    values = [stated for stated in scan(sentence) if stated.quantity.unit != "년"]
    return any(_is_compared(sentence, stated) for stated in values[:2])


def _overlap(sentence: str, question: str) -> int:
    """Return how many words of a question a sentence shares."""
    return len(_shared_words(sentence, question))


def _shared_words(sentence: str, question: str) -> set[str]:
    """Return the words of a question that a sentence has too, by their first two letters."""
    words = {word[:2] for word in re.findall(r"[가-힣]{2,}", sentence)}
    return words & {word[:2] for word in re.findall(r"[가-힣]{2,}", question)}


def _passage_after(text: str, start: int) -> str:
    """Return the text after a marker, which ends at `start`: the rest of its sentence or, if empty, the next one."""
    passages = (match[0] for match in _SENTENCE.finditer(text, start))
    return next((passage for passage in passages if re.search(r"\w", passage)), "")


def _alternatives(text: str, passage: str) -> Iterator[str]:
    """Yield the sentences after a passage that name another candidate: "또는 505천 명입니다"."""
    for match in _SENTENCE.finditer(text, text.rindex(passage) + len(passage)):
        if _ALTERNATIVE.match(match[0]) or _is_bare(match[0]):
            yield match[0]


def _bold_passages(output: str, has_value: Callable[[str], bool]) -> Iterator[tuple[str, int | None]]:
    """Yield the passages in bold that have a value, each with the length of the bold text.

    The text after a passage is included, because the unit may be there: **603**천 명.
    """
    for match in _BOLD.finditer(output):
        inside = plain(match[1])
        if has_value(inside):
            yield inside + plain(output[match.end() : match.end() + 10].partition("\n")[0]), len(inside)


def _without_working(sentence: str, question: str) -> str:
    """Return a sentence without the working before its answer and the comparison after it."""
    stated = scan(sentence)
    if not stated:
        return sentence
    working = [match.end() for match in _BECAUSE.finditer(sentence) if match.end() <= stated[-1].start]
    sentence = sentence[working[-1] :] if working else sentence
    first = scan(sentence)[0].end
    compared = [] if _COMPARES.search(question) else [match.start() for match in _COMPARES.finditer(sentence)]
    for match in _COMPARISON.finditer(sentence):
        is_remark = bool(compared) and compared[-1] >= match.end()
        if first <= match.start() and ("가장" in match[0] or is_remark):
            return sentence[: match.start()]
    return sentence


def _clause_of(question: str, sentence: str, asked: Sequence[Quantity], wanted: Sequence[Quantity]) -> str:
    """Return the clause of a sentence that is about the question's subject, or the whole sentence if none stands out.

    Other clauses are about other rows: "전기적 요인은 672건이며, 부주의는 1,284건입니다". A question that compares rows or asks
    for several values is about all of them.
    """
    if len(wanted) != 1 or _ASKS_TO_COMPARE.search(question):
        return sentence
    clauses = [clause for clause in _CLAUSE_END.split(sentence) if _without(quantities(clause), asked)]
    if not 1 < len(clauses) <= MAX_MARKERS:
        return sentence
    shared = [_shared_words(clause, question) for clause in clauses]
    own = [words.difference(*shared[:place], *shared[place + 1 :]) for place, words in enumerate(shared)]
    subjects = [clause for clause, words in zip(clauses, own, strict=True) if words]
    return subjects[0] if len(subjects) == 1 else sentence


def _in_sentence(
    question: str, sentence: str, asked: Sequence[Quantity], wanted: Sequence[Quantity], limit: int | None = None
) -> list[Quantity]:
    """Return the quantities that a sentence asserts. If all are operands, it asserts the last one outside a comparison.

    Only quantities that start before `limit` are considered.
    """
    all_stated = [stated for stated in scan(sentence) if limit is None or stated.start < limit]
    if len(all_stated) > MAX_VALUES:
        return [stated.quantity for stated in all_stated]
    if alternatives := _alternative_values(sentence, all_stated):
        return alternatives
    if of_year := _of_asked_year(question, sentence, all_stated, asked):
        return [of_year]
    values = [stated for stated in all_stated if not _is_label(sentence, stated, asked, wanted)]
    is_equation = bool(_EQUATION.search(sentence))
    free = [stated for stated in values if not (is_equation and _is_in_expression(sentence, stated))]
    found = [
        stated
        for stated in free
        if (_is_wanted_bound(stated, wanted) or not _OPERAND.match(sentence, stated.end))
        and not (_JOINED.match(sentence, stated.end) and _ARITHMETIC.search(sentence))
    ]
    found = _outside_brackets(sentence, found, wanted)
    operands = [stated for stated in values if stated not in found]
    found = [stated for stated in found if not _is_year_of(sentence, stated, operands)]
    found = _of_subject(question, sentence, found)
    clauses = [one for one, following in pairwise(found) if _is_clause(sentence, one, following)]
    subjects = [stated for stated in free if not _is_compared(sentence, stated)]
    chosen = [stated for stated in found if stated not in clauses]
    chosen = chosen or (subjects[-1:] or free[-1:] if values else all_stated[-1:])
    if any(_RANGE.match(sentence, stated.end) for stated in chosen):
        return [stated.quantity for stated in all_stated]
    if any(_DENIED_AFTER.match(sentence, stated.end) for stated in chosen):
        return [stated.quantity for stated in all_stated if stated not in chosen]
    return [stated.quantity for stated in chosen]


def _alternative_values(sentence: str, all_stated: Sequence[Stated]) -> list[Quantity]:
    """Return the quantities that a sentence offers as alternatives: `5건 또는 6건`, `5건이지만 6건도 가능`."""
    found: list[Quantity] = []
    for one, following in pairwise(all_stated):
        is_joined = _OR.fullmatch(sentence, one.end, following.start)
        if is_joined or _ALSO_POSSIBLE.match(sentence, following.end):
            found += [one.quantity, following.quantity]
    return found


def _total_of_parts(text: str) -> Quantity | None:
    """Return the value that is the sum of all others in a text, unless the text lists candidates or computes it by an equation."""
    if "=" in text or _EQUATION.search(text):
        return None
    bare = sum(_is_bare(match[0]) for match in islice(_SENTENCE.finditer(text), MAX_MARKERS))
    return None if bare > 1 else _total(scan(text))


def _total(stated: Sequence[Stated]) -> Quantity | None:
    """Return the first or the last of some values if it is the sum of all others: 60억 원과 60억 원을 합한 120억 원."""
    values = [one.quantity for one in stated if one.quantity.unit != "년"]
    if not 3 <= len(values) <= MAX_MARKERS or len({one.unit for one in values}) > 1:
        return None
    whole = sum(Decimal(one.value) for one in values)
    return next((one for one in (values[-1], values[0]) if 2 * Decimal(one.value) == whole), None)


def _of_asked_year(
    question: str, sentence: str, stated: Sequence[Stated], asked: Sequence[Quantity]
) -> Quantity | None:
    """Return the value beside the year of a question, if a sentence has values of several years: 2021년 19%에서 2022년 18%로."""
    years = {one.value for one in asked if one.unit == "년"}
    if len(years) != 1 or _ASKS_TO_COMPARE.search(question):
        return None
    by_year: dict[int | Decimal, list[Quantity]] = {}
    for year, following in pairwise(stated):
        is_beside = _BESIDE_YEAR.fullmatch(sentence, year.end, following.start)
        if year.quantity.unit == "년" and following.quantity.unit != "년" and is_beside:
            by_year.setdefault(year.quantity.value, []).append(following.quantity)
    own = by_year.get(years.pop(), [])
    return own[0] if len(own) == 1 and len(by_year) > 1 else None


def _swapped(gold: str, output: str) -> float:
    """Return the share of the gold quantities that an output gives to another subject: 남자 8.2%, 여자 41.5% for the reverse."""
    wanted = _by_subject(plain(gold))
    given = _values_of(wanted, plain(output))
    shared = wanted.keys() & given.keys()
    if len(shared) < 2:
        return 0.0
    wrong = 0
    for subject in shared:
        own = given[subject]
        others = [value for name, value in wanted.items() if name != subject]
        wrong += not own.agrees(wanted[subject]) and any(map(own.agrees, others))
    return wrong / len(wanted)


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
        if subject := _SUBJECT.search(text, max(0, stated.start - 20), stated.start):
            found.setdefault(subject[1], stated.quantity)
    return found


def _is_compared(sentence: str, stated: Stated) -> bool:
    operand = _OPERAND.match(sentence, stated.end)
    return bool(operand and operand["compared"])


def _is_in_expression(sentence: str, stated: Stated) -> bool:
    """Return whether a quantity is an operand of an expression, as 525 and 447 are in `525 - 447 = 78`."""
    return bool(
        _OPERATOR_AFTER.match(sentence, stated.end)
        or _OPERATOR_BEFORE.search(sentence, max(0, stated.start - 8), stated.start)
    )


def _is_wanted_bound(stated: Stated, wanted: Sequence[Quantity]) -> bool:
    """Return whether a quantity is a bound as the answer is: 60세 이상."""
    return any(stated.quantity.sense == other.sense != "" and stated.quantity.agrees(other) for other in wanted)


def _outside_brackets(sentence: str, found: Sequence[Stated], wanted: Sequence[Quantity]) -> list[Stated]:
    """Leave out the quantities in brackets that have another unit than the answer or show how it is computed.

    They are those of 60세 이상(6,223천 명) and +12건 (36건 → 48건).
    """
    brackets = list(_BRACKETS.finditer(sentence))
    units = {"", *(quantity.unit for quantity in wanted)}

    def is_aside(stated: Stated) -> bool:
        inside = [bracket for bracket in brackets if bracket.start() < stated.start < bracket.end()]
        return any(_SHOWS_WORKING.search(bracket[0]) or stated.quantity.unit not in units for bracket in inside)

    kept = [stated for stated in found if not is_aside(stated)]
    return kept or list(found)


def _of_subject(question: str, sentence: str, found: Sequence[Stated]) -> list[Stated]:
    """Return the one value whose subject the question names, or all: 부상자 in "사망자 2,916명, 부상자 291,608명"."""
    if not 1 < len(found) <= MAX_MARKERS:
        return list(found)
    subjects = [_SUBJECT.search(sentence, max(0, stated.start - 20), stated.start) for stated in found]
    named = [
        stated
        for stated, subject in zip(found, subjects, strict=True)
        if subject and len(subject[1]) > 1 and subject[1] in question
    ]
    is_lookup = not _ASKS_TO_COMPARE.search(question) and all(subjects)
    return named if is_lookup and len(named) == 1 else list(found)


def _is_year_of(sentence: str, stated: Stated, operands: Sequence[Stated]) -> bool:
    """Return whether a quantity is the year of an operand: 2018년 in "2018년 6,904건에서 227건 증가한 7,131건"."""
    if stated.quantity.unit != "년":
        return False
    return any(re.fullmatch(r"(?:에|에는|의)?\s*", sentence[stated.end : one.start]) for one in operands)


def _is_clause(sentence: str, stated: Stated, following: Stated) -> bool:
    """Return whether a quantity belongs to a subject other than the answer's: 5건 in "음식점은 5건, 합계는 8건입니다"."""
    named = [_LABELLED.search(sentence, max(0, one.start - 12), one.start) for one in (stated, following)]
    joined = _CLAUSE.match(sentence, stated.end)
    return bool(joined and named[0] and not named[0][1] and (named[1] or not joined[1]))


def _is_label(sentence: str, stated: Stated, asked: Sequence[Quantity], wanted: Sequence[Quantity]) -> bool:
    """Return whether a quantity only labels a row: a year, 1호선, 3분기, 표 2."""
    value, unit, _ = stated.quantity
    if unit != "년" and wanted and all(other.unit == "년" for other in wanted):
        return unit != "" or not _is_year(value)  # the answer is a year, so the value in that year is a label
    if value != int(value) or any(unit and unit == other.unit for other in wanted):
        return False
    if unit in TIMES and _is_among(stated.quantity, wanted):  # 세 번 for 세 해
        return False
    if _NUMBERED.search(sentence, max(0, stated.start - 4), stated.start):
        return True
    if unit == "년":
        years = {other.value for other in asked if other.unit == "년"}
        return _is_year(value) and (len(years) != 1 or value in years)
    if 0 <= value < 100 and unit in ("", "개", "년") and _ROWS.match(sentence, stated.end):
        return True
    return 0 <= value < 1000 and bool(
        unit in _LABEL_UNITS or (unit in ("", "분", "호") and _ORDINAL.match(sentence, stated.end - (unit == "분")))
    )


def _is_year(value: int | Decimal) -> bool:
    return 1900 <= value <= 2100


def _is_bare(sentence: str) -> bool:
    """Return whether a sentence has only quantities, which makes it a candidate answer and not working."""
    found = scan(sentence)
    if not found or _is_row(found):
        return False
    pieces = [sentence[: found[0].start], *(sentence[a.end : b.start] for a, b in pairwise(found))]
    return all(_BARE.fullmatch(piece) for piece in [*pieces, sentence[found[-1].end :]])


def _is_row(stated: Sequence[Stated]) -> bool:
    """Return whether quantities are a year and its value, as a line of a table has: 2020년: 2조 9,500억 원."""
    return len(stated) == 2 and stated[0].quantity.unit == "년" != stated[1].quantity.unit


def _is_unsure(output: str, gold: str) -> bool:
    """Return whether an answer denies or bounds its only value, or states that the answer is unknown."""
    text = plain(output)
    if _UNSURE.search(text):
        return True
    stated = scan(text) if len(text) < MAX_DENIAL_LENGTH else []
    if len(_distinct([one.quantity for one in stated[:MAX_VALUES]])) != 1:
        return False
    may_be_bound = _BOUND_AFTER.search(gold) or _BOUND_WORD.search(gold)
    return any(
        _DENIED_AFTER.match(text, one.end)
        or _DENIED_BEFORE.search(text, max(0, one.start - 12), one.start)
        or (not may_be_bound and _BOUND_AFTER.match(text, one.end))
        or (not may_be_bound and _BOUND_BEFORE.search(text, max(0, one.start - 12), one.start))
        for one in stated
    )


def _scaled(quantity: Quantity, words: str, wanted: Sequence[Quantity]) -> Quantity:
    """Apply the multiplier that a question asks for to a bare number, if that gives a gold quantity.

    387 as the answer to "몇 천 명?" is 387천.
    """
    scaled = quantity._replace(value=quantity.value * factor_of(words))
    return scaled if not quantity.unit and not _is_among(quantity, wanted) and _is_among(scaled, wanted) else quantity


def _in_percent(quantity: Quantity, wanted: Sequence[Quantity]) -> Quantity:
    """Return a bare fraction of 1 as a percentage if that is a gold quantity: 0.574 for 57.4%."""
    if quantity.unit or not 0 < quantity.value < 1:
        return quantity
    percent = Quantity(100 * quantity.value, "%", quantity.sense)
    return percent if _is_among(percent, wanted) else quantity


def _rounded_beside(text: str, exact: Sequence[Quantity]) -> list[Quantity]:
    """Return the quantities that repeat one of `exact` with fewer or more digits in brackets beside it, or before its brackets."""
    found: list[Quantity] = []
    for one, following in pairwise(scan(text)[:MAX_VALUES]):
        if not _OPENS_BRACKET.fullmatch(text, one.end, following.start):
            continue
        for quantity, other in ((one.quantity, following.quantity), (following.quantity, one.quantity)):
            if other in exact and quantity not in exact and _is_rounding(quantity, [other]):
                found.append(quantity)
    return found


def _is_rounding(quantity: Quantity, wanted: Sequence[Quantity]) -> bool:
    """Return whether a quantity repeats a wanted one with fewer or more digits, as in 20.5% (20.4994%)."""
    return any(
        (not quantity.unit or not other.unit or quantity.unit == other.unit)
        and few
        and float(f"{float(many):.{_digits(few) - 1}e}") == float(few)
        for other in wanted
        for few, many in ((quantity.value, other.value), (other.value, quantity.value))
    )


def _digits(value: int | Decimal) -> int:
    """Return how many significant digits a number is written with."""
    return max(1, len(str(abs(value)).replace(".", "").strip("0")))


def _required(gold: list[Quantity], asked: Sequence[Quantity]) -> list[Quantity]:
    """Return the gold quantities that must be asserted: those not in the question, or the first if all are."""
    return [quantity for quantity in gold if quantity not in asked] or gold[:1]


def _without_asked(stated: Sequence[Quantity], asked: Sequence[Quantity], wanted: Sequence[Quantity]) -> list[Quantity]:
    return [quantity for quantity in stated if not _is_among(quantity, asked) or _is_among(quantity, wanted)]


def _distinct(stated: Sequence[Quantity]) -> list[Quantity]:
    found: list[Quantity] = []
    for quantity in stated:
        if not _is_among(quantity, found):
            found.append(quantity)
    return found


def _same_quantities(some: Sequence[Quantity], others: Sequence[Quantity]) -> bool:
    return all(_is_among(q, others) for q in some) and all(_is_among(q, some) for q in others)


def _is_among(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    for other in others:  # noqa: SIM110 - three times as fast as any() of a generator
        if quantity.agrees(other):
            return True
    return False


def folded(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())

"""Decide which of the quantities in one sentence are what it says, and not operands, labels of rows, or about other rows.

"2018년 6,904건에서 227건 증가한 7,131건입니다" has four: 2018 labels a row, 6,904 and 227 are operands, 7,131 is what it says.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from evaluator.benchmarks.scoring.quantities import TIMES, Quantity, Stated, quantities, scan
from evaluator.benchmarks.scoring.quantity_sets import is_among, without

MAX_OTHERS = 3  # values of other rows that an answer may say beside its own; with more it is a table
MAX_MARKERS = 50  # markers, conclusions or clauses of an answer
MAX_VALUES = 200  # quantities in a passage; F1 is computed from at most as many

SENTENCE = re.compile(r"[^\n]+?(?:[.!?。](?=\s|$)|\n|$)")
RANGE_AFTER = re.compile(r"\s?[~∼–-]\s?\d")
_BARE = re.compile(
    r"(?:따라서|즉|약|총|입니다|이다|이며|이고|일 수(?:도)? 있습니다|[^\w+*/×÷=≈≒])*"
)  # what may surround a value in a sentence that has nothing else
_OR = re.compile(r"(?:이)?\s*(?:또는|혹은|아니면|이나|거나|or\b)\s*(?:약\s?)?", re.IGNORECASE)
_ALSO_POSSIBLE = re.compile(r"(?:일\s?수도|도|역시)\s?(?:가능|있|될|맞|정답)")
SUBJECT = re.compile(r"([가-힣A-Za-z]+?)['\"’”]?(?:은|는|이|가|의|:|의 경우)?\s*(?:약|총)?\s*$")
_BESIDE_YEAR = re.compile(r"(?:에는|에|은|는|의|도|:)?\s*(?:약|총)?\s*")
_SHOWS_WORKING = re.compile(r"[→+]")
BRACKETS = re.compile(r"\s*\([^()]*\)")
_COMPARED_BRACKETS = re.compile(
    r"\([^()]*\)(?=(?:과|와)\s(?:비교|견주|함께|달리|더불어)|보다|의\s(?:약\s)?[\d.]+\s?%|에\s(?:비|이어))"
)
# Separate working from the answer, and the answer from a remark or a comparison.
BECAUSE = re.compile(r"(?:이)?므로,?\s|이기 때문에,?\s")
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
EQUATION = re.compile(r"[-−–+*/×÷(^]|(?:times|div|frac)\b")  # without one of these, = only repeats a value
_OPERATOR_AFTER = re.compile(
    r"(?:\s?\([^()\n]{1,20}\))?[)\]}]*\s*(?:[-−–+*×÷=<>≈→](?!\s*$)|/(?=\s*[\d(])|(?:times|div)\b)"
)  # not in 4.2권/명
_OPERATOR_BEFORE = re.compile(r"(?:[-−–+*/×÷]|\b(?:times|div))\s*[(\[{]*$")
_JOINED = re.compile(r"(?:\([^()]{0,30}\))?(?:과|와)(?![가-힣])")
_ARITHMETIC = re.compile(
    r"보다|차이|차는|차가|의 차|의 합|합은|합계|합하|더하|더한|빼|뺀|비교|평균|비율|곱하|나누|중\s(?!하나).*\d"
)
_CLAUSE = re.compile(r"\s?(?:(,)|(?:이|였|이었)?고(?![가-힣])|(?:이)?며(?![가-힣])|인데|이지만|지만)")
ASKS_TO_COMPARE = re.compile(r"보다|차이|차는|합하|합은|합이|더하|비교|곱하|나누|대비|증감|변화|각각")
_CLAUSE_END = re.compile(
    r"(?<=데)\s비해\s|(?<=반면)(?:에)?,?\s|(?<=며)(?:,\s|\s)|(?<=[이하했었였았]고)(?:,\s|\s)|(?<=지만)(?:,\s|\s)|(?<=다가)(?:,\s|\s)|(?<=는데)(?:,\s|\s)"
)
_LABELLED = re.compile(r"(?:[가-힣A-Za-z](?:은|는|이|가)|의\s경우|(=))\s*(?:약|총)?\s*$")
_LABEL_UNITS = {"년", "월", "일", "위", "호", "번", "대", "세", "등급", "단계", "동", "주"}
_ORDINAL = re.compile(r"\s?(?:차|등|학년|학기|급|번째|순위|분기|반기|부|절|쪽|페이지|층|권역|지구|호선)")
_ROWS = re.compile(
    r"\s?(?:해(?:의|간)|달|항목|종류|지역|부문|분야|연도|중(?:에서)?(?![가-힣])|간(?![가-힣])|동안|사이|만에)"
)  # "4개 항목 중"
_IN_NAME = re.compile(r"(?:코로나|[A-Z])-?$")  # 코로나19, G20
_NUMBERED = re.compile(r"(?:제|표|그림|항목|No\.)\s?$|(?<![A-Za-z])[A-Za-z]-?$")
# Follow or precede a quantity that the answer denies, questions or uses as a bound.
DENIED_AFTER = re.compile(
    r"\s?(?:이|가|은|는|을|를)?\s?(?:아니(?!면)|아닙|아님|not\b|틀린|될 수 없|제외|뺀 나머지|빼면 됩니다|(?:의 )?절반|추정 불가|\(오답)"
    r"|\s?(?:입니까|인가요|인지 알 수|이 맞습니까)|(?:이)?지 않"
)
_RANGE = re.compile(r"\s?(?:까지|사이|범위|~)")


def shared_words(sentence: str, question: str) -> set[str]:
    """Return the words of a question that a sentence has too, by their first two letters."""
    words = {word[:2] for word in re.findall(r"[가-힣]{2,}", sentence)}
    return words & {word[:2] for word in re.findall(r"[가-힣]{2,}", question)}


def without_compared_brackets(text: str) -> str:
    """Return a text without brackets with the values of others: 인천(24.5%)과 함께, 다른 지역(서울 3, 대전 4)과 비교하면."""
    return _COMPARED_BRACKETS.sub("", text)


def without_working(sentence: str, question: str) -> str:
    """Return a sentence without the working before its answer and the comparison after it."""
    stated = scan(sentence)
    if not stated:
        return sentence
    working = [match.end() for match in BECAUSE.finditer(sentence) if match.end() <= stated[-1].start]
    sentence = sentence[working[-1] :] if working else sentence
    first = scan(sentence)[0].end
    compared = [] if _COMPARES.search(question) else [match.start() for match in _COMPARES.finditer(sentence)]
    for match in _COMPARISON.finditer(sentence):
        is_remark = bool(compared) and compared[-1] >= match.end()
        if first <= match.start() and ("가장" in match[0] or is_remark):
            return sentence[: match.start()]
    return sentence


def clause_of(question: str, sentence: str, asked: Sequence[Quantity], wanted: Sequence[Quantity]) -> str:
    """Return the clause of a sentence that is about the question's subject, or the whole sentence if none stands out.

    Other clauses are about other rows: "전기적 요인은 672건이며, 부주의는 1,284건입니다". A question that compares rows or asks
    for several values is about all of them.
    """
    if len(wanted) != 1 or ASKS_TO_COMPARE.search(question):
        return sentence
    clauses = [clause for clause in _CLAUSE_END.split(sentence) if without(quantities(clause), asked)]
    if not 1 < len(clauses) <= 1 + MAX_OTHERS:
        return sentence
    shared = [shared_words(clause, question) for clause in clauses]
    own = [words.difference(*shared[:place], *shared[place + 1 :]) for place, words in enumerate(shared)]
    subjects = [clause for clause, words in zip(clauses, own, strict=True) if words]
    return subjects[0] if len(subjects) == 1 else sentence


def in_sentence(
    question: str, sentence: str, asked: Sequence[Quantity], wanted: Sequence[Quantity], limit: int | None = None
) -> list[Quantity]:
    """Return the quantities that a sentence asserts. If all are operands, it asserts the last one outside a comparison.

    Only quantities that start before `limit` are considered. Of "2018년 6,904건에서 227건 증가한 7,131건입니다", `values` are the last
    three, because 2018년 labels a row. All of them are `free`, because none is in an expression. Only 7,131건 is chosen.
    """
    all_stated = [stated for stated in scan(sentence) if limit is None or stated.start < limit]
    if len(all_stated) > MAX_VALUES:
        return [stated.quantity for stated in all_stated]
    if alternatives := _alternative_values(sentence, all_stated):
        return alternatives
    if of_year := _of_asked_year(question, sentence, all_stated, asked):
        return [of_year]
    values = [stated for stated in all_stated if not is_label(sentence, stated, asked, wanted)]
    is_equation = bool(EQUATION.search(sentence))
    free = [stated for stated in values if not (is_equation and is_in_expression(sentence, stated))]
    chosen = _own_values(question, sentence, values, free, wanted)
    if not chosen:  # only operands, or only labels
        subjects = [stated for stated in free if not is_compared(sentence, stated)]
        last = subjects or free if values else all_stated
        chosen = last[-1:]
    if any(_RANGE.match(sentence, stated.end) for stated in chosen):
        return [stated.quantity for stated in all_stated]
    if any(DENIED_AFTER.match(sentence, stated.end) for stated in chosen):
        return [stated.quantity for stated in all_stated if stated not in chosen]
    return [stated.quantity for stated in chosen]


def _own_values(
    question: str, sentence: str, values: Sequence[Stated], free: Sequence[Stated], wanted: Sequence[Quantity]
) -> list[Stated]:
    """Return those of the `free` values that are no operands, remarks in brackets, or values of another row than the question's."""
    found = [stated for stated in free if not _is_operand(sentence, stated, wanted)]
    found = _outside_brackets(sentence, found, wanted)
    operands = [stated for stated in values if stated not in found]
    found = [stated for stated in found if not _is_year_of(sentence, stated, operands)]
    found = _of_subject(question, sentence, found)
    other_rows = [one for one, following in pairwise(found) if _is_clause(sentence, one, following)]
    return [stated for stated in found if stated not in other_rows]


def _is_operand(sentence: str, stated: Stated, wanted: Sequence[Quantity]) -> bool:
    """Return whether the words after a quantity make it an operand or the subject: 6,904건에서, 447개와 (of a sum)."""
    if _JOINED.match(sentence, stated.end) and _ARITHMETIC.search(sentence):
        return True
    return bool(_OPERAND.match(sentence, stated.end)) and not _is_wanted_bound(stated, wanted)


def _alternative_values(sentence: str, all_stated: Sequence[Stated]) -> list[Quantity]:
    """Return the quantities that a sentence offers as alternatives: `5건 또는 6건`, `5건이지만 6건도 가능`."""
    found: list[Quantity] = []
    for one, following in pairwise(all_stated):
        is_joined = _OR.fullmatch(sentence, one.end, following.start)
        if is_joined or _ALSO_POSSIBLE.match(sentence, following.end):
            found += [one.quantity, following.quantity]
    return found


def _of_asked_year(
    question: str, sentence: str, stated: Sequence[Stated], asked: Sequence[Quantity]
) -> Quantity | None:
    """Return the value beside the year of a question, if a sentence has values of several years: 2021년 19%에서 2022년 18%로."""
    years = {one.value for one in asked if one.unit == "년"}
    if len(years) != 1 or ASKS_TO_COMPARE.search(question):
        return None
    by_year: dict[int | Decimal, list[Quantity]] = {}
    for year, following in pairwise(stated):
        is_beside = _BESIDE_YEAR.fullmatch(sentence, year.end, following.start)
        if year.quantity.unit == "년" and following.quantity.unit != "년" and is_beside:
            by_year.setdefault(year.quantity.value, []).append(following.quantity)
    own = by_year.get(years.pop(), [])
    return own[0] if len(own) == 1 and 1 < len(by_year) <= 1 + MAX_OTHERS else None


def is_compared(sentence: str, stated: Stated) -> bool:
    """Return whether a sentence compares something with a quantity: 6,904건보다, 6,904건에서."""
    operand = _OPERAND.match(sentence, stated.end)
    return bool(operand and operand["compared"])


def is_in_expression(sentence: str, stated: Stated) -> bool:
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
    brackets = list(BRACKETS.finditer(sentence))
    units = {"", *(quantity.unit for quantity in wanted)}

    def is_aside(stated: Stated) -> bool:
        inside = [bracket for bracket in brackets if bracket.start() < stated.start < bracket.end()]
        return any(_SHOWS_WORKING.search(bracket[0]) or stated.quantity.unit not in units for bracket in inside)

    kept = [stated for stated in found if not is_aside(stated)]
    return kept or list(found)


def _of_subject(question: str, sentence: str, found: Sequence[Stated]) -> list[Stated]:
    """Return the one value whose subject the question names, or all: 부상자 in "사망자 2,916명, 부상자 291,608명"."""
    if not 1 < len(found) <= 1 + MAX_OTHERS:
        return list(found)
    subjects = [SUBJECT.search(sentence, max(0, stated.start - 20), stated.start) for stated in found]
    named = [
        stated
        for stated, subject in zip(found, subjects, strict=True)
        if subject and len(subject[1]) > 1 and subject[1] in question
    ]
    is_lookup = not ASKS_TO_COMPARE.search(question) and all(subjects)
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


def is_label(sentence: str, stated: Stated, asked: Sequence[Quantity], wanted: Sequence[Quantity]) -> bool:
    """Return whether a quantity only labels a row: a year, 1호선, 3분기, 표 2."""
    value, unit, _ = stated.quantity
    if unit != "년" and wanted and all(map(names_year, wanted)):
        return unit != "" or not is_year(value)  # the answer is a year, so the value in that year is a label
    if value != int(value) or any(unit and unit == other.unit for other in wanted):
        return False
    if unit in TIMES and is_among(stated.quantity, wanted):  # 세 번 for 세 해
        return False
    if not unit and value < 1000 and _IN_NAME.search(sentence, max(0, stated.start - 4), stated.start):
        return True
    if _NUMBERED.search(sentence, max(0, stated.start - 4), stated.start):
        return True
    if names_year(stated.quantity):
        years = {other.value for other in asked if other.unit == "년"}
        return len(years) != 1 or value in years
    if 0 <= value < 100 and unit in ("", "개", "년") and _ROWS.match(sentence, stated.end):
        return True
    return 0 <= value < 1000 and bool(
        unit in _LABEL_UNITS or (unit in ("", "분", "호") and _ORDINAL.match(sentence, stated.end - (unit == "분")))
    )


def names_year(quantity: Quantity) -> bool:
    """Return whether a quantity is a year, and not a duration or an age."""
    return quantity.unit == "년" and is_year(quantity.value)


def is_year(value: int | Decimal) -> bool:
    return 1900 <= value <= 2100


def is_bare(sentence: str) -> bool:
    """Return whether a sentence has only quantities, which makes it a candidate answer and not working."""
    found = scan(sentence)
    if not found or _is_row(found):
        return False
    pieces = [sentence[: found[0].start], *(sentence[a.end : b.start] for a, b in pairwise(found))]
    return all(_BARE.fullmatch(piece) for piece in [*pieces, sentence[found[-1].end :]])


def _is_row(stated: Sequence[Stated]) -> bool:
    """Return whether quantities are a year and its value, as a line of a table has: 2020년: 2조 9,500억 원."""
    return len(stated) == 2 and stated[0].quantity.unit == "년" != stated[1].quantity.unit

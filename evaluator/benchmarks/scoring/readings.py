"""Decide about answers that are a name, 알 수 없음, or a value read off a chart with a stated tolerance.

KO-FRESH calls `abstains` and `hesitates` (questions that have no answer), `matches_name` (gold 아파트), `matches_reading` (gold
`347건 (±12건)`) and `quantity_f1` (other gold answers); KO-VQA calls `matches_name` for gold answers without a number. The
answer is what follows the last `정답:`, which KO-FRESH's prompt asks for; without it, the whole output.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from evaluator.benchmarks.scoring.final_answer import asserted_quantities, folded, strict_f1, without_remarks
from evaluator.benchmarks.scoring.names import MONTHS, one_form, places_in, with_place_as
from evaluator.benchmarks.scoring.quantities import Quantity, plain, quantities
from evaluator.benchmarks.scoring.sentence_values import Reference, years_in
from evaluator.benchmarks.scoring.stated_answer import EITHER, stated_answer
from evaluator.benchmarks.scoring.superlatives import PLACE_WORDS, superlative

_MARKED = re.compile(  # "정답: 347건입니다.": group 1 is the rest of the line
    r"(?<![가-힣A-Za-z])(?:정답|(?:최종 )?답변|답|(?:final )?answer)(?:\W{0,6}?[:：]|은(?=\s))\W*?(?=[\w△▲▼①-⑳(\\$-])([^\n]+)",
    re.IGNORECASE,
)
# Says that a question cannot be answered: 알 수 없습니다, 자료에 없음, 미상, not given, no data.
_UNKNOWN = re.compile(
    r"(?:알|확인할|판단할|구할|계산할|답할)\s?수(?:가|는)?\s?없(?!으면)(?!(?:음|는 것)(?:은|이) 아[니님])|모릅니다|모르겠|모름|알려지지 않|제시되지 않"
    r"|나와 있지 않|(?:정보|자료|데이터|이미지|그림|표|기록|값)(?:가|는|에|에는|에서|이)?(?: \S+)? ?(?:없(?!이)|미제공|미기재)|(?:확인|파악|판단|산출|식별|특정|계산)(?:(?:이|은|는)? ?불가|하기(?:는|가)?\s?(?:어렵|힘들|불가))"
    r"|(?:나타나|나와|적혀|실려|들어|쓰여|그려져)\s?있지\s?않|미상|불명|미기재|비공개|해당 ?(?:사항)? ?없음|(?:표시|제공|기재|기록|명시|수록|공개|표기|언급|포함)(?:되어|돼|되지|하지)?\s?(?:있지\s?)?(?:않|안)"
    r"|답변?(?:을|를)?\s?(?:드리기|하기)?\s?(?:어렵|힘들)|(?:존재하지|싣고 있지|담고 있지)\s?않|(?:찾을|볼|읽을|특정할|파악할|산출할|구분할)\s?수(?:가|는)?\s?없|\bn/?a\b|\bunknown\b|\bnot (?:available|given|shown|provided|stated|specified|known|listed)"
    r"|\b(?:does|do|did)(?: not|n't) (?:\w+ )?(?:provide|show|give|contain|include|state|mention|specify|list|report|indicate|say)"
    r"|cannot (?:be )?(?:determine|known|tell|answer|say)|can(?:'t|not) (?:tell|determine|answer)|insufficient (?:data|information)|no (?:data|information)",
    re.IGNORECASE,
)
# The exact value is not shown, but the answer estimates it.
_CONCESSION = re.compile(
    r"(?:정확한|구체적인|실제)\s(?:값|수치|숫자)[은이가][^.\n]{1,30}?(?:지만|으나|는데|므로|아서|어서)[,\s]"
)

# Around a name in a sentence: "따라서 **아파트**(350호)로 나타났습니다."
_ENDING = re.compile(
    r"(?:입니다|이다|임|이에요|예요|이?랍니다|이었습니다|였습니다|요|(?:으로|로)(?:보입니다|보인다|나타났습니다|나타납니다|판단됩니다|확인됩니다|추정됩니다|(?:소개되어|적혀|나와|표시되어|기재되어|나타나)있습니다)?)$"
)
_IS_IN = re.compile(r"에\s?(?:포함|속|해당|위치)\S*(?:\s있\S*)?[\s.!]*$")
# What a name is, which may be left out: 건설업 for 건설업 분야.
_ROLE = re.compile(r"(?:분야|부문|지역|유형|업종|종류|항목|구분|계층|부서|학교급|광역시|특별시|특별자치시|특별자치도)$")
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_DISTRICT = re.compile(r"(?<=[가-힣]{2})(?:특별시|광역시|[시군구도읍면])$")  # of 해남군, which may be called 해남
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)]|[①-⑳])\s+")
_LATEX_TEXT = re.compile(r"\\(?:text|mathrm|mathbf)\s*\{([^{}]*)\}")  # inside of \boxed{}
_CONCLUDES = re.compile(r"(?:따라서|그러므로|그래서|그러니|즉|결국|결론적으로|종합하면)[,\s]+|∴\s*")
_YEAR_BEFORE_BRACKET = re.compile(r"((?:19|20)\d\d년)\s?\(([^()]*)\)")  # 2018년(347건)
_HANGUL = re.compile(r"[가-힣][가-힣\d· ]*")
_DENIES = re.compile(r"\bnot\b|n't\b", re.IGNORECASE)
_REMARK = re.compile(r"\s*[(\[]|\s*[,:/–-]\s*(?:약\s*)?\d")  # what follows a name: its value, or a remark in brackets
_SENTENCE_BREAK = re.compile(r"(?<=[다요])[.!]\s")
MAX_CLAUSES = 10  # of an answer that is searched for the one that gives the name
_CLAUSE_BREAK = re.compile(r"(?<=[고며])[,\s]\s?|(?<=지만)[,\s]\s?|(?<=는데)[,\s]\s?|(?<=[다요음임])\.\s*|[;\n]")

# Around a value.
_BOUND = re.compile(r"이상|이하|미만|초과|넘|최대|최소|적어도|많아야|아님|아니")
_TOLERANCE = re.compile(r"(.+) \(±(.+)\)")  # of a gold answer: 347건 (±12건)
_MONTH_NAME = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d년")
_TWO_DIGITS = re.compile(r"\A\W{0,3}(\d\d)년(?=\W|\Z|입니다|이다)")  # 19년, in quotation marks or not
_STATED_ERROR = re.compile(r"\s*±\s*[\d,.]+\S*")  # of an answer: 347건 ± 10건
_NONE = re.compile(r"(?:한\s?\S{1,3}도\s|하나도\s)?없(?:음|습니다|다|어요)")  # for 0곳
_SHRANK = re.compile(r"감소|줄었|줄어|하락")
_GREW = re.compile(r"증가|늘었|늘어|상승")


class Reading(NamedTuple):
    """A value read from a chart, and how far an answer may be from it."""

    value: Quantity
    tolerance: Quantity


def final_text(output: str) -> str:
    """Return what follows the last `정답:` of an output, or the whole output."""
    output = stated_answer(output)
    marked = list(_MARKED.finditer(output))
    text = marked[-1][1] if marked else output
    if marked and _LIST_MARK.match(text):  # a list stands between the marker and the answer
        text = output[marked[-1].start(1) :]
    return text.strip(" *_`.\"'“”\t\n")


def hesitates(output: str) -> bool:
    """Return whether an output says that the question cannot be answered, whatever else it says."""
    return bool(_UNKNOWN.search(_CONCESSION.sub("", final_text(output))))


def abstains(question: str, output: str) -> bool:
    """Return whether an output says that the question cannot be answered, and gives no quantity but those of the question."""
    in_question = quantities(question)
    clauses = _clauses_of_asked_year(in_question, final_text(output))
    given = [quantity for clause in clauses for quantity in quantities(clause)]
    known_values = {quantity.value for quantity in in_question}
    others = [quantity for quantity in given if quantity.unit != "년" and quantity.value not in known_values]
    return hesitates(output) and not others


def _clauses_of_asked_year(in_question: Sequence[Quantity], text: str) -> Iterator[str]:
    """Yield the clauses of a text that are not about another year than the question's."""
    asked_years = years_in(in_question)
    for clause in re.split(r"(?<=[.!?])\s|,\s|[\n;()]", _YEAR_BEFORE_BRACKET.sub(r"\1 \2", text)):
        if years_in(quantities(clause)) <= asked_years or not asked_years:
            yield clause


def is_name(gold: str) -> bool:
    """Return whether a gold answer is a name, without any quantity."""
    return not quantities(gold)


def matches_name(question: str, gold: str, output: str) -> bool:
    """Return whether an output gives exactly this name: 아파트, 아파트입니다, 가장 많은 유형은 아파트입니다, 아파트 (350호).

    It is read in bold, in a sentence in English, in the clause with the question's superlative (`_concludes`), and at
    the end of the last line (`_ends_with_name`). A list of names or alternatives gives none.
    """
    text = _LATEX_TEXT.sub(r"\1", _LIST_MARK.sub("", final_text(output)))
    bold = set(map(folded, _BOLD.findall(stated_answer(output))))
    question = plain(question)
    text = with_place_as(gold, plain(text).strip())
    if EITHER.search(text):
        return False
    if bold == {folded(gold)} or ("유일" in question and re.search(rf"(?<![가-힣]){re.escape(gold)}만\s", text)):
        return True
    if not _DENIES.search(text) and _is_in_english_sentence(gold, text, final_text(output)):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and _LIST_MARK.match(lines[-1]):
        return False  # a list of names
    if _concludes(question, gold, text):
        return True
    last_line = _LIST_MARK.sub("", lines[-1]).strip(" *_`\"'“”") if lines else ""
    return _ends_with_name(question, gold, last_line.rpartition("→")[2].strip())


def _is_in_english_sentence(gold: str, text: str, final: str) -> bool:
    """Return whether an English verb is before a name, or the name is all Hangul of an answer: "The type is 아파트"."""
    if re.search(rf"\b(?:is|was|are)\s[\"'*]{{0,3}}{re.escape(gold)}(?![가-힣])", text):
        return True
    return set(map(folded, _HANGUL.findall(final))) == {folded(gold)}


def _ends_with_name(question: str, gold: str, line: str) -> bool:
    """Return whether the answering sentence of a line is a name, or says of words of the question that they are it.

    That sentence is the first one, or the last one if it begins with 따라서 or the like.
    """
    first, *others = _SENTENCE_BREAK.split(line)
    conclusion = _CONCLUDES.match(others[-1]) if others else None
    sentence = others[-1][conclusion.end() :] if conclusion else _CONCLUDES.sub("", first, count=1)
    most_or_least = re.match(rf"{re.escape(gold)}(?:이|가)\s(?:가장|(?:2|두 )번째로)\s(많|적)", sentence)
    if most_or_least:
        return most_or_least[1] in question
    sentence = _IS_IN.sub("", sentence)
    words = _REMARK.split(sentence)[0].split()
    while len(words) > 1 and words[-1][:2] in question and words[-1] not in gold:  # its role: 도예 강좌
        words.pop()
    given = _ENDING.sub("", folded("".join(words)))
    wanted = folded(gold)
    if given == _DISTRICT.sub("", wanted) or (places_in(given) and one_form(given) == one_form(wanted)):
        return True
    bare_gold = folded("".join(word for word in gold.split() if word[:2] not in question))
    if bare_gold and given == bare_gold:
        return True
    if wanted in (given, _ROLE.sub("", given)):
        return True
    if not given.endswith(wanted):
        given = _ROLE.sub("", given)
    before = given.removesuffix(wanted)
    if before == given or before[-1] not in "은는":
        return False
    start = sentence.rfind(gold.split()[0])
    subject = sentence[:start].split() if start >= 0 else sentence.split()[:-1]
    return all(word[:2] in question for word in subject)  # so that no other name is among them


def _concludes(question: str, gold: str, text: str) -> bool:
    """Return whether the clause of a text that answers a question gives a name.

    Of several clauses it is the one with the superlative that the question asks for. The name is its subject before that
    superlative, or its predicate: 중학교가 76.2%로 가장 높다, 두 번째는 주거비입니다.
    """
    clauses = [clause for clause in _CLAUSE_BREAK.split(text) if clause.strip()]
    asked = superlative(question)
    if asked == ("", "") or len(clauses) > MAX_CLAUSES:
        return False
    exact = [clause for clause in clauses if superlative(clause) == asked]
    answering = exact or [clause for clause in clauses if superlative(clause) == (asked[0], "")]
    return len(answering) == 1 and _gives_name(gold, answering[0])


def _gives_name(gold: str, clause: str) -> bool:
    """Return whether a name is the subject before a superlative, or the predicate at the end of a clause."""
    name = rf"(?<![가-힣A-Za-z\d])(?<![과와및·]\s)['\"‘“]?{re.escape(gold)}['\"’”]?(?:\s?{_ROLE.pattern.removesuffix('$')})?"
    subject = re.compile(
        rf"{name}(?:\s?\([^()]*\))?(?:이|가|에서|에|만|의\s[가-힣 ]{{1,20}}(?:이|가|은|는))\s([^가-힣]*[가-힣%]{{0,6}}(?:으로|로|이며|,)?\s)?(?={PLACE_WORDS})"
    )
    predicate = re.compile(
        rf"(?:은|는|:)\s(?:바로\s)?{name}(?:\s?\([^()]*\)|의\s(?:약\s)?[\d,.]+\S{{0,4}}?)?\s?(?:입니다|이다|임|이며|이고|이었|였|예요|이에요|이?랍니다|으로|로)?[\s.!]*$"
    )
    return bool(subject.search(clause) or predicate.search(clause))


def reading_of(gold: str) -> Reading | None:
    """Return the reading that a gold answer such as `347건 (±12건)` describes, or None for other answers."""
    found = _TOLERANCE.fullmatch(gold)
    return Reading(quantities(found[1])[0], quantities(found[2])[0]) if found else None


def matches_reading(question: str, reading: Reading, output: str) -> bool:
    """Return whether all quantities that an output asserts are within the tolerance. There must be one or two."""
    value, tolerance = reading
    # A range is written with ~, so that its dash is not read as a minus sign.
    text = re.sub(r"(?<=\d)\s?[-–]\s?(?=\d)", "~", _STATED_ERROR.sub("", without_remarks(final_text(output))))
    if EITHER.search(text) or _BOUND.search(text):
        return False
    asserted = asserted_quantities(text, Reference(question, quantities(question), [value]))
    given = [quantity.in_unit(value.unit) for quantity in asserted]
    is_near = [
        abs(Decimal(quantity.value) - value.value) <= tolerance.value
        and Quantity(value.value, quantity.unit).agrees(value)
        for quantity in given
    ]
    return 1 <= len(is_near) <= 2 and all(is_near)


def quantity_f1(question: str, gold: str, output: str) -> float:
    """Return `strict_f1` of the final answer, with or without its remarks in brackets, whichever is higher.

    A change in the other direction than the question's earns nothing. English months, years of two digits and 없음 for
    zero are read as the gold answer writes them.
    """
    text = _MONTH_NAME.sub(lambda match: f"{1 + MONTHS.index(match[0].lower())}월", final_text(output))
    if _YEAR.fullmatch(gold):
        text = _TWO_DIGITS.sub(rf"{gold[:2]}\1년", text)
    if ("늘었습니까" in question and _SHRANK.search(text)) or ("줄었습니까" in question and _GREW.search(text)):
        return 0.0
    if "달" in question and gold.endswith("개"):
        text = text.replace("개월", "개")
    if _NONE.fullmatch(text) and quantities(gold)[0].value == 0:
        return 1.0
    return max(
        strict_f1(question, gold, text),
        0.0 if EITHER.search(text) else strict_f1(question, gold, without_remarks(text)),
    )

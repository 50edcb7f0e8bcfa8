"""Decide about answers that are a name, 알 수 없음, or a value read off a chart with a stated tolerance.

KO-FRESH calls `abstains` and `hesitates` (questions that have no answer), `matches_name` (gold 아파트), `matches_reading` (gold
`347건 (±12건)`) and `quantity_f1` (other gold answers); KO-VQA calls `matches_name` for gold answers without a number. The
answer is what follows the last `정답:`, which KO-FRESH's prompt asks for; without it, the whole output.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from evaluator.benchmarks.scoring.bounds import is_bound
from evaluator.benchmarks.scoring.contradictions import gives_change
from evaluator.benchmarks.scoring.final_answer import asserted_quantities, folded, strict_f1, without_remarks
from evaluator.benchmarks.scoring.names import MONTHS, ROLE, ROLE_WORDS, one_form, places_in, with_place_as
from evaluator.benchmarks.scoring.notation import plain
from evaluator.benchmarks.scoring.quantities import Quantity, quantities, scan
from evaluator.benchmarks.scoring.quantity_sets import is_among
from evaluator.benchmarks.scoring.sentence_values import DENIED_AFTER, Reference, years_in
from evaluator.benchmarks.scoring.stated_answer import EITHER, stated_answer
from evaluator.benchmarks.scoring.superlatives import PLACE_WORDS, is_about_another_place, superlative
from evaluator.benchmarks.scoring.units import are_interchangeable

_MARKED = re.compile(  # "정답: 347건입니다.": group 1 is the rest of the line
    r"""
    (?<![가-힣A-Za-z]) (?:정답|(?:최종[ ])?답변|답|(?:final[ ])?answer)
    (?: \W{0,6}?[:：] | 은(?=\s) | (?<=^정답)[ ](?=\S{1,20}$) )   # "정답 아파트" is a line
    \W*?                             # left out: "정답: **347건**", "정답: 「아파트」"
    (?=                              # the first character of an answer
        [\w(\\$①-⑳-]                # "347건", "(주)한빛", "\boxed{…}", "$5$", "① 아파트", "-5%"
      | [△▲▽▼]                       # "△5.2%"
      | [−–—‑](?=[\d.]) | \.(?=\d)   # "−5.2%", ".5%"
    )
    ([^\n]+)
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_WRAPPERS = " *_`\"'“”\t\n"  # characters around an answer
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

# Around a name in a sentence: "따라서 **아파트**(350호)로 나타났습니다."
_ENDING = re.compile(  # of a folded sentence, which has no spaces: 아파트[로나타났습니다]
    r"""
    (?: 입니다 | 이다 | 임 | 이에요 | 예요 | 이?랍니다 | 이었습니다 | 였습니다 | 요
      | (?:으로|로)
        (?: 보입니다 | 보인다 | 나타났습니다 | 나타납니다 | 판단됩니다 | 확인됩니다 | 추정됩니다
          | (?: 소개되어 | 적혀 | 나와 | 표시되어 | 기재되어 | 나타나 )있습니다
        )?
    )$
    """,
    re.VERBOSE,
)
_IS_IN = re.compile(r"에\s?(?:포함|속|해당|위치)\S*(?:\s있\S*)?[\s.!]*$")
_DISTRICT = re.compile(r"(?<=[가-힣]{2})(?:특별시|광역시|[시군구도읍면])$")  # of 해남군, which may be called 해남
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_IS_NOT_MEANT = re.compile(r"(?:이|가|은|는|을|를)?\s?(?:아니|아닙|보다|제외|빼고)")  # after a name: 아파트가 아닙니다
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)]|[①-⑳])\s+")
_LATEX_TEXT = re.compile(r"\\(?:text|mathrm|mathbf)\s*\{([^{}]*)\}")  # inside of \boxed{}
_CONCLUDES = re.compile(r"(?:따라서|그러므로|그래서|그러니|즉|결국|결론적으로|종합하면)[,\s]+|∴\s*")
_YEAR_BEFORE_BRACKET = re.compile(r"((?:19|20)\d\d년)\s?\(([^()]*)\)")  # 2018년(347건)
_HANGUL = re.compile(r"[가-힣][가-힣\d· ]*")
# Words of an English sentence in which a name is not the answer: "All types except 아파트", but not "no doubt".
_DENIES = re.compile(
    r"\b(?:not|never|neither|nor|no(?! doubt|\.)|except|exclud\w*|without|other than|rather than|instead of)\b|n't\b",
    re.IGNORECASE,
)
# What follows a name: its value, or a remark in brackets. (?<!\s)\s*+ begins at the start of white space only, here and in
# _STATED_ERROR, because \s* would begin at each of its characters and take quadratic time on a long run.
_REMARK = re.compile(r"(?<!\s)\s*+(?:[(\[]|[,:/–-]\s*(?:약\s*)?\d)")
# A value beside a name, in verbose patterns: 3억 원, 52㎍/㎥, 13,653천 명.
_VALUE = r"(?: (?:약\s)? \d[\d,.]* \s?(?:[가-힣%A-Za-z/㎍㎥㎢㎡]{1,6}\s?){0,2}? )"
_VALUE_FIRST = re.compile(rf"^ {_VALUE} (?: 인 | 의 | [을를]\s기록한 )\s", re.VERBOSE)  # [3억 원인 ]감사과입니다
# A value behind a name and what is said of it: 감사과[로 3억 원입니다], 반도체[이며, 수출액은 1,292억 달러입니다].
_VALUE_LAST = re.compile(
    rf"(?: 으로 | 로 | 이며 | 이고 ),?\s (?:[가-힣]+[은는]\s)? {_VALUE} (?: 입니다 | 이다 | 임 )? [\s.!]*$", re.VERBOSE
)
_OF_THIS = re.compile(r"^(?:이|그|해당|본)\s[가-힣]+의\s")  # [이 회사의 ]대표이사는
_MORE = re.compile(r"(?:더|보다)\s(많|높|크|큰|큽|적|낮|작|길|긴|깁)")  # 더 높은, 2020년보다 높은: group 1 is 높
_STEMS = {"큰": "크", "큽": "크", "긴": "길", "깁": "길"}  # of the syllables in group 1 that are not the stem
_THAN_FIRST = re.compile(r"^\S+?(?:\([^()]*\))?보다\s")  # [2020년(27만 명)보다 ]2019년이 더 많습니다
_SENTENCE_BREAK = re.compile(r"(?<=[다요])[.!]\s")
MAX_CLAUSES = 10  # an answer with more clauses is not searched for the one that gives the name
_CLAUSE_BREAK = re.compile(r"(?<=[고며])[,\s]\s?|(?<=지만)[,\s]\s?|(?<=는데)[,\s]\s?|(?<=[다요음임])\.\s*|[;\n]")

_TOLERANCE = re.compile(r"(.+) \(±(.+)\)")  # of a gold answer: 347건 (±12건)
_MONTH_NAME = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d년")
_TWO_DIGITS = re.compile(r"\A\W{0,3}(\d\d)년(?=\W|\Z|입니다|이다)")  # 19년, in quotation marks or not
_STATED_ERROR = re.compile(r"(?<!\s)\s*+±\s*[\d,.]+\S*")  # of an answer: 347건 ± 10건
_FRACTION = re.compile(r"(?<![\d/.])(?:([2-9]|10)분의\s?([1-9])|([1-9])/([2-9]|10))(?![\d/])")  # 4분의 1, 1/4
_PLACE_FIRST = re.compile(r"([123])\s?위(?:\s?[:은는]\s?|\s)")  # 2위 아파트
_NONE = re.compile(r"(?:한\s?\S{1,3}도\s|하나도\s)?없(?:음|습니다|다|어요)")  # for 0곳


class Reading(NamedTuple):
    """A value read from a chart, and how far an answer may be from it."""

    value: Quantity
    tolerance: Quantity


class Part(NamedTuple):
    """A part of a text, as in `text[start:end]`."""

    start: int
    end: int


def final_text(output: str) -> str:
    """Return what follows the last `정답:` of the stated answer of an output, or all of the stated answer."""
    stated = stated_answer(output)
    final = _final_part(stated)
    # A point at the start is kept, because it may be that of .5%.
    return stated[final.start : final.end].lstrip(_WRAPPERS).rstrip(f"{_WRAPPERS}.")


def _final_part(stated: str) -> Part:
    """Return the part of a stated answer after the last `정답:`: the rest of the line or, if that begins a list, all text."""
    marked = list(_MARKED.finditer(stated))
    if not marked:
        return Part(0, len(stated))
    start, end = marked[-1].span(1)
    is_list = _LIST_MARK.match(marked[-1][1])
    return Part(start, len(stated) if is_list else end)


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


def is_name(gold: str) -> bool:
    """Return whether a gold answer is a name, without any quantity."""
    return not quantities(gold)


def matches_name(question: str, gold: str, output: str) -> bool:
    """Return whether an output gives exactly this name: 아파트, 아파트입니다, 가장 많은 유형은 아파트입니다, 아파트 (350호).

    Alternatives (아파트 또는 빌라) give none. Otherwise the name may be the only one (아파트만), in bold (`_is_in_bold`) or in a
    sentence in English. If it is not, a list of names gives none, and the name must be in the clause with the question's
    superlative (`_is_in_answering_clause`) or in the last line (`_is_in_conclusion`).
    """
    final = final_text(output)
    question = plain(question)
    text = _LATEX_TEXT.sub(r"\1", _LIST_MARK.sub("", final))
    text = with_place_as(gold, plain(text).strip())
    place = _PLACE_FIRST.match(text)
    if place and place[1] == superlative(question).place:
        text = text[place.end() :]
    if EITHER.search(text):
        return False
    is_only_one = "유일" in question and re.search(rf"(?<![가-힣]){re.escape(gold)}만\s", text)  # 아파트만 늘었습니다
    if is_only_one or _is_in_bold(question, gold, stated_answer(output)):
        return True
    if not _DENIES.search(text) and _is_in_english_sentence(gold, text, final):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and _LIST_MARK.match(lines[-1]):
        return False  # a list of names
    if _is_in_answering_clause(question, gold, text):
        return True
    last_line = _LIST_MARK.sub("", lines[-1]).strip(_WRAPPERS) if lines else ""
    conclusion = last_line.rpartition("→")[2].strip()  # 아파트 350호, 빌라 200호 → 아파트
    return _is_in_conclusion(question, gold, conclusion)


def _is_in_bold(question: str, gold: str, stated: str) -> bool:
    """Return whether a name is the only text in bold of the final part of a stated answer, and not denied there.

    Its clause must not be about another place of a ranking: to "가장 적은 유형은?", "가장 많은 유형은 **아파트**이고" gives none.
    """
    final = _final_part(stated)
    # The ** in "정답: **아파트**로" are before the final part, so what counts is where the text in bold ends.
    bold = [match for match in _BOLD.finditer(stated, 0, final.end) if match.end() > final.start]
    if {folded(match[1]) for match in bold} != {folded(gold)}:
        return False
    # The clause around the last one.
    before = _CLAUSE_BREAK.split(stated[final.start : bold[-1].start()])[-1]
    after = _CLAUSE_BREAK.split(stated[bold[-1].end() : final.end])[0]
    return not _IS_NOT_MEANT.match(after) and not is_about_another_place(question, f"{before}{gold}{after}")


def _is_in_english_sentence(gold: str, text: str, final: str) -> bool:
    """Return whether a name follows an English verb, or is the only Hangul of an answer: "The type is 아파트".

    `text` is the answer as `plain` returns it, with the place as in the gold answer. `final` is as written, because `plain`
    writes English units in Hangul: people becomes 명.
    """
    if re.search(rf"\b(?:is|was|are)\s[\"'*]{{0,3}}{re.escape(gold)}(?![가-힣])", text):
        return True
    return set(map(folded, _HANGUL.findall(final))) == {folded(gold)}


def _is_in_conclusion(question: str, gold: str, conclusion: str) -> bool:
    """Return whether the answering sentence of a conclusion gives a name.

    It is the name alone (아파트입니다), the name after words of the question (가장 많은 유형은 아파트입니다), or a sentence that
    says of the name what the question asks (아파트가 가장 많습니다, 아파트가 더 많습니다).
    """
    sentence = _answering_sentence(conclusion)
    most_or_least = re.match(rf"{re.escape(gold)}(?:이|가)\s(?:가장|(?:2|두 )번째로)\s(많|적)", sentence)
    if most_or_least:  # 아파트가 가장 많습니다
        return most_or_least[1] in question and not is_about_another_place(question, sentence)
    has_more = _more_pattern(gold).match(_THAN_FIRST.sub("", sentence))
    if has_more and (asked := _MORE.search(question)):  # 아파트가 더 많습니다
        return _STEMS.get(has_more[1], has_more[1]) == _STEMS.get(asked[1], asked[1])
    if _does_what_is_asked(question, gold, sentence):
        return True
    for around_name in (_IS_IN, _VALUE_LAST, _VALUE_FIRST, _OF_THIS):
        sentence = around_name.sub("", sentence)
    given = _given_name(question, gold, sentence)
    return _is_same_name(question, gold, given) or _is_predicate(question, gold, sentence, given)


def _answering_sentence(line: str) -> str:
    """Return the first sentence of a line, or the last one if it begins with 따라서 or the like, without that word."""
    first, *others = _SENTENCE_BREAK.split(line)
    conclusion = _CONCLUDES.match(others[-1]) if others else None
    return others[-1][conclusion.end() :] if conclusion else _CONCLUDES.sub("", first, count=1)


def _given_name(question: str, gold: str, sentence: str) -> str:
    """Return what a sentence gives as a name, folded, which may have words before it.

    Remarks, the ending and words of the question that say what it is are left out: "도예 강좌입니다 (350명)" gives 도예 if the
    question asks for a 강좌.
    """
    words = _REMARK.split(sentence)[0].split()
    while len(words) > 1 and _is_in_question(words[-1], question) and not _belongs_to_name(gold, words[-1]):
        words.pop()
    return _ENDING.sub("", folded("".join(words)))


def _belongs_to_name(gold: str, word: str) -> bool:
    """Return whether a word is part of a name, or begins with the last word of the name: B사입니다 for B사."""
    return word in gold or (bool(gold.split()) and word.startswith(gold.split()[-1]))


def _more_pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of a sentence that says that a name has more: 아파트가 더 많습니다. Group 1 is as in _MORE."""
    return re.compile(
        rf"""
        {re.escape(name)} (?:\([^()]*\))? (?:의\s[가-힣\ ]{{1,12}})? (?:이|가|에|에서)\s
        (?:\S+로\s)?                                # 9만명으로
        (?: \S+?(?:\([^()]*\))? (?=보다\s)          # 2020년(27만 명), then _MORE reads 보다 많
          | \S+보다\s (?=더)                         # 2020년보다, then _MORE reads 더 많
        )?
        {_MORE.pattern}
        """,
        re.VERBOSE,
    )


def _does_what_is_asked(question: str, gold: str, sentence: str) -> bool:
    """Return whether a sentence has a name where the question asks who or where: 개막식은 서울광장에서 열립니다.

    The words before the name, and the first letter of the verb behind it, must be the question's.
    """
    found = re.match(
        rf"((?:\S+\s)*?){re.escape(gold)}(?:에서|에|이|가)\s([가-힣])([가-힣]*)(?:니다|다|요|음|됨|함)[\s.!]*$",
        sentence,
    )
    if found is None or not all(_is_in_question(word, question) for word in found[1].split()):
        return False
    return re.search(rf"(?<![가-힣]){found[2]}[가-힣]+\s?(?:[?.]|$|[가-힣]*(?:은|는|한|된|인)\s)", question) is not None


def _is_same_name(question: str, gold: str, given: str) -> bool:
    """Return whether a given name, which is folded, is the gold answer or a common form of it."""
    wanted = folded(gold)
    if wanted in (given, ROLE.sub("", given)):  # 건설업, 건설업 분야
        return True
    if given == _DISTRICT.sub("", wanted):  # 해남 for 해남군
        return True
    if places_in(given) and one_form(given) == one_form(wanted):  # 충남 for 충청남도
        return True
    own_words = [word for word in gold.split() if not _is_in_question(word, question)]
    return bool(own_words) and given == folded("".join(own_words))  # 도예 for 도예 강좌


def _is_predicate(question: str, gold: str, sentence: str, given: str) -> bool:
    """Return whether a sentence says of words of the question that they are the gold answer: 가장 많은 유형은 아파트입니다.

    `given` is what `_given_name` returns: 가장많은유형은아파트. The words before the name must all be the question's, so that no
    other name is among them.
    """
    wanted = folded(gold)
    if not given.endswith(wanted):
        given = ROLE.sub("", given)
    subject = given.removesuffix(wanted)
    if subject == given or not subject.endswith(("은", "는")):
        return False
    start = sentence.rfind(gold.split()[0])
    # The name may be written otherwise than gold, as NETFLIX for Netflix. It is then taken to be the last word.
    words_before = sentence[:start].split() if start >= 0 else sentence.split()[:-1]
    return all(_is_in_question(word, question) for word in words_before)


def _is_in_question(word: str, question: str) -> bool:
    """Return whether a question has the first two letters of a word, which leave out the particle: 유형은 for 유형이."""
    return word[:2] in question


def _is_in_answering_clause(question: str, gold: str, text: str) -> bool:
    """Return whether the clause of a text that answers a question gives a name.

    Of several clauses it is the one with the superlative that the question asks for. The name is its subject before that
    superlative, or its predicate: 중학교가 76.2%로 가장 높다, 두 번째는 주거비입니다.
    """
    clauses = [clause for clause in _CLAUSE_BREAK.split(text) if clause.strip()]
    asked = superlative(question)
    if asked == ("", "") or len(clauses) > MAX_CLAUSES:
        return False
    exact = [clause for clause in clauses if superlative(clause) == asked]
    answering = exact or [clause for clause in clauses if superlative(clause) == (asked.place, "")]
    return len(answering) == 1 and _is_subject_or_predicate(gold, answering[0])


def _is_subject_or_predicate(gold: str, clause: str) -> bool:
    """Return whether a name is the subject before a superlative, or the predicate at the end of a clause."""
    name = rf"""
        (?<![가-힣A-Za-z\d]) (?<![과와및·]\s)                     # not in a longer name, nor the last one of several
        ['"‘“]? {re.escape(gold)} ['"’”]? (?:\s?{ROLE_WORDS})?
    """
    subject = rf"""
        {name} (?:\s?\([^()]*\))?                                # 중학교(350명)
        (?: 이|가|에서|에|만 | 의\s[가-힣 ]{{1,20}}(?:이|가|은|는) )   # 중학교가, 중학교의 비율이
        \s (?: [^가-힣]*[가-힣%]{{0,6}}(?:으로|로|이며|,)?\s | {_VALUE} (?:으로|로|이며|,)\s )?   # 76.2%로, 1,292억 달러로
        (?={PLACE_WORDS})                                        # 가장 높다
    """
    predicate = rf"""
        (?:은|는|:)\s(?:바로\s)? {name}                           # 두 번째는 주거비
        (?: \s?\([^()]*\) | 의\s(?:약\s)?[\d,.]+\S{{0,4}}? | (?:으로|로|이며|이고),?\s(?:[가-힣]+[은는]\s)?{_VALUE} )?   # (350명), 의 35%, 로 3억 원
        \s? (?:입니다|이다|임|이며|이고|이었|였|예요|이에요|이?랍니다|으로|로)? [\s.!]*$
    """
    return any(re.search(pattern, clause, re.VERBOSE) for pattern in (subject, predicate))


def reading_of(gold: str) -> Reading | None:
    """Return the reading that a gold answer such as `347건 (±12건)` describes, or None for other answers."""
    found = _TOLERANCE.fullmatch(gold)
    return Reading(quantities(found[1])[0], quantities(found[2])[0]) if found else None


def matches_reading(question: str, reading: Reading, output: str) -> bool:
    """Return whether an output asserts one value within the tolerance, or two, such as both ends of a range."""
    value, tolerance = reading
    text = _STATED_ERROR.sub("", without_remarks(final_text(output)))
    # A range is written with ~, so that its dash is not read as a minus sign.
    text = re.sub(r"(?<=\d)\s?[-–]\s?(?=\d)", "~", text)
    if EITHER.search(text):
        return False
    if value.unit == "%" and "%" not in text:
        text = _FRACTION.sub(_percentage, text)
    asserted = asserted_quantities(text, Reference(question, quantities(question), [value]))
    if not 1 <= len(asserted) <= 2:
        return False
    if _is_bounded(question, plain(text), asserted) or gives_change(question, asserted, text):
        return False
    for quantity in asserted:
        given = quantity.in_unit(value.unit)
        is_near = abs(Decimal(given.value) - value.value) <= tolerance.value
        if not is_near or not are_interchangeable(given.unit, value.unit):
            return False
    return True


def _percentage(match: re.Match[str]) -> str:
    """Return `25%` for a match of 4분의 1 or 1/4."""
    parts, part = (match[1], match[2]) if match[1] else (match[4], match[3])
    return f"{100 * int(part) / int(parts):g}%"


def _is_bounded(question: str, text: str, asserted: Sequence[Quantity]) -> bool:
    """Return whether a text, which `plain` has returned, only bounds or denies an asserted quantity: 최대 350건, 350건 이상.

    A bound of another quantity is part of the subject: "65세 이상 인구는 350명입니다".
    """
    mentions = [mention for mention in scan(text) if is_among(mention.quantity, asserted)]
    return any(is_bound(question, text, mention) or DENIED_AFTER.match(text, mention.end) for mention in mentions)


def quantity_f1(question: str, gold: str, output: str) -> float:
    """Return `strict_f1` of the final answer, with or without its remarks in brackets, whichever is higher.

    A change in the other direction than the question's earns nothing. English months, years of two digits and 없음 for
    zero are read as the gold answer writes them.
    """
    text = _MONTH_NAME.sub(lambda match: f"{1 + MONTHS.index(match[0].lower())}월", final_text(output))
    if _YEAR.fullmatch(gold):
        text = _TWO_DIGITS.sub(rf"{gold[:2]}\1년", text)
    if _is_opposite_change(question, gold, text):
        return 0.0
    if "달" in question and gold.endswith("개"):  # 3개월 for 3개, if months are counted
        text = text.replace("개월", "개")
    if _NONE.fullmatch(text) and quantities(gold)[0].value == 0:
        return 1.0
    score = strict_f1(question, gold, text)
    shorter = without_remarks(text)  # but never without an alternative: 5건 (또는 6건)
    if score == 1.0 or shorter == text or EITHER.search(text):
        return score
    return max(score, strict_f1(question, gold, shorter))


def _is_opposite_change(question: str, gold: str, text: str) -> bool:
    """Return whether the words beside the gold value say the other direction than the question: 227건 감소 for 늘었습니까.

    `strict_f1` finds this too, unless the text also has a word of the right direction: "227건 감소, 증가 아님".
    """
    of_gold = quantities(gold)
    senses = {quantity.sense for quantity in quantities(text) if is_among(quantity, of_gold)}
    if "늘었습니까" in question:
        return senses == {"-"}
    return "줄었습니까" in question and senses == {"+"}

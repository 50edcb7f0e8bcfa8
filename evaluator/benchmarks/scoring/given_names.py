"""Decide whether an output gives a name as its answer: 아파트, 아파트입니다, 가장 많은 유형은 아파트입니다.

KO-FRESH and KO-VQA call `matches_name` for gold answers without a number.
"""

import re
from collections.abc import Sequence

from evaluator.benchmarks.scoring.final_answer import folded
from evaluator.benchmarks.scoring.final_text import LIST_MARK, WRAPPERS, final_part, final_text
from evaluator.benchmarks.scoring.names import ROLE, ROLE_WORDS, one_form, places_in, with_place_as
from evaluator.benchmarks.scoring.notation import plain
from evaluator.benchmarks.scoring.quantities import quantities
from evaluator.benchmarks.scoring.stated_answer import EITHER, stated_answer
from evaluator.benchmarks.scoring.superlatives import PLACE_WORDS, Superlative, is_about_another_place, superlative

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
_IS_IN = re.compile(r"에\s?(?:포함|속|해당|위치)\S*(?:\s있\S*)?[\s.!]*$")  # 감사과[에 속합니다]
_DISTRICT = re.compile(r"(?<=[가-힣]{2})(?:특별시|광역시|[시군구도읍면])$")  # of 해남군, which may be called 해남
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_IS_NOT_MEANT = re.compile(r"(?:이|가|은|는|을|를)?\s?(?:아니|아닙|보다|제외|빼고)")  # after a name: 아파트가 아닙니다
_LATEX_TEXT = re.compile(r"\\(?:text|mathrm|mathbf)\s*\{([^{}]*)\}")  # inside of \boxed{}
# The beginning of a conclusion.
_CONCLUDES = re.compile(r"(?:따라서|그러므로|그래서|그러니|즉|결국|결론적으로|종합하면)[,\s]+|∴\s*")
_HANGUL = re.compile(r"[가-힣][가-힣\d· ]*")  # one or more words
# Words of an English sentence in which a name is not the answer: "All types except 아파트", but not "no doubt".
_DENIES = re.compile(
    r"\b(?:not|never|neither|nor|no(?! doubt|\.)|except|exclud\w*|without|other than|rather than|instead of)\b|n't\b",
    re.IGNORECASE,
)
# What follows a name: its value, or a remark in brackets. (?<!\s)\s*+ begins at the start of white space only, because \s*
# would begin at each of its characters and take quadratic time on a long run.
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
_SENTENCE_BREAK = re.compile(r"(?<=[다요])[.!]\s")  # 아파트입니다[. ]350호로 가장 많습니다
MAX_CLAUSES = 10  # an answer with more clauses is not searched for the one that gives the name
# 아파트가 가장 많고[, ]빌라가 두 번째로 많습니다; 11위는 안산시[, ]12위는 수원시
_CLAUSE_BREAK = re.compile(
    r"(?<=[고며])[,\s]\s?|(?<=지만)[,\s]\s?|(?<=는데)[,\s]\s?|(?<=[다요음임])\.\s*|,\s(?=\d{1,2}위)|[;\n]"
)
_PLACE_FIRST = re.compile(r"([123])\s?위(?:\s?[:은는]\s?|\s)")  # 2위 아파트


def is_name(gold: str) -> bool:
    """Return whether a gold answer is a name, without any quantity."""
    return not quantities(gold)


def matches_name(question: str, gold: str, output: str) -> bool:
    """Return whether an output gives exactly this name: 아파트, 아파트입니다, 가장 많은 유형은 아파트입니다, 아파트 (350호).

    The steps, in this order:
    1. An output with alternatives (아파트 또는 빌라) gives no name.
    2. It gives the name if it says that it is the only one (아파트만), if the name is the only text in bold, or if an English
       sentence gives it.
    3. Otherwise a list of names gives none.
    4. It gives the name if the clause with the question's superlative does, or the last line.
    """
    question = plain(question)
    text = _readable_answer(question, gold, output)
    if EITHER.search(text):
        return False
    if _stands_out(question, gold, output, text):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    ends_with_list = len(lines) > 1 and bool(LIST_MARK.match(lines[-1]))
    if ends_with_list:
        return False
    return _is_in_answering_clause(question, gold, text) or _is_in_last_line(question, gold, lines)


def _readable_answer(question: str, gold: str, output: str) -> str:
    """Return the final text of an output in the form of `plain`, without a list mark and LaTeX, with places as in `gold`.

    The place of a ranking that the question asks for is left out: to "가장 많은 유형은?", "1위 아파트" becomes "아파트".
    """
    text = _LATEX_TEXT.sub(r"\1", LIST_MARK.sub("", final_text(output)))
    text = with_place_as(gold, plain(text).strip())
    place = _PLACE_FIRST.match(text)
    if place and place[1] == superlative(question).place:
        text = text[place.end() :]
    return text


def _stands_out(question: str, gold: str, output: str, text: str) -> bool:
    """Return whether a name is said to be the only one, is the only text in bold, or is given by an English sentence.

    `text` is what `_readable_answer` returns.
    """
    is_only_one = "유일" in question and re.search(rf"(?<![가-힣]){re.escape(gold)}만\s", text)  # 아파트만 늘었습니다
    # `_is_in_bold` gets the stated answer, because `final_text` strips the ** around a name.
    if is_only_one or _is_in_bold(question, gold, stated_answer(output)):
        return True
    return not _DENIES.search(text) and _is_in_english_sentence(gold, text, final_text(output))


def _is_in_bold(question: str, gold: str, stated: str) -> bool:
    """Return whether a name is the only text in bold of the final part of a stated answer, and not denied there.

    Its clause must not be about another place of a ranking: to "가장 적은 유형은?", "가장 많은 유형은 **아파트**이고" gives none.
    """
    final = final_part(stated)
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


def _is_in_last_line(question: str, gold: str, lines: Sequence[str]) -> bool:
    """Return whether the last line gives a name. What follows its last arrow counts: "아파트 350호, 빌라 200호 → 아파트"."""
    last_line = LIST_MARK.sub("", lines[-1]).strip(WRAPPERS) if lines else ""
    conclusion = last_line.rpartition("→")[2].strip()
    return _is_in_conclusion(question, gold, conclusion)


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
    sentence = _without_frame(sentence)
    given = _given_name(question, gold, sentence)
    return _is_same_name(question, gold, given) or _is_predicate(question, gold, sentence, given)


def _answering_sentence(line: str) -> str:
    """Return the first sentence of a line, or the last one if it begins with 따라서 or the like, without that word."""
    first, *others = _SENTENCE_BREAK.split(line)
    conclusion = _CONCLUDES.match(others[-1]) if others else None
    return others[-1][conclusion.end() :] if conclusion else _CONCLUDES.sub("", first, count=1)


def _without_frame(sentence: str) -> str:
    """Return a sentence without what may stand around a name, which is in brackets in these examples.

    감사과[에 속합니다], 감사과[로 3억 원입니다], [3억 원인 ]감사과, [이 회사의 ]대표이사.
    """
    for around_name in (_IS_IN, _VALUE_LAST, _VALUE_FIRST, _OF_THIS):
        sentence = around_name.sub("", sentence)
    return sentence


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
    """Return whether a question has the first two letters of a word, which leave out the particle: 유형은 for 유형이.

    The 1위 of 11위 does not count.
    """
    return re.search(rf"(?<!\d){re.escape(word[:2])}", question) is not None


def _is_in_answering_clause(question: str, gold: str, text: str) -> bool:
    """Return whether the clause of a text that answers a question gives a name.

    Of several clauses it is the one with the superlative that the question asks for. The name is its subject before that
    superlative, or its predicate: 중학교가 76.2%로 가장 높다, 두 번째는 주거비입니다.
    """
    clauses = [clause for clause in _CLAUSE_BREAK.split(text) if clause.strip()]
    asked = superlative(question)
    asks_for_no_place = asked == Superlative(place="", end="")
    if asks_for_no_place or len(clauses) > MAX_CLAUSES:
        return False
    same_place_and_end = [clause for clause in clauses if superlative(clause) == asked]
    # A clause may leave out from which end it counts: "두 번째는 주거비" for "두 번째로 많은".
    same_place = [clause for clause in clauses if superlative(clause) == Superlative(asked.place, end="")]
    answering = same_place_and_end or same_place
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

"""Find the letter, or the letters, of the choice that an answer settles on.

This is the strict rule of all benchmarks with choices: `"A는 틀렸으므로 정답은 (B)입니다."` → `"B"`. A letter is a choice only if
it stands alone or before a particle. `A chart shows` has an article, and `A사`, `B형` and `D램` are labels of a chart.

Letters are looked for in the places where answers are given, the most reliable place first (`_letters_by_place`): after a
marker such as 정답, after a conclusion, alone in a line, and so on. The first place with a letter decides, and the answer is
clear only if there is one letter at that place and no alternative beside it.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from evaluator.benchmarks.scoring.choices import LETTERS
from evaluator.benchmarks.scoring.stated_answer import EITHER, stated_answer

MAX_WORDS_BESIDE = 15  # beside the text of a choice in the last sentence of an answer
MAX_LETTERS = 50  # an answer with more letters or markers in one place repeats itself and asserts nothing
# Characters before a letter in which the rules look for a noun such as group, or a denial.
_NOUN_REACH, _DENIAL_REACH = 12, 20
_CLEAR_PLACES = 2  # of _letters_by_place: after a marker and after a conclusion

# Which letters are choices: what may follow one in Hangul, and the nouns whose labels are not choices.
_PARTICLE = re.compile(
    r"""
    (?:
        은 | 는 | 이 | 가 | 을 | 를 | 의 | 와 | 과 | 도 | 만 | 로 | 나 | 라         # B가, B와
      | 번 | 항 | 안 | 인 | 일 | 임 | 에                                            # B번, B임
      | 번은 | 번이 | 번을 | 번과 | 번도 | 번만 | 번의                              # B번은
      | 이나 | 보다 | 처럼 | 라고 | 라는 | 이라고 | 이라는 | 으로                   # B보다, B라고
    ) (?![가-힣])
    | 뿐 | 번?(?:
        입니다 | 이다 | 이며 | 이고 | 이므로 | 이에요 | 예요 | 이었 | 였 | 이라     # B입니다, B번이다
      | 일\ 것 | 인\ 것 | 임을 | 라\  | 이\ 맞 | 가\ 맞                             # B일 것, B라 생각합니다, B가 맞습니다
    )
    | 선택 | 보기 | 옵션 | 설명                                                     # B선택지
    | 또는 | 혹은 | 아니면 | 이거나 | 거나 | 및                                     # B또는 C
    """,
    re.VERBOSE,
)
_NOUN = re.compile(
    r"""
    \s
    (?:
        사 | 회사 | 기업 | 업체 | 공장 | 지점                # B 회사
      | 지역 | 시 | 군 | 구 | 동 | 국 | 구간 | 노선          # B 지역
      | 형 | 등급 | 급 | 제품 | 상품 | 항목                  # B 등급
      | 그룹 | 팀 | 반 | 조 | 군집 | 대학 | 학교             # B 그룹
    )
    (?:은|는|이|가|을|를|의|과|와|도|보다|에서)? (?![가-힣])
    """,
    re.VERBOSE,
)
# What may follow choice A in English. Before any other word, A is an article.
_AFTER_CHOICE_A = re.compile(
    r"""
    \s+
    (?:
        is | was | are | has | would                                  # A is correct
      | because | since | as | and | or | but | not | here | only     # A because the bar …
      | matches | describes | best | fits | correctly | accurately    # A best describes the chart
      | seems | looks | appears | states | says                       # A states that
    )\b
    """,
    re.VERBOSE,
)
_WORD = re.compile(r"\s+[a-z]")  # after an article: A chart
_ALONE = re.compile(r"(?<![A-Za-z'’])[A-Da-d](?![A-Za-z'’]|-[a-z])")  # not part of a word: not in PDF, A's, A-list
_QUOTED = re.compile(r"['‘’\"“”`]([A-D])['‘’\"“”`]")  # "B"
_NOUN_BEFORE = re.compile(
    r"""
    (?: vitamin | hepatitis                                           # vitamin C
      | group | team | company | region                               # group A
      | type | class | grade | plan | product | model                 # class B
      | phase | zone | line | section | series                        # phase A
      | 그룹 | 팀 | 회사 | 기업 | 지역 | 등급 | 유형 | 타입           # 그룹 A
      | 제품 | 모델 | 플랜 | 노선 | 비타민                            # 비타민 C
    )
    \s?$
    """,
    re.IGNORECASE | re.VERBOSE,
)

# Places of an answer.
_MARKER = re.compile(
    r"""
    (?: (?<![가-힣]) (?:최종\s?)? (?:정답|답변|답)                    # 최종 정답, but not 대답
      | (?:final\ |correct\ )? answer                                 # final answer
      | correct\ (?: choice | option | statement | description )      # correct option
    )
    (?: 은 | 는 | 이 | : | = | \s | is\b | 옵션 | 선택지 )*           # 정답은 옵션, answer is:
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DIRECT = re.compile(r"[\s(\[*\"'“‘]*([A-Da-d])(?![A-Za-z'’])")  # right after a marker: (b), **B**
_CONCLUSION = re.compile(
    r"""
    따라서 | 그러므로 | 그래서 | 결론                                 # 따라서 B
    | (?<![가-힣])즉(?![가-힣])                                       # 즉 B, but not 즉시
    | 가장\ 적절한 | 남은(?=\s[A-D])                                  # 남은 B
    | (?: 남는 | 남은 | 옳은 | 맞는 | 올바른                          # 옳은 것은 B
        | (?: 바르 | 올바르 | 정확하 | 옳 )게\ [가-힣]{2,6}           # 바르게 설명한 것은 B
        | (?: 정확히 | 가장\ 잘 )\ [가-힣]{2,6}                       # 가장 잘 나타낸 설명은 B
        | (?: 일치 | 부합 )하는                                       # 일치하는 설명은 B
      )
      \ (?: 것 | 설명 | 보기 | 선택지 )
    | \b(?: therefore | thus | hence | so                             # therefore B
        | leaves | leaving | remaining )\b                            # which leaves B
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE_END = re.compile(r"[.!?。](?=\s|\Z)|\n")  # not in 3.5
_AFFIRMED_AFTER = re.compile(
    r"""
    [)\]*\"']* (?:번)? (?: 은 | 는 | 이 | 가 | 만 | 만이 )? [\s:|]*   # B번이, B:, B |
    (?:is\s)? (?:the\s)? (?:only\s)?
    (?: correct | right\b | true\b | matches                          # B is the only correct
      | 참 (?![가-힣]*지)                                             # B는 참, but not 참이지 않습니다
      | (?:을|를)\s?
        (?: 고르(?!지) | 고릅 | 골라 | 골랐                           # B를 고르겠습니다, but not 고르지
          | 선택(?!하지) | 택하 | 택합 )                              # B를 선택합니다
      | 맞 (?!지|을) | 옳 (?!지|을)                                   # B가 맞습니다, but not 맞지 않습니다, 맞을까요
      | 정답 | 가장\ 적절 | 일치 (?!하지)                             # B가 정답, B가 일치합니다
      | [✅⭕✓] | \(?O\)                                              # B: ✅, B (O)
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_FIRST = re.compile(  # the answer's first word
    r"""
    \A [\s(\[*#\"'<>]*
    ([A-Da-d])
    (?= [\s)\].:*\"'번은는이가를도,]                                  # (b), B번
      | 입니다 | 예요 | \Z                                            # B입니다
    )
    """,
    re.VERBOSE,
)
_LINE = re.compile(r"^[ \t(\[*\"']*([A-D])[)\]*\"'.]*[ \t]*$", re.MULTILINE)  # nothing else in its line
_CHECKED_LINE = re.compile(  # "B. The share of … fell. ✅"
    r"^[^\nA-D]*(?:option\s|choice\s)?([A-D])[.):][^\n]*[✅✔✓⭕]\s*$", re.MULTILINE | re.IGNORECASE
)
_EMPHASIZED = re.compile(r"(?:\(|\[|\*\*)([A-D])(?:\)|\]|\*\*)")  # (B), [B], **B**

# Alternatives and lists. The first three strings are parts of verbose patterns.
_CLOSING_MARKS = r"[)\]*\"']* (?:\.|번)?"  # brackets, bold, quotes, "." or "번" after a letter
_NEXT_LETTER = r"[(\[*\"']* [A-D] (?![A-Za-z])"
_OR = r"또는 | 혹은 | 아니면 | 이?나 | or\b"
# After a letter that is one of several candidates.
_CANDIDATE_AFTER = re.compile(
    rf"""
    {_CLOSING_MARKS} \s*
    (?: (?: 또는 | 혹은 | 아니면 | 내지 | 이?나 | 및 | 와 | 과        # A 또는 B, A와 B
          | — | [,/~|·&] | (?<!\n)-                                   # A, B; A/B; A-B, but not an item of a list
          | or\b | and\b                                              # A or B
        )
        \s*
    )+
    [(\[*\"']* (?!(?-i:a\s+[a-z])) [A-D] (?![A-Za-z가-힣])            # but not an article: B, a decline
    (?!{_CLOSING_MARKS}\s*중)                                        # nor A, B 중
    | {_CLOSING_MARKS} \s* (?: (?:{_OR}) \s* )+ {_NEXT_LETTER}        # A 또는 B입니다: a particle may follow
    | \)\s*\([A-D]\)                                                  # (A) (B)
    | {_CLOSING_MARKS}
      (?: \s+ {_NEXT_LETTER} {_CLOSING_MARKS} )+ \s* (?:\Z|\n)        # A B C D at the end of a line
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BETWEEN = re.compile(  # between two letters of a list
    r"""
    [)\]*\"'\s]*
    (?:
        (?: 또는 | 혹은 | 아니면 | 이?나 | 및 | 와 | 과               # A와 B
          | [,/~|·&]                                                  # A, B
          | or\b | and\b                                              # A and B
        )
        [\s(\[*\"']*
    )+
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OF_THEM = re.compile(r"[)\]*\"']*\s*(?:중|가운데)")  # after the list of which one is chosen: A와 B 중 B
_ALSO_POSSIBLE = re.compile(
    r"""
    [)\]*\"']* (?:번)? \s* (?: 도 | 역시 | 일\ 수도? )
    \s* (?: 가능 | 맞 | 적절 | 옳 | 해당 | 정답 | 될 | 있 )           # B도 가능합니다, B일 수 있습니다
    | \s (?: is | are | could | might | may )
      \s (?: also | be | equally )
      \s (?: possible | correct | right | plausible )                 # B is also possible
    """,
    re.IGNORECASE | re.VERBOSE,
)
# What follows or precedes a letter that the answer denies.
_DENIED_AFTER = re.compile(
    r"""
    [)\]*\"']* (?:번)? (?: 이 | 가 | 은 | 는 | 도 | 를 | 을 | : )? [^\S\n]*
    (?:
        아니(?!면) | 아닙 | 아님                                      # B가 아니라, but not 아니면 (or)
      | (?: (?:is|are)\s* )? (?: not\b | incorrect | wrong | false )  # B is not
      | 틀[리렸린립] | 오답 | 거짓 | [❌✗]                            # B는 틀립니다, B: ❌
      | 제외 | 외의 | 고르면                                          # B를 제외하면, B 외의
      | 인지 | \? | (?:맞|옳)(?: 지\s*않 | 을까 )                     # B인지, B?, B가 맞을까
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DENIED_IN_CLAUSE = re.compile(
    r"""
    [)\]*\"'\s|:]{0,6} (?: 번 | 은 | 는 | 이 | 가 | 도 )
    (?! \s? (?: 정답이[고며] | [맞옳](?:고|으며) ) )                 # but not B는 정답이고 나머지는 사실과 다릅니다
    (?-i:[^A-D.\n,;]){0,40}?                                          # up to another letter or clause
    (?: 맞지\ 않 | 옳지\ 않 | 일치하지 | 부합하지                     # B는 그래프와 일치하지 않습니다
      | 틀리 | 틀립 | 틀렸 | 다릅 | 다르 | 아닙                       # B는 … 사실과 다릅니다
      | 오답 | 잘못 | 거짓 | 반대                                     # B는 증감이 반대입니다
      | (?: 것처럼 | 듯이? | 것\ 같아 )\s?(?:보이|하)(?:지만|나|는데) # B가 맞는 것처럼 보이지만
    )
    | \s (?: is | was | are | cannot | can't | does | doesn't | did | has )\b
      (?: (?: \s[a-z]+ly ){1,2} \s                                  # B is clearly wrong
        | [^A-D.\n,;]{0,30}? )                                        # up to any of these letters, in either case
      (?: false | incorrect | wrong | not\b | n't\b | cannot          # B is not
        | contradict | ruled\ out | eliminated )                      # B is ruled out
    | \s (?: can't | cannot | doesn't | does\ not | isn't )
      \s (?! be\ ruled | be\ excluded )                               # B doesn't match, but not B cannot be ruled out
    | [\s|:)]{0,6} (?: [❌✗✘×] | \(X\) | 불일치 | 부적합 )            # | B | ❌ |
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DENIED_BEFORE = re.compile(
    r"""
    \b (?: not | except | isn't | rather\ than | instead\ of        # B rather than A
         | (?: all | any | anything | everything | none )\ but )      # all but B
    \s+ (?:to\s)? (?:choice\s|option\s)? [(\[*\"']* $                 # not option (B
    | (?: (?:그다음|다음) (?:으로|은|에는) | 두\ 번째로 )
      [^.\n]{0,20} $                                                  # 그다음으로 적절한 것은 B
    """,
    re.IGNORECASE | re.VERBOSE,
)
# An output that begins with the choices, one per line. A letter alone in the first line is an answer and does not match.
_REPEATED_CHOICES = re.compile(r"\s*+A[.:)](?=[^\n]*\w)[^\n]*+\n++(?:[^\n]++\n++)*?[^\S\n]*+B[.:)]")
_CHOICE_IN_QUESTION = re.compile(r"(?:^|\s)\(?([A-D])[.):]\s")  # (A) Japan, A. Japan
_CHOICE_LINE = re.compile(r"\s*[A-D][.:)]")  # A. Japan
# Answers to questions with several right choices.
_DENIES = re.compile(r"\bnot\b|n't\b|아니")
_ONLY_LETTERS = re.compile(r"[\s*().]*[A-Da-d](?:[\s*().]*,\s*[A-D])*[\s*().]*")  # **A**, B


class Letter(NamedTuple):
    """A letter and where it is in a text: `text[start:end]`, in either case."""

    name: str  # A, B, C or D
    start: int
    end: int


def asserted_letter(output: str, choices: Sequence[str] = ()) -> str | None:
    """Return the letter that an answer asserts, as in `정답은 B`, `(B)` or `**B**`. None if it asserts none or several.

    An answer that names no letter may end with the text of one of the choices, which are in the order of their letters.
    """
    text = _readable(output)
    if letter := _settled_letter(text):
        return letter
    return None if _names_in(text) else _letter_of_text(text, choices)


def choices_in_question(question: str) -> list[str]:
    """Return the choices that a question lists as `A. …` to at most `D. …`, or an empty list."""
    rest = _CHOICE_IN_QUESTION.split(question)[1:]
    letters = "".join(rest[::2])
    return [text.strip() for text in rest[1::2]] if letters and LETTERS.startswith(letters) else []


def _letter_of_text(text: str, choices: Sequence[str]) -> str | None:
    """Return the letter of the only choice whose text the last sentence of an answer has, or None.

    Of choices 서울 and 부산, "가장 높은 곳은 부산입니다." gives B, and "서울보다 부산이 높습니다." gives None.
    """
    if not choices or EITHER.search(text):
        return None
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if re.search(r"\w", sentence)]
    if not sentences or _DENIES.search(sentences[-1]):
        return None
    last = _words_of(sentences[-1])
    texts = list(map(_words_of, choices))
    named = [place for place, words in enumerate(texts) if words and re.search(rf"\b{words}(?![a-z\d])", last)]
    if len(named) != 1:
        return None
    words_beside = len(last.split()) - len(texts[named[0]].split())
    return LETTERS[named[0]] if words_beside <= MAX_WORDS_BESIDE else None


def _words_of(text: str) -> str:
    """Return the words of a text in lower case with a space between them: "Sales, in 2020!" → "sales in 2020"."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def asserted_letters(output: str) -> set[str]:
    """Return the letters that an answer to a question with several right choices asserts. Empty if it offers alternatives.

    "정답: A, C" → {"A", "C"}; "A or C" → set(). What follows markers decides; else the only line that has nothing but
    letters; else the last line with letters, unless that is one of the repeated choices.
    """
    text = _readable(output)
    if letter := _settled_letter(text):
        return {letter}
    if _repeats_itself(text) or EITHER.search(text) or _DENIES.search(text):
        return set()
    after_markers = (_names_in_sentence(text, marker.end()) for marker in _MARKER.finditer(text))
    marked = [names for names in after_markers if names]
    if marked:
        return marked[0] if all(names == marked[0] for names in marked) else set()
    lines = [line for line in text.splitlines() if line.strip()]
    only_letters = [line for line in lines if _ONLY_LETTERS.fullmatch(line)]
    if only_letters:
        return _names_in(only_letters[0].upper()) if len(only_letters) == 1 else set()
    last = next((line for line in reversed(lines) if _names_in(line)), "")
    return set() if _REPEATED_CHOICES.match(text) and _CHOICE_LINE.match(last) else _names_in(last)


def _settled_letter(text: str) -> str | None:
    """Return the letter that a readable text asserts, or None if it asserts none or several.

    The first place with a letter decides, even if later places have others: "정답은 B. A는 틀렸다" → B. It gives None if
    that place has two letters, so that an unclear marker does not make way for a clear line below it.
    """
    if _repeats_itself(text):
        return None
    letters = [letter for letter in _choices(text) if not _is_denied(text, letter)]
    differ = len({letter.name for letter in letters}) > 1
    if differ and any(_ALSO_POSSIBLE.match(text, letter.end) for letter in letters):
        return None
    for place, found in enumerate(_letters_by_place(text, letters)):
        if place >= _CLEAR_PLACES and differ and _REPEATED_CHOICES.match(text):
            return None  # beside the repeated choices, only a letter after a marker or a conclusion is an answer
        if found:
            return None if _is_listed(text, letters, found) else _only_name(text, found)
    return None


def _readable(output: str) -> str:
    """Return the stated answer in one character width, with letters out of quotation marks."""
    return _QUOTED.sub(r"\1", unicodedata.normalize("NFKC", stated_answer(output)))


def _repeats_itself(text: str) -> bool:
    """Return whether a text has more markers or conclusions than an answer has."""
    return any(len(pattern.findall(text)) > MAX_LETTERS for pattern in (_MARKER, _CONCLUSION))


def _names_in(text: str) -> set[str]:
    """Return the names of the letters in a text that are choices."""
    return {letter.name for letter in _choices(text)}


def _names_in_sentence(text: str, start: int) -> set[str]:
    """Return the names of the letters from `start` to the end of its sentence."""
    return _names_in(text[start : _sentence_end(text, start)])


def _choices(text: str) -> list[Letter]:
    """Return the capital letters of a text that are choices, not articles or labels."""
    capitals = (Letter(match[0], match.start(), match.end()) for match in _ALONE.finditer(text) if match[0].isupper())
    return [letter for letter in capitals if not _is_label(text, letter)]


def _is_label(text: str, letter: Letter) -> bool:
    """Return whether a letter is an article or names something else than a choice: A chart, B사, B 회사, group C."""
    if _NOUN_BEFORE.search(text, max(0, letter.start - _NOUN_REACH), letter.start) or _NOUN.match(text, letter.end):
        return True
    following = text[letter.end : letter.end + 1]
    if "가" <= following <= "힣":
        return not _PARTICLE.match(text, letter.end)
    return letter.name == "A" and bool(_WORD.match(text, letter.end)) and not _AFTER_CHOICE_A.match(text, letter.end)


def _is_denied(text: str, letter: Letter) -> bool:
    """Return whether an answer denies a letter: not B, B가 아니라, B는 그래프와 일치하지 않습니다."""
    before = _DENIED_BEFORE.search(text, max(0, letter.start - _DENIAL_REACH), letter.start)
    return bool(before or _DENIED_AFTER.match(text, letter.end) or _DENIED_IN_CLAUSE.match(text, letter.end))


def _letters_by_place(text: str, letters: Sequence[Letter]) -> Iterator[list[Letter]]:
    """Yield the letters at each place where answers are given, the most reliable place first.

    `letters` are all choices of the text that it does not deny. The first _CLEAR_PLACES places are clear even in an output
    that repeats the choices.
    """
    yield [letter for marker in _MARKER.finditer(text) for letter in _after(text, marker.end(), letters)]  # 정답: B
    yield [letter for conclusion in _CONCLUSION.finditer(text) for letter in _after(text, conclusion.end(), letters)]
    yield _matched(text, _LINE)  # a line with nothing but B
    yield _matched(text, _CHECKED_LINE)  # B. … ✅
    yield [letter for letter in letters if _AFFIRMED_AFTER.match(text, letter.end)]  # B가 맞습니다
    yield _matched(text, _FIRST)  # B. …
    yield [letter for letter in _matched(text, _EMPHASIZED) if letter in letters]  # … (B) …
    yield list(letters)


def _after(text: str, start: int, letters: Sequence[Letter]) -> list[Letter]:
    """Return the letter right after a marker, in either case, or else the last of `letters` in its sentence.

    `start` is the end of the marker. "정답은 b" → B; "정답은 A를 뺀 것 중 B입니다" → B. Letters that are joined with another
    candidate are returned too: "정답은 보기의 A 또는 B" → A, B.
    """
    if direct := _DIRECT.match(text, start):
        letter = Letter(direct[1].upper(), direct.start(1), direct.end(1))
        if not _is_denied(text, letter) and not _is_label(text, letter):
            return [letter]
    end = _sentence_end(text, start)
    in_sentence = [letter for letter in letters if start <= letter.start < end]
    joined = [letter for letter in in_sentence[:-1] if _CANDIDATE_AFTER.match(text, letter.end)]
    return [*joined, *in_sentence[-1:]]


def _sentence_end(text: str, start: int) -> int:
    end = _SENTENCE_END.search(text, start)
    return end.start() if end else len(text)


def _matched(text: str, pattern: re.Pattern[str]) -> list[Letter]:
    """Return the letters in the first group of a pattern that are choices and not denied."""
    found = [Letter(match[1].upper(), match.start(1), match.end(1)) for match in pattern.finditer(text)]
    return [letter for letter in found if not _is_denied(text, letter) and not _is_label(text, letter)]


def _is_listed(text: str, letters: Sequence[Letter], found: Sequence[Letter]) -> bool:
    """Return whether one of the letters found is the end of a list: A, B, C가 맞습니다."""
    return any(
        following in found
        and _BETWEEN.fullmatch(text, letter.end, following.start)
        and not _OF_THEM.match(text, following.end)
        for letter, following in pairwise(letters)
    )


def _only_name(text: str, found: Sequence[Letter]) -> str | None:
    """Return the name of the letters found, or None if they differ or one of them is beside another candidate."""
    names = {letter.name for letter in found}
    if len(names) > 1 or len(found) > MAX_LETTERS:
        return None
    has_others = _names_in(text) != names
    if has_others and any(_CANDIDATE_AFTER.match(text, letter.end) for letter in found):
        return None
    return names.pop()

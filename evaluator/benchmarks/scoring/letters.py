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
    r"(?:은|는|이|가|을|를|의|와|과|도|만|로|나|라|번|항|안|인|일|임|에|번은|번이|번을|번과|번도|번만|번의|이나|보다|처럼|라고|라는|이라고|이라는|으로)(?![가-힣])"
    r"|뿐|번?(?:입니다|이다|이며|이고|이므로|이에요|예요|이었|였|이라|일 것|인 것|임을|라 |이 맞|가 맞)|선택|보기|옵션|설명|또는|혹은|아니면|이거나|거나|및"
)
_NOUN = re.compile(
    r"\s(?:사|회사|기업|업체|지역|시|군|구|동|형|등급|급|제품|상품|그룹|팀|반|조|국|대학|학교|공장|지점|항목|구간|군집|노선)(?:은|는|이|가|을|를|의|와|과|도|보다|에서)?(?![가-힣])"
)
# What may follow choice A in English. Before any other word, A is an article.
_AFTER_CHOICE_A = re.compile(
    r"\s+(?:is|was|are|has|because|since|as|and|or|but|not|matches|describes|best|fits|seems|correctly|accurately|would|states|says|looks|appears|here|only)\b"
)
_WORD = re.compile(r"\s+[a-z]")
# A letter that is not part of a word: not in PDF, A's, A-list.
_ALONE = re.compile(r"(?<![A-Za-z'’])[A-Da-d](?![A-Za-z'’]|-[a-z])")
_QUOTED = re.compile(r"['‘’\"“”`]([A-D])['‘’\"“”`]")
_NOUN_BEFORE = re.compile(  # vitamin C, group A
    r"(?:vitamin|plan|type|group|class|grade|company|product|team|model|region|phase|zone|line|hepatitis|section|series"
    r"|그룹|유형|제품|회사|기업|지역|비타민|등급|타입|플랜|팀|모델|노선)\s?$",
    re.IGNORECASE,
)

# Places of an answer.
_MARKER = re.compile(
    r"(?:(?<![가-힣])(?:최종\s?)?(?:정답|답변|답)|(?:final |correct )?answer|correct (?:choice|option|statement|description))(?:은|는|이|:|=|\s|is\b|옵션|선택지)*",
    re.IGNORECASE,
)
_DIRECT = re.compile(r"[\s(\[*\"'“‘]*([A-Da-d])(?![A-Za-z'’])")  # right after a marker: (b), **B**
_CONCLUSION = re.compile(
    r"따라서|그러므로|그래서|결론|(?<![가-힣])즉(?![가-힣])|가장 적절한|남은(?=\s[A-D])"
    r"|(?:남는|남은|옳은|맞는|올바른|(?:바르|올바르|정확하|옳)게 [가-힣]{2,6}|(?:정확히|가장 잘) [가-힣]{2,6}|(?:일치|부합)하는) (?:것|설명|보기|선택지)"
    r"|\b(?:therefore|thus|hence|so|leaves|leaving|remaining)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?。](?=\s|\Z)|\n")
_AFFIRMED_AFTER = re.compile(  # B가 맞습니다, B is the only correct, B를 고르겠습니다, B: ✅
    r"[)\]*\"']*(?:번)?(?:은|는|이|가|만|만이)?[\s:|]*(?:is\s)?(?:the\s)?(?:only\s)?"
    r"(?:correct|right\b|true\b|참(?![가-힣]*지)|(?:을|를)\s?(?:고르(?!지)|고릅|골라|골랐|선택(?!하지)|택하|택합)"
    r"|맞(?!지|을)|옳(?!지|을)|정답|[✅⭕✓]|\(?O\)|일치(?!하지)|가장 적절|matches)",
    re.IGNORECASE,
)
# The answer's first word.
_FIRST = re.compile(r"\A[\s(\[*#\"'<>]*([A-Da-d])(?=[\s)\].:*\"'번은는이가를도,]|입니다|예요|\Z)")
_LINE = re.compile(r"^[ \t(\[*\"']*([A-D])[)\]*\"'.]*[ \t]*$", re.MULTILINE)  # nothing else in its line
_CHECKED_LINE = re.compile(  # "B. The share of … fell. ✅"
    r"^[^\nA-D]*(?:option\s|choice\s)?([A-D])[.):][^\n]*[✅✔✓⭕]\s*$", re.MULTILINE | re.IGNORECASE
)
_EMPHASIZED = re.compile(r"(?:\(|\[|\*\*)([A-D])(?:\)|\]|\*\*)")  # (B), [B], **B**

# Alternatives and lists.
_CLOSING_MARKS = r"[)\]*\"']*(?:\.|번)?"  # brackets, bold, quotes, "." or "번" after a letter
# After a letter that is one of several candidates, as in "A 또는 B", "A, B", "A B C D".
_CANDIDATE_AFTER = re.compile(
    rf"{_CLOSING_MARKS}\s*(?:(?:또는|혹은|아니면|내지|이?나|및|와|과|—|[,/~|·&]|(?<!\n)-|or\b|and\b)\s*)+[(\[*\"']*[A-D](?![A-Za-z가-힣])(?!{_CLOSING_MARKS}\s*중)"
    rf"|{_CLOSING_MARKS}\s*(?:(?:또는|혹은|아니면|이?나|or\b)\s*)+[(\[*\"']*[A-D](?![A-Za-z])"
    r"|\)\s*\([A-D]\)"
    rf"|{_CLOSING_MARKS}(?:\s+[(\[*\"']*[A-D](?![A-Za-z]){_CLOSING_MARKS})+\s*(?:\Z|\n)",
    re.IGNORECASE,
)
_BETWEEN = re.compile(  # between two letters of a list: A, B; A와 B
    r"[)\]*\"'\s]*(?:(?:또는|혹은|아니면|이?나|및|와|과|[,/~|·&]|or\b|and\b)[\s(\[*\"']*)+", re.IGNORECASE
)
_OF_THEM = re.compile(r"[)\]*\"']*\s*(?:중|가운데)")  # after the list of which one is chosen: A와 B 중 B
_ALSO_POSSIBLE = re.compile(
    r"[)\]*\"']*(?:번)?\s*(?:도|역시|일 수도?)\s*(?:가능|맞|적절|옳|해당|정답|될|있)|\s(?:is|are|could|might|may)\s(?:also|be|equally)\s(?:possible|correct|right|plausible)",
    re.IGNORECASE,
)
# What follows or precedes a letter that the answer denies: B가 아니라, B는 … 사실과 다릅니다, not B.
_DENIED_AFTER = re.compile(
    r"[)\]*\"']*(?:번)?(?:이|가|은|는|도|를|을|:)?[^\S\n]*(?:아니(?!면)|아닙|아님|(?:(?:is|are)\s*)?(?:not\b|incorrect|wrong|false)|틀[리렸린립]|오답|거짓"
    r"|제외|외의|고르면|[❌✗]|인지|\?|(?:맞|옳)(?:지\s*않|을까))",
    re.IGNORECASE,
)
_DENIED_IN_CLAUSE = re.compile(
    r"[)\]*\"'\s|:]{0,6}(?:번|은|는|이|가|도)[^A-D.\n,;]{0,40}?(?:맞지 않|옳지 않|틀리|틀립|틀렸|다릅|다르|일치하지|부합하지|아닙|오답|잘못|거짓|반대|(?:것처럼|듯이?|것 같아)\s?(?:보이|하)(?:지만|나|는데))"
    r"|\s(?:is|was|are|cannot|can't|does|doesn't|did|has)\b[^A-D.\n,;]{0,30}?(?:false|incorrect|wrong|not\b|n't\b|cannot|contradict|ruled out|eliminated)"
    r"|\s(?:can't|cannot|doesn't|does not|isn't)\s(?!be ruled|be excluded)"
    r"|[\s|:)]{0,6}(?:[❌✗✘×]|\(X\)|불일치|부적합)",
    re.IGNORECASE,
)
_DENIED_BEFORE = re.compile(
    r"\b(?:not|except|isn't|(?:all|any|anything|everything|none) but)\s+(?:to\s)?(?:choice\s|option\s)?[(\[*\"']*$|(?:(?:그다음|다음)(?:으로|은|에는)|두 번째로)[^.\n]{0,20}$",
    re.IGNORECASE,
)
# An output that begins with the choices, one per line. A letter alone in the first line is an answer and does not match.
_REPEATED_CHOICES = re.compile(r"\s*+A[.:)](?=[^\n]*\w)[^\n]*+\n++(?:[^\n]++\n++)*?[^\S\n]*+B[.:)]")
_CHOICE_IN_QUESTION = re.compile(r"(?:^|\s)\(?([A-D])[.):]\s")
_CHOICE_LINE = re.compile(r"\s*[A-D][.:)]")
# Answers to questions with several right choices.
_DENIES = re.compile(r"\bnot\b|n't\b|아니")
_ONLY_LETTERS = re.compile(r"[\s*().]*[A-Da-d](?:[\s*().]*,\s*[A-D])*[\s*().]*")


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
    """Return the letter of the only choice whose text the last sentence of an answer has, or None."""
    if not choices or EITHER.search(text):
        return None
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if re.search(r"\w", sentence)]
    if not sentences or _DENIES.search(sentences[-1]):
        return None
    last = _words_of(sentences[-1])
    texts = list(map(_words_of, choices))
    named = [place for place, words in enumerate(texts) if words and re.search(rf"\b{words}(?![a-z\d])", last)]
    if len(named) != 1 or len(last.split()) - len(texts[named[0]].split()) > MAX_WORDS_BESIDE:
        return None
    return LETTERS[named[0]]


def _words_of(text: str) -> str:
    """Return the words of a text in lower case with a space between them: "Sales, in 2020!" → "sales in 2020"."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def asserted_letters(output: str) -> set[str]:
    """Return the letters that an answer to a question with several right choices asserts. Empty if it offers alternatives."""
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
    """Return the letter that a readable text asserts, or None if it asserts none or several."""
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
    """Return whether a letter is an article or names something else than a choice: A chart, B사, group C."""
    if _NOUN_BEFORE.search(text, max(0, letter.start - _NOUN_REACH), letter.start) or _NOUN.match(text, letter.end):
        return True
    following = text[letter.end : letter.end + 1]
    if "가" <= following <= "힣":
        return not _PARTICLE.match(text, letter.end)
    return letter.name == "A" and bool(_WORD.match(text, letter.end)) and not _AFTER_CHOICE_A.match(text, letter.end)


def _is_denied(text: str, letter: Letter) -> bool:
    before = _DENIED_BEFORE.search(text, max(0, letter.start - _DENIAL_REACH), letter.start)
    return bool(before or _DENIED_AFTER.match(text, letter.end) or _DENIED_IN_CLAUSE.match(text, letter.end))


def _letters_by_place(text: str, letters: Sequence[Letter]) -> Iterator[list[Letter]]:
    """Yield the letters at each place where answers are given, the most reliable place first.

    `letters` are all choices of the text that it does not deny.
    """
    yield [letter for marker in _MARKER.finditer(text) for letter in _after(text, marker.end(), letters)]
    yield [letter for conclusion in _CONCLUSION.finditer(text) for letter in _after(text, conclusion.end(), letters)]
    yield _matched(text, _LINE)
    yield _matched(text, _CHECKED_LINE)
    yield [letter for letter in letters if _AFFIRMED_AFTER.match(text, letter.end)]
    yield _matched(text, _FIRST)
    yield [letter for letter in _matched(text, _EMPHASIZED) if letter in letters]
    yield list(letters)


def _after(text: str, start: int, letters: Sequence[Letter]) -> list[Letter]:
    """Return the letter right after a marker, in either case, or else the last of `letters` in its sentence.

    Letters that are joined with another candidate (A 또는 B) are returned too.
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

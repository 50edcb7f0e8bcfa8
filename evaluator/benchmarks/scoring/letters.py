"""Find the letter, or the letters, of the choice that an answer settles on.

A letter is a choice only if it stands alone or before a particle. `A chart shows` has an article, and `A사`, `B형` and
`D램` are labels of a chart.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from evaluator.benchmarks.scoring.choices import LETTERS
from evaluator.benchmarks.scoring.stated_answer import EITHER, stated_answer

MAX_WORDS_BESIDE = 15  # the text of a choice in the last sentence of an answer
MAX_LETTERS = 50  # an answer with more letters or markers in one role repeats itself and asserts nothing

# What may follow a choice in Hangul.
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
_ALONE = re.compile(r"(?<![A-Za-z'’])[A-Da-d](?![A-Za-z'’]|-[a-z])")
_QUOTED = re.compile(r"['‘’\"“”`]([A-D])['‘’\"“”`]")
_NOUN_BEFORE = re.compile(
    r"(?:vitamin|plan|type|group|class|grade|company|product|team|model|region|phase|zone|line|hepatitis|section|series"
    r"|그룹|유형|제품|회사|기업|지역|비타민|등급|타입|플랜|팀|모델|노선)\s?$",
    re.IGNORECASE,
)

# Places of an answer, most reliable first.
_MARKER = re.compile(
    r"(?:(?<![가-힣])(?:최종\s?)?(?:정답|답변|답)|(?:final |correct )?answer|correct (?:choice|option|statement|description))(?:은|는|이|:|=|\s|is\b|옵션|선택지)*",
    re.IGNORECASE,
)
_DIRECT = re.compile(r"[\s(\[*\"'“‘]*([A-Da-d])(?![A-Za-z'’])")
_CONCLUSION = re.compile(
    r"따라서|그러므로|그래서|결론|(?<![가-힣])즉(?![가-힣])|가장 적절한|남은(?=\s[A-D])|(?:남는|남은|옳은|맞는|올바른|(?:바르|올바르|정확하|옳)게 [가-힣]{2,6}|(?:정확히|가장 잘) [가-힣]{2,6}|(?:일치|부합)하는) (?:것|설명|보기|선택지)|\b(?:therefore|thus|hence|so|leaves|leaving|remaining)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?。](?=\s|\Z)|\n")
_AFFIRMED = re.compile(
    r"[)\]*\"']*(?:번)?(?:은|는|이|가|만|만이)?[\s:|]*(?:is\s)?(?:the\s)?(?:only\s)?(?:correct|right\b|true\b|참(?![가-힣]*지)|(?:을|를)\s?(?:고르(?!지)|고릅|골라|골랐|선택(?!하지)|택하|택합)|맞(?!지|을)|옳(?!지|을)|정답|[✅⭕✓]|\(?O\)|일치(?!하지)|가장 적절|matches)",
    re.IGNORECASE,
)
_FIRST = re.compile(r"\A[\s(\[*#\"'<>]*([A-Da-d])(?=[\s)\].:*\"'번은는이가를도,]|입니다|예요|\Z)")
_LINE = re.compile(r"^[ \t(\[*\"']*([A-D])[)\]*\"'.]*[ \t]*$", re.MULTILINE)
_CHECKED_LINE = re.compile(
    r"^[^\nA-D]*(?:option\s|choice\s)?([A-D])[.):][^\n]*[✅✔✓⭕]\s*$", re.MULTILINE | re.IGNORECASE
)
_MARKED_OUT = re.compile(r"(?:\(|\[|\*\*)([A-D])(?:\)|\]|\*\*)")

_CLOSING_MARKS = r"[)\]*\"']*(?:\.|번)?"  # brackets, bold, quotes, "." or "번" after a letter
# Follows a letter that is one of several candidates, as in "A 또는 B", "A, B", "A B C D".
_ANOTHER_CANDIDATE = re.compile(
    rf"{_CLOSING_MARKS}\s*(?:(?:또는|혹은|아니면|내지|이?나|및|와|과|—|[,/~|·&]|(?<!\n)-|or\b|and\b)\s*)+[(\[*\"']*[A-D](?![A-Za-z가-힣])(?!{_CLOSING_MARKS}\s*중)"
    rf"|{_CLOSING_MARKS}\s*(?:(?:또는|혹은|아니면|이?나|or\b)\s*)+[(\[*\"']*[A-D](?![A-Za-z])"
    r"|\)\s*\([A-D]\)"
    rf"|{_CLOSING_MARKS}(?:\s+[(\[*\"']*[A-D](?![A-Za-z]){_CLOSING_MARKS})+\s*(?:\Z|\n)",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"[)\]*\"'\s]*(?:(?:또는|혹은|아니면|이?나|및|와|과|[,/~|·&]|or\b|and\b)[\s(\[*\"']*)+", re.IGNORECASE
)
_OF_THEM = re.compile(r"[)\]*\"']*\s*(?:중|가운데)")
_ALSO_POSSIBLE = re.compile(
    r"[)\]*\"']*(?:번)?\s*(?:도|역시|일 수도?)\s*(?:가능|맞|적절|옳|해당|정답|될|있)|\s(?:is|are|could|might|may)\s(?:also|be|equally)\s(?:possible|correct|right|plausible)",
    re.IGNORECASE,
)
# Follow or precede a letter that the answer denies.
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
# The choices repeated, one per line. A letter alone in the first line is an answer and does not match.
_REPEATED_CHOICES = re.compile(r"\s*+A[.:)](?=[^\n]*\w)[^\n]*+\n++(?:[^\n]++\n++)*?[^\S\n]*+B[.:)]")
_CHOICE_IN_QUESTION = re.compile(r"(?:^|\s)\(?([A-D])[.):]\s")
_CHOICE_LINE = re.compile(r"\s*[A-D][.:)]")
# Of an answer with several letters.
_DENIES = re.compile(r"\bnot\b|n't\b|아니")
_ONLY_LETTERS = re.compile(r"[\s*().]*[A-Da-d](?:[\s*().]*,\s*[A-D])*[\s*().]*")


class Letter(NamedTuple):
    """A letter and its position in a text."""

    letter: str
    start: int
    end: int


def asserted_letter(output: str, choices: Sequence[str] = ()) -> str | None:
    """Return the letter that an answer asserts, as in `정답은 B`, `(B)` or `**B**`. None if it asserts none or several.

    An answer that names no letter may end with the text of one of the choices, which are in the order of their letters.
    """
    text = _readable(output)
    return _settled(text) or (None if _letters(text) else _letter_of_text(text, choices))


def choices_in_question(question: str) -> list[str]:
    """Return the choices that a question lists as `A. …` to at most `D. …`, or an empty list."""
    rest = _CHOICE_IN_QUESTION.split(question)[1:]
    letters = "".join(rest[::2])
    return [text.strip() for text in rest[1::2]] if letters and LETTERS.startswith(letters) else []


def _letter_of_text(text: str, choices: Sequence[str]) -> str | None:
    """Return the letter of the only choice whose text the last sentence of an answer has."""
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
    return " ".join(re.findall(r"\w+", text.casefold()))


def asserted_letters(output: str) -> set[str]:
    """Return the letters that an answer to a question with several right choices asserts. Empty if it offers alternatives."""
    text = _readable(output)
    if letter := _settled(text):
        return {letter}
    if _repeats(text) or EITHER.search(text) or _DENIES.search(text):
        return set()
    after_markers = (_in_sentence(text, marker.end()) for marker in _MARKER.finditer(text))
    marked = [found for found in after_markers if found]
    if marked:
        return marked[0] if all(one == marked[0] for one in marked) else set()
    lines = [line for line in text.splitlines() if line.strip()]
    bare = [line for line in lines if _ONLY_LETTERS.fullmatch(line)]
    if bare:
        return _letters(bare[0].upper()) if len(bare) == 1 else set()
    last = next((line for line in reversed(lines) if _letters(line)), "")
    return set() if _REPEATED_CHOICES.match(text) and _CHOICE_LINE.match(last) else _letters(last)


def _settled(text: str) -> str | None:
    """Return the letter that a readable text asserts, or None if it asserts none or several."""
    if _repeats(text):
        return None
    every = [one for one in _choices(text) if not _is_denied(text, one)]
    differ = len({one.letter for one in every}) > 1
    if differ and any(_ALSO_POSSIBLE.match(text, one.end) for one in every):
        return None
    for place, found in enumerate(_places(text, every)):
        # Beside the repeated choices, only a letter after a marker or a conclusion is an answer.
        if place > 1 and differ and _REPEATED_CHOICES.match(text):
            return None
        if found:
            return None if _is_listed(text, every, found) else _only(text, found)
    return None


def _readable(output: str) -> str:
    """Return the stated answer in one character width, with letters out of quotation marks."""
    return _QUOTED.sub(r"\1", unicodedata.normalize("NFKC", stated_answer(output)))


def _repeats(text: str) -> bool:
    """Return whether a text has more markers or conclusions than an answer has."""
    return any(len(pattern.findall(text)) > MAX_LETTERS for pattern in (_MARKER, _CONCLUSION))


def _letters(text: str) -> set[str]:
    return {one.letter for one in _choices(text)}


def _in_sentence(text: str, start: int) -> set[str]:
    """Return the letters of the sentence from `start`."""
    return _letters(text[start : _sentence_end(text, start)])


def _choices(text: str) -> list[Letter]:
    """Return the capital letters of a text that are choices, not articles or labels."""
    found = (Letter(match[0], match.start(), match.end()) for match in _ALONE.finditer(text) if match[0].isupper())
    return [one for one in found if not _is_label(text, one)]


def _is_label(text: str, one: Letter) -> bool:
    if _NOUN_BEFORE.search(text, max(0, one.start - 12), one.start) or _NOUN.match(text, one.end):
        return True
    following = text[one.end : one.end + 1]
    if "가" <= following <= "힣":
        return not _PARTICLE.match(text, one.end)
    return one.letter == "A" and bool(_WORD.match(text, one.end)) and not _AFTER_CHOICE_A.match(text, one.end)


def _is_denied(text: str, one: Letter) -> bool:
    before = _DENIED_BEFORE.search(text, max(0, one.start - 20), one.start)
    return bool(before or _DENIED_AFTER.match(text, one.end) or _DENIED_IN_CLAUSE.match(text, one.end))


def _places(text: str, every: Sequence[Letter]) -> Iterator[list[Letter]]:
    """Yield the letters in each role that makes a letter the answer, the most reliable role first."""
    yield [found for marker in _MARKER.finditer(text) for found in _after(text, marker.end(), every)]
    yield [found for conclusion in _CONCLUSION.finditer(text) for found in _after(text, conclusion.end(), every)]
    yield _matched(text, _LINE)
    yield _matched(text, _CHECKED_LINE)
    yield [one for one in every if _AFFIRMED.match(text, one.end)]
    yield _matched(text, _FIRST)
    yield [one for one in _matched(text, _MARKED_OUT) if one in every]
    yield list(every)


def _after(text: str, start: int, every: Sequence[Letter]) -> list[Letter]:
    """Return the letter right after a marker, in either case, or else the last choice of its sentence."""
    if direct := _DIRECT.match(text, start):
        one = Letter(direct[1].upper(), direct.start(1), direct.end(1))
        if not _is_denied(text, one) and not _is_label(text, one):
            return [one]
    end = _sentence_end(text, start)
    inside = [one for one in every if start <= one.start < end]
    joined = [one for one in inside[:-1] if _ANOTHER_CANDIDATE.match(text, one.end)]
    return [*joined, *inside[-1:]]


def _sentence_end(text: str, start: int) -> int:
    end = _SENTENCE_END.search(text, start)
    return end.start() if end else len(text)


def _matched(text: str, pattern: re.Pattern[str]) -> list[Letter]:
    found = [Letter(match[1].upper(), match.start(1), match.end(1)) for match in pattern.finditer(text)]
    return [one for one in found if not _is_denied(text, one) and not _is_label(text, one)]


def _is_listed(text: str, every: Sequence[Letter], found: Sequence[Letter]) -> bool:
    """Return whether one of these letters is named in one breath with others before it: A, B, C가 맞습니다."""
    return any(
        following in found
        and _BETWEEN.fullmatch(text, one.end, following.start)
        and not _OF_THEM.match(text, following.end)
        for one, following in pairwise(every)
    )


def _only(text: str, found: Sequence[Letter]) -> str | None:
    """Return the letter that all of these have, or None if they differ or one of them stands beside an alternative."""
    letters = {one.letter for one in found}
    if len(letters) > 1 or len(found) > MAX_LETTERS:
        return None
    has_others = _letters(text) != letters
    if has_others and any(_ANOTHER_CANDIDATE.match(text, one.end) for one in found):
        return None
    return letters.pop()

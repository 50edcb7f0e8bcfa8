"""Find the letter, or the letters, of the choice that an answer settles on.

This is the strict rule of all benchmarks with choices: `"A는 틀렸으므로 정답은 (B)입니다."` → `"B"`. A letter is a choice only if
it stands alone or before a particle. `A chart shows` has an article, and `A사`, `B형` and `D램` are labels of a chart.

Letters that an answer denies (`A는 틀렸다`, `the wrong one is A`), compares with (`taller than A`) or lists before it chooses
(`of A and B`) are left out. The others are looked for in the places where answers are given, the most reliable place first
(`_places`): after a marker such as 정답, after a conclusion, alone in a line, and so on. The first place with a
letter decides, and the answer is clear only if there is one letter at that place and no alternative beside it.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from evaluator.benchmarks.scoring import letter_patterns as patterns
from evaluator.benchmarks.scoring.choices import LETTERS
from evaluator.benchmarks.scoring.stated_answer import EITHER, stated_answer

MAX_WORDS_BESIDE = 15  # beside the text of a choice in the last sentence of an answer
MAX_LETTERS = 50  # an answer with more letters or markers in one place repeats itself and asserts nothing
_NOUN_REACH = 12  # characters before a letter in which the rules look for a noun such as group
_MIN_LISTED_VALUES = 3  # an answer lists the choices with their values if it does so for this many


class Letter(NamedTuple):
    """A letter and where it is in a text: `text[start:end]`, in either case."""

    name: str  # A, B, C or D
    start: int
    end: int


def asserted_letter(output: str, choices: Sequence[str] = (), question: str = "") -> str | None:
    """Return the letter that an answer asserts, as in `정답은 B`, `(B)` or `**B**`. None if it asserts none or several.

    An answer that names no letter may end with the text of one of the choices, which are in the order of their letters.
    `틀린 것은 B` asserts B only if the question asks for the wrong choice.
    """
    text = _readable(output)
    if letter := _settled_letter(_Output(text, question)):
        return letter
    return None if _names_in(text) else _letter_of_text(text, choices)


def choices_in_question(question: str) -> list[str]:
    """Return the choices that a question lists as `A. …` to at most `D. …`, or an empty list."""
    rest = patterns.CHOICE_IN_QUESTION.split(question)[1:]
    letters = "".join(rest[::2])
    return [text.strip() for text in rest[1::2]] if letters and LETTERS.startswith(letters) else []


def _letter_of_text(text: str, choices: Sequence[str]) -> str | None:
    """Return the letter of the only choice whose text the last sentence of an answer has, or None.

    Of choices 서울 and 부산, "가장 높은 곳은 부산입니다." gives B, and "서울보다 부산이 높습니다." gives None.
    """
    if not choices or EITHER.search(text):
        return None
    sentences = [sentence for sentence in patterns.SENTENCE_END.split(text) if re.search(r"\w", sentence)]
    if not sentences or patterns.DENIES.search(sentences[-1]):
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


def asserted_letters(output: str, question: str = "") -> set[str]:
    """Return the letters that an answer to a question with several right choices asserts: "정답: A, C" → {"A", "C"}.

    What follows markers decides; else the only line that has nothing but letters; else the last line with letters, unless
    that is one of the repeated choices. An answer with several letters that offers alternatives ("A or C") or denies
    something asserts none.
    """
    text = _readable(output)
    if letter := _settled_letter(_Output(text, question)):
        return {letter}
    if _repeats_itself(text) or EITHER.search(text) or patterns.DENIES.search(text):
        return set()
    after_markers = (_names_in_sentence(text, marker.end()) for marker in patterns.MARKER.finditer(text))
    marked = [names for names in after_markers if names]
    if marked:
        return marked[0] if all(names == marked[0] for names in marked) else set()
    lines = [line for line in text.splitlines() if line.strip()]
    only_letters = [line for line in lines if patterns.ONLY_LETTERS.fullmatch(line)]
    if only_letters:
        return _names_in(only_letters[0].upper()) if len(only_letters) == 1 else set()
    last = next((line for line in reversed(lines) if _names_in(line)), "")
    return set() if patterns.REPEATED_CHOICES.match(text) and patterns.CHOICE_LINE.match(last) else _names_in(last)


class _List(NamedTuple):
    """The letters that a text joins: A, B와 D."""

    letters: Sequence[Letter]
    share_predicate: bool  # whether what follows the list is said of all its letters (`_Output._share_predicate`)


class _Place(NamedTuple):
    """The letters at a place where answers are given."""

    letters: Sequence[Letter]
    is_clear: bool = False  # whether it is read even in an output that repeats the choices


class _Output:
    """A readable output: which of its letters it denies, given what its question asks for."""

    def __init__(self, text: str, question: str) -> None:
        self.text = text
        self.asks_for_wrong = bool(patterns.ASKS_FOR_WRONG.search(question))
        self._asks_for_place = bool(patterns.ASKS_FOR_PLACE.search(question))
        self._denied_after: dict[int, bool] = {}  # by the end of a letter, whether what follows denies it
        # The starts of letters, by what is before them.
        self._after_marker = _starts_after_marker(text)  # 정답은 B, 정답은 (B)
        self._named_wrong = _ends(patterns.NAMED_WRONG, text)  # 틀린 것은 B
        self._denied_before = _ends(patterns.DENIED_BEFORE, text)  # not B
        if not self.asks_for_wrong:
            self._denied_before |= self._named_wrong
        if not self._asks_for_place:
            self._denied_before |= _ends(patterns.NAMED_SECOND, text)
        self._list_at = {letter.start: joined for joined in self._lists() for letter in joined.letters}
        of_list = _ends(patterns.OF_LIST, text)
        for start, joined in self._list_at.items():
            if _is_of_candidates(text, joined, of_list):
                self._denied_before.add(start)  # the choice among them comes later

    def denies(self, letter: Letter) -> bool:
        """Return whether the output denies a letter, or only compares with it: not B, B가 아니라, taller than B.

        What is said of a list is said of each of its letters: A와 B는 틀립니다.
        """
        return self._denies_before(letter) or self._denies_after(letter)

    def says_wrong(self, letter: Letter) -> bool:
        """Return whether the output calls a letter wrong: B는 틀립니다.

        Such a letter is the answer to a question for the wrong choice. "not B" and "정답은 B가 아닙니다" do not call a letter
        wrong: they say that it is not the answer.
        """
        is_not_the_answer = letter.start in self._after_marker and bool(patterns.IS_NOT.match(self.text, letter.end))
        if is_not_the_answer or self._denies_before(letter):
            return False
        return self._denies_after(letter)

    def names_wrong(self, letter: Letter) -> bool:
        """Return whether the output names a letter as the wrong one: 틀린 것은 B."""
        return bool(self._named_wrong & {letter.start, self._group_of(letter)[0].start})

    def named_with(self, letter: Letter) -> list[Letter]:
        """Return a letter and those of its list that the output does not deny: A and B of "A번, B번"."""
        joined = self._list_at.get(letter.start)
        others = [other for other in joined.letters if other != letter and not self.denies(other)] if joined else []
        return [letter, *others]

    def _denies_before(self, letter: Letter) -> bool:
        return bool(self._denied_before & {letter.start, self._group_of(letter)[0].start})

    def _denies_after(self, letter: Letter) -> bool:
        return self._is_denied_after(letter.end) or self._is_denied_after(self._group_of(letter)[-1].end)

    def _is_denied_after(self, end: int) -> bool:
        """Return whether what follows a letter, which ends at `end`, denies it."""
        if end not in self._denied_after:
            denials = [patterns.DENIED_AFTER, patterns.DENIED_IN_CLAUSE]
            if not self._asks_for_place:
                denials.append(patterns.SECOND_AFTER)
            self._denied_after[end] = any(denial.match(self.text, end) for denial in denials)
        return self._denied_after[end]

    def _group_of(self, letter: Letter) -> Sequence[Letter]:
        """Return the letters of which the same is said as of a letter."""
        joined = self._list_at.get(letter.start)
        return joined.letters if joined and joined.share_predicate else [letter]

    def _lists(self) -> Iterator[_List]:
        """Yield the lists of letters in the text."""
        not_denied = {letter.name for letter in _choices(self.text) if not self._is_denied_after(letter.end)}
        for match in patterns.LIST.finditer(self.text):
            capitals = _capitals(self.text, *match.span())
            if len(capitals) >= 2:
                yield _List(capitals, self._share_predicate(capitals, not_denied))

    def _share_predicate(self, listed: Sequence[Letter], not_denied: set[str]) -> bool:
        """Return whether what follows a list is said of all its letters: A와 B는 틀립니다.

        Of "B, A는 틀립니다" it is said of A only: B is the answer, and A its reason. Only two letters that no word joins can
        be meant so, and only if no letter outside of the list can be the answer.

        `not_denied` are the names of the letters in the text that nothing behind them denies.
        """
        first = listed[0]
        last = listed[-1]
        between = self.text[first.end : last.start].replace("번", "")  # the 번 of "A번, B번" joins nothing
        are_joined_by_word = bool(re.search(r"[a-z가-힣&]", between))  # A와 B, A and B, but not A, B
        another_may_be_the_answer = bool(not_denied - {letter.name for letter in listed})
        are_all_meant = bool(patterns.ALL_OF_THEM.match(self.text, last.end))  # A, B는 모두
        return len(listed) > 2 or are_joined_by_word or another_may_be_the_answer or are_all_meant


def _starts_after_marker(text: str) -> set[int]:
    """Return where the letters right after a marker start, which may be in brackets or bold."""
    letters = (patterns.DIRECT.match(text, marker.end()) for marker in patterns.MARKER.finditer(text))
    return {letter.start(1) for letter in letters if letter}


def _ends(pattern: re.Pattern[str], text: str) -> set[int]:
    """Return where the matches of a pattern end in a text. The patterns given here end right before a letter."""
    return {match.end() for match in pattern.finditer(text)}


def _is_of_candidates(text: str, joined: _List, of_list: set[int]) -> bool:
    """Return whether one letter of a list is chosen later: of A and B, …; A와 B 중 …

    `of_list` has the starts of the letters after a word such as "between".
    """
    end = joined.letters[-1].end
    if patterns.OF_THEM.match(text, end):
        return True
    return joined.letters[0].start in of_list and bool(patterns.CANDIDATES_END.match(text, end))


def _settled_letter(output: _Output) -> str | None:
    """Return the letter that an output asserts, or None if it asserts none or several.

    The first place with a letter decides, even if later places have others: "정답은 B. A는 틀렸다" → B. It gives None if
    that place has two letters, so that an unclear marker does not make way for a clear line below it.
    """
    text = output.text
    if _repeats_itself(text):
        return None
    choices = _choices(text)
    if output.asks_for_wrong:
        called_wrong = [letter for letter in choices if output.says_wrong(letter)]
        if called_wrong:
            return _only_name(text, called_wrong)  # A는 맞고 B는 틀립니다
    letters = [letter for letter in choices if not output.denies(letter)]
    differ = len({letter.name for letter in letters}) > 1
    if differ and any(patterns.ALSO_POSSIBLE.match(text, letter.end) for letter in letters):
        return None
    repeats_choices = differ and bool(patterns.REPEATED_CHOICES.match(text))
    for place in _places(output, letters):
        if repeats_choices and not place.is_clear:
            return None  # beside the repeated choices, only a letter at a clear place is an answer
        if place.letters:
            return None if _is_listed(text, letters, place.letters) else _only_name(text, place.letters)
    return None


def _readable(output: str) -> str:
    """Return the stated answer in one character width, with letters out of quotation marks."""
    return patterns.QUOTED.sub(r"\1", unicodedata.normalize("NFKC", stated_answer(output)))


def _repeats_itself(text: str) -> bool:
    """Return whether a text has more markers or conclusions than an answer has."""
    return any(len(pattern.findall(text)) > MAX_LETTERS for pattern in (patterns.MARKER, patterns.CONCLUSION))


def _names_in(text: str) -> set[str]:
    """Return the names of the letters in a text that are choices."""
    return {letter.name for letter in _choices(text)}


def _names_in_sentence(text: str, start: int) -> set[str]:
    """Return the names of the letters from `start` to the end of its sentence."""
    return _names_in(text[start : _sentence_end(text, start)])


@lru_cache(maxsize=8)  # the rules read the same text several times
def _choices(text: str) -> tuple[Letter, ...]:
    """Return the capital letters of a text that are choices, not articles or labels."""
    return tuple(letter for letter in _capitals(text, 0, len(text)) if not _is_label(text, letter))


def _capitals(text: str, start: int, end: int) -> list[Letter]:
    """Return the capital letters from `start` to `end` that stand alone: choices, articles and labels."""
    alone = patterns.ALONE.finditer(text, start, end)
    return [Letter(match[0], match.start(), match.end()) for match in alone if match[0].isupper()]


def _is_label(text: str, letter: Letter) -> bool:
    """Return whether a letter is an article or names something else than a choice: A chart, B사, B 회사, group C."""
    if patterns.NOUN_BEFORE.search(text, max(0, letter.start - _NOUN_REACH), letter.start):
        return True
    if patterns.NOUN.match(text, letter.end):
        return True
    following = text[letter.end : letter.end + 1]
    if "가" <= following <= "힣":
        return not patterns.PARTICLE.match(text, letter.end)
    if letter.name != "A" or patterns.AFTER_CHOICE_A.match(text, letter.end):
        return False
    return bool(patterns.WORD.match(text, letter.end))


def _places(output: _Output, letters: Sequence[Letter]) -> Iterator[_Place]:
    """Yield the places where answers are given, the most reliable one first. Some have no letter.

    `letters` are all choices of the text that it does not deny.
    """
    text = output.text
    if output.asks_for_wrong:
        yield _Place([letter for letter in letters if output.names_wrong(letter)], is_clear=True)  # 틀린 것은 B
    yield _Place(_behind(output, patterns.MARKER, letters), is_clear=True)  # 정답: B
    yield _Place(_behind(output, patterns.CONCLUSION, letters), is_clear=True)  # 따라서 B
    yield _Place(_below_choices(output), is_clear=True)
    yield _Place(_matched(output, patterns.LINE))  # a line with nothing but B
    yield _Place(_matched(output, patterns.CHECKED_LINE))  # B. … ✅
    affirmed = [letter for letter in letters if patterns.AFFIRMED_AFTER.match(text, letter.end)]  # B가 맞습니다
    yield _Place([*affirmed, *_matched(output, patterns.CHOSEN)])  # I would choose B
    values_end = _end_of_values(text, letters)
    if values_end is not None:
        yield _Place([letter for letter in letters if letter.start >= values_end])  # A: 20, B: 50. The largest is B
    yield _Place(_matched(output, patterns.FIRST))  # B. …
    yield _Place(_matched(output, patterns.EMPHASIZED))  # … (B) …
    yield _Place(letters)


def _behind(output: _Output, markers: re.Pattern[str], letters: Sequence[Letter]) -> list[Letter]:
    """Return the letters that the output asserts behind its markers or conclusions (`_after`)."""
    return [letter for marker in markers.finditer(output.text) for letter in _after(output, marker.end(), letters)]


def _below_choices(output: _Output) -> list[Letter]:
    """Return the letter alone in the last line of an output that repeats the choices, or an empty list."""
    text = output.text
    if not patterns.REPEATED_CHOICES.match(text):
        return []
    alone = _matched(output, patterns.LINE)
    if not alone or re.search(r"\w", text[alone[-1].end :]):
        return []
    # It answers only if the choice of this letter is above. Else it is itself the last of the choices, cut off: "D."
    above = text[: alone[-1].start]
    return alone[-1:] if re.search(rf"^[ \t]*{alone[-1].name}[.:)]", above, re.MULTILINE) else []


def _end_of_values(text: str, letters: Sequence[Letter]) -> int | None:
    """Return the end of the sentence that lists the choices with their values, or None if none of `letters` is after it."""
    starts = {letter.start for letter in letters}
    heads = [match for match in patterns.HEAD.finditer(text) if match.start(1) in starts]
    names = [match[1] for match in heads]
    is_list = (
        len(names) >= _MIN_LISTED_VALUES and LETTERS.startswith("".join(names)) and len({m[2] for m in heads}) == 1
    )
    if not is_list:
        return None
    end = _sentence_end(text, heads[-1].end())
    arrow = text.find("→", heads[-1].end(), end)
    if arrow >= 0:
        end = arrow  # A: 20, B: 50, C: 30 → B
    return end if any(letter.start >= end for letter in letters) else None


def _after(output: _Output, start: int, letters: Sequence[Letter]) -> list[Letter]:
    """Return the letter right after a marker, in either case, or else the last of `letters` in its sentence.

    `start` is the end of the marker. "정답은 b" → B; "정답은 A를 뺀 것 중 B입니다" → B. Letters that are joined with another
    candidate are returned too: "정답은 보기의 A 또는 B" → A, B.
    """
    text = output.text
    if direct := patterns.DIRECT.match(text, start):
        letter = Letter(direct[1].upper(), direct.start(1), direct.end(1))
        if not output.denies(letter) and not _is_label(text, letter):
            return output.named_with(letter)
    end = _sentence_end(text, start)
    in_sentence = [letter for letter in letters if start <= letter.start < end]
    joined = [letter for letter in in_sentence[:-1] if patterns.CANDIDATE_AFTER.match(text, letter.end)]
    return [*joined, *in_sentence[-1:]]


def _sentence_end(text: str, start: int) -> int:
    end = patterns.SENTENCE_END.search(text, start)
    return end.start() if end else len(text)


def _matched(output: _Output, pattern: re.Pattern[str]) -> list[Letter]:
    """Return the letters in the group of a pattern that are choices and not denied."""
    found = []
    for match in pattern.finditer(output.text):
        group = match.lastindex or 1
        letter = Letter(match[group].upper(), match.start(group), match.end(group))
        if not output.denies(letter) and not _is_label(output.text, letter):
            found.append(letter)
    return found


def _is_listed(text: str, letters: Sequence[Letter], found: Sequence[Letter]) -> bool:
    """Return whether one of the letters found is the end of a list: A, B, C가 맞습니다."""
    starts = {letter.start for letter in found}
    return any(
        following.start in starts
        and patterns.BETWEEN.fullmatch(text, letter.end, following.start)
        and not patterns.OF_THEM.match(text, following.end)
        for letter, following in pairwise(letters)
    )


def _only_name(text: str, found: Sequence[Letter]) -> str | None:
    """Return the name of the letters found, or None if they differ or one of them is beside another candidate."""
    names = {letter.name for letter in found}
    if len(names) != 1 or len(found) > MAX_LETTERS:
        return None
    has_others = _names_in(text) != names
    if has_others and any(patterns.CANDIDATE_AFTER.match(text, letter.end) for letter in found):
        return None
    return names.pop()

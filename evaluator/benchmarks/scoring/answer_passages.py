"""Find the passages of an output that give its answer explicitly, such as "따라서 603천 명" and **603천 명**.

`final_answer` calls `explicit_passages`, and then asks `sentence_values` which quantities of each passage are asserted. An
explicit answer takes precedence over the numbers around it, which may be those of the working or of other rows.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice, takewhile
from typing import NamedTuple

from evaluator.benchmarks.scoring.notation import plain
from evaluator.benchmarks.scoring.quantities import scan
from evaluator.benchmarks.scoring.quantity_sets import distinct, has_unit_of, same_quantities
from evaluator.benchmarks.scoring.sentence_values import (
    ASKS_TO_COMPARE,
    BECAUSE,
    EQUATION,
    SENTENCE,
    Reference,
    asserted_in_sentence,
    is_bare,
    is_label,
    leads_to_another_value,
    shared_words,
    without_working,
)
from evaluator.benchmarks.scoring.superlatives import is_about_another_place

# An output with more quantities that does not mark its answer is treated as a dump of numbers that asserts all of them.
_MAX_UNMARKED_QUANTITIES = 10
# Markers, conclusions, bold texts, sentences or values of an answer. One with more is not read further.
MAX_PASSAGES = 50
_MAX_UNIT_LENGTH = 10  # characters after bold text in which its unit may be: **603**천 명
_MAX_COMPARED = 2  # values at the start of a sentence of which one may be compared with the answer

# Words after which an answer is given. 값은 counts only if no value follows another one, or a conclusion.
MARKER = re.compile(
    r"""
    (?<![가-힣A-Za-z])(?:최종\s?)?
    (?: 정답 | 해답 | 답변 | 답                       # 정답: 603천 명, 최종 답은 603천 명
      | (?<!의\ )(?<!년\ )값                          # 값은 603천 명, but not 두 해의 값은, 2020년 값은
      | (?:final\ )?answer                            # The answer is 603
    )
    \s*(?: 은 | 는 | : | = | is\b | \n
         | (?=\s\d) )                                 # 정답 603천 명
    """,
    re.IGNORECASE | re.VERBOSE,
)
_WORD_BEFORE = re.compile(r"\w[ ,]")  # 가장 큰 [값은]
_CONCLUSION = re.compile(
    r"""
    (?<![가-힣A-Za-z])
    (?: 따라서 | 그러므로 | 그래서 | 고로 | 즉        # 따라서 603천 명, but not 즉시
      | 결론은 | 결론적으로 | 결과적으로 | 최종적으로 # 결론은 603천 명
      | 종합하면 | 요약하면                           # 종합하면 603천 명
      | therefore | thus | hence | so                 # so 603
    )
    (?![가-힣A-Za-z])
    | [∴⇒]                                            # ∴ 603천 명
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")  # \boxed{603\text{천 명}}
_BOLD = re.compile(  # **603천 명**, with a sign in front: △**5.2**%
    r"(?P<sign>[△▲▽▼]\s?|(?<![\w)])[-−])?(?:\*\*|__|<(?:b|strong)>)(?P<text>.+?)(?:\*\*|__|</(?:b|strong)>)"
)
_PREDICATE = re.compile(r"(?:[다요음임됨함]|=[^=]*+)\W*+$")  # end of a sentence: 합은 972건입니다; 525 + 447 = 972
_IS_SENTENCE = re.compile(r"(?!\s*[-•·|])|.*=")  # not an item of a list or a table, unless it has an equation
OFFERS_CHOICE = re.compile(r"또는|혹은|아니면|\bor\b", re.IGNORECASE)  # 5건 또는 6건
_ALTERNATIVE = re.compile(rf"\s*(?:{OFFERS_CHOICE.pattern})", re.IGNORECASE)  # "또는 505천 명입니다"
_REMARK = re.compile(
    r"""
    [ \t]*
    (?: 이는 | 이것은 | 이\ 값은                      # 이는 전년보다 12건 많습니다
      | 이후 | 그\ 뒤                                 # 이후 700천 명이 되었습니다
      | 참고로 | 한편 | 출처                          # 참고로 2018년은 505천 명입니다
      | 왜냐하면 | 근거 | 해설 | 설명                 # 근거: …
      | \(                                            # (2018년은 505천 명)
    )
    """,
    re.VERBOSE,
)
# Words of a sentence that sums up what is before it.
_SUMS_UP = re.compile(
    r"""
    합 | 차 | 총 | 모두 | 빼 | 더하 | 나누            # 두 값의 합은 972건
    | 평균 | 비율 | 비중                              # 평균은 12건
    | 가장 | 최[대소고저솟댓]                         # 최댓값은 12건
    | 결과 | 반올림 | 계산 | 답                       # 계산하면 12건
    | 증가 | 감소 | 됩니다 | 된다 | 되어              # 12건이 됩니다
    """,
    re.VERBOSE,
)


class Passage(NamedTuple):
    """A part of an answer that gives it explicitly."""

    text: str
    limit: int | None = None  # quantities start before this offset; what follows bold text may only be their unit


def explicit_passages(output: str, text: str, reference: Reference) -> list[Passage]:
    """Return the passages that give the answer explicitly. If there are none, all quantities of the output are asserted.

    `text` is the output after `plain`, which has no boxes and no bold. The first source that has a passage decides.
    """
    finder = _PassageFinder(output, text, reference)
    if in_boxes := finder.in_boxes():
        return in_boxes
    if finder.has_too_many_marks():
        return []
    sources = (
        finder.after_answer_markers,
        finder.after_conclusions,
        finder.after_value_markers,
        finder.in_bold,
        finder.in_sentences,
    )
    for find_passages in sources:
        if passages := find_passages():
            return passages
    return []


class _PassageFinder:
    """Finds the passages of one output that give its answer. Each method without an underscore is one source of them."""

    def __init__(self, output: str, text: str, reference: Reference) -> None:
        """`text` is the output after `plain`."""
        self._output = output
        self._text = text
        self._reference = reference

    def in_boxes(self) -> list[Passage]:
        """Return the texts in boxes that have a value: \\boxed{603천 명}."""
        boxed = [plain(match[1]) for match in _BOXED.finditer(self._output)]
        return [Passage(text) for text in boxed if self._has_value(text)]

    def has_too_many_marks(self) -> bool:
        """Return whether there are so many markers or conclusions that what they mark is no answer."""
        return len(self._markers) > MAX_PASSAGES or len(_CONCLUSION.findall(self._text)) > MAX_PASSAGES

    def after_answer_markers(self) -> list[Passage]:
        """Return what is marked as the answer: 정답은 603천 명."""
        return self._after([match for match in self._markers if not _is_value_marker(match)])

    def after_conclusions(self) -> list[Passage]:
        """Return what is concluded last, and the other candidates: 따라서 603천 명.

        Sentences of nothing but a value are candidates: of "5건. 따라서 6건입니다", both are asserted.
        """
        endings = [
            sentence[match.end() :] for sentence in self._sentences_to_read for match in _CONCLUSION.finditer(sentence)
        ]
        concluded = list(filter(self._has_value, endings))
        if not concluded:
            return []
        candidates = [*concluded[:-1], *self._sentences]
        others = [other for other in candidates if is_bare(other) and self._has_required_unit(other)]
        return list(map(Passage, [concluded[-1], *others]))

    def after_value_markers(self) -> list[Passage]:
        """Return what 값은 marks: 값은 603천 명. This comes after conclusions, because it may name a value of the working.

        If another marker has announced the answer, 값은 must begin its sentence. Within one it may name another value than the
        answer: "정답은 아래와 같습니다. 603천 명입니다. 가장 큰 값은 700천 명입니다."
        """
        value_markers = [match for match in self._markers if _is_value_marker(match)]
        if len(value_markers) < len(self._markers):
            value_markers = [match for match in value_markers if not _WORD_BEFORE.match(self._text, match.start() - 2)]
        return self._after(value_markers)

    def in_bold(self) -> list[Passage]:
        """Return the last text in bold if all of them have the same values: **603천 명**."""
        bold = list(islice(self._bold_passages(), MAX_PASSAGES))
        if not bold:
            return []
        values = [distinct(asserted_in_sentence(passage.text, self._reference, passage.limit)) for passage in bold]
        has_same_values = all(same_quantities(values[0], other) for other in values)
        return [bold[-1]] if has_same_values else []

    def in_sentences(self) -> list[Passage]:
        """Return the sentences before the first remark that give an unmarked answer, unless the output has many values."""
        sentences = self._sentences_to_read
        if not sentences or _unmarked_count(self._sentences) > _MAX_UNMARKED_QUANTITIES:
            return []
        question = self._reference.question
        # The first sentence with a value is not a remark, because there is nothing before it that it could be about.
        first, *following = sentences
        before_remark = takewhile(lambda sentence: not _is_remark(question, sentence), following)
        return list(map(Passage, _unmarked_answer([first, *before_remark], question)))

    @cached_property
    def _markers(self) -> list[re.Match[str]]:
        return list(MARKER.finditer(self._text))

    @cached_property
    def _sentences(self) -> list[str]:
        return [match[0] for match in SENTENCE.finditer(self._text) if match[0].strip()]

    @cached_property
    def _sentences_to_read(self) -> list[str]:
        """The sentences with a value in a required unit or, if there are none, with any value."""
        with_value = list(filter(self._has_value, self._sentences))
        return list(filter(self._has_required_unit, with_value)) or with_value

    def _has_value(self, passage: str) -> bool:
        """Return whether a passage has a quantity that does not only label a row."""
        return any(not is_label(passage, mention, self._reference) for mention in scan(passage))

    def _has_required_unit(self, sentence: str) -> bool:
        """Return whether a sentence has a value that could be a required one by its unit."""
        return any(has_unit_of(mention.quantity.unit, self._reference.required) for mention in scan(sentence))

    def _after(self, markers: Sequence[re.Match[str]]) -> list[Passage]:
        """Return the passages after markers that have a value, and after the last of these the other candidates.

        A marker that ends its line is the heading of what follows, which is only the answer if it is nothing but a value.
        """
        marked: list[str] = []
        end = 0  # of the last passage
        for match in markers:
            passage = _passage_after(self._text, match.end())
            is_heading = "\n" in match[0]
            if passage and self._has_value(passage[0]) and (not is_heading or is_bare(passage[0])):
                marked.append(passage[0])
                end = passage.end()
        if not marked:
            return []
        return list(map(Passage, [*marked, *_alternatives(self._text, end)]))

    def _bold_passages(self) -> Iterator[Passage]:
        """Yield the passages in bold that have a value. Their values start inside of the bold text.

        The text after it is included, because the unit may be there: **603**천 명.
        """
        for match in _BOLD.finditer(self._output):
            signed = f"{match['sign'] or ''}{match['text']}"
            bold = plain(signed)
            if self._has_value(bold):
                after = self._output[match.end() : match.end() + _MAX_UNIT_LENGTH].partition("\n")[0]
                yield Passage(plain(signed + after), len(bold))


def _is_value_marker(marker: re.Match[str]) -> bool:
    """Return whether a marker is 값은. 최종 값은 marks the answer as clearly as 정답은 does."""
    return marker[0].startswith("값")


def _passage_after(text: str, start: int) -> re.Match[str] | None:
    """Return the text after a marker, which ends at `start`: the rest of its sentence or, if empty, the next one."""
    return next((match for match in SENTENCE.finditer(text, start) if re.search(r"\w", match[0])), None)


def _alternatives(text: str, start: int) -> Iterator[str]:
    """Yield the sentences from `start` on that name another candidate: "또는 505천 명입니다"."""
    for match in SENTENCE.finditer(text, start):
        if _ALTERNATIVE.match(match[0]) or is_bare(match[0]):
            yield match[0]


def _unmarked_count(sentences: Sequence[str]) -> int:
    """Count the values of the sentences, except years, months and those of calculations before the last sentence."""
    counted = [sentence for sentence in sentences[:-1] if "=" not in sentence]
    values = [mention for sentence in [*counted, *sentences[-1:]] for mention in scan(sentence)]
    return sum(mention.quantity.unit not in ("년", "월") for mention in values)


def _unmarked_answer(sentences: Sequence[str], question: str) -> list[str]:
    """Return those of the sentences with a value that give an unmarked answer; empty if the sentences are a list.

    - the answer, then its components: "972건. 음식점은 525건, 숙박은 447건입니다." → the first sentence, if no other is bare
    - the answer, then another row: "부산은 300개소입니다. 서울은 120개소입니다." → the first one, if it has more words of the question
    - components, then the answer: "음식점은 525건입니다. 합은 972건입니다." → the last sentence, and those with only quantities
    - a list: the last sentence is a row, or does not sum up two or more others → none
    """
    first = sentences[0]
    last = sentences[-1]
    bare = [sentence for sentence in sentences if is_bare(sentence)]
    ends_with_line = "\n" in first  # and not with a full stop: it is the first row of a list
    if bare == [first] and not ends_with_line:
        return bare
    if len(sentences) == 2 and not BECAUSE.search(last) and _overlap(first, question) > _overlap(last, question):
        values = [mention for mention in scan(without_working(first, question)) if mention.quantity.unit != "년"]
        if len(values) == 1:
            return [first]
    others = len(sentences) - 1
    last_is_row = not (_PREDICATE.search(last) and _IS_SENTENCE.match(last))
    last_sums_up = _SUMS_UP.search(last) or EQUATION.search(last)
    is_list = (others >= 1 and last_is_row) or (others >= 2 and not last_sums_up)
    if is_list:
        return []
    return [last, *(sentence for sentence in bare if sentence != last)]


def _is_remark(question: str, sentence: str) -> bool:
    """Return whether a sentence after the answer explains it, compares it, or is about another place of a ranking."""
    if _REMARK.match(sentence) or is_about_another_place(question, sentence):
        return True
    return _only_compares(question, sentence)


def _only_compares(question: str, sentence: str) -> bool:
    """Return whether a sentence compares the answer with another row: 2018년(3,274mg)보다 늘었습니다."""
    if ASKS_TO_COMPARE.search(question) or BECAUSE.search(sentence):
        return False
    values = [mention for mention in scan(sentence) if mention.quantity.unit != "년"]
    return any(leads_to_another_value(sentence, mention) for mention in values[:_MAX_COMPARED])


def _overlap(sentence: str, question: str) -> int:
    """Return how many words of a question a sentence shares."""
    return len(shared_words(sentence, question))

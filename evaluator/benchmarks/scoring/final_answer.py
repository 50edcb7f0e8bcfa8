"""Decide which quantities an answer asserts, even if it shows its work before or after them.

This is the strict rule of KO-VQA and the rule of KO-FRESH. An explicit answer takes precedence over the numbers around
it. It is searched in this order: after a marker (정답:, 답은, \\boxed), after a conclusion (따라서, 즉), in bold, in the
last sentence. Operands are not asserted, nor are years and ordinals that label a row. An answer that names several
candidates asserts all of them and is therefore wrong.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import islice, pairwise

from evaluator.benchmarks.scoring.asides import gives_value_and_more
from evaluator.benchmarks.scoring.contradictions import ASKS_YEAR, is_unsure, means_another, swapped_share
from evaluator.benchmarks.scoring.named_values import gives_name, name_beside_value
from evaluator.benchmarks.scoring.numerals import factor_of
from evaluator.benchmarks.scoring.quantities import RATIO, Quantity, Stated, plain, quantities, scan
from evaluator.benchmarks.scoring.quantity_sets import (
    digits,
    distinct,
    has_unit_of,
    is_among,
    is_rounding,
    same_quantities,
    without,
)
from evaluator.benchmarks.scoring.sentence_values import (
    ASKS_TO_COMPARE,
    BECAUSE,
    BRACKETS,
    EQUATION,
    MAX_MARKERS,
    MAX_VALUES,
    SENTENCE,
    clause_of,
    in_sentence,
    is_bare,
    is_compared,
    is_label,
    names_year,
    shared_words,
    without_compared_brackets,
    without_working,
)
from evaluator.benchmarks.scoring.stated_answer import stated_answer
from evaluator.benchmarks.scoring.superlatives import is_about_another_place

# An output with more quantities that does not mark its answer is treated as a dump of numbers that asserts all of them.
MAX_UNMARKED_QUANTITIES = 10

# Locate the answer.
_MARKER = re.compile(
    r"(?<![가-힣A-Za-z])(?:최종\s?)?(?:정답|해답|답변|답|(?<!의 )(?<!년 )값|(?:final )?answer)\s*(?:은|는|:|=|is\b|\n|(?=\s\d))",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(
    r"(?<![가-힣A-Za-z])(?:따라서|그러므로|그래서|결론은|결론적으로|결과적으로|최종적으로|종합하면|요약하면|고로|즉|therefore|thus|hence|so)(?![가-힣A-Za-z])|[∴⇒]",
    re.IGNORECASE,
)
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_BOLD = re.compile(r"(?:\*\*|__|<(?:b|strong)>)(.+?)(?:\*\*|__|</(?:b|strong)>)")
_PREDICATE = re.compile(r"(?:[다요음임됨함]|=[^=]*+)\W*+$")
_IS_SENTENCE = re.compile(r"(?!\s*[-•·|])|.*=")  # not an item of a list or a table, unless it has an equation
_ALTERNATIVE = re.compile(r"\s*(?:또는|혹은|아니면|or\b)", re.IGNORECASE)
_OPENS_BRACKET = re.compile(r"[^\d\n(]{0,10}\(\s*(?:정확히는?|약|총|원문|반올림)?\s*")
_AFTERTHOUGHT = re.compile(r"(\d[^.\n(]{0,20}[다요])\s?\([^()\n]*\)")  # 120명입니다 (남 70명, 여 50명)
_NAMED_YEAR = re.compile(r"(?:해|연도|년도|시기|시점)(?:은|는)\s(?:바로\s)?(\d{4})년")
_EITHER = re.compile(r"또는|혹은|아니면|\bor\b|~", re.IGNORECASE)
_REMARK = re.compile(r"[ \t]*(?:이는|이것은|이 값은|이후|그 뒤|참고로|한편|왜냐하면|근거|해설|설명|출처|\()")
_CUE = re.compile(
    r"합|차|총|모두|평균|비율|비중|가장|최[대소고저솟댓]|결과|반올림|계산|답|나누|빼|더하|증가|감소|됩니다|된다|되어"
)
_SCALE = re.compile(r"몇\s?((?:십|백|천|만|억|조)+)(?![가-힣]*[로서])")


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
    name, value = name_beside_value(question, gold)
    if not name:
        return _f1(question, gold, output)
    if not gives_name(name, value, output):
        return 0.0
    return max(_f1(question, gold, output), _f1(f"{question} {name}", value, output))


def _f1(question: str, gold: str, output: str) -> float:
    of_gold = quantities(gold)
    if not of_gold:
        return float(folded(gold) == folded(output))
    stated = quantities(output)
    if not stated or is_unsure(output, gold):
        return 0.0
    if swapped := swapped_share(gold, output):
        return 1 - swapped
    if means_another(question, gold, output):
        return 0.0
    if stated == of_gold:
        return 1.0
    asked = quantities(question)
    # Of gold "2020년 603천 명 (전체의 12%)", 603천 명 is required. The year and the remark may be given or left out.
    outside_remarks = quantities(without_remarks(gold))
    years = _years_of_values(question, of_gold)
    optional = years + _differences(of_gold) + without(of_gold, outside_remarks)
    required = _required(without(outside_remarks, years), asked)
    if same_quantities(required, _without_asked(without(stated, optional), asked, required)):
        return 1.0  # whatever the output asserts of what it states
    asserted = without(asserted_quantities(output, question, asked, required), optional)
    if "약" in gold:
        asserted = [_as_rounded(quantity, required) for quantity in asserted]
    if same_quantities(required, asserted):
        return 1.0
    if gives_value_and_more(question, plain(output), asked, required):
        return 1.0
    asserted = distinct(asserted[:MAX_VALUES])
    shared = min(sum(is_among(q, required) for q in asserted), sum(is_among(q, asserted) for q in required))
    return 2 * shared / (len(required) + len(asserted)) if shared else 0.0


def without_remarks(text: str) -> str:
    """Return a text without remarks in brackets, unless they have its only quantity."""
    outside = BRACKETS.sub("", text)
    return outside if quantities(outside) else text


def _years_of_values(question: str, wanted: Sequence[Quantity]) -> list[Quantity]:
    """Return the gold years that only say when a value was so, which an answer may leave out."""
    if ASKS_YEAR.search(question) or all(quantity.unit == "년" for quantity in wanted):
        return []
    return list(filter(names_year, wanted))


def _differences(wanted: Sequence[Quantity]) -> list[Quantity]:
    """Return the difference of two gold quantities, which an answer may add."""
    if len(wanted) != 2:
        return []
    difference = Quantity(abs(Decimal(wanted[0].value) - Decimal(wanted[1].value)), "")
    return [] if is_among(difference, wanted) else [difference]


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
    text = without_compared_brackets(_AFTERTHOUGHT.sub(r"\1", plain(output)))
    asks_year = ASKS_YEAR.search(question) and (not wanted or any(quantity.unit == "년" for quantity in wanted))
    named = set(_NAMED_YEAR.findall(text)) if asks_year else set()
    if len(named) == 1 and ("번째" in question or "번째" not in text):
        return [Quantity(int(named.pop()), "년")]
    if (total := _total_of_parts(text)) and is_among(total, wanted):
        return [total]
    passages = _explicit_passages(output, text, question, asked, wanted)
    if passages:
        found = []
        for passage, limit in passages:
            clause = clause_of(question, passage, asked, wanted)
            found += in_sentence(question, without_working(clause, question), asked, wanted, limit)
    else:
        found = [stated.quantity for stated in scan(text)]
    scale = _SCALE.search(question)
    found = [_scaled(quantity, scale[1], wanted) if scale else quantity for quantity in dict.fromkeys(found)]
    found = [_in_percent(quantity, wanted) for quantity in found]
    if any(quantity.unit in ("%p", RATIO) for quantity in found):  # of the percentages beside it
        found = [quantity for quantity in found if quantity.unit != "%"]
    exact = [quantity for quantity in found[:MAX_VALUES] if is_among(quantity, wanted)]
    if exact and "(" in text and not _EITHER.search(text):
        repeated = _rounded_beside(text, exact)
        found = [quantity for quantity in found if quantity not in repeated]
    return _without_asked(found, asked, wanted)


def _explicit_passages(
    output: str, text: str, question: str, asked: Sequence[Quantity], wanted: Sequence[Quantity]
) -> list[tuple[str, int | None]]:
    """Return the passages that give the answer explicitly.

    Each comes with the offset before which its quantities must start, or None for the whole passage. The first of these that
    has a value decides: a box, a marker, a conclusion (before 값은, which may name a value of the working), bold text whose
    values are the same everywhere, and what `_unmarked_passages` finds in the sentences before the first remark.
    """

    def has_value(passage: str) -> bool:
        return any(not is_label(passage, stated, asked, wanted) for stated in scan(passage))

    if boxed := [passage for match in _BOXED.finditer(output) if has_value(passage := plain(match[1]))]:
        return [(passage, None) for passage in boxed]
    markers = list(_MARKER.finditer(text))
    if len(markers) > MAX_MARKERS or len(_CONCLUSION.findall(text)) > MAX_MARKERS:
        return []
    plain_markers = [match for match in markers if not match[0].startswith("값")]
    marked = []
    for match in plain_markers or markers:
        passage = _passage_after(text, match.end())
        if has_value(passage) and ("\n" not in match[0] or is_bare(passage)):
            marked.append(passage)
    sentences = [match[0] for match in SENTENCE.finditer(text) if match[0].strip()]
    places = [place for place, sentence in enumerate(sentences) if has_value(sentence)]
    of_kind = [place for place in places if _has_kind(sentences[place], wanted)]
    places = of_kind or places
    endings = [sentences[place][match.end() :] for place in places for match in _CONCLUSION.finditer(sentences[place])]
    concluded = list(filter(has_value, endings))
    if marked and (plain_markers or not concluded):
        return [(passage, None) for passage in [*marked, *_alternatives(text, marked[-1])]]
    if concluded:
        others = [one for one in [*concluded[:-1], *sentences] if is_bare(one) and _has_kind(one, wanted)]
        return [(passage, None) for passage in [concluded[-1], *others]]
    if bold := list(islice(_bold_passages(output, has_value), MAX_MARKERS)):
        values = [distinct(in_sentence(question, passage, asked, wanted, limit)) for passage, limit in bold]
        if all(same_quantities(values[0], other) for other in values):
            return [bold[-1]]
    if not places or _unmarked_count(sentences) > MAX_UNMARKED_QUANTITIES:
        return []
    is_remark = [_is_remark(question, one) for one in sentences]
    remark = next((place for place in places[1:] if is_remark[place]), len(sentences))
    before_remark = [sentences[place] for place in places if place < remark]
    return [(passage, None) for passage in _unmarked_passages(before_remark, question)]


def _has_kind(sentence: str, wanted: Sequence[Quantity]) -> bool:
    """Return whether a sentence has a value that could be a wanted one by its unit."""
    return any(has_unit_of(stated.quantity.unit, wanted) for stated in scan(sentence))


def _unmarked_count(sentences: Sequence[str]) -> int:
    """Return how many values the sentences have, without those of a calculation before the last one, years and months."""
    counted = [sentence for sentence in sentences[:-1] if "=" not in sentence]
    values = [stated for sentence in [*counted, *sentences[-1:]] for stated in scan(sentence)]
    return sum(stated.quantity.unit not in ("년", "월") for stated in values)


def _unmarked_passages(sentences: Sequence[str], question: str) -> list[str]:
    """Return those of the sentences with a value that give an unmarked answer; empty if the sentences are a list."""
    bare = [sentence for sentence in sentences if is_bare(sentence)]
    if len(bare) == 1 and bare[0] == sentences[0] and "\n" not in bare[0]:  # the answer, then its components
        return bare
    concludes = bool(BECAUSE.search(sentences[-1]))
    is_row_first = (
        len(sentences) == 2 and not concludes and _overlap(sentences[0], question) > _overlap(sentences[1], question)
    )
    values = [stated for stated in scan(without_working(sentences[0], question)) if stated.quantity.unit != "년"]
    if is_row_first and len(values) == 1:  # the answer, then another row
        return [sentences[0]]
    if len(sentences) > 1 and not (_PREDICATE.search(sentences[-1]) and _IS_SENTENCE.match(sentences[-1])):
        return []
    if len(sentences) > 2 and not (_CUE.search(sentences[-1]) or EQUATION.search(sentences[-1])):
        return []  # a list of rows
    return [sentences[-1], *(one for one in bare if one != sentences[-1])]


def _is_remark(question: str, sentence: str) -> bool:
    """Return whether a sentence after the answer explains it, compares it, or is about another place of a ranking."""
    if _REMARK.match(sentence) or is_about_another_place(question, sentence):
        return True
    return _only_compares(question, sentence)


def _only_compares(question: str, sentence: str) -> bool:
    """Return whether a sentence compares the answer with another row: 2018년(3,274mg)보다 늘었습니다."""
    if ASKS_TO_COMPARE.search(question) or BECAUSE.search(sentence):
        return False
    values = [stated for stated in scan(sentence) if stated.quantity.unit != "년"]
    return any(is_compared(sentence, stated) for stated in values[:2])


def _overlap(sentence: str, question: str) -> int:
    """Return how many words of a question a sentence shares."""
    return len(shared_words(sentence, question))


def _passage_after(text: str, start: int) -> str:
    """Return the text after a marker, which ends at `start`: the rest of its sentence or, if empty, the next one."""
    passages = (match[0] for match in SENTENCE.finditer(text, start))
    return next((passage for passage in passages if re.search(r"\w", passage)), "")


def _alternatives(text: str, passage: str) -> Iterator[str]:
    """Yield the sentences after a passage that name another candidate: "또는 505천 명입니다"."""
    for match in SENTENCE.finditer(text, text.rindex(passage) + len(passage)):
        if _ALTERNATIVE.match(match[0]) or is_bare(match[0]):
            yield match[0]


def _bold_passages(output: str, has_value: Callable[[str], bool]) -> Iterator[tuple[str, int | None]]:
    """Yield the passages in bold that have a value, each with the length of the bold text.

    The text after a passage is included, because the unit may be there: **603**천 명.
    """
    for match in _BOLD.finditer(output):
        inside = plain(match[1])
        if has_value(inside):
            yield inside + plain(output[match.end() : match.end() + 10].partition("\n")[0]), len(inside)


def _total_of_parts(text: str) -> Quantity | None:
    """Return the value that is the sum of all others in a text, unless the text lists candidates or computes it by an equation."""
    if "=" in text or EQUATION.search(text):
        return None
    bare = sum(is_bare(match[0]) for match in islice(SENTENCE.finditer(text), MAX_MARKERS))
    return None if bare > 1 else _total(scan(text))


def _total(stated: Sequence[Stated]) -> Quantity | None:
    """Return the first or the last of some values if it is the sum of all others: 60억 원과 60억 원을 합한 120억 원."""
    values = [one.quantity for one in stated if one.quantity.unit != "년"]
    if not 3 <= len(values) <= MAX_MARKERS or len({one.unit for one in values}) > 1:
        return None
    whole = sum(Decimal(one.value) for one in values)
    return next((one for one in (values[-1], values[0]) if 2 * Decimal(one.value) == whole), None)


def _scaled(quantity: Quantity, words: str, wanted: Sequence[Quantity]) -> Quantity:
    """Apply the multiplier that a question asks for to a bare number, if that gives a gold quantity.

    387 as the answer to "몇 천 명?" is 387천.
    """
    scaled = quantity._replace(value=quantity.value * factor_of(words))
    return scaled if not quantity.unit and not is_among(quantity, wanted) and is_among(scaled, wanted) else quantity


def _in_percent(quantity: Quantity, wanted: Sequence[Quantity]) -> Quantity:
    """Return a bare fraction of 1 as a percentage if that is a gold quantity: 0.574 for 57.4%."""
    if quantity.unit or not 0 < quantity.value < 1:
        return quantity
    percent = Quantity(100 * quantity.value, "%", quantity.sense)
    return percent if is_among(percent, wanted) else quantity


def _rounded_beside(text: str, exact: Sequence[Quantity]) -> list[Quantity]:
    """Return the quantities that repeat one of `exact` with fewer or more digits in brackets beside it, or before its brackets."""
    found: list[Quantity] = []
    for one, following in pairwise(scan(text)[:MAX_VALUES]):
        if not _OPENS_BRACKET.fullmatch(text, one.end, following.start):
            continue
        for quantity, other in ((one.quantity, following.quantity), (following.quantity, one.quantity)):
            if other in exact and quantity not in exact and is_rounding(quantity, [other]):
                found.append(quantity)
    return found


def _as_rounded(quantity: Quantity, wanted: Sequence[Quantity]) -> Quantity:
    """Return the wanted quantity that another one is a more exact form of: 3.1배 for 3.13배."""
    same = [one for one in wanted if one.unit == quantity.unit and digits(quantity.value) > digits(one.value)]
    return next((one for one in same if is_rounding(quantity, [one])), quantity)


def _required(gold: list[Quantity], asked: Sequence[Quantity]) -> list[Quantity]:
    """Return the gold quantities that must be asserted: those not in the question, or the first if all are."""
    return [quantity for quantity in gold if quantity not in asked] or gold[:1]


def _without_asked(stated: Sequence[Quantity], asked: Sequence[Quantity], wanted: Sequence[Quantity]) -> list[Quantity]:
    return [quantity for quantity in stated if not is_among(quantity, asked) or is_among(quantity, wanted)]


def folded(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())

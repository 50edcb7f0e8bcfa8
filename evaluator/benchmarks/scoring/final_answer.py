"""Decide which quantities an answer asserts, when it shows its work before them.

The strict rule of KO-VQA and the rule of KO-FRESH. An explicit answer wins over the numbers before it, in this order: after a
marker (정답:, 답은, \\boxed), after a conclusion (따라서, 즉), in bold, in the last sentence. Operands, years and ordinals that
label a row are not asserted. An answer that names several candidates asserts all of them, and is wrong.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise

from evaluator.benchmarks.scoring.quantities import Quantity, Stated, plain, quantities, scan
from evaluator.benchmarks.scoring.thinking import after_thinking

MAX_WORKING = 10  # quantities before a last sentence that nothing marks as the answer; more are a dump
MAX_MARKED = 50  # markers or conclusions; more are a dump
MAX_VALUES = 200  # in a passage, of which F1 is computed; more are a dump

_MARKER = re.compile(
    r"(?<![가-힣A-Za-z])(?:최종\s?)?(?:정답|해답|답변|답|값|(?:final )?answer)\s*(?:은|는|:|=|is\b|\n|(?=\s\d))",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(
    r"(?<![가-힣A-Za-z])(?:따라서|그러므로|그래서|결론은|결론적으로|결과적으로|종합하면|요약하면|고로|즉|therefore|thus|hence|so)(?![가-힣A-Za-z])|[∴⇒]",
    re.IGNORECASE,
)
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_BOLD = re.compile(r"(?:\*\*|__|<(?:b|strong)>)(.+?)(?:\*\*|__|</(?:b|strong)>)")
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?。](?=\s|$)|\n|$)")
_PREDICATE = re.compile(r"(?:[다요음임됨함]|=[^=]*)\W*$")
_IS_SENTENCE = re.compile(r"(?!\s*[-•·|])|.*=")  # not an item of a list or a table, unless it shows a sum
_ALTERNATIVE = re.compile(r"\s*(?:또는|혹은|아니면|or\b|\()?\s*(?:또는|혹은|아니면|or\b)", re.IGNORECASE)
_BARE = re.compile(r"(?:약|총|입니다|이다|이며|이고|[\W_])*")  # what may stand beside a candidate that is nothing else

# What follows a quantity that is an operand or the subject, not what is asserted.
_OPERAND = re.compile(
    r"[)\]}.…]*\s?(?:이상|이하|미만|초과|년|년도|도)?(?:(?:은|는|이|가|을|를|에|의|로)(?![가-힣])|에서|보다|대비|으로|부터|까지|당(?![가-힣])"
    r"|(?:이)?므로|이라서|인(?=\s)|\s?중(?:에서|에)?(?![가-힣]|\s?하나)|\s(?:대비|이상|이하)(?![가-힣]))"
)
_OPERATOR_AFTER = re.compile(r"[)\]}]*\s*(?:[-−–+*/×÷=<>≈→](?!\s*$)|(?:times|div)\b)")
_OPERATOR_BEFORE = re.compile(r"(?:[-−–+*/×÷]|\b(?:times|div))\s*[(\[{]*$")
_JOINED = re.compile(r"(?:과|와)(?![가-힣])")
_ARITHMETIC = re.compile(
    r"차이|차는|차가|의 차|의 합|합은|합계|합하|더하|더한|빼|뺀|비교|평균|비율|곱하|나누|중\s(?!하나).*\d"
)
_CLAUSE = re.compile(r"\s?(?:(,)|(?:이|였|이었)?고(?![가-힣])|(?:이)?며(?![가-힣])|인데|이지만|지만)")
_LABELLED = re.compile(r"(?:[가-힣A-Za-z)](?:은|는|이|가)|의\s경우|(=))\s*(?:약|총)?\s*$")
_DENIED = re.compile(r"\s?(?:이|가|은|는)?\s?(?:아니(?!면)|아닙|아님|not\b)")
_RANGE = re.compile(r"\s?(?:까지|사이|범위|~)")
_LABEL_UNITS = {"년", "월", "일", "위", "호", "번", "대", "세", "등급", "단계", "동", "주"}
_ORDINAL = re.compile(r"\s?(?:차|등|학년|학기|급|번째|순위|분기|반기|부|절|쪽|페이지|층|권역|지구|호선)")
_NUMBERED = re.compile(r"(?:제|표|그림|항목|No\.?|[A-Za-z]-?)\s?$")


def strict_match(question: str, gold: str, output: str) -> bool:
    """Return whether exactly the gold quantities are asserted. A gold answer without a number must be given as text.

    Quantities of the question may be repeated.
    """
    output = after_thinking(output)
    if output == gold:
        return True
    wanted = quantities(gold)
    if not wanted:
        return _folded(gold) == _folded(output)
    stated = quantities(output)
    if stated == wanted:
        return not _is_denied(output)
    if not stated:
        return False
    asked = quantities(question)
    wanted = _wanted(wanted, asked)
    return (_same(wanted, _unasked(stated, asked, wanted)) and not _is_denied(output)) or _same(
        wanted, asserted(output, asked, wanted)
    )


def strict_f1(question: str, gold: str, output: str) -> float:
    """Return the F1 of the quantities an answer asserts against those of gold, from 0 to 1; 1 if `strict_match`."""
    if strict_match(question, gold, output):
        return 1.0
    asked = quantities(question)
    wanted = _wanted(quantities(gold), asked)
    given = _distinct(asserted(after_thinking(output), asked, wanted)[:MAX_VALUES])
    shared = sum(_is_among(quantity, wanted) for quantity in given)
    return 2 * min(shared, len(wanted)) / (len(wanted) + len(given)) if shared else 0.0


def asserted(output: str, asked: Sequence[Quantity], wanted: Sequence[Quantity]) -> list[Quantity]:
    """Return the quantities that an answer asserts, without those of the question. `wanted` says which units are in dispute."""
    text = plain(output)
    candidates = _explicit(output, text, asked, wanted)
    if candidates:
        found = [quantity for segment, limit in candidates for quantity in _in_segment(segment, asked, wanted, limit)]
    else:
        found = [stated.quantity for stated in scan(text)]
    return _unasked(list(dict.fromkeys(found)), asked, wanted)


def _explicit(
    output: str, text: str, asked: Sequence[Quantity], wanted: Sequence[Quantity]
) -> list[tuple[str, int | None]]:
    """Return the passages that give the answer, each with the place where its quantities end; empty if nothing does."""

    def has_value(passage: str) -> bool:
        return any(not _is_label(passage, stated, asked, wanted) for stated in scan(passage))

    if boxed := [passage for match in _BOXED.finditer(output) if has_value(passage := plain(match[1]))]:
        return [(passage, None) for passage in boxed]
    if len(_MARKER.findall(text)) > MAX_MARKED or len(_CONCLUSION.findall(text)) > MAX_MARKED:
        return []
    marked = [
        passage
        for match in _MARKER.finditer(text)
        if has_value(passage := _rest(text, match.end())) and ("\n" not in match[0] or _is_bare(passage))
    ]
    if marked:
        return [(passage, None) for passage in [*marked, *_alternatives(text, marked[-1])]]
    sentences = [match[0] for match in _SENTENCE.finditer(text) if match[0].strip()]
    numbered = [place for place, sentence in enumerate(sentences) if has_value(sentence)]
    concluded = [
        (place, sentences[place][match.end() :])
        for place in numbered
        for match in _CONCLUSION.finditer(sentences[place])
        if has_value(sentences[place][match.end() :])
    ]
    if concluded:
        place, passage = concluded[-1]
        return [(passage, None), *((later, None) for later in sentences[place + 1 :] if _is_bare(later))]
    if bold := list(islice(_bold(output, has_value), MAX_MARKED)):
        values = [_distinct(_in_segment(passage, asked, wanted, limit)) for passage, limit in bold]
        if all(_same(values[0], other) for other in values):
            return [bold[-1]]
    if not numbered or len(scan(text)) > MAX_WORKING:
        return []
    last, earlier = numbered[-1], [sentences[place] for place in numbered[:-1]]
    if earlier and not (_PREDICATE.search(sentences[last]) and _IS_SENTENCE.match(sentences[last])):
        return []
    return [(passage, None) for passage in [sentences[last], *filter(_is_bare, earlier)]]


def _rest(text: str, start: int) -> str:
    """Return what follows a marker: the rest of its sentence, or the next line if that is empty."""
    passages = (match[0] for match in _SENTENCE.finditer(text, start))
    return next((passage for passage in passages if re.search(r"\w", passage)), "")


def _alternatives(text: str, passage: str) -> Iterator[str]:
    """Yield the sentences after a passage that name another candidate: "또는 505천 명입니다"."""
    after = text[text.rindex(passage) + len(passage) :]
    for match in _SENTENCE.finditer(after):
        if _ALTERNATIVE.match(match[0]) or _is_bare(match[0]):
            yield match[0]


def _bold(output: str, has_value: Callable[[str], bool]) -> Iterator[tuple[str, int | None]]:
    """Yield the passages in bold with a value, each with what follows it, where its unit may stand: **603**천 명."""
    for match in _BOLD.finditer(output):
        inside = plain(match[1])
        if has_value(inside):
            yield inside + plain(output[match.end() : match.end() + 10].partition("\n")[0]), len(inside)


def _in_segment(
    segment: str, asked: Sequence[Quantity], wanted: Sequence[Quantity], limit: int | None = None
) -> list[Quantity]:
    """Return the quantities that a sentence asserts; if all are operands, the last that is not a label."""
    all_stated = [stated for stated in scan(segment) if limit is None or stated.start < limit]
    if len(all_stated) > MAX_VALUES:
        return [stated.quantity for stated in all_stated]
    values = [stated for stated in all_stated if not _is_label(segment, stated, asked, wanted)]
    free = [stated for stated in values if not _is_operator(segment, stated)]
    found = [
        stated
        for stated in free
        if not _OPERAND.match(segment, stated.end)
        and not (_JOINED.match(segment, stated.end) and _ARITHMETIC.search(segment))
    ]
    clauses = [one for one, following in pairwise(found) if _is_clause(segment, one, following)]
    chosen = [stated for stated in found if stated not in clauses] or (free[-1:] if values else all_stated[-1:])
    if any(_DENIED.match(segment, stated.end) or _RANGE.match(segment, stated.end) for stated in chosen):
        return [stated.quantity for stated in all_stated if stated not in chosen]
    return [stated.quantity for stated in chosen]


def _is_operator(segment: str, stated: Stated) -> bool:
    """Return whether a quantity is part of an expression: 525 and 447 of `525 - 447 = 78`."""
    return bool(
        _OPERATOR_AFTER.match(segment, stated.end)
        or _OPERATOR_BEFORE.search(segment, max(0, stated.start - 8), stated.start)
    )


def _is_clause(segment: str, stated: Stated, following: Stated) -> bool:
    """Return whether a quantity belongs to another subject, as in "음식점은 5건, 합계는 8건입니다"."""
    named = [_LABELLED.search(segment, max(0, one.start - 12), one.start) for one in (stated, following)]
    joined = _CLAUSE.match(segment, stated.end)
    return bool(joined and named[0] and not named[0][1] and (named[1] or not joined[1]))


def _is_label(segment: str, stated: Stated, asked: Sequence[Quantity], wanted: Sequence[Quantity]) -> bool:
    """Return whether a quantity only names a row: a year, 1호선, 3분기, 표 2."""
    value, unit = stated.quantity
    if value != int(value) or any(unit and unit == other.unit for other in wanted):
        return False
    if _NUMBERED.search(segment, max(0, stated.start - 4), stated.start):
        return True
    if unit == "년":
        years = {other.value for other in asked if other.unit == "년"}
        return 1900 <= value <= 2100 and (len(years) != 1 or value in years)
    return 0 <= value < 1000 and bool(
        unit in _LABEL_UNITS or (unit in ("", "분", "호") and _ORDINAL.match(segment, stated.end - (unit == "분")))
    )


def _is_bare(sentence: str) -> bool:
    """Return whether a sentence is nothing but a quantity: a candidate, not working."""
    found = scan(sentence)
    if not found:
        return False
    pieces = [sentence[: found[0].start], *(sentence[a.end : b.start] for a, b in pairwise(found))]
    return all(_BARE.fullmatch(piece) for piece in [*pieces, sentence[found[-1].end :]])


def _is_denied(output: str) -> bool:
    text = plain(output) if "아니" in output or "아닙" in output else ""
    return any(_DENIED.match(text, stated.end) for stated in scan(text))


def _wanted(gold: list[Quantity], asked: Sequence[Quantity]) -> list[Quantity]:
    """Return what must be asserted: the gold quantities that the question does not name."""
    return [quantity for quantity in gold if quantity not in asked] or gold[:1]


def _unasked(stated: Sequence[Quantity], asked: Sequence[Quantity], wanted: Sequence[Quantity]) -> list[Quantity]:
    return [quantity for quantity in stated if not _is_among(quantity, asked) or _is_among(quantity, wanted)]


def _distinct(stated: Sequence[Quantity]) -> list[Quantity]:
    found: list[Quantity] = []
    for quantity in stated:
        if not _is_among(quantity, found):
            found.append(quantity)
    return found


def _same(some: Sequence[Quantity], others: Sequence[Quantity]) -> bool:
    return all(_is_among(q, others) for q in some) and all(_is_among(q, some) for q in others)


def _is_among(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    for other in others:  # noqa: SIM110 - three times as fast as any() of a generator
        if quantity.agrees(other):
            return True
    return False


def _folded(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())

"""Decide whether a response to InfoChartQA lists exactly the items of an answer, in any order or in the answer's.

A gold answer has its items between commas: `"Japan,Italy"`. A response may list them in any common way: "The two countries
are Italy and Japan.", a numbered list, a column of a table, a sentence that names them. `_readings` returns what it lists in
each way that it can be read, and one of these must be the answer's list.
"""

import re
from collections.abc import Iterator, Sequence

from evaluator.benchmarks.scoring.chart_other_subjects import COUNTRY_NAME
from evaluator.benchmarks.scoring.chart_text import (
    ANSWER,
    BOXED,
    ELSEWHERE,
    MAX_LENGTH,
    SENTENCE_END,
    american,
    folded,
    without_remarks,
)
from evaluator.benchmarks.scoring.english_number_words import NUMBERS
from evaluator.benchmarks.scoring.names import one_form
from evaluator.benchmarks.scoring.stated_answer import EITHER

# Words before and after the items of a sentence.
_LEAD = re.compile(r"[^,\n:]*(?::|\b(?:are|is|was|were))\s+")  # [The two are] Italy and Japan
_PREDICATE = re.compile(  # Italy and Japan [are the two]
    r"\s(?:are|is|was|were|have|has|had|both|all)\b.*$", re.DOTALL
)
_CONTRAST = re.compile(r",\s(?:while|whereas)\b", re.IGNORECASE)  # Italy and Japan, while Spain fell
# Marks of list items, and whole items without what follows a colon.
_LIST_MARK = re.compile(  # 1. Italy; - Italy; Italy 2) Japan
    r"^\s*(?:\d+[.)]|[-*•])\s+|\s\d{1,2}[.)]\s+", re.MULTILINE
)
_BOLD_LIST = re.compile(r"\*\*([^*\n]+,[^*\n]+|[^*\n]+\sand\s[^*\n]+)\*\*")  # **Italy and Japan**
_BULLET = re.compile(r"^[ \t]*(?:\d+[.)]|[-*•])[ \t]+([^\n:]*)", re.MULTILINE)  # - [Italy]: 12 %
# Words around an item that are not its name.
_AROUND_ITEM = re.compile(
    r"""
    ^\s*
    (?: both | first(?:ly)? | second(?:ly)? | third(?:ly)? | fourth(?:ly)?   # first by Italy
      | next | then | finally | lastly | and                                 # finally, Italy
    )
    [\s,]+(?:by\s)?
    | \s*(?:순(?:입니다|이다)?)?[.。]?$                                      # 이탈리아 순입니다. (in this order)
    | \s[–—-]\s[\d.,]+.*$                                                    # Italy - 12 %
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Italy[ - $12], up to the next item. It is removed from running text. In bullets and cells, _AROUND_ITEM removes it.
_VALUE_OF_ITEM = re.compile(r"\s[–—-]\s[$€£₩]?\d(?:[^\n,;]|,(?=\d{3}))*")
# Names that are left in a text from which the items of the answer were removed, which are items of their own.
_OTHER_ITEM = re.compile(
    r"""
    (?: (?<=[a-z,;]\s) | (?<=\n)\s* ) [A-Z][A-Za-z]+                      # ", , and Spain"
    | \d+(?![\d%])                                                        # ", , 7", but not ", , 7%"
    """,
    re.VERBOSE,
)
_FIRST_ITEM = re.compile(r"\A\W*([A-Za-z]+)(?=,\W*,)")  # of "baseball, , "
_MIDDLE_ITEM = re.compile(  # of ", juice and "
    r"""
    ,\s* (?! (?: and | then | finally | lastly | followed | is | are | was | were | first | second | third | fourth | fifth
            | thousand | million | billion | trillion | percent | respectively ) \b )
    ([a-z]+) \s* (?= , | \s and\b )
    """,
    re.VERBOSE,
)
_LAST_ITEM = re.compile(r",\s*(?:and|&)\s+(?!finally|lastly|then)[a-z]\w*\s*(?:[.(]|$)")  # of ", , and basketball."
_DENIES = re.compile(r"\b(?:not|none|neither)\b", re.IGNORECASE)
_COUNT_OF_ITEMS = re.compile(rf"\bonly\s({'|'.join(NUMBERS)})\b", re.IGNORECASE)  # only two
_EXCLUDES = re.compile(  # Spain is not included; Spain is in NATO only; 스페인은 제외
    r"\b(?:not|excluded?|except|only)\b|n't\b|제외|해당하지 않", re.IGNORECASE
)
_DENIED_CLAUSE = re.compile(  # Italy and Japan are[, but Spain is not]
    r"(?:[,;]\s(?:but\s|while\s|whereas\s)?|\sbut\s)(?!not\b)[^,;.\n]{1,60}(?:\bnot\b|n't\b)[^,;.\n]{0,40}(?=[.;]|$)",
    re.IGNORECASE,
)
_COMMA = r",(?!\d{3})"  # not of 1,234
_NEW_LINE = r"\n"
_SEPARATORS = (
    _NEW_LINE,
    _COMMA,
    ";",
    "/",
    r"\|",
    "·",
    "<",
    ">",
    "→",
    "&",
    r"\band\b",
    r"\b(?:followed by|then|before)\b",  # Italy, followed by Japan
    r"및|그리고",
)


def same_list(question: str, answer: str, response: str, *, is_ordered: bool) -> bool:
    """Return whether a response lists the items of an answer and no others; if `is_ordered`, in the same order.

    Of answer "Japan,Italy", "The two are Italy and Japan." is the same list unless `is_ordered`.
    """
    wanted = [folded(item) for item in answer.split(",")]
    readings = list(_readings(question, answer, response, is_ordered=is_ordered)) if len(response) <= MAX_LENGTH else []
    if is_ordered:
        return wanted in readings
    return sorted(wanted) in map(sorted, readings)


def _readings(question: str, answer: str, response: str, *, is_ordered: bool) -> Iterator[Sequence[str]]:
    """Yield the folded items of a response for each way to read it as a list.

    What the response says about other things is removed first: clauses and sentences that exclude an item, and sentences
    about another time or about the other rows. Nothing is yielded if the rest offers alternatives or denies something.
    """
    kept = _without_elsewhere(_without_excluded(answer, response))
    around_items = _without_items(answer, kept)  # the items may have these words themselves: Not stated, Fish or meat
    if EITHER.search(around_items) or _DENIES.search(around_items):
        return
    separator = _separator_for(answer)
    for text in _list_texts(question, answer, kept, is_ordered=is_ordered):
        # Twice, because an item may have such words on both sides.
        items = [_AROUND_ITEM.sub("", _AROUND_ITEM.sub("", item)) for item in re.split(separator, text)]
        yield [folded(item) for item in items if re.search(r"\w", item)]


def _without_excluded(answer: str, response: str) -> str:
    """Return a response without the clauses, and the sentences after its first, that say what is not in the list.

    Those that name an item of the answer stay, because they may deny it.
    """
    items = [item.strip().casefold() for item in answer.split(",")]
    named = re.compile("|".join(map(re.escape, items)))
    response = _DENIED_CLAUSE.sub(lambda match: match[0] if named.search(match[0].casefold()) else "", response)
    first, *others = SENTENCE_END.split(response)
    kept = [sentence for sentence in others if not _EXCLUDES.search(sentence) or named.search(sentence.casefold())]
    return response if len(kept) == len(others) else " ".join([first, *kept])


def _without_elsewhere(response: str) -> str:
    """Return a response without the sentences after its first about another time or other rows: "In 2019 it was Spain."."""
    for sentence in filter(ELSEWHERE.match, SENTENCE_END.split(response)[1:]):
        response = response.replace(sentence, "")
    return response


def _without_items(answer: str, response: str) -> str:
    """Return a response without the items of an answer, so that only the words around them are left."""
    items = sorted((item.strip() for item in one_form(answer).split(",")), key=len, reverse=True)
    return re.sub(rf"(?<!\w)(?:{'|'.join(map(re.escape, items))})(?!\w)", "", response, flags=re.IGNORECASE)


def _separator_for(answer: str) -> str:
    """Return a pattern of what separates items, without what is part of an item of the answer.

    For "R&D,Sales and marketing", & and "and" separate nothing. A comma and a new line always do.
    """
    return "|".join(
        separator for separator in _SEPARATORS if separator in (_COMMA, _NEW_LINE) or not re.search(separator, answer)
    )


def _list_texts(question: str, answer: str, response: str, *, is_ordered: bool) -> set[str]:
    """Return the texts that may be the list. Most of them are parts of what `_stated_part` returns.

    They are the stated part itself; the same without what it is contrasted with (", while Spain fell"), without its verb
    ("are the two") or without both; what follows "are" or its only colon; the items of the answer in the order in which it
    names them; and, of the whole response, the columns of a table and the bullets.
    """
    text = _VALUE_OF_ITEM.sub("", _with_items_on_lines(_stated_part(response)))
    without_contrast = _CONTRAST.split(text, maxsplit=1)[0]
    texts = {text, without_contrast, _PREDICATE.sub("", text), _PREDICATE.sub("", without_contrast)}
    if text.count(":") == 1:
        texts.add(text.partition(":")[2])
    if lead := _LEAD.match(without_contrast):
        texts.add(without_contrast[lead.end() :])

    texts.add(_in_order_of_mention(question, answer, without_contrast))
    if is_ordered:  # the last one of a ranking may be in a contrast: Italy leads, while Japan has the fewest
        texts.add(_in_order_of_mention(question, answer, text))

    if response.lstrip().startswith("|"):
        texts.update(_columns(response))
    bullets = _BULLET.findall(without_remarks(response).replace("**", ""))
    if len(bullets) > 1:
        texts.add("\n".join(bullets))
    return texts


def _stated_part(response: str) -> str:
    """Return what is last marked as the answer, or else the only list in bold, or else the last paragraph."""
    marked = [str(match[1]) for match in [*ANSWER.finditer(response), *BOXED.finditer(response)] if match[1].strip()]
    if marked:
        return marked[-1]
    bold = _BOLD_LIST.findall(response)
    if len(bold) == 1:
        return str(bold[0])
    return re.split(r"\n\s*\n", without_remarks(response))[-1]


def _with_items_on_lines(text: str) -> str:
    """Return a text without remarks in brackets and asterisks, and with a new line in the place of each list mark."""
    return _LIST_MARK.sub("\n", without_remarks(text).replace("*", "")).strip()


def _in_order_of_mention(question: str, answer: str, text: str) -> str:
    """Return the items of an answer in the order in which a text names them, or "" if it names others or not all.

    Of answer "Japan,Italy" and "Italy is first and Japan is second", return "italy, japan".
    """
    # `strict_match` has brought the text into `one_form`. The answer and the question are not in it yet.
    items = [item.strip() for item in american(one_form(answer).casefold()).split(",")]
    places = _places_of(items, american(text.casefold()))
    without_items = re.sub("|".join(map(re.escape, items)), "", text, flags=re.IGNORECASE)
    names = [
        *_OTHER_ITEM.findall(without_items),
        *COUNTRY_NAME.findall(without_items),
        *_FIRST_ITEM.findall(without_items),
        *_MIDDLE_ITEM.findall(without_items),
    ]
    if not re.search(r"\d", answer):  # numbers are values of items
        names = [name for name in names if not name.strip().isdigit()]
    others = [name for name in names if name.strip().casefold() not in one_form(question).casefold()]
    if len(places) < len(items) or others:
        return ""
    if _LAST_ITEM.search(without_items) or _states_other_count(text, len(items)):
        return ""
    return ", ".join(item for _, item in sorted(places))


def _states_other_count(text: str, count: int) -> bool:
    """Return whether a text says that there are more or fewer items than `count`: only two brands."""
    stated = _COUNT_OF_ITEMS.search(text)
    return stated is not None and NUMBERS.index(stated[1].lower()) != count


def _columns(text: str) -> list[str]:
    """Return the columns of a table in Markdown without its heading, each with its cells on lines."""
    rows = [line.strip().strip("|").split("|") for line in text.splitlines() if line.lstrip().startswith("|")]
    body = [row for row in rows[1:] if not set("".join(row)) <= set("-: ")]
    columns = zip(*body, strict=False)
    return ["\n".join(map(str.strip, column)) for column in columns]


def _places_of(items: Sequence[str], text: str) -> list[tuple[int, str]]:
    """Return each item that a text names, after the place of its first mention.

    Longer items are found first and covered, so that "South Sudan" does not name Sudan.
    """
    places: list[tuple[int, str]] = []
    for item in sorted(items, key=len, reverse=True):
        if match := re.search(rf"(?<!\w){re.escape(item)}(?![a-z\d])", text):
            places.append((match.start(), item))
            text = f"{text[: match.start()]}{'_' * len(item)}{text[match.end() :]}"
    return places

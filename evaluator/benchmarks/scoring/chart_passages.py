"""Find the passages of a response to InfoChartQA that may give its answer.

`strict_chart_answers` calls `answering_passages` for all answers that are not letters, lists, or yes or no, and looks
for the answer in these passages only, so that a response that names every row of a chart is wrong.
"""

import re
from collections.abc import Sequence

from evaluator.benchmarks.scoring.chart_answers import mostly_digits
from evaluator.benchmarks.scoring.chart_other_subjects import names_another
from evaluator.benchmarks.scoring.chart_text import (
    ANSWER,
    ASKS_TO_COMPARE,
    BOXED,
    ELSEWHERE,
    FUNCTION_WORD,
    MAX_LENGTH,
    MAX_ROWS,
    SENTENCE_END,
    folded,
    labels_of,
    stems_of,
    without_remarks,
    words_of,
)
from evaluator.benchmarks.scoring.names import own_words
from evaluator.benchmarks.scoring.stated_answer import EITHER

MAX_CANDIDATE_WORDS = 4  # in one item of a list of candidates
_CONCLUDING_WORD = re.compile(  # group 1 is the rest of the line
    r"""
    (?: \b(?: therefore | thus | hence )\b            # therefore Japan.
      | (?: ^ | [.,;:!?]\s? )so\b                     # It fell to 12, so Japan.
      | 따라서 | →                                    # 따라서 일본
    )
    [ ,:]*([^\n]+)$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# A slash between two candidates, as in Japan/Italy. It is a part of verbose patterns.
_SLASH = r"""
(?<![\d$€£₩])                                         # not in 1/4
(?<!\d[A-Za-z]) (?<!\d\s[A-Za-z])                     # not in 28L/day, 28 L/day
(?<!\d[A-Za-z]{2}) (?<!\d\s[A-Za-z]{2})               # not in 5km/h, 5 km/h
/
"""
# Between candidates, with and without commas.
_SEPARATOR = re.compile(rf"\s*(?:\n|,(?!\d{{3}})|[;|·]|{_SLASH})\s*", re.VERBOSE)
_HARD_SEPARATOR = re.compile(rf"\s*(?:[\n;|·]|{_SLASH})\s*", re.VERBOSE)
# Words of a sentence about something else than the answer, such as what follows it in a ranking.
_ABOUT_OTHERS = re.compile(
    r"""
    \b(?:
        (?: is | are | was | were | comes? | came | ranks? | ranked | follows? | followed )\b
        [^.]{0,20}
        \b(?: second | third | next | last | runner-up | behind | runners-up )             # Italy is a close second
      | runner-up
      | (?: slightly | only | just | a\ little | somewhat )
        \ (?: higher | lower | larger | smaller | more | less | behind | below | above )   # Italy is slightly lower
      | the\ least | the\ fewest                                                           # Italy has the fewest
      | follows? | followed | trails?                                                      # Italy trails with 12 %
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# A last sentence that concludes from those before it.
_CONCLUDING_SENTENCE = re.compile(
    r"""
    \b(?: therefore | thus | hence | so | overall | leaves )\b                             # Therefore, 12 %.
    | ^(?:this|that)
      (?: 's | \ is | \ leaves | \ gives | \ makes | \ equals
        | \ results | \ adds | \ comes | \ yields | \ amounts )\b                          # This makes 12 %.
    | ^it(?:'s|\ is)\                                                                      # It is 12 %.
      (?! mentioned | shown | listed | located | written | given                           # but not: It is shown in red.
        | displayed | indicated | followed | marked | stated )
    | [=≈]                                                                                 # 5 + 7 = 12 %.
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CHATTER = re.compile(  # I hope this helps! but not: Note that it is 12 %.
    r"\W*(?:I'm|I am|I hope|I believe|let me know|please|note)\b(?![^.]*\d)", re.IGNORECASE
)
_COMMITS = re.compile(r"\b(?:would|must|has to|should) be\b", re.IGNORECASE)  # It must be Japan.
_UNDECIDED = re.compile(
    r"""
    \b(?:could|might|may)\ (?: also | equally | just\ as\ well | as\ well )\ be\b          # It could also be Italy.
    | \b(?: not\ possible | impossible | unable | hard | difficult )
      \ to\ (?: tell | say | determine | know )\b                                          # It is hard to tell.
    | \b(?: cannot | can't | could\ not )\ (?:be\ )?
      (?: tell | determined? | say | known? | identify | identified )\b                    # It cannot be determined.
    """,
    re.IGNORECASE | re.VERBOSE,
)

# Bold text with a minus sign in front, but not labels: -**5.2**%, **Answer:**, **Japan**:
_BOLD = re.compile(r"(?P<minus>(?<![\w)])[-−△▽▼])?\*\*(?![^*]*:\*\*)(?P<text>.+?)\*\*(?!:)")
_IT_IS = re.compile(r"^\W*(?:it|that|this)(?:'s|\sis)\s", re.IGNORECASE)  # It's Japan
_VALUE_IN_BRACKETS = re.compile(r"\([^()\n]*\d[^()\n]*\)")  # (50 %)
# A clause up to a value in brackets, with no other value than a fraction before it: "half (50 %)", "1/2 (50 %)".
_ONLY_VALUE_IN_BRACKETS = re.compile(
    r"((?:^|[.;,])(?:[^\d.;,()]|(?<!\d)\d/\d(?!\d))*)\(([^()\n]*\d[^()\n]*)\)", re.MULTILINE
)
# What leaves a value open: a second value, words such as "more" after "or", and "either".
_EITHER_VALUE = re.compile(
    rf"""
    \d[^.;\n]{{0,40}}(?:{EITHER.pattern})[^.;\n]{{0,20}}\d                                 # 12 % or 15 %
    | (?:{EITHER.pattern})\s+(?: maybe | perhaps | possibly | more | less | fewer | over | above | below | so )\b         # 12 % or more
    | either                                                                               # either of them
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Before another form of the same value: "12.4 %, or roughly 12 %".
_REWORDS = re.compile(r",?\sor\s(?=(?:roughly|about|approximately|around|simply)\s[$€£₩]?\d)", re.IGNORECASE)
_LABELLED_SEPARATOR = re.compile(r"\s*[;,/]\s+(?=[^:;,/]{2,40}:\s)")  # Japan: 12 %; Italy: 15 %
# Japan: 12 %; 2020: 12 %
_LABELLED_LINE = re.compile(r"(?:[^:\d]{2,40}|(?:in\s)?(?:19|20)\d\d):\s[^:]{1,60}", re.IGNORECASE)
_BULLET_MARK = re.compile(r"^[ \t]*[-*•][ \t]+")  # - Japan: 12 %


def answering_passages(question: str, answer: str, response: str) -> list[str]:
    """Return the passages of a response of which one must give the answer, or an empty list if it gives no single answer.

    To "How many plants does France have?", "France has 15 plants. Spain is a close second." gives its first sentence.
    `response` must have text.
    """
    # A marker such as "Answer:" comes before labels. Beyond MAX_LENGTH it is not looked for: `_final_passages` refuses a
    # response of that length, but a label in its first line still gives the answer.
    if not ANSWER.search(response[:MAX_LENGTH]):
        labelled = _labelled_value(question, response)
        if labelled is not None:
            return [labelled]
    if not answer_is_value(answer):
        return _final_passages(question, answer, response, is_value=False)
    return _final_passages(question, answer, _without_harmless_alternatives(response), is_value=True)


def answer_is_value(answer: str) -> bool:
    """Return whether a gold answer is a number and not a name: "$1.2 billion", "-3%", "2018"."""
    return mostly_digits(answer) or bool(re.match(r"[-−–△▲]?\s?[$€£₩]?\d", answer.strip()))


def _labelled_value(question: str, response: str) -> str | None:
    """Return the value after the label that a question names in a response of lines `label: value`, or None.

    Such lines may also be joined by commas, semicolons or slashes. The first of these is returned:

    - the name in the first line, if its label has only words of the question: to "What is the most common cause?", "Common
      cause: Speeding\\nShare: 40 %" gives Speeding
    - of two to four lines, the value of the last one, if its label has words of the question that no other has
    - of two to four lines, the value of the only one whose label has such words: to "How many plants does France have?",
      "France: 15\\nSpain: 17" gives 15
    """
    lines = [_BULLET_MARK.sub("", line) for line in response.splitlines() if line.strip()]
    if len(lines) == 1:
        lines = _LABELLED_SEPARATOR.split(lines[0])
    first_label, _, name = lines[0].partition(":")
    is_name = bool(_LABELLED_LINE.fullmatch(lines[0])) and not re.search(r"\d", name)
    if len(lines) > 1 and is_name and words_of(first_label) and words_of(first_label) <= words_of(question):
        return name
    if not 2 <= len(lines) <= MAX_ROWS or not all(map(_LABELLED_LINE.fullmatch, lines)):
        return None
    own = own_words([labels_of(line.partition(":")[0]) & labels_of(question) for line in lines])
    named = [line.partition(":")[2] for line, words in zip(lines, own, strict=True) if words]
    if own[-1]:  # the last value may be computed from the others: "Nigeria: 377, Ethiopia: 213, Combined: 590"
        return named[-1]
    return named[0] if len(named) == 1 else None


def _without_harmless_alternatives(response: str) -> str:
    """Return a response without words such as "or", unless they leave its value open: "79% ends up in landfills or nature".

    `_final_passages` rejects a response that has such words.
    """
    response = _REWORDS.sub(",", response)
    return response if _EITHER_VALUE.search(response) else EITHER.sub(",", response)


def _final_passages(question: str, answer: str, response: str, *, is_value: bool) -> list[str]:
    """Return the parts of a response that may give its answer, or none if it gives no single answer.

    The first of these decides:

    1. The response is too long: none.
    2. It has boxes: the box, or none if they differ.
    3. It has answer markers ("Answer: Japan"): what follows the last one, or none if they differ or it has a word such as "or".
    4. Its last line concludes ("so Japan."): the conclusion.
    5. It has passages in bold: the passage, or none if there are several.
    6. It leaves the answer open ("or", "it cannot be determined"): none.
    7. Its first sentence is nothing but an answer, and later ones say more: the first sentence.
    8. It only repeats one answer: that answer. It only lists candidates: none.
    9. Otherwise the passages are those that `_answering_sentences` chooses.
    """
    if len(response) > MAX_LENGTH:
        return []
    if boxed := [str(match[1]) for match in BOXED.finditer(response)]:
        return boxed[:1] if len(set(map(folded, boxed))) == 1 else []
    if marked := [str(match[1]) for match in ANSWER.finditer(response) if re.search(r"\w", match[1])]:
        return marked[-1:] if len(set(map(folded, marked))) == 1 and not EITHER.search(marked[-1]) else []
    conclusion = _conclusion(response)
    if conclusion and (not is_value or re.search(r"\d", conclusion)) and not EITHER.search(conclusion):
        return [conclusion]
    plain = without_remarks(_with_values_of_remarks(response) if is_value else response)
    bold = _bold_passages(plain, only_values=is_value)
    if bold:
        return list(bold) if len(bold) == 1 else []
    if EITHER.search(plain) or _UNDECIDED.search(plain):
        return []
    sentences = [sentence.strip() for sentence in SENTENCE_END.split(plain) if sentence.strip()]
    sentences = [sentence for sentence in sentences if not _CHATTER.match(sentence)] or sentences
    if len(sentences) > 1 and _is_bare(sentences[0]) and not all(map(_is_bare, sentences)):
        return sentences[:1]
    listed = _listed_answers(plain)
    if listed is not None:
        return listed
    return _answering_sentences(question, answer, _without_other_rows(question, sentences))


def _conclusion(response: str) -> str:
    """Return what the last line of a response concludes: "Italy." of "It fell to 12, so Italy.", or "" if it does not.

    If a later sentence of the line concludes too, it is returned: "That makes 40." of "So it fell to 12. That makes 40."
    """
    last_line = [line for line in response.splitlines() if line.strip()][-1].strip()
    concluded = _CONCLUDING_WORD.search(last_line)
    if concluded is None:
        return ""
    first, *others = SENTENCE_END.split(concluded[1])
    return next((sentence for sentence in reversed(others) if _CONCLUDING_SENTENCE.search(sentence)), first)


def _bold_passages(text: str, *, only_values: bool) -> set[str]:
    """Return the different passages in bold. With `only_values`, return only those with a digit, and a minus sign in front."""
    passages: set[str] = set()
    for match in _BOLD.finditer(text):
        if not only_values:
            passages.add(match["text"])
        elif re.search(r"\d", match["text"]):
            passages.add(f"{match['minus'] or ''}{match['text']}")
    return passages


def _listed_answers(text: str) -> list[str] | None:
    """Return the answer if a text only repeats it, an empty list if the text lists candidates, and None if it does neither."""
    # One comma may belong to an answer (Seoul, South Korea); a semicolon or a new line does not.
    for separator, max_parts in ((_SEPARATOR, 2), (_HARD_SEPARATOR, 1)):
        parts = separator.split(text)
        is_repeated = len(parts) > 1 and len(set(map(folded, parts))) == 1
        if is_repeated:
            return parts[:1]
        if len(parts) > max_parts and all(map(_is_candidate, parts)):
            return []
    return None


def _answering_sentences(question: str, answer: str, sentences: Sequence[str]) -> list[str]:
    """Return the sentences of which one must give the answer. The first of these rules that applies decides:

    1. Exactly one sentence has words such as "must be": it is returned alone.
    2. The last sentence is returned alone if it concludes ("So it is 12 %."), if the sentences are the rows of a table, or
       if no earlier sentence shares more words with the question.
    3. Otherwise the earlier sentence that shares the most words is the best one. It is returned alone in two cases. The last
       sentence may be about others: "Italy is a close second." Or the best one may name another month or country than the
       answer: the response is then wrong, even if its last sentence names the right one.
    4. Otherwise the best sentence and the last one are returned.
    """
    committed = [sentence for sentence in sentences if _COMMITS.search(sentence)]
    if len(committed) == 1:
        return committed
    last = sentences[-1]
    shared = [stems_of(sentence) & stems_of(question) for sentence in sentences]
    best_place = max(range(len(sentences)), key=lambda place: (len(shared[place]), place))  # the last of equal ones
    is_last_best = best_place == len(sentences) - 1
    is_table = sum(bool(re.search(r"\d", sentence)) for sentence in sentences) > MAX_ROWS
    if is_last_best or is_table or _CONCLUDING_SENTENCE.search(last):
        return [last]
    best = sentences[best_place]
    is_last_about_others = bool(_ABOUT_OTHERS.search(last)) and not _ABOUT_OTHERS.search(question)
    if is_last_about_others or names_another(answer, best):
        return [best]
    return [best, last]


def _without_other_rows(question: str, sentences: Sequence[str]) -> Sequence[str]:
    """Leave out sentences that begin with words such as "the others" or "in 2019", unless the question names that year.

    The first sentence is always kept, and all of them if the question asks for a comparison.
    """
    if ASKS_TO_COMPARE.search(question):
        return sentences
    kept = [sentences[0]]
    for sentence in sentences[1:]:
        elsewhere = ELSEWHERE.match(sentence)
        if elsewhere is None or (elsewhere["year"] and elsewhere["year"] in question):
            kept.append(sentence)
    return kept


def _is_candidate(part: str) -> bool:
    """Return whether a part of a response may be one of several candidates: a few words that are not a sentence.

    Unlike in `_is_bare`, it may have a label or a function word: "Japan: 12 %", "Japan in 2020".
    """
    is_sentence = "=" in part or (part.endswith(".") and bool(FUNCTION_WORD.search(part)))
    return len(part.split()) <= MAX_CANDIDATE_WORDS and not is_sentence


def _is_bare(sentence: str) -> bool:
    """Return whether a sentence is nothing but an answer: a few words without a verb."""
    sentence = _IT_IS.sub("", sentence)
    return (
        len(sentence.split()) <= MAX_CANDIDATE_WORDS
        and not re.search("[:=]", sentence)
        and not FUNCTION_WORD.search(sentence.rstrip(".!"))
    )


def _with_values_of_remarks(response: str) -> str:
    """Return a response with its only value in brackets outside of them, if its clause has no value before: half (50 %).

    `without_remarks`, which is called next, would leave it out.
    """
    if len(_VALUE_IN_BRACKETS.findall(response)) > 1:
        return response
    return _ONLY_VALUE_IN_BRACKETS.sub(r"\1 \2 ", response)

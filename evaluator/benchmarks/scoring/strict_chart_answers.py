"""Decide whether the final answer of a response is right by InfoChartQA's strict rule.

These are the published comparisons (`chart_answers`) without their mistakes. `infochartqa` calls `strict_match` with
the type of the question, which decides whether letters, yes or no, lists, values or names are compared. Texts must be
equal apart from case, punctuation, articles and common forms of names. Numbers must be within the published tolerance,
but years must be exact, and a factor such as K, million or 억 counts. A response that names several candidates, denies
the answer or only bounds it is wrong.
"""

import re

from evaluator.benchmarks.scoring.chart_answers import (
    AS_ANSWER_IS,
    AS_TEXT_OR_VALUE,
    CHOICES,
    EXACT_NUMBER,
    EXACT_TOLERANCE,
    ORDERED,
    ORDERED_BY_CHARACTER,
    ROUGH_NUMBER,
    ROUGH_TOLERANCE,
    UNORDERED,
)
from evaluator.benchmarks.scoring.chart_lists import same_list
from evaluator.benchmarks.scoring.chart_names import gives_name
from evaluator.benchmarks.scoring.chart_other_subjects import (
    COUNTRY_NAME,
    is_of_other_rank,
    is_of_other_subject,
    is_of_other_year,
    names_only_others,
)
from evaluator.benchmarks.scoring.chart_passages import answer_is_value, answering_passages
from evaluator.benchmarks.scoring.chart_text import ANSWER, ASKS_TO_COMPARE, BOXED, MAX_LENGTH, folded, without_contrast
from evaluator.benchmarks.scoring.chart_values import readable, same_value
from evaluator.benchmarks.scoring.letters import asserted_letter, asserted_letters, choices_in_question
from evaluator.benchmarks.scoring.names import one_form
from evaluator.benchmarks.scoring.quantities import scan
from evaluator.benchmarks.scoring.stated_answer import stated_answer

# A name and its other form in brackets: AWS (Amazon Web Services), 브라질 (Brazil).
_TWO_FORMS = re.compile(
    r"((?:[A-Z][\w.&'-]*|(?<![\d가-힣])[가-힣]+)(?:\s(?:of\s|and\s|&\s)?[A-Z][\w.&'-]*){0,4})\s?\(([^()\d\n]+)\)"
)
_POLARITY = re.compile(  # begins an answer with yes or no
    r"[\s*\"'(]*(?:(?P<yes>yes|true|네|예|그렇습니다|맞습니다)|no|false|아니(?:요|오)|아닙니다|그렇지 않)(?![A-Za-z가-힣])",
    re.IGNORECASE,
)
_NOTHING_OR_REASON = re.compile(r"[\s.!*\"')]*(?:,.*)?", re.DOTALL)  # behind the yes or no of a gold answer
# What an answer without yes or no concludes.
_VERDICT = re.compile(
    r"\b(?:statement|claim|assertion) is (?:(?P<false>not|false|incorrect|wrong|untrue)|correct|true|right)"
    r"|\bis indeed\b"
    r"|\b(?:so|therefore|thus|hence),?\s(?:it|they|the [a-z]+) (?:did|does|do|is|was|were|are|has|have)(?P<not>\snot|n't)\b",
    re.IGNORECASE,
)
_SO = re.compile(r"(?:\b(?:so|therefore|thus|hence)\b|따라서|그러므로|→)[,:]?\s", re.IGNORECASE)
# 3:2, 3 to 2, 3 대 2
_RATIO = re.compile(r"(?<![\d.,])(\d+(?:\.\d+)?)\s?(?:to|:|대)\s?(\d+(?:\.\d+)?)(?![\d.]*\d)")
_ASKS_YEAR = re.compile(r"\b(?:when|years?)\b", re.IGNORECASE)
_ASKS_RANK = re.compile(r"\b(?:rank|place|position|spot)\b", re.IGNORECASE)
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINAL = re.compile(rf"\b(?:{'|'.join(ORDINALS)})\b", re.IGNORECASE)


def strict_match(question_type: int, answer: str, response: str, question: str = "") -> bool:
    """Return whether the final answer of a response is right. An empty response is always wrong.

    `question_type` is the `question_type_id` of the test set; its groups are defined in `chart_answers`.
    """
    response = one_form(_in_form_of(answer, stated_answer(response)))
    if not response:
        return False
    if question_type in CHOICES:
        return _same_letters(answer, response, question)
    is_of_list_type = question_type in ORDERED | ORDERED_BY_CHARACTER | UNORDERED
    has_items = is_of_list_type and "," in answer  # "Yes,Not stated" has two, and no reason for a yes
    if _is_yes_or_no(answer) and not has_items:
        return _polarity(_after_marker(response)) is _polarity(answer)
    if is_of_list_type:
        return same_list(question, answer, response, is_ordered=question_type not in UNORDERED)
    passages = answering_passages(question, answer, response)
    if not passages:  # a list of candidates, unless it is the answer itself: Food/Drinks
        return folded(answer) == folded(response)
    passages = [passage for passage in passages if not _is_of_another_country(question, answer, passage)]
    passages = [passage for passage in passages if not is_of_other_rank(question, passage)]
    is_about_one_subject = answer_is_value(answer) and not ASKS_TO_COMPARE.search(question)
    if is_about_one_subject:
        passages = [passage for passage in passages if not is_of_other_subject(question, passage)]
        if not _ASKS_YEAR.search(question):
            passages = [passage for passage in passages if not is_of_other_year(question, passage)]
    passages = list(map(without_contrast, passages))
    return any(_passage_matches(question_type, question, answer, passage) for passage in passages)


def _same_letters(answer: str, response: str, question: str) -> bool:
    """Return whether a response asserts the letters of an answer, or has the text of the choice if it is only one."""
    wanted = {letter for letter in answer.upper() if letter in "ABCD"}
    if given := asserted_letters(response, question):
        return given == wanted
    return len(wanted) == 1 and asserted_letter(response, choices_in_question(question), question) in wanted


def _is_of_another_country(question: str, answer: str, passage: str) -> bool:
    """Return whether question and passage name countries, but none that is in both; False if the answer is a country."""
    asks_for_country = bool(COUNTRY_NAME.search(one_form(answer)))
    return not asks_for_country and names_only_others(COUNTRY_NAME, one_form(question), passage)


def _passage_matches(question_type: int, question: str, answer: str, passage: str) -> bool:
    """Return whether a passage gives the answer: as a ratio if it is one, else as the question's type asks for.

    EXACT_NUMBER and ROUGH_NUMBER compare values. AS_ANSWER_IS compares values if the gold answer is one. AS_TEXT_OR_VALUE
    accepts the name or the value. All other types, among them TEXT, compare names.
    """
    if _RATIO.fullmatch(answer.strip()):
        return _RATIO.sub(r"\1:\2", answer.strip()) in {":".join(pair) for pair in _RATIO.findall(passage)}
    if _ASKS_RANK.search(question):
        passage = _ORDINAL.sub(lambda match: str(ORDINALS.index(match[0].lower()) + 1), passage)
    tolerance = ROUGH_TOLERANCE if question_type in ROUGH_NUMBER else EXACT_TOLERANCE
    if question_type in ROUGH_NUMBER | EXACT_NUMBER:
        return same_value(question, answer, passage, tolerance)
    if question_type in AS_ANSWER_IS and answer_is_value(answer):
        return same_value(question, answer, passage, tolerance)
    if question_type in AS_TEXT_OR_VALUE and re.search("[0-9]", answer):
        is_name = bool(re.search(r"[^\W\d_]", answer)) or len(scan(readable(answer))) > 1  # March 2018, 25-34
        if is_name and gives_name(question, answer, passage):
            return True
        return same_value(question, answer, passage, tolerance)
    return gives_name(question, answer, passage)


def _in_form_of(answer: str, response: str) -> str:
    """Return a response in which a name with the answer in brackets behind it is replaced by what is in the brackets.

    For the answer "Amazon Web Services", "AWS (Amazon Web Services) leads" becomes "Amazon Web Services leads".
    """

    def form_of_answer(match: re.Match[str]) -> str:
        return str(match[2]) if folded(match[2]) == folded(answer) else match[0]

    return _TWO_FORMS.sub(form_of_answer, response) if "(" in response else response


def _is_yes_or_no(answer: str) -> bool:
    """Return whether a gold answer is yes or no, perhaps with a reason behind a comma.

    Names that begin with such a word are not: No religion, No. 1, True North.
    """
    begins = _POLARITY.match(answer)
    return begins is not None and _NOTHING_OR_REASON.fullmatch(answer, begins.end()) is not None


def _polarity(text: str) -> bool | None:
    """Return True for a text that says yes and False for one that says no, or None if it says neither.

    Its beginning decides, else a verdict such as "the statement is false", else the last conclusion: "So, no".
    """
    if begins := _POLARITY.match(text):
        return bool(begins["yes"])
    if verdict := _VERDICT.search(text[:MAX_LENGTH]):
        return not verdict["false"] and not verdict["not"]
    for conclusion in reversed(list(_SO.finditer(text[:MAX_LENGTH]))):
        if concluded := _POLARITY.match(text, conclusion.end()):
            return bool(concluded["yes"])
    return None


def _after_marker(response: str) -> str:
    """Return what follows the last marker of an answer or is in a box, or the whole response."""
    if len(response) > MAX_LENGTH:
        return response
    marked = list(BOXED.finditer(response)) or list(ANSWER.finditer(response))
    return response[marked[-1].start(1) :] if marked else response

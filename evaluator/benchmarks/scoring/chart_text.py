"""Read the words, clauses and sentences of a response to InfoChartQA, whose questions are mostly in English.

`chart_passages`, `chart_names`, `chart_values`, `chart_lists` and `strict_chart_answers` share these. The constants without an
underscore are used there. Compare two texts by `folded`, which ignores their case, punctuation, articles and common forms of
names. `chart_other_subjects` decides whether a passage is about something else than the question.
"""

import re
import unicodedata

from evaluator.benchmarks.scoring.names import SPELLINGS, one_form, own_words
from evaluator.benchmarks.scoring.number_words import in_digits

MAX_ROWS = 4  # rows whose values a response may give, the answer's included; with more it is a table
MAX_LENGTH = 2000  # characters of a response; a longer one is not searched for an answer
# What is given as the answer, in group 1: "The answer is **Japan**.", "\\boxed{\\text{Japan}}".
ANSWER = re.compile(
    r"(?:answer|정답|(?<![가-힣])답)\W{0,4}(?:is\b|:|은|는|=)[\s*:(\"'\[]{0,4}([^\n]*?)(?:\.\s|\.?$|\n)",
    re.IGNORECASE | re.MULTILINE,
)
BOXED = re.compile(r"\\boxed\{(?:\\text\{)?([^{}]*)\}")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\w\U0001f300-\U0001faff])|\n+")
# Begins a sentence about another time or other rows than the answer's, unless the question names that time too.
ELSEWHERE = re.compile(
    r"(?:(?:all )?the (?:remaining|rest|others?|remainder)|(?:all )?others?|after(?:wards?| that)|before that|by (?:contrast|comparison)|in (?:contrast|comparison)|for comparison|they are followed|meanwhile|later|earlier|previously"
    r"|(?:in|by|since|until)\s(?P<year>(?:1[89]|20)\d\d))\b",
    re.IGNORECASE,
)
# Before an answer that is denied, only bounded or of the rest: "not the", "less than", "remaining". Searched in lower case.
DENIAL_BEFORE = re.compile(
    r"(?:\b(?:not|neither|nor|except|but|than|before|after|over|under|between|least|most)|n't)\s+(?:an?\s|the\s)?$|\bremaining\s+$"
)
# A word that makes a few words a sentence: "Japan leads", but not "South Korea". In Korean, a particle or a predicate.
FUNCTION_WORD = re.compile(
    r"\b(?:is|was|are|were|has|had|have|with|the|it|in|at|by|on|stays?|remains?|leads?|tops?|ranks?|comes?|shows?|saw|stands?|appears?|belongs?|represents?|accounts?|makes?|takes?)\b|^(?!united\b)[a-z]+ed\b|[가-힣](?:은|는|이|가)(?![가-힣])|다$|요$",
    re.IGNORECASE,
)
# Asks for more than one value, or for a change of values. `sentence_values` has another pattern of this name, for Korean.
ASKS_TO_COMPARE = re.compile(
    r"\b(?:difference|more|less|fewer|than|total|combined|sum|ratio|times|average|both|change\w*|grow\w*|grew|increas\w*|decreas\w*|ris\w*|rose|drop\w*|(?<!rain )(?<!snow )f[ae]ll|gain\w*)\b",
    re.IGNORECASE,
)


def without_remarks(response: str) -> str:
    """Return a response without text in brackets, or unchanged if nothing else would remain."""
    text = re.sub(r"(?<!\s)\s*+\([^()\n]*+\)", "", response)
    return text if re.search(r"\w", text) else response


# What an answer is set apart from: "2020, not 2019", "not Italy but Japan".
_NOT_BUT = re.compile(r"\bnot\s[^.,;\n]{1,30}?,?\sbut\s(?!also|only|not)", re.IGNORECASE)  # [not Italy but ]Japan
_AND_NOT = re.compile(
    r"""
    (?: ,\s(?:and\ |but\ )? | \sand\ | \sbut\ )
    not\s(?!only|just|to\b)[^.,;()\n]{1,30} (?=[.;\n]|$)       # Japan[, not Italy].
    | \s\( not\s [^()\n]{1,30} \)                              # Japan[ (not Italy)]
    """,
    re.IGNORECASE | re.VERBOSE,
)


def without_contrast(passage: str) -> str:
    """Return a passage without what it sets the answer apart from: "2020, not 2019." → "2020."."""
    text = _AND_NOT.sub("", _NOT_BUT.sub("", passage))
    return text if re.search(r"\w", text) else passage


# Starts a remark, or a mention of another item: "Japan| (12 %), followed by Italy".
_ASIDE = re.compile(
    r"\s*\(|,?\s*\b(?:compared|versus|vs|followed|then|in front of|than|whereas|while|but|(?:up|down)(?:\s(?:by\s)?[\d.,]+\s?%?)? from"
    r"|ahead of|along with|together with|in addition to|for a total|because|since|as)\b"
    r"|,\s*(?:with|which|when|where|making|not|shortly|just|right)\b|;|,?\sof (?:which|whom|these|them)\b"
)


def main_part(passage: str, may_be_answer: re.Pattern[str]) -> str:
    """Return a passage up to the first aside behind text that may be the answer: "Japan (12 %)" → "Japan"."""
    for aside in _ASIDE.finditer(passage):
        if may_be_answer.search(passage[: aside.start()]):
            return passage[: aside.start()]
    return passage


_CLAUSE_BREAK = re.compile(r";|,?\s\b(?:and|while|whereas|but)\b\s")


def clause_about(question: str, passage: str, content: re.Pattern[str]) -> str:
    """Return the clause of a passage that is about the question, or the whole passage if no single clause stands out.

    To "How many cars did Japan export?", it is the first of "Japan exported 4,000 cars and Italy exported 900". A clause
    stands out if it has a word of the question that no other clause has. Only clauses that match `content` are compared. If
    the question asks for a comparison, it is about all clauses, so the whole passage is returned.
    """
    clauses = [clause for clause in _CLAUSE_BREAK.split(passage) if content.search(clause)]
    if not 1 < len(clauses) <= MAX_ROWS or ASKS_TO_COMPARE.search(question):
        return passage
    # Words before a value are compared first, because later ones may name another: "and Italy sold 900 cars to Japan".
    before_values = [re.split(r"\d", clause)[0] for clause in clauses]
    for texts in (before_values, clauses):
        words_of_question = [labels_of(text) & labels_of(question) for text in texts]
        standing_out = [place for place, words in enumerate(own_words(words_of_question)) if words]
        if len(standing_out) == 1:
            return clauses[standing_out[0]]
    return passage


def words_of(text: str) -> set[str]:
    """Return the words of at least four letters in lower case. Shorter ones are mostly articles and prepositions."""
    return set(re.findall(r"[a-z]{4,}", text.lower()))


_YEAR = re.compile(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)")  # 1800 to 2099


def years_in(text: str) -> set[str]:
    """Return the years from 1800 to 2099 in a text."""
    return set(_YEAR.findall(text))


def labels_of(text: str) -> set[str]:
    """Return the words and years of a text, by which rows are told apart."""
    return words_of(text) | years_in(text)


_INFLECTION = re.compile(r"(?<=[a-z]{3})(?:ed|ing|es|s)$")


def stems_of(text: str) -> set[str]:
    """Return the words of at least four letters, without common endings: "Exports rising" → {"export", "ris"}."""
    return {_INFLECTION.sub("", word) for word in words_of(text)}


def american(text: str) -> str:
    """Return a text, which must be in lower case, in American spelling."""
    for british, spelling in SPELLINGS.items():
        text = text.replace(british, spelling)
    return text


_ACCENT = re.compile("[\u0300-\u036f]")


def folded(text: str) -> str:
    """Return a text without case, accents, punctuation, white space and a leading article, in the form of `one_form`.

    Signs and decimal points are kept: "The U.S. (−1.5%)" → "unitedstates-1.5%".
    """
    text = one_form(in_digits(unicodedata.normalize("NFKC", text))).casefold().strip()
    text = unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", text)))
    text = text.replace(" & ", " and ")
    text = american(text)
    text = re.sub(r"^\W*(?:the|a|an)\s+", "", text)
    return re.sub(r"(?<!\d)\.|\.(?!\d)|(?<!\d)/|/(?!\d)|[^\w.+%/-]|_|(?:입니다|이다)\.?$", "", text)

"""Read the words, clauses and sentences of a response to InfoChartQA, whose questions are mostly in English.

`chart_passages`, `chart_names`, `chart_values`, `chart_lists` and `strict_chart_answers` share these. Compare two texts by
`folded`, which ignores their case, punctuation, articles and common forms of names.
"""

import re
import unicodedata

from evaluator.benchmarks.scoring.names import COUNTRIES, MONTHS, SPELLINGS, none_in_common, one_form, own_words
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
# Starts a remark, or a mention of another item: "Japan| (12 %), followed by Italy".
_ASIDE = re.compile(
    r"\s*\(|,?\s*\b(?:compared|versus|vs|followed|then|in front of|than|whereas|while|but|(?:up|down)(?:\s(?:by\s)?[\d.,]+\s?%?)? from"
    r"|ahead of|along with|together with|in addition to|for a total|because|since|as)\b"
    r"|,\s*(?:with|which|when|where|making|not|shortly|just|right)\b|;|,?\sof (?:which|whom|these|them)\b"
)
# Before an answer that is denied, only bounded or of the rest: "not the", "less than", "remaining". Searched in lower case.
DENIAL_BEFORE = re.compile(
    r"(?:\b(?:not|neither|nor|except|but|than|before|after|over|under|between|least|most)|n't)\s+(?:an?\s|the\s)?$|\bremaining\s+$"
)
_YEAR = re.compile(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)")  # 1800 to 2099
_DIGIT = re.compile(r"\d")
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
_ACCENT = re.compile("[\u0300-\u036f]")
_INFLECTION = re.compile(r"(?<=[a-z]{3})(?:ed|ing|es|s)$")
_CLAUSE_BREAK = re.compile(r";|,?\s\b(?:and|while|whereas|but)\b\s")
ASKS_TO_COMPARE = re.compile(
    r"\b(?:difference|more|less|fewer|than|total|combined|sum|ratio|times|average|both|change\w*|grow\w*|grew|increas\w*|decreas\w*|ris\w*|rose|drop\w*|(?<!rain )(?<!snow )f[ae]ll|gain\w*)\b",
    re.IGNORECASE,
)
# Verbs of what something had, behind its name: "Gaon had 287".
_HAD = r"""
(?: has | had | have | got | gets | saw | sees | received | attracted        # Gaon had 287
  | carried | handled | recorded | reported | reached                        # Gaon carried 287
  | produced | sold | exported | employed                                    # Gaon sold 287
)
"""
_SUBJECT = re.compile(rf"^\W*([A-Z][a-z]{{2,}})\s{_HAD}\b", re.MULTILINE | re.VERBOSE)
_NO_SUBJECT = {  # words at the start of a sentence that name nothing
    "It", "They", "This", "That", "These", "Those", "There", "Each", "Both", "She", "Who", "Which", "You", "All", "Total", "People",
}  # fmt: skip
_NAME_IN_QUESTION = re.compile(r"(?<=[a-z,]\s)[A-Z][a-z]{2,}")  # Nuri, behind the first word
# Words of which only one can be true of what a question is about.
_OPPOSITES = tuple(
    (re.compile(rf"\b{first}\b", re.IGNORECASE), re.compile(rf"\b{second}\b", re.IGNORECASE))
    for first, second in (
        (r"north(?:ern)?", r"south(?:ern)?"),
        (r"east(?:ern)?", r"west(?:ern)?"),
        ("upper", "lower"),
        ("inner", "outer"),
        ("urban", "rural"),
        ("females?|women|girls", "males?|men|boys"),
        ("domestic", "foreign"),
        ("public", "private"),
        ("imports?", "exports?"),
        ("births?", "deaths?"),
    )
)
_MOST = (
    r"(?:largest|highest|biggest|greatest|longest|tallest|most\s(?:common|popular|frequent|expensive|visited|populous))"
)
_LEAST = r"(?:smallest|lowest|shortest|fewest|(?<!at\s)least|most\s(?:rare|uncommon))"
_RANK_ENDS = {
    "most": re.compile(rf"\b{_MOST}\b", re.IGNORECASE),
    "least": re.compile(rf"\b{_LEAST}\b", re.IGNORECASE),
}
_ORDINALS = {"2nd": "second", "3rd": "third", "4th": "fourth", "5th": "fifth"}
_PLACE = re.compile(rf"\b(?:(second|third|fourth|fifth|2nd|3rd|4th|5th)[\s-])?(?:{_MOST}|{_LEAST})\b", re.IGNORECASE)
# A word that makes a few words a sentence: "Japan leads", but not "South Korea". In Korean, a particle or a predicate.
FUNCTION_WORD = re.compile(
    r"\b(?:is|was|are|were|has|had|have|with|the|it|in|at|by|on|stays?|remains?|leads?|tops?|ranks?|comes?|shows?|saw|stands?|appears?|belongs?|represents?|accounts?|makes?|takes?)\b|^(?!united\b)[a-z]+ed\b|[가-힣](?:은|는|이|가)(?![가-힣])|다$|요$",
    re.IGNORECASE,
)
# In texts that `one_form` has returned, which writes these names in lower case.
_MONTH_NAME = re.compile(rf"(?<![a-z])(?:{'|'.join(MONTHS)})(?![a-z])")
COUNTRY_NAME = re.compile(rf"(?<![a-z])(?:{'|'.join(COUNTRIES)})(?![a-z])")


def without_remarks(response: str) -> str:
    """Return a response without text in brackets, or unchanged if nothing else would remain."""
    text = re.sub(r"(?<!\s)\s*+\([^()\n]*+\)", "", response)
    return text if re.search(r"\w", text) else response


def without_contrast(passage: str) -> str:
    """Return a passage without what it sets the answer apart from: "2020, not 2019." → "2020."."""
    text = _AND_NOT.sub("", _NOT_BUT.sub("", passage))
    return text if re.search(r"\w", text) else passage


def main_part(passage: str, may_be_answer: re.Pattern[str]) -> str:
    """Return a passage up to the first aside behind text that may be the answer: "Japan (12 %)" → "Japan"."""
    for aside in _ASIDE.finditer(passage):
        if may_be_answer.search(passage[: aside.start()]):
            return passage[: aside.start()]
    return passage


def clause_about(question: str, passage: str, content: re.Pattern[str]) -> str:
    """Return the clause of a passage that is about the question, or the whole passage if none stands out.

    To "How many cars did Japan export?", it is the first of "Japan exported 4,000 cars and Italy exported 900". It must
    match `content`, and no other clause has its words of the question. A question that compares is about all clauses.
    """
    clauses = [clause for clause in _CLAUSE_BREAK.split(passage) if content.search(clause)]
    if not 1 < len(clauses) <= MAX_ROWS or ASKS_TO_COMPARE.search(question):
        return passage
    # Words before a value are compared first, because later ones may name another: "and Italy sold 900 cars to Japan".
    before_values = [re.split(r"\d", clause)[0] for clause in clauses]
    for texts in (before_values, clauses):
        shared = [labels_of(text) & labels_of(question) for text in texts]
        named = [place for place, words in enumerate(own_words(shared)) if words]
        if len(named) == 1:
            return clauses[named[0]]
    return passage


def names_another(answer: str, passage: str) -> bool:
    """Return whether an answer is a month or a country, and a passage, which `one_form` has returned, names only others."""
    return any(names_only_others(names, one_form(answer), passage) for names in (_MONTH_NAME, COUNTRY_NAME))


def names_only_others(names: re.Pattern[str], known: str, text: str) -> bool:
    """Return whether a text has names that the pattern `names` matches, and none of those in a known text."""
    return none_in_common(set(names.findall(known)), set(names.findall(text)))


def is_of_other_subject(question: str, passage: str) -> bool:
    """Return whether a passage gives its value to another subject than the question's: Gaon for Nuri, north for south.

    A passage without a subject, or that names the question's too, is about the question.
    """
    for pair in _OPPOSITES:
        asked = [bool(word.search(question)) for word in pair]
        given = [bool(word.search(passage)) for word in pair]
        if sum(asked) == sum(given) == 1 and asked != given:
            return True
    asked_names = set(_NAME_IN_QUESTION.findall(question))
    subjects = set(_SUBJECT.findall(passage)) - _NO_SUBJECT
    is_named = any(name in passage for name in asked_names)
    return bool(asked_names and subjects) and not is_named and not any(subject in question for subject in subjects)


def is_of_other_rank(question: str, passage: str) -> bool:
    """Return whether a passage is about another place of a ranking than the question: the lowest, the third largest.

    A passage that names no place, or that of the question among others, is about the question. What follows a comma may be
    about another: "Samsung holds 21 %, behind Apple, the largest".
    """
    clause = re.split(r"[,;](?!\d)", passage)[0]
    asked_ends = _ends_in(question)
    given_ends = _ends_in(clause)
    if len(asked_ends) == len(given_ends) == 1 and asked_ends != given_ends:
        return True
    asked_places = _places_in(question)
    if len(asked_places) != 1:
        return False
    (asked_place,) = asked_places
    # With or without an adjective, as in "Food is the largest, Rent is second, and Transport is third".
    if asked_place in passage.lower():
        return False
    return none_in_common(asked_places, _places_in(clause))


def _ends_in(text: str) -> set[str]:
    """Return from which ends of a ranking a text counts: "the second largest" → {"most"}."""
    return {end for end, words in _RANK_ENDS.items() if words.search(text)}


def _places_in(text: str) -> set[str]:
    """Return the places of a ranking in a text: "the largest", "the second largest" → {"first", "second"}."""
    return {
        _ORDINALS.get(match[1].lower(), match[1].lower()) if match[1] else "first" for match in _PLACE.finditer(text)
    }


def words_of(text: str) -> set[str]:
    """Return the words of at least four letters in lower case. Shorter ones are mostly articles and prepositions."""
    return set(re.findall(r"[a-z]{4,}", text.lower()))


def labels_of(text: str) -> set[str]:
    """Return the words and years of a text, by which rows are told apart."""
    return words_of(text) | set(_YEAR.findall(text))


def stems_of(text: str) -> set[str]:
    """Return the words of at least four letters, without common endings: "Exports rising" → {"export", "ris"}."""
    return {_INFLECTION.sub("", word) for word in words_of(text)}


def is_of_other_year(question: str, passage: str) -> bool:
    """Return whether a question names a single year, and a passage, before any aside, only others: "In 2017, …" for 2018."""
    asked_years = set(_YEAR.findall(question))
    given_years = set(_YEAR.findall(main_part(passage, _DIGIT)))
    return len(asked_years) == 1 and none_in_common(asked_years, given_years)


def american(text: str) -> str:
    """Return a text, which must be in lower case, in American spelling."""
    for british, spelling in SPELLINGS.items():
        text = text.replace(british, spelling)
    return text


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

"""Score the final answer of a response by InfoChartQA's strict rule: the published comparisons without their mistakes.

Texts must be equal apart from case, punctuation, articles and common forms of names. Numbers must be within the published
tolerance, but years must be exact, and a factor such as K, million or 억 counts. A response that names several candidates,
denies the answer or only bounds it is wrong.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from evaluator.benchmarks.scoring.chart_answers import (
    ANY_CHARACTER,
    CHOICES,
    EXACT,
    EXACT_NUMBER,
    NUMERIC_OR_TEXT,
    ORDERED,
    ROUGH,
    ROUGH_NUMBER,
    TEXT_OR_NUMBER,
    UNORDERED,
    mostly_digits,
)
from evaluator.benchmarks.scoring.letters import asserted_letter, asserted_letters, choices_in_question
from evaluator.benchmarks.scoring.names import COUNTRIES, NUMBERS, SPELLINGS, number_words_as_digits, one_form
from evaluator.benchmarks.scoring.numerals import factor_of, in_digits
from evaluator.benchmarks.scoring.quantities import Quantity, Stated, plain, scan
from evaluator.benchmarks.scoring.stated_answer import EITHER, stated_answer

MAX_CANDIDATE_WORDS = 4  # in one item of a list of candidates
MIN_COMPOUND = 8  # letters of a word that may be written as two
MAX_FILLER_WORDS = 20  # beside the answer in its sentence
MAX_LABELLED_LINES = 4
MAX_CLAUSES = 10  # of a sentence that gives values of several subjects
MAX_SHARE_ERROR = 0.5  # percentage points between a fraction and a percentage
MAX_LENGTH = 2000  # characters of a response; a longer one is not searched for an answer

# Locate the answer.
_ANSWER = re.compile(
    r"(?:answer|정답|(?<![가-힣])답)\W{0,4}(?:is\b|:|은|는|=)[\s*:(\"'\[]{0,4}([^\n]*?)(?:\.\s|\.?$|\n)",
    re.IGNORECASE | re.MULTILINE,
)
_CONCLUSION = re.compile(
    r"(?:\b(?:therefore|thus|hence)\b|(?:^|[.,;:!?]\s?)so\b|따라서|→)[ ,:]*([^\n]+)$", re.IGNORECASE
)
_BOXED = re.compile(r"\\boxed\{(?:\\text\{)?([^{}]*)\}")
_SLASH = r"(?<!\d)(?<!\d[A-Za-z])(?<!\d\s[A-Za-z])(?<!\d[A-Za-z]{2})(?<!\d\s[A-Za-z]{2})/"  # 1/4, 28 L/day and 5 km/h have another
_SEPARATOR = re.compile(rf"\s*(?:\n|,(?!\d{{3}})|[;|·]|{_SLASH})\s*")
_HARD_SEPARATOR = re.compile(rf"\s*(?:[\n;|·]|{_SLASH})\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\w\U0001f300-\U0001faff])|\n+")
# Begins a sentence about another time or other rows than the answer's, unless the question names that time too.
_ELSEWHERE = re.compile(
    r"(?:the (?:remaining|rest|others?|remainder)|(?:all )?others?|after(?:wards?| that)|before that|by (?:contrast|comparison)|in (?:contrast|comparison)|for comparison|meanwhile|later|earlier|previously"
    r"|(?:in|by|since|until)\s(?P<year>(?:1[89]|20)\d\d))\b",
    re.IGNORECASE,
)
# Words of a sentence about what is not the answer: what comes after it, or is behind it.
_ABOUT_OTHERS = re.compile(
    r"\b(?:(?:is|are|was|were|comes?|came|ranks?|ranked|follows?|followed)\b[^.]{0,20}\b(?:second|third|next|last|runner-up|behind|runners-up)|runner-up|the least|the fewest|follows?|followed|trails?)\b",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|so|overall|leaves)\b|^(?:this|that)\b|^it(?:'s| is)\b|[=≈]", re.IGNORECASE
)
_CHATTER = re.compile(r"\W*(?:I'm|I am|I hope|I believe|let me know|please|note)\b(?![^.]*\d)", re.IGNORECASE)
_COMMITS = re.compile(r"\b(?:would|must|has to|should) be\b", re.IGNORECASE)
_UNDECIDED = re.compile(
    r"\b(?:could|might|may) (?:also|equally|just as well|as well) be\b|\b(?:not possible|impossible|unable|hard|difficult) to (?:tell|say|determine|know)\b"
    r"|\b(?:cannot|can't|could not) (?:be )?(?:tell|determined?|say|known?|identify|identified)\b",
    re.IGNORECASE,
)
# A name and its other form in brackets: AWS (Amazon Web Services), 브라질 (Brazil).
_TWO_FORMS = re.compile(
    r"((?:[A-Z][\w.&'-]*|(?<![\d가-힣])[가-힣]+)(?:\s(?:of\s|and\s|&\s)?[A-Z][\w.&'-]*){0,4})\s?\(([^()\d\n]+)\)"
)
_BASE = re.compile(r"(?<![\d,.])1\s?(?:인|명|가구|일)당")
_VALUE_OF_NAME = re.compile(r",\s?(?:at\s|with\s|약\s)?[$€£₩]?\d[^,]*$")
_RUNNER_UP = re.compile(
    r"[^.,;]{0,15}\s(?:is|was|comes?|came|ranks?|ranked|follows?|followed|placed|takes?|took)\b[^.,;]{0,20}\b(?:second|third|next|behind|runner)\b"
)
# Starts a remark, or a mention of another item.
_ASIDE = re.compile(
    r"\s*\(|,?\s*\b(?:compared|versus|vs|followed|then|in front of|than|whereas|while|but|down from|up from|ahead of|because|since|as)\b|,\s*(?:with|which|not)\b|;|,?\sof (?:which|whom|these|them)\b"
)
_DENIAL = re.compile(
    r"(?:\b(?:not|neither|nor|except|but|than|before|after|over|under|between|least|most)|n't)\s+(?:an?\s|the\s)?$|아니|아닙"
)
_DENIED_AFTER = re.compile(
    r"[^.,;]{0,40}\s(?:has|have|had) no\b|\s*(?:is|are|was)\s+(?:not|wrong|incorrect)\b|이?\s*아니"
)
_FUNCTION_WORD = re.compile(
    r"\b(?:is|was|are|were|has|had|have|with|the|it|in|at|by|on|stays?|remains?|leads?|tops?|ranks?|comes?|shows?|saw|stands?|appears?|belongs?|represents?|accounts?|makes?|takes?)\b|^[a-z]+ed\b|[가-힣](?:은|는|이|가)(?![가-힣])|다$|요$",
    re.IGNORECASE,
)
_LISTED_BEFORE = re.compile(r"(?:[;/|·&>]|(?<![\d.])(?!(?:19|20)\d\d,)\d\S*,|\band\b|및|와|과)\s*$")
_LISTED_AFTER = re.compile(r"\s*(?:[;/|·&]|and\b|및|와|과)")

_IT_IS = re.compile(r"^\W*(?:it|that|this)(?:'s|\sis)\s", re.IGNORECASE)
_POLARITY = re.compile(
    r"[\s*\"'(]*(?:(?P<yes>yes|true|네|예|그렇습니다|맞습니다)|no|false|아니(?:요|오)|아닙니다|그렇지 않)(?![A-Za-z가-힣])",
    re.IGNORECASE,
)
# What an answer without yes or no concludes.
_VERDICT = re.compile(
    r"\b(?:statement|claim|assertion) is (?:(?P<false>not|false|incorrect|wrong|untrue)|correct|true|right)"
    r"|\b(?:so|therefore|thus|hence),?\s(?:it|they|the [a-z]+) (?:did|does|do|is|was|were|are|has|have)(?P<not>\snot|n't)\b",
    re.IGNORECASE,
)
_SO = re.compile(r"(?:\b(?:so|therefore|thus|hence)\b|따라서|그러므로|→)[,:]?\s", re.IGNORECASE)

_PLURAL = re.compile(
    r"(?<![a-z])([a-z]{2,}(?=ies(?![a-z]))|[a-z]+(?:s|x|ch|sh|z)(?=es(?![a-z]))|[a-z]{2,}[^\Wsui\d](?=s(?![a-z])))(ies|es|s)"
)
# Nouns that a name may be given without: Solar for Solar power.
_WHAT_IT_IS = {
    "power",
    "energy",
    "industry",
    "sector",
    "category",
    "color",
    "colour",
    "brand",
    "platform",
    "app",
    "generation",
}
_ACCENT = re.compile("[\u0300-\u036f]")

# Values.
_ASKS_AMOUNT = re.compile(
    r"\bhow (?:many|much)\b|\b(?:price|cost|amount|number|value|population|average|total|sales|revenue)\b",
    re.IGNORECASE,
)
_ASKS_TIME = re.compile(r"\b(?:years?|when|dates?|months?)\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d.,])(?:1[89]|20)\d\d(?![\d%]|[.,]\d)")
_LETTER_FACTORS = {"k": "천", "m": "백만", "mn": "백만", "b": "십억", "bn": "십억", "t": "조", "tn": "조"}
_LETTER_FACTOR = re.compile(r"(?<=\d)(?:\s?(K|M|B|T|[Bb]n|[Mm]n|[Tt]n)|(k|m|b))(?![A-Za-z\d])")
_VALUE_IN_BRACKETS = re.compile(r"\([^()\n]*\d[^()\n]*\)")
_ONLY_VALUE_IN_BRACKETS = re.compile(r"((?:^|[.;,])[^\d.;,()]*)\(([^()\n]*\d[^()\n]*)\)", re.MULTILINE)
_CLAUSE_END = re.compile(r";|,?\s\b(?:and|while|whereas|but)\b\s")
_ASKS_TO_COMPARE = re.compile(
    r"\b(?:difference|more|less|fewer|than|total|combined|sum|ratio|times|average|both|change\w*|grow\w*|grew|increas\w*|decreas\w*|ris\w*|rose|drop\w*|f[ae]ll|gain\w*)\b",
    re.IGNORECASE,
)
_FRACTION = re.compile(r"(?<![\d/.])(\d{1,3})/(\d{1,3})(?![\d/])")
_RATIO = re.compile(r"(?<![\d.,])(\d+(?:\.\d+)?)\s?(?:to|:|대)\s?(\d+(?:\.\d+)?)(?![\d.]*\d)")
_CURRENCIES = {
    "$": r"\$|dollars?|usd|달러",
    "€": "€|euros?|eur|유로",
    "£": "£|pounds?|gbp|파운드",
    "₩": "₩|won|krw|원(?![가-힣])",
    "¥": "¥|yen|jpy|엔(?![가-힣])",
}
_EITHER_VALUE = re.compile(
    rf"\d[^.;\n]{{0,40}}(?:{EITHER.pattern})[^.;\n]{{0,20}}\d|(?:{EITHER.pattern})\s+(?:maybe|perhaps|possibly|more|less|so)\b|either",
    re.IGNORECASE,
)
_REWORDS = re.compile(r",?\sor\s(?=(?:roughly|about|approximately|around|simply)\s[$€£₩]?\d)", re.IGNORECASE)
_CENTS = re.compile(r"(?<![\d.,])(\d{1,2})\s?(?:cents?|¢)(?![A-Za-z])", re.IGNORECASE)
_LABELLED_LINE = re.compile(r"(?:[^:\d]{2,40}|(?:19|20)\d\d):\s[^:]{1,60}")
_OUT_OF = re.compile(r"(?<=\d)\s(?:out\s)?of\s(?:the\s|all\s)?\d[\d,]*")  # 4 of the 9 countries
_PER = re.compile(r"\bper\s(?:an?\s)?([A-Za-z]+)")
# Words of the change that a question asks about, by the sense that `scan` gives to a value.
_DIRECTIONS = {
    "+": re.compile(r"\b(?:increas\w*|rise|rose|grow|grew|gain)\b", re.IGNORECASE),
    "-": re.compile(r"\b(?:decreas\w*|declin\w*|drop|fall|fell|reduc\w*)\b", re.IGNORECASE),
}
PLAIN_UNITS = {"", "%", "달러", "명", "년", "개"}  # may be missing, or be what is counted in other words
_CURRENCY = re.compile(r"(?<![A-Za-z])[A-Z]{0,3}[$€£₩¥]")
_SIGNED_CURRENCY = re.compile(rf"(?<=[-−]){_CURRENCY.pattern}")  # -$100 is -100
_SCALE_WORD = "[십백천만억조]"
_ASKED_FACTOR = re.compile(
    rf"\b(thousand|million|billion|trillion)s?\b|(?:몇|단위\s?[:：]?)\s?({_SCALE_WORD}+)|\(({_SCALE_WORD}+)",
    re.IGNORECASE,
)
_FACTORS = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
# Stands before the value that a sentence arrives at, after the values that it is computed from.
_ARRIVES = re.compile(
    r"(?:\b(?:increase|decrease|rise|drop|decline|difference|growth|gain|change|gap|total|average|sum|ratio|combined)\s(?:of|is|was)"
    r"|\b(?:difference|total|answer|result|sum|average)\s(?:is|was|of|equals)|\b(?:by|equals|totals|totaling|totalling)|[=≈→])\s*(?:about|approximately|around)?\s*[$€£₩]?$",
    re.IGNORECASE,
)

_IN_TOTAL = re.compile(r"\s(?:\w+\s)?(?:in total|altogether|in all|combined)\b", re.IGNORECASE)

_ASKS_RANK = re.compile(r"\b(?:rank|place|position|spot)\b", re.IGNORECASE)
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINAL = re.compile(rf"\b(?:{'|'.join(ORDINALS)})\b", re.IGNORECASE)

# Lists.
_LIST_LEAD = re.compile(r"[^,\n:]*(?::|\b(?:are|is|was|were))\s+")
_PREDICATE = re.compile(r"\s(?:are|is|was|were|have|has|had|both|all)\b.*$", re.DOTALL)
_LIST_MARK = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+|\s\d{1,2}[.)]\s+", re.MULTILINE)
_BULLET_MARK = re.compile(r"^[ \t]*[-*•][ \t]+")
_BULLET = re.compile(r"^[ \t]*(?:\d+[.)]|[-*•])[ \t]+([^\n:]*)", re.MULTILINE)
_ITEM_WORD = re.compile(
    r"^\s*(?:both|first(?:ly)?|second(?:ly)?|third(?:ly)?|fourth(?:ly)?|next|then|finally|lastly|and)[\s,]+(?:by\s)?|\s*(?:순(?:입니다|이다)?)?[.。]?$|\s[–—-]\s[\d.,]+.*$",
    re.IGNORECASE,
)
_VALUE_OF_ITEM = re.compile(r"\s[–—-]\s[$€£₩]?\d[^\n]*$", re.MULTILINE)
_COUNTRY_NAME = re.compile(rf"(?<![a-z])(?:{'|'.join(COUNTRIES)})(?![a-z])")  # as `one_form` writes them
_OTHER_ITEM = re.compile(r"(?:(?<=[a-z,;]\s)|(?<=\n)\s*)[A-Z][A-Za-z]+|\d+(?![\d%])")
_EXTRA_ITEM = re.compile(r",\s*(?:and|&)\s+[a-z]\w*\s*(?:[.(]|$)")  # left when the items are removed: and basketball.
_COUNT_OF_ITEMS = re.compile(rf"\bonly\s({'|'.join(NUMBERS)})\b", re.IGNORECASE)
_EXCLUDES = re.compile(r"\b(?:not|excluded?|except|only)\b|n't\b|제외|해당하지 않", re.IGNORECASE)
_COMMA = r",(?!\d{3})"
_LIST_SEPARATORS = (
    r"\n",
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
    r"\b(?:followed by|then|before)\b",
    r"및|그리고",
)


def strict_match(question_type: int, answer: str, response: str, question: str = "") -> bool:
    """Return whether the final answer of a response is right. An empty response is always wrong."""
    response = one_form(_in_form_of(answer, stated_answer(response)))
    if not response:
        return False
    if question_type in CHOICES:
        wanted = {letter for letter in answer.upper() if letter in "ABCD"}
        if given := asserted_letters(response):
            return given == wanted
        return asserted_letter(response, choices_in_question(question)) in wanted and len(wanted) == 1
    is_yes = _polarity(answer)
    if is_yes is not None:
        return _polarity(_after_marker(response)) is is_yes
    if question_type in ORDERED | ANY_CHARACTER | UNORDERED:
        return _same_list(question, answer, response, is_ordered=question_type not in UNORDERED)
    passages = _passages(question, answer, response)
    if not passages:
        return _folded(answer) == _folded(response)
    passages = [passage for passage in passages if not _is_of_another_country(question, answer, passage)]
    return any(_passage_matches(question_type, question, answer, passage) for passage in passages)


def _passages(question: str, answer: str, response: str) -> list[str]:
    """Return the passages of a response of which one must give the answer, or an empty list if it is a list of candidates."""
    labelled = None if _ANSWER.search(response[:MAX_LENGTH]) else _labelled_line(question, response)
    if labelled is not None:
        return [labelled]
    is_value = _is_value(answer)
    return final_passages(question, _without_alternative_words(response) if is_value else response, is_value)


def _is_of_another_country(question: str, answer: str, passage: str) -> bool:
    """Return whether a question names countries, and a passage only others."""
    asked = set(_COUNTRY_NAME.findall(one_form(question)))
    given = set(_COUNTRY_NAME.findall(passage))
    return bool(asked and given) and asked.isdisjoint(given) and not _COUNTRY_NAME.search(one_form(answer))


def _passage_matches(question_type: int, question: str, answer: str, passage: str) -> bool:
    if _RATIO.fullmatch(answer.strip()):
        return _RATIO.sub(r"\1:\2", answer.strip()) in {":".join(pair) for pair in _RATIO.findall(passage)}
    if _ASKS_RANK.search(question):
        passage = _ORDINAL.sub(lambda match: str(ORDINALS.index(match[0].lower()) + 1), passage)
    tolerance = ROUGH if question_type in ROUGH_NUMBER else EXACT
    if question_type in ROUGH_NUMBER | EXACT_NUMBER or (question_type in NUMERIC_OR_TEXT and _is_value(answer)):
        return _same_value(question, answer, passage, tolerance)
    if question_type in TEXT_OR_NUMBER and re.search("[0-9]", answer):
        is_name = bool(re.search(r"[^\W\d_]", answer)) or len(scan(_readable(answer))) > 1  # March 2018, 25-34
        if is_name and _gives_answer(question, answer, passage):
            return True
        return _same_value(question, answer, passage, tolerance)
    return _gives_answer(question, answer, passage)


def _in_form_of(answer: str, response: str) -> str:
    """Return a response in which a name that stands beside the answer's form of it is replaced by that: AWS (Amazon Web Services)."""

    def one_name(match: re.Match[str]) -> str:
        return str(match[2]) if _folded(match[2]) == _folded(answer) else match[0]

    return _TWO_FORMS.sub(one_name, response) if "(" in response else response


def _polarity(text: str) -> bool | None:
    """Return whether a text begins with yes or no, or concludes so; None if it does neither."""
    found = _POLARITY.match(text)
    if found is None and (verdict := _VERDICT.search(text[:MAX_LENGTH])):
        return not verdict["false"] and not verdict["not"]
    if found is None:
        concluded = [_POLARITY.match(text, match.end()) for match in _SO.finditer(text[:MAX_LENGTH])]
        found = next(filter(None, reversed(concluded)), None)
    return None if found is None else bool(found["yes"])


def _after_marker(response: str) -> str:
    """Return what follows the last marker of an answer or is in a box, or the whole response."""
    if len(response) > MAX_LENGTH:
        return response
    marked = list(_BOXED.finditer(response)) or list(_ANSWER.finditer(response))
    return response[marked[-1].start(1) :] if marked else response


def _is_value(answer: str) -> bool:
    return mostly_digits(answer) or bool(re.match(r"[-−–△▲]?\s?[$€£₩]?\d", answer.strip()))


def _labelled_line(question: str, response: str) -> str | None:
    """Return the value of the first line, or of a few lines `label: value` the only one whose label has words of the question."""
    lines = [_BULLET_MARK.sub("", line) for line in response.splitlines() if line.strip()]
    first, _, name = lines[0].partition(":")
    is_name = bool(_LABELLED_LINE.fullmatch(lines[0])) and not re.search(r"\d", name)
    if len(lines) > 1 and is_name and _words(first) and _words(first) <= _words(question):
        return name
    if not 2 <= len(lines) <= MAX_LABELLED_LINES or not all(map(_LABELLED_LINE.fullmatch, lines)):
        return None
    asked = [_words(line.partition(":")[0]) & _words(question) for line in lines]
    own = [words.difference(*asked[:place], *asked[place + 1 :]) for place, words in enumerate(asked)]
    named = [line.partition(":")[2] for line, words in zip(lines, own, strict=True) if words]
    return named[-1] if len(named) == 1 or own[-1] else None


def _without_alternative_words(response: str) -> str:
    """Return a response in which only values are alternatives: not the words in "79% ends up in landfills or nature"."""
    response = _REWORDS.sub(",", response)
    return response if _EITHER_VALUE.search(response) else EITHER.sub(",", response)


def final_passages(question: str, response: str, is_value: bool) -> list[str]:
    """Return the parts of a response that may give its answer, or an empty list if the response is a list of candidates.

    The answer follows a marker or a conclusion, or is the only passage in bold or a first sentence that is nothing but an answer.
    Else it is in the last sentence that is not about another time, or in one that repeats more of the question, if nothing is
    concluded from that.
    """
    if len(response) > MAX_LENGTH:
        return []
    if boxed := [str(match[1]) for match in _BOXED.finditer(response)]:
        return boxed[:1] if len(set(map(_folded, boxed))) == 1 else []
    if marked := [str(match[1]) for match in _ANSWER.finditer(response) if re.search(r"\w", match[1])]:
        return marked[-1:] if len(set(map(_folded, marked))) == 1 and not EITHER.search(marked[-1]) else []
    concluded = _CONCLUSION.search(_last_line(response))
    conclusions = _SENTENCE_END.split(concluded[1]) if concluded else [""]
    conclusion = next((one for one in reversed(conclusions[1:]) if _CONCLUDES.search(one)), conclusions[0])
    if conclusion and (not is_value or re.search(r"\d", conclusion)) and not EITHER.search(conclusion):
        return [conclusion]
    response = _with_values_of_remarks(response) if is_value else response
    response = _without_remarks(response)
    bold = {text for text in re.findall(r"\*\*(.+?)\*\*", response) if not is_value or re.search(r"\d", text)}
    if len(bold) == 1:
        return [str(bold.pop())]
    if bold or EITHER.search(response) or _UNDECIDED.search(response):
        return []
    sentences = [one.strip() for one in _SENTENCE_END.split(response) if one.strip()]
    sentences = [one for one in sentences if not _CHATTER.match(one)] or sentences
    if len(sentences) > 1 and _is_bare(sentences[0]) and not all(map(_is_bare, sentences)):
        return sentences[:1]
    for separator, most in ((_SEPARATOR, 2), (_HARD_SEPARATOR, 1)):
        parts = separator.split(response)
        if len(parts) > 1 and len(set(map(_folded, parts))) == 1:  # repeats one answer
            return parts[:1]
        if len(parts) > most and all(map(_is_candidate, parts)):
            return []
    return _answering_sentences(question, _at_asked_time(question, sentences), is_value=is_value)


def _answering_sentences(question: str, sentences: Sequence[str], *, is_value: bool) -> list[str]:
    """Return the last sentence, and the one before it that repeats more of the question, unless the last one concludes."""
    committed = [sentence for sentence in sentences if _COMMITS.search(sentence)]
    if len(committed) == 1:
        return committed
    shared = [_words(sentence) & _words(question) for sentence in sentences]
    best = max(range(len(sentences)), key=lambda place: (len(shared[place]), place))
    if _CONCLUDES.search(sentences[-1]) or len(shared[best]) <= len(shared[-1]):
        return [sentences[-1]]
    is_about_others = bool(_ABOUT_OTHERS.search(sentences[-1])) and not _ABOUT_OTHERS.search(question)
    return [sentences[best]] if is_about_others else [sentences[best], sentences[-1]]


def _at_asked_time(question: str, sentences: Sequence[str]) -> Sequence[str]:
    """Return sentences without those after the first that are about other rows, or another time than the question names."""
    if _ASKS_TO_COMPARE.search(question):
        return sentences
    kept = [sentences[0]]
    for sentence in sentences[1:]:
        elsewhere = _ELSEWHERE.match(sentence)
        if elsewhere is None or (elsewhere["year"] and elsewhere["year"] in question):
            kept.append(sentence)
    return kept


def _is_candidate(part: str) -> bool:
    """Return whether a part of a response may be one of several candidates: a few words that are no sentence."""
    is_sentence = "=" in part or (part.endswith(".") and bool(_FUNCTION_WORD.search(part)))
    return len(part.split()) <= MAX_CANDIDATE_WORDS and not is_sentence


def _is_bare(sentence: str) -> bool:
    """Return whether a sentence is nothing but an answer: a few words without a verb."""
    sentence = _IT_IS.sub("", sentence)
    return (
        len(sentence.split()) <= MAX_CANDIDATE_WORDS
        and not re.search("[:=]", sentence)
        and not _FUNCTION_WORD.search(sentence.rstrip(".!"))
    )


def _last_line(response: str) -> str:
    return [line for line in response.splitlines() if line.strip()][-1].strip()


def _without_remarks(response: str) -> str:
    """Return a response without text in brackets, or unchanged if nothing else would remain."""
    text = re.sub(r"(?<!\s)\s*+\([^()\n]*+\)", "", response)
    return text if re.search(r"\w", text) else response


def _with_values_of_remarks(response: str) -> str:
    """Return a response with the text of its brackets, if only one has a value and its clause has no other: half (50 %)."""
    if len(_VALUE_IN_BRACKETS.findall(response)) > 1:
        return response
    return _ONLY_VALUE_IN_BRACKETS.sub(r"\1 \2 ", response)


def _main_part(passage: str, has_answer: re.Pattern[str]) -> str:
    """Return a passage up to the first aside after text that may be the answer, which `has_answer` matches."""
    for aside in _ASIDE.finditer(passage):
        if has_answer.search(passage[: aside.start()]):
            return passage[: aside.start()]
    return passage


def _gives_answer(question: str, answer: str, passage: str) -> bool:
    """Return whether a sentence gives the answer, rather than mentioning it among many words or in a list."""
    if _folded(answer) == _folded(passage):
        return True
    passage = _clause_about(question, passage, re.compile(r"[^\W\d]"))
    if not re.search(r"\d", answer):
        passage = _VALUE_OF_NAME.sub("", passage)
    passage = _singular(one_form(passage).lower().replace(" & ", " and ").partition(" — ")[0])
    passage = _main_part(passage, re.compile(r"\w")).strip(" .*()[]\"'")
    return any(_asserts_name(question, name, passage) for name in _forms_of(question, answer))


def _forms_of(question: str, answer: str) -> list[str]:
    """Return the forms in which a name may be given: without what it is (Solar for Solar power), a person's last name."""
    name = _singular(one_form(answer).lower().strip().replace(" & ", " and "))
    *first, last = name.split() or [""]
    forms = [name]
    if first and last in _WHAT_IT_IS:
        forms.append(" ".join(first))
    if 1 <= len(first) <= 2 and re.match(r"\W*who\b", question, re.IGNORECASE) and not re.search(r"\d", name):
        forms.append(last)
    return forms


def _singular(text: str) -> str:
    """Return a text in lower case with its plurals in the singular."""
    return _PLURAL.sub(lambda match: match[1] + ("y" if match[2] == "ies" else ""), text)


def _asserts_name(question: str, name: str, passage: str) -> bool:
    """Return whether a passage, both in one form, says that a name is the answer."""
    if _folded(name) == _folded(passage):
        return True
    letters = re.escape(name)
    if len(name) >= MIN_COMPOUND and name.isalpha():  # Health care
        letters = r"[\s-]?".join(name)
    every = list(re.finditer(rf"(?<![a-z0-9.]){letters}(?![a-z0-9]|[.,]\d)", passage))
    if not every:
        return False
    found = every[-1]
    before = passage[: found.start()]
    after = passage[found.end() :]
    if _DENIAL.search(before) or _DENIED_AFTER.match(after):
        return False
    if (runner_up := _RUNNER_UP.match(after)) and runner_up[0].split()[-1] not in question.lower():
        return False
    others = len(before.split()) + len(after.split())
    is_listed = _LISTED_BEFORE.search(before) or _LISTED_AFTER.match(after)
    return not is_listed and others <= MAX_FILLER_WORDS and (others <= 1 or bool(_FUNCTION_WORD.search(passage)))


def _same_value(question: str, answer: str, passage: str, tolerance: float) -> bool:
    """Return whether a passage has only one value and it is the answer's.

    Years must be exact, and a factor such as K or M counts, unless the question asks in it. `%` may be missing.
    """
    if not re.search("[0-9]", answer):
        return _gives_answer(question, answer, passage)
    if _other_currency(answer, passage):
        return False
    if _folded(answer) == _folded(passage):  # Q3 2020, 12K, 1/3
        return True
    wanted = scan(_readable(answer))
    if not wanted:
        return False
    if "%" in answer and (fractions := _FRACTION.findall(passage)):
        return all(_is_share(wanted[-1], *pair) for pair in fractions) and _only_share(passage, wanted[-1])
    if _YEAR.fullmatch(answer.strip()) and not _asks_amount(question):
        text = _readable(passage)
        given = [one for one in _asserted_values(question, passage, years=True) if _is_year(text, one)]
        return {one.quantity.value for one in given} == {wanted[-1].quantity.value}
    part = _main_part(_clause_about(question, passage.replace("\n", " "), re.compile(r"\d")), re.compile(r"\d"))
    given = _asserted_values(question, part, years=False)
    return bool(given) and all(_agree(question, answer, wanted[-1], passage, one, tolerance) for one in given)


def _asks_amount(question: str) -> bool:
    """Return whether a question asks for an amount, so that an answer such as 2035 is no year."""
    return bool(_ASKS_AMOUNT.search(question)) and not _ASKS_TIME.search(question)


def _is_share(wanted: Stated, part: str, whole: str) -> bool:
    """Return whether a fraction is a percentage: 1/4 is 25 %."""
    return int(whole) > 0 and abs(100 * int(part) / int(whole) - float(wanted.quantity.value)) < MAX_SHARE_ERROR


def _only_share(passage: str, wanted: Stated) -> bool:
    """Return whether a passage has no percentage beside its fraction but the wanted one."""
    given = [one.quantity for one in scan(_readable(passage)) if one.quantity.unit == "%"]
    return all(one.value == wanted.quantity.value for one in given)


def _clause_about(question: str, passage: str, content: re.Pattern[str]) -> str:
    """Return the clause with some content that alone has words of the question, or the whole passage."""
    clauses = [clause for clause in _CLAUSE_END.split(passage) if content.search(clause)]
    if not 1 < len(clauses) <= MAX_CLAUSES or _ASKS_TO_COMPARE.search(question):
        return passage
    subjects = [re.split(r"\d", clause)[0] for clause in clauses]
    for texts in (subjects, clauses):
        shared = [_words(one) & _words(question) for one in texts]
        named = [place for place, words in enumerate(shared) if words.difference(*shared[:place], *shared[place + 1 :])]
        if len(named) == 1:
            return clauses[named[0]]
    return passage


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{4,}", text.lower()))


def _readable(text: str) -> str:
    """Return a text in which `scan` reads values: factors in letters become words, and numbers in words digits."""
    text = number_words_as_digits(unicodedata.normalize("NFKC", text))
    text = _SIGNED_CURRENCY.sub("", text)
    text = _CURRENCY.sub(" ", text)
    text = _BASE.sub("", text)
    text = _OUT_OF.sub("", text)
    text = _CENTS.sub(lambda match: f"{int(match[1]) / 100} dollars", text)
    return plain(_LETTER_FACTOR.sub(lambda match: _LETTER_FACTORS[(match[1] or match[2]).lower()], text))


def _asserted_values(question: str, passage: str, *, years: bool) -> list[Stated]:
    """Return the values that a passage asserts: the one it arrives at, or all but years and those of the question."""
    text = _readable(passage)
    every = list(scan(text))
    if not years and (values := [one for one in every if not _is_year(text, one)]):
        every = values
    asked = {one.quantity.value for one in scan(_readable(question))}
    if others := [one for one in every if one.quantity.value not in asked]:
        every = others
    if arrived := [one for one in every if _ARRIVES.search(text[: one.start]) or _IN_TOTAL.match(text, one.end)]:
        every = arrived[-1:]
    return [] if any(_DENIAL.search(text[: one.start].lower()) for one in every) else every


def _is_year(text: str, one: Stated) -> bool:
    return one.quantity.unit in ("", "년") and bool(_YEAR.match(text, one.start))


def _agree(question: str, answer: str, wanted: Stated, passage: str, given: Stated, tolerance: float) -> bool:
    """Return whether two values agree, also if one of them is in the factor that the question asks in."""
    some = wanted.quantity
    others = given.quantity
    if _is_other_direction(question, others) or _is_per_another(answer, passage):
        return False
    if some.agrees(others):
        return True
    if len({some.unit, others.unit} - PLAIN_UNITS) > 1:
        return False
    if _is_year(_readable(answer), wanted) and not _asks_amount(question):
        return some.value == others.value
    factor = _asked_factor(question)
    pairs = [(some.value, others.value)]
    if factor > 1 and not _has_factor(answer, wanted):
        factors = (factor,) if _has_factor(passage, given) else (1, factor)
        pairs = [(some.value * factor, others.value) for factor in factors]
    elif factor > 1 and not _has_factor(passage, given):
        pairs.append((some.value, others.value * factor))
    return any(abs(float(w) - float(g)) / (0.01 + abs(float(w))) < tolerance for w, g in pairs)


def _is_other_direction(question: str, given: Quantity) -> bool:
    """Return whether a question asks about a rise and the answer is a fall, or the reverse."""
    asked = [sense for sense, words in _DIRECTIONS.items() if words.search(question)]
    return len(asked) == 1 and given.sense in _DIRECTIONS and given.sense not in asked


def _is_per_another(answer: str, passage: str) -> bool:
    """Return whether two texts name different units for one measure per another: per ton, per ounce."""
    some = _units_after_per(answer)
    others = _units_after_per(passage)
    return bool(some and others) and not some & others


def _other_currency(answer: str, passage: str) -> bool:
    """Return whether two texts have amounts in different currencies."""
    some = _currencies(answer)
    others = _currencies(passage)
    return bool(some and others) and some.isdisjoint(others)


def _currencies(text: str) -> set[str]:
    return {sign for sign, words in _CURRENCIES.items() if re.search(rf"(?<![A-Za-z])(?:{words})", text, re.IGNORECASE)}


def _units_after_per(text: str) -> set[str]:
    return {word.lower().removesuffix("s") for word in _PER.findall(text)}


def _has_factor(text: str, stated: Stated) -> bool:
    return bool(re.search(_SCALE_WORD, _readable(text)[stated.start : stated.end]))


def _asked_factor(question: str) -> int:
    """Return the factor that a question asks in, as "how many thousand" and 몇 천 명 do, or 1."""
    asked = _ASKED_FACTOR.search(question)
    if asked is None:
        return 1
    return _FACTORS[asked[1].lower()] if asked[1] else factor_of(asked[2] or asked[3])


def _same_list(question: str, answer: str, response: str, *, is_ordered: bool) -> bool:
    wanted = [_folded(item) for item in answer.split(",")]
    readings = list(_lists(question, answer, response)) if len(response) <= MAX_LENGTH else []
    if is_ordered:
        return wanted in readings
    return sorted(wanted) in map(sorted, readings)


def _lists(question: str, answer: str, response: str) -> Iterator[Sequence[str]]:
    """Yield the folded items of a list, read with and without the words before and after them.

    Nothing is yielded if the response names alternatives or denies an item. What separates items in some responses may be
    part of an item of the answer, and then separates none.
    """
    response = _without_excluded(answer, response)
    if EITHER.search(response) or re.search(r"\b(?:not|none|neither)\b", response, re.IGNORECASE):
        return
    marked = [str(match[1]) for match in [*_BOXED.finditer(response), *_ANSWER.finditer(response)] if match[1].strip()]
    text = marked[-1] if marked else re.split(r"\n\s*\n", _without_remarks(response))[-1]
    text = _LIST_MARK.sub("\n", _without_remarks(text).replace("*", "")).strip()
    text = _VALUE_OF_ITEM.sub("", text)
    separators = "|".join(one for one in _LIST_SEPARATORS if one in (_COMMA, r"\n") or not re.search(one, answer))
    readings = {text, _PREDICATE.sub("", text)}
    if text.count(":") == 1:
        readings.add(text.partition(":")[2])
    if lead := _LIST_LEAD.match(text):
        readings.add(text[lead.end() :])
    if mentioned := _in_order_of_mention(question, answer, text):
        readings.add(mentioned)
    if response.lstrip().startswith("|"):
        readings.update(_columns(response))
    if len(bullets := _BULLET.findall(_without_remarks(response).replace("**", ""))) > 1:
        readings.add("\n".join(bullets))
    for reading in readings:
        items = [_ITEM_WORD.sub("", _ITEM_WORD.sub("", item)) for item in re.split(separators, reading)]
        yield [_folded(item) for item in items if re.search(r"\w", item)]


def _without_excluded(answer: str, response: str) -> str:
    """Return a response without the sentences after its first that say what is not in the list."""
    first, *others = _SENTENCE_END.split(response)
    items = [item.strip().casefold() for item in answer.split(",")]
    named = re.compile("|".join(map(re.escape, items)))
    kept = [one for one in others if not _EXCLUDES.search(one) or named.search(one.casefold())]
    return response if len(kept) == len(others) else " ".join([first, *kept])


def _in_order_of_mention(question: str, answer: str, text: str) -> str:
    """Return the items of an answer in the order in which a sentence names them, or "" if it names others or not all."""
    items = [item.strip() for item in one_form(answer).split(",")]
    places = [re.search(rf"(?<!\w){re.escape(item)}(?![A-Za-z\d])", text, re.IGNORECASE) for item in items]
    found = [(place.start(), item) for place, item in zip(places, items, strict=True) if place]
    rest = re.sub("|".join(map(re.escape, items)), "", text, flags=re.IGNORECASE)
    names = [*_OTHER_ITEM.findall(rest), *_COUNTRY_NAME.findall(rest)]
    if not re.search(r"\d", answer):  # numbers are values of items
        names = [name for name in names if not name.strip().isdigit()]
    others = [name for name in names if name.strip().casefold() not in one_form(question).casefold()]
    if len(found) < len(items) or others or _EXTRA_ITEM.search(rest) or _other_count(text, len(items)):
        return ""
    return ", ".join(item for _, item in sorted(found))


def _other_count(text: str, count: int) -> bool:
    """Return whether a text says that there are more or fewer items than `count`: only two brands."""
    stated = _COUNT_OF_ITEMS.search(text)
    return stated is not None and NUMBERS.index(stated[1].lower()) != count


def _columns(text: str) -> list[str]:
    """Return the columns of a table in Markdown, each with its cells on lines."""
    rows = [line.strip().strip("|").split("|") for line in text.splitlines() if line.lstrip().startswith("|")]
    cells = [row for row in rows[1:] if not set("".join(row)) <= set("-: ")]
    columns = zip(*cells, strict=False)
    return ["\n".join(map(str.strip, column)) for column in columns]


def _folded(text: str) -> str:
    """Return a text without case, accents, punctuation, white space and a leading article.

    Signs and decimal points are kept.
    """
    text = one_form(in_digits(unicodedata.normalize("NFKC", text))).casefold().strip()
    text = unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", text)))
    text = text.replace(" & ", " and ")
    for british, american in SPELLINGS.items():
        text = text.replace(british, american)
    folded = re.sub(r"^\W*(?:the|a|an)\s+", "", text)
    return re.sub(r"(?<!\d)\.|\.(?!\d)|(?<!\d)/|/(?!\d)|[^\w.+%/-]|_|(?:입니다|이다)\.?$", "", folded)

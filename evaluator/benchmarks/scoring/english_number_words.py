"""Write English number words as digits, for the values of charts: "about twenty-five cars" → "about 25 cars".

`number_words` does this for Korean numbers.
"""

import re

TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBERS = (  # each at the place of its value
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_TENS_WORD = re.compile(  # twenty, twenty-five
    rf"\b({'|'.join(TENS)})(?:[-\s]({'|'.join(NUMBERS[1:10])}))?\b", re.IGNORECASE
)
_NUMBER_WORD = re.compile(rf"\b({'|'.join(NUMBERS)})\b(?!-)", re.IGNORECASE)  # two, but not two-year
_HUNDREDS = re.compile(  # two hundred, two hundred and 87
    rf"\b(a|\d|{'|'.join(NUMBERS[1:])})\shundred(?:\s(?:and\s)?(\d{{1,2}}|{'|'.join(NUMBERS[1:])}))?\b(?![.,]\d)",
    re.IGNORECASE,
)
# Before a number word that counts what was named already: the two firms, these three.
_DETERMINER = re.compile(r"\b(?:the|these|those|all|both|other|last|next|top)\s$", re.IGNORECASE)
# Characters before a number word in which a determiner is looked for. The longest, "these ", has 6.
_DETERMINER_REACH = 8


def number_words_as_digits(text: str) -> str:
    """Return an English text with number words as digits: "about twenty-five cars" → "about 25 cars".

    Beside other numbers, `one` is kept, because it rarely is a number there, and so is a word that counts what was named
    already: "the two firms".
    """
    # Tens come first, because they may be a part of hundreds: two hundred and eighty-seven.
    with_tens = _TENS_WORD.sub(lambda match: str(_tens(match)), text)
    with_tens = _HUNDREDS.sub(_hundreds, with_tens)
    has_others = bool(re.search(r"\d", with_tens)) or len(_NUMBER_WORD.findall(with_tens)) > 1

    def digits_of(match: re.Match[str]) -> str:
        word = match[0].lower()
        reach = max(0, match.start() - _DETERMINER_REACH)
        is_no_value = has_others and (word == "one" or _DETERMINER.search(with_tens, reach, match.start()))
        return match[0] if is_no_value else str(NUMBERS.index(word))

    return _NUMBER_WORD.sub(digits_of, with_tens)


def _tens(match: re.Match[str]) -> int:
    """Return the value of a match of _TENS_WORD: twenty-five → 25."""
    ones = NUMBERS.index(match[2].lower()) if match[2] else 0
    return 10 * (2 + TENS.index(match[1].lower())) + ones


def _hundreds(match: re.Match[str]) -> str:
    """Return a match of _HUNDREDS, in which tens are digits already, in digits: two hundred and 87 → 287."""
    count, rest = (_small_number(word) for word in match.groups(default="0"))
    return str(100 * count + rest)


def _small_number(text: str) -> int:
    """Return the value of digits or of a number word: 87, seven. A word for one may be "a"."""
    word = text.lower()
    if word == "a":
        return 1
    return NUMBERS.index(word) if word in NUMBERS else int(word)

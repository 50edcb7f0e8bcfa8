"""Replace Korean numbers and signs that are written as words by digits and `-`.

삼만 이천 명 → 32000 명, 두 곳 → 2곳, 3천1백만 원 → 3100만 원, 마이너스 5.2% → -5.2%. `notation.plain` and `chart_text.folded`
call `in_digits` first. Units and the multipliers 만, 억 and 조 behind digits are left to `quantities`.
"""

import math
import re
from decimal import Decimal

from evaluator.benchmarks.scoring.units import WORD_END

# With re.IGNORECASE, i and s in patterns match these letters too, but `lower` does not turn them into i and s, so looking up
# the matched word would fail ("mıllion"). All rules therefore read texts in which they are replaced.
ASCII_FORMS = str.maketrans("ıİſ", "iIs")
DIGITS = {"일": 1, "이": 2, "삼": 3, "사": 4, "오": 5, "육": 6, "칠": 7, "팔": 8, "구": 9}
TENS = {"십": 10, "백": 100, "천": 1000}
MYRIADS = {"만": 10**4, "억": 10**8, "조": 10**12}  # a smaller number may follow: 1조 2,000억, 2만 5,000
MULTIPLIERS = TENS | MYRIADS
ONES = {"한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9}
NATIVE_TENS = {"열": 10, "스물": 20, "서른": 30, "마흔": 40, "쉰": 50, "예순": 60, "일흔": 70, "여든": 80, "아흔": 90}
COUNTS = {
    **ONES,
    **NATIVE_TENS,
    "스무": 20,
    **{f"{ten}{one}": tens + ones for ten, tens in NATIVE_TENS.items() for one, ones in ONES.items()},
}
# Counters with which other words begin, so that only a particle may follow: 두 배, but not 두 배우.
_COUNTERS_AT_WORD_END = "배|시간|시|주|층|점|단계|회|쪽|분|팀|병|그릇|잔|끼|반|학년|개월"
COUNTERS = "개|곳|군데|학교|도시|명|번째|번|해|가지|차례|대|건|살|마리|권|척|편|장|종|그루|쌍|달|석|량|세대|가구|사람|나라|지역|항목"

# A number in Hangul has one of the digits and is before a unit. 이천시 and 백만 원 (of 단위: 백만 원) are not numbers. The only
# number without one of the digits is 만 with 천 or 백 behind it: 만 천 톤.
_DIGIT = "일이삼사오육칠팔구"
_NUMERAL = f"{_DIGIT}십백천만억조"
# The following strings are parts of verbose patterns.
_UNIT = r"""
    원 | 달러                                     # 백만 원
  | 명 | 인 | 가구 | 세대 | 호                    # 이만 명
  | 개 | 곳 | 건 | 회 | 번 | 대 | 척 | 권 | 편 | 장 | 종 | 마리 | 그루
  | 년 | 월 | 시간 | 분 | 초 | 세 | 살            # 이십 년
  | 일(?=[은는이을로간,.\s]|입니다|$)               # 십사 일
  | 점 | 위 | 배 | 퍼센트 | 프로 | %              # 이십오 퍼센트
  | 톤 | km | kg | m | ha | 미터 | 헥타르 | 킬로  # 삼백 미터
"""
# A single digit may also begin a word or mean "this": 사회, 사건, 오세훈, 이 건. It needs a unit with which no word begins, or
# a space before it and a unit that ends the answer.
_CLEAR_UNIT = """
    퍼센트 | 프로 | % | 달러 | 개월 | 시간 | 킬로 | 미터 | 헥타르             # 삼 퍼센트, 오개월
  | 월(?![가-힣]) | 년(?![가-힣]) | 배(?![가-힣]) | 톤(?![가-힣])             # 삼월, but not 이월금
"""
_LAST_UNIT = r"""
    (?: 명 | 인 | 건 | 곳 | 개 | 회 | 번 | 대 | 점 | 위 | 세 | 호 )
    (?: 입니다 | 이다 | 임 | 이며 | \s*$ | [.,)] )                            # 삼 명입니다
"""
_HANGUL_NUMBER = re.compile(
    rf"""
    (?<![가-힣\d])
    (?:
        [{_DIGIT}] (?=\s?(?:{_CLEAR_UNIT}))              # 삼 퍼센트, 오개월
      | [{_DIGIT.replace("이", "")}] (?=\s{_LAST_UNIT})   # 답은 삼 명입니다
      | 만\s?[천백] (?=\s(?:{_UNIT})(?!상|하))      # 만 천 톤
      | (?=[{_NUMERAL}]{{2}}|[{_NUMERAL}]\s[{_NUMERAL}])            # 이만 칠천 명: two letters or more,
        (?=[십백천만억조\s]{{0,6}}[{_DIGIT}])              # one of which is a digit,
        [{_NUMERAL}]+ (?:\s[{_NUMERAL}]+){{0,4}}
        (?=\s?(?:{_UNIT})(?!상|하))                      # before a unit, but not 인상, 인하, 대상
    )
    """,
    re.VERBOSE,
)
_COUNT_WORDS = "|".join(sorted(COUNTS, key=len, reverse=True))
_COUNTED = re.compile(
    rf"""
    (?<![가-힣\d]) (?<!\d\s)                           # but not 108 세대
    (?!세대|세종|한편|한해|이?만[한두세]|백두대간)     # nor 세종, 한편, 쉴 만한 곳, 만두 개수
    ((?:[{_DIGIT}]?[만천백]\s?){{0,4}}) ({_COUNT_WORDS})  # 두 곳, 삼백열두 명: group 1 is 삼백
    # Behind 한, counters of the second kind are not read, because 한층 (even more), 한시 and 한주 are words too.
    \s?({COUNTERS} | (?<!한)(?!시도|회의|주의|분기|점점) (?:{_COUNTERS_AT_WORD_END}) {WORD_END})
    (?![가-힣]*째\s?줄)                                # nor 두 번째 줄
    """,
    re.VERBOSE,
)
_NONE = re.compile(
    r"""
    (?<![가-힣])
    (?: 하나                                           # 하나도 없습니다 → 0
      | 한\s?(?: 곳 | 개 | 건 | 해 | 명 | 번 | 차례 | 가지 )   # 한 곳도 없습니다 → 0
    )
    도\s없(?: 습니다 | 다 | 음 | 었\S* )?
    """,
    re.VERBOSE,
)
_ZERO = re.compile(r"(?<![가-힣\d])영\s(?=(?:곳|개|건|명|회|번|가지|해)(?:입니다|이다|\W|$))")  # 영 곳
_SHORT_YEAR = re.compile(r"(?<![\w'‘’])['‘’](\d\d)년")  # '18년 → 2018년
_FIRST = re.compile(r"(?<![가-힣])첫\s?번째")  # 첫 번째 → 1번째
_COMPOUND = re.compile(r"(?<![\d,.])\d{1,4}(?:[천백십]\s?\d{1,4}(?!\d|[,.]\d))+[천백십]?")  # 3천1백 → 3100
_COMPOUND_PART = re.compile(r"(\d+)([천백십]?)")  # 3천
_MINUS_WORD = re.compile(
    r"""
    (?: 마이너스 | 영하 | \bminus | \bnegative )       # 영하 3도, minus 3
    \s?(?:\(\s?[-−–]\s?\))?\s?(?=[\d.$₩])              # 마이너스(-) 5.2%
    | \(\s?[-−–]\s?\)\s?(?=\d)                         # (-)5.2%
    """,
    re.IGNORECASE | re.VERBOSE,
)
_AND_A_HALF = re.compile(r"(?<=\d)(배|시간|년|개월)\s?반(?=$|[^가-힣]|[이은을의으]|입니다)")  # 2배 반, 1시간 반
_YEARS_AND_MONTHS = re.compile(r"(?<![\d.,])(\d{1,2})\s?년\s?(\d{1,2})\s?개월")  # 2년 3개월 → 27개월
_TILDE = re.compile("[∼〜～]")  # 15∼29 → 15~29
_DURATION = re.compile(
    r"""
    (?<![\d.,])
    (\d{1,4})\s?(?: 시간 | hours? | hrs? | h )\s?(?:and\s)?           # 1시간 30분 → 90분
    (\d{1,2}(?:\.\d+)?)\s?(?: 분 | minutes? | mins? | m )             # 1 h 30 min → 90분
    (?![A-Za-z])
    """,
    re.VERBOSE,
)
_DASH_SIGN = re.compile(r"(?<![\w)\]%.,~-])[−–—‐‑－](?=\s?[\d.$₩])")  # of –5.2, but not of 10–15
_PIVOT_OF_SHORT_YEARS = 50  # '49년 is 2049년, '50년 is 1950년


def in_digits(text: str) -> str:
    """Return a text whose numbers and signs are written with digits and `-`.

    The order matters: signs come before the numbers behind them, 한 곳도 없다 before 한 곳, and what is counted before other
    numbers in Hangul, which would read 삼백세 명 as 300세. Compounds such as 3천1백 are joined last, when all their digits are
    written.
    """
    text = _TILDE.sub("~", text.translate(ASCII_FORMS))
    text = _MINUS_WORD.sub(" -", text)
    text = _DASH_SIGN.sub("-", text)
    text = _FIRST.sub("1번째", text)
    text = _NONE.sub("0", text)
    text = _ZERO.sub("0", text)
    text = _SHORT_YEAR.sub(lambda match: f"{'20' if int(match[1]) < _PIVOT_OF_SHORT_YEARS else '19'}{match[1]}년", text)
    text = _COUNTED.sub(_counted, text)
    text = _AND_A_HALF.sub(r".5\1", text)
    text = _HANGUL_NUMBER.sub(lambda match: str(_hangul_value(match[0])), text)
    text = _DURATION.sub(lambda match: f"{60 * int(match[1]) + Decimal(match[2])}분", text)
    text = _YEARS_AND_MONTHS.sub(lambda match: f"{12 * int(match[1]) + int(match[2])}개월", text)
    return _COMPOUND.sub(lambda match: str(_compound_value(match[0])), text)


def factor_of(words: str) -> int:
    """Return the product of multipliers: 백만 is 1,000,000."""
    return math.prod(MULTIPLIERS[word] for word in words)


def _counted(match: re.Match[str]) -> str:
    """Return a native number and its counter in digits: 두 곳 is 2곳, 삼백열두 명 is 312명."""
    counter = "곳" if match[3] == "군데" else match[3]
    return f"{_hangul_value(match[1]) + COUNTS[match[2]]}{counter}"


def _hangul_value(text: str) -> int:
    """Return the value of a number in Hangul: 삼만 이천 is 32,000.

    Letters are read from the left: 삼 is a digit until 만 multiplies all that was read since the last 만, 억 or 조.
    """
    total = 0  # above the last 만, 억 or 조
    section = 0  # since then
    digit = 0  # since the last 십, 백 or 천
    for letter in text:
        if letter in DIGITS:
            digit = DIGITS[letter]
        elif letter in TENS:
            section += (digit or 1) * TENS[letter]
            digit = 0
        elif letter in MYRIADS:
            total += ((section + digit) or 1) * MYRIADS[letter]
            section = digit = 0
    return total + section + digit


def _compound_value(text: str) -> int:
    """Return the value of digits with 천, 백 and 십 between them: 3천1백 is 3,100."""
    return sum(int(number) * TENS.get(word, 1) for number, word in _COMPOUND_PART.findall(text))

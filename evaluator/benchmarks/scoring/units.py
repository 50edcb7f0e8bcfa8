"""Define the units of quantities: their spellings, what they measure, and which are used for each other.

`UNITS` has the canonical form of each spelling, by which two quantities are compared. Other files build their patterns from
NUMBER, MULTIPLIER and UNIT.
"""

import re
from typing import NamedTuple


class Scale(NamedTuple):
    """What a unit measures, and how many of the smallest unit of that measure it has: a km has 10**6 mm."""

    measure: str
    factor: int


# Units that are used for each other, so that quantities agree in either.
TIMES = {"회", "번", "건"}  # of events
AGES = {"세", "년"}  # a life expectancy of 83.5세 is 83.5년
HOUSEHOLDS = {"호", "가구", "세대"}  # 50,722호 of farmers are 50,722가구
_GENERAL_COUNTERS = {"개", "개소"}  # may count any of the following: 47곳, which is read as 47개소, is 47개교
_COUNTERS_OF_THINGS = {
    "개", "개소", "개국", "개사", "개교", "병상", "종", "팀", "벌", "켤레", "상자", "포기", "실", "석", "의석", "학급", "차로", "병", "정", "그릇", "잔",
}  # fmt: skip
_ORDINALS = {"위", "차", "번", "회", "단계"}  # 3번째, which is read as 3위, is 3차

# Spelling → canonical unit. The pattern tries longer spellings first.
UNITS = {
    "퍼센트포인트": "%p", "%포인트": "%p", "%p": "%p", "퍼센트": "%", "프로": "%", "%": "%", "‰": "‰", "퍼밀": "‰",
    "원": "원", "달러": "달러", "불": "달러", "유로": "유로", "엔": "엔",
    "명": "명", "인": "명", "사람": "명", "가구": "가구", "세대": "세대", "쌍": "쌍",
    "개소": "개소", "개국": "개국", "개원": "개소", "개관": "개소", "개동": "개소", "개점": "개소", "개역": "개소", "개항": "개소", "개월": "개월", "개년": "년", "개사": "개사", "개교": "개교", "개": "개", "곳": "개소", "건": "건", "회": "회", "차례": "회", "번": "번",
    "대": "대", "척": "척", "권": "권", "편": "편", "장": "장", "종": "종", "호": "호", "동": "동", "필지": "필지", "마리": "마리", "그루": "그루",
    "년": "년", "월": "월", "일": "일", "시간": "시간", "분": "분", "초": "초", "세": "세", "살": "세", "주": "주",
    "점": "점", "위": "위", "번째": "위", "배": "배", "등급": "등급", "단계": "단계", "학점": "학점", "병상": "병상",
    "제곱킬로미터": "km제곱", "제곱미터": "m제곱", "세제곱미터": "m세제곱", "km제곱": "km제곱", "m제곱": "m제곱", "m세제곱": "m세제곱",
    "갤런": "갤런", "온스": "온스", "배럴": "배럴", "oz": "온스", "feet": "피트", "ft": "피트", "inches": "인치", "inch": "인치", "miles": "마일", "pounds": "파운드", "lbs": "파운드", "킬로미터": "km", "센티미터": "cm", "밀리미터": "mm", "미터": "m", "km": "km", "cm": "cm", "mm": "mm", "m": "m",
    "헥타르": "ha", "ha": "ha", "킬로그램": "kg", "밀리그램": "mg", "그램": "g", "톤": "톤", "kg": "kg", "mg/l": "mg/l", "밀리그램/리터": "mg/l", "mg": "mg",
    "μg/m세제곱": "μg/m세제곱", "마이크로그램/세제곱미터": "μg/m세제곱", "마이크로그램/리터": "μg/l", "μg/l": "μg/l", "μg": "μg", "g": "g", "t": "톤", "리터": "l", "ml": "ml", "l": "l", "teu": "teu", "kl": "kl", "kcal": "kcal", "ppm": "ppm", "db": "db",
    "wh": "wh", "kwh": "kwh", "mwh": "mwh", "gwh": "gwh", "twh": "twh", "kw": "kw", "mw": "mw", "gw": "gw", "tw": "tw",
    "kj": "kj", "mj": "mj", "gj": "gj", "tj": "tj", "pa": "pa", "hpa": "hpa", "kpa": "kpa", "mpa": "mpa", "bar": "bar", "mbar": "hpa",
    "kv": "kv", "ma": "ma", "mah": "mah", "hz": "hz", "khz": "khz", "mhz": "mhz", "ghz": "ghz", "km/h": "km/h", "m/s": "m/s",
    "kb": "kb", "mb": "mb", "gb": "gb", "tb": "tb", "℃": "도", "°c": "도", "도": "도", "℉": "화씨", "°f": "화씨", "계단": "계단", "포인트": "포인트",
}  # fmt: skip

# Unit of two values → unit of their difference, if it is another one: 60% and 40% differ by 20%p.
UNIT_OF_DIFFERENCE = {"%": "%p", "시": "시간"}

# Unit of a place or time → units of others that an answer may give with it: for 301호, "3층 301호"; for 18시, "6월 30일 18시".
# An hour is none of those of 분, because 3시 30분 is another value than 30분.
_PLACES = {"동", "층", "호", "실"}
BESIDE = {
    **{unit: _PLACES - {unit} for unit in _PLACES},
    "시": {"년", "월", "일"},
    "분": {"년", "월", "일"},
}

# Spellings that are units only right after a number, and only if a particle or no letter follows (WORD_END), because other words
# begin with them: 3반, but not 3반도체 or 3 반도체. Those in UNITS may have any ending, and may be apart from the number: 12 대의.
# For those of one syllable see `_AFTER_UNIT`.
UNITS_AT_WORD_END = {
    "학년도": "년", "학년": "학년", "반": "반", "층": "층", "시": "시", "차": "차", "쪽": "쪽", "페이지": "쪽", "항": "항", "조항": "항", "실": "실", "석": "석", "의석": "의석",
    "정": "정", "팀": "팀", "평": "평", "벌": "벌", "켤레": "켤레", "상자": "상자", "포기": "포기", "학급": "학급", "차로": "차로", "병": "병", "그릇": "그릇",
    "잔": "잔", "데시벨": "db", "볼트": "V", "에이커": "에이커", "마일": "마일",
}  # fmt: skip
# Single letters that are also words or names of choices are units only as capitals.
_LETTER_UNITS = {"W": "W", "J": "J", "V": "V", "A": "A"}

MEASURES = {
    "mm": Scale("length", 1), "cm": Scale("length", 10), "m": Scale("length", 1000), "km": Scale("length", 10**6),
    "m제곱": Scale("area", 1), "ha": Scale("area", 10**4), "km제곱": Scale("area", 10**6),
    "mg": Scale("weight", 1), "g": Scale("weight", 1000), "kg": Scale("weight", 10**6), "톤": Scale("weight", 10**9),
    "ml": Scale("volume", 1), "l": Scale("volume", 1000), "kl": Scale("volume", 10**6), "m세제곱": Scale("volume", 10**6),
    "W": Scale("power", 1), "kw": Scale("power", 1000), "mw": Scale("power", 10**6), "gw": Scale("power", 10**9), "tw": Scale("power", 10**12),
    "J": Scale("energy", 1), "kj": Scale("energy", 1000), "mj": Scale("energy", 10**6), "gj": Scale("energy", 10**9), "tj": Scale("energy", 10**12),
    "wh": Scale("energy", 3600), "kwh": Scale("energy", 3600 * 10**3), "mwh": Scale("energy", 3600 * 10**6), "gwh": Scale("energy", 3600 * 10**9),
    "twh": Scale("energy", 3600 * 10**12), "pa": Scale("pressure", 1), "hpa": Scale("pressure", 100), "kpa": Scale("pressure", 1000),
    "bar": Scale("pressure", 10**5), "mpa": Scale("pressure", 10**6), "V": Scale("voltage", 1), "kv": Scale("voltage", 1000), "ma": Scale("current", 1), "A": Scale("current", 1000),
    "개월": Scale("months", 1), "년": Scale("months", 12), "hz": Scale("frequency", 1), "khz": Scale("frequency", 1000), "mhz": Scale("frequency", 10**6), "ghz": Scale("frequency", 10**9), "초": Scale("time", 1), "분": Scale("time", 60), "시간": Scale("time", 3600),
}  # fmt: skip

# The following are parts of verbose patterns that ignore case.
NUMBER = r"(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)"  # 1,234.5 or 1234 or .5
MULTIPLIER = r"""
(?: 십 | 억                              # 3억
  | 백 (?!분|제|화|신)                   # 3백, but not 백분율, 백제, 백화점, 백신
  | 천 (?!안)                            # 3천, but not 천안
  | 만 (?!큼)                            # 3만, but not 만큼
  | 조 (?!각|사|항|직)                   # 3조, but not 조각, 조사, 조항, 조직
)
"""
_SPELLINGS = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
_NO_UNIT = r"프로 (?: 그램 | 젝트 | 세스 | 듀 | 토 | 필 | 모션 | 야구 | 축구 | 농구 | 배구 | 골프 | 선수 | 구단 )"  # 3 프로그램
# The end of a word, which follows one of UNITS_AT_WORD_END, and in other files a counter or a name: a particle, an ending,
# or no letter.
WORD_END = r"""
(?= (?![가-힣A-Za-z])
  | (?: 은 | 는 | 이 | 가 | 을 | 를 | 의 | 로 | 으로 | 에 | 에서 | 와 | 과 | 도 | 만 | 부터 | 까지 | 씩 | 당 | 쯤 | 경 | 째 | 짜리
      | 이상 | 이하 | 미만 | 초과 | 정도 | 가량 | 입니다 | 이다 | 임 | 이며 | 이고 | 이었 | 였 | 예요 | 이에요 | 인 )
)
"""
_SPELLINGS_AT_WORD_END = "|".join(sorted(UNITS_AT_WORD_END, key=len, reverse=True))
_NO_UNIT_AT_WORD_END = "정도 | 차이 | 시도 | 시가 | 반도 | 항의"  # 10정도, 3차이: not a unit and a particle
# What else than the end of a word may follow a unit of one syllable that is apart from its number. Without this rule, the first
# syllable of a noun would be a unit: 3 회사, 2023 인구, 2020 대비.
_AFTER_UNIT = """
    간 | 대 | 권 | 들 | 전 | 후 | 중 | 내 | 말 | 초 | 차 | 씨 | 꼴 | 일 | 밖 | 뿐 | 넘        # 3 년간, 20 명대, 7 위권
  | 보다 | 처럼 | 마다 | 나 | 라 | 하고 | 한테 | 동안 | 남짓 | 안팎 | 어치                            # 5 배나, 603 명보다
"""
# A unit that ends in a Latin letter is not the beginning of a word: 350 t, but not 350 total.
UNIT = rf"""
(?: (?<!\s) (?!{_NO_UNIT_AT_WORD_END}) (?:{_SPELLINGS_AT_WORD_END}) {WORD_END}
  | (?!{_NO_UNIT}) (?:{_SPELLINGS}) (?:(?<![A-Za-z])|(?![A-Za-z]))
    (?: (?<!\s[가-힣]) | (?![가-힣]) | {WORD_END} | (?={_AFTER_UNIT}) )
  | (?-i:[WJV]) (?![A-Za-z])                          # 350 W
  | (?<=\d) (?-i:A) (?![A-Za-z])                      # 350A, but not 350 A, where A may be a choice or an article
)
"""


def canonical(unit: str) -> str:
    """Return the canonical form of a unit that the pattern UNIT has matched in a text in NFKC: 퍼센트 → %, KM → km."""
    return UNITS.get(unit.lower()) or UNITS_AT_WORD_END.get(unit) or _LETTER_UNITS[unit]


def units_agree(unit: str, other: str) -> bool:
    """Return whether a quantity in one unit may agree with one in another: 회 and 건, km and m, or if one has no unit."""
    return are_interchangeable(unit, other) or have_same_measure(unit, other)


def are_interchangeable(unit: str, other: str) -> bool:
    """Return whether equal values in two units are the same quantity: 5회 is 5건, but 5 km is not 5 m."""
    units = {unit, other}
    if len(units) == 1 or "" in units:
        return True
    if units <= _COUNTERS_OF_THINGS and units & _GENERAL_COUNTERS:
        return True
    return units <= TIMES or units <= AGES or units <= HOUSEHOLDS or units <= _ORDINALS


def have_same_measure(unit: str, other: str) -> bool:
    """Return whether two units measure the same, for example lengths: km and m."""
    own = MEASURES.get(unit)
    its = MEASURES.get(other)
    return own is not None and its is not None and own.measure == its.measure

"""Write names that have several common forms in one form: months, dates, places, periods and ages.

`one_form("미국, 2nd quarter of 2020")` is `"united states, Q2 2020"`. The rules of InfoChartQA compare texts in this
form, because a chart, its gold answer and an output may each have another one. The rules of Korean benchmarks use
`places_in` and `with_place_as`, by which 충남 is 충청남도.
"""

import re
from collections.abc import Sequence, Set
from functools import lru_cache

from evaluator.benchmarks.scoring.number_words import ASCII_FORMS

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
# Common forms of names of continents and countries, and the form they are compared in.
COUNTRIES = {
    "south america": r"south america|남아메리카|남미", "north america": r"north america|북아메리카|북미", "latin america": r"latin america|중남미|라틴 ?아메리카",
    "europe": r"europe(?!an)|유럽(?! ?연합)", "asia": r"asia|아시아", "africa": r"(?<!south )africa|(?<!남)아프리카", "oceania": r"oceania|오세아니아",
    "united states": r"(?-i:U\.S\.A?\.?|USA?)|united states(?: of america)?|america|미국",
    "united kingdom": r"(?-i:U\.K\.?|UK)|united kingdom|(?:great )?britain|영국",
    "south korea": r"south korea|korea, republic of|korea, south|republic of korea|rok|s\. korea|한국|대한민국",
    "north korea": r"north korea|korea, north|dprk|n\. korea|북한",
    "china": r"china|prc|people's republic of china|중국",
    "japan": r"japan|일본", "germany": r"germany|독일", "france": r"france|프랑스", "india": r"india|인도(?!네시아)", "italy": r"italy|이탈리아",
    "canada": r"canada|캐나다", "spain": r"spain|스페인", "brazil": r"brazil|브라질", "australia": r"australia|호주", "mexico": r"mexico|멕시코",
    "russia": r"russia(?:n federation)?|러시아", "netherlands": r"netherlands|holland|네덜란드", "vietnam": r"viet ?nam|베트남",
    "turkey": r"turkey|türkiye|turkiye|터키|튀르키예", "czech republic": r"czech republic|czechia|체코", "taiwan": r"taiwan|대만",
    "united arab emirates": r"(?-i:U\.A\.E\.?|UAE)|united arab emirates|아랍에미리트", "european union": r"(?-i:E\.U\.?|EU)|european union|유럽 ?연합",
    "indonesia": r"indonesia|인도네시아", "new zealand": r"new zealand|뉴질랜드", "thailand": r"thailand|태국", "norway": r"norway|노르웨이",
    "denmark": r"denmark|덴마크", "finland": r"finland|핀란드", "poland": r"poland|폴란드", "austria": r"austria|오스트리아",
    "belgium": r"belgium|벨기에", "greece": r"greece|그리스", "portugal": r"portugal|포르투갈", "ireland": r"(?<!northern )ireland|아일랜드",
    "argentina": r"argentina|아르헨티나", "chile": r"chile|칠레", "colombia": r"colombia|콜롬비아", "egypt": r"egypt|이집트",
    "south africa": r"south africa|남아프리카(?: ?공화국)?|남아공", "nigeria": r"nigeria|나이지리아", "kenya": r"kenya|케냐",
    "saudi arabia": r"saudi arabia|사우디(?:아라비아)?", "israel": r"israel|이스라엘", "iran": r"iran|이란", "philippines": r"philippines|필리핀",
    "malaysia": r"malaysia|말레이시아", "singapore": r"singapore|싱가포르", "pakistan": r"pakistan|파키스탄", "ukraine": r"ukraine|우크라이나",
    "hungary": r"hungary|헝가리", "iceland": r"iceland|아이슬란드", "mongolia": r"mongolia|몽골", "peru": r"peru|페루",
    "switzerland": r"switzerland|스위스", "sweden": r"sweden|스웨덴",
}  # fmt: skip
# Names of places in Korea, in Hangul and in Latin letters. `_PLACE` reads an ending such as 시 or 도 after them: 충청북도.
PLACES = {
    "서울": "seoul", "부산": "busan", "인천": "incheon", "대구": "daegu", "대전": "daejeon", "광주": "gwangju", "울산": "ulsan", "세종": "sejong",
    "경기": "gyeonggi", "강원": "gangwon", "충북": "chungbuk", "충남": "chungnam", "전북": "jeonbuk", "전남": "jeonnam", "경북": "gyeongbuk",
    "경남": "gyeongnam", "제주": "jeju", "수원": "suwon",
    "충청북": "chungbuk", "충청남": "chungnam", "전라북": "jeonbuk", "전라남": "jeonnam", "경상북": "gyeongbuk", "경상남": "gyeongnam",
}  # fmt: skip
SPELLINGS = {
    "aluminium": "aluminum", "colour": "color", "grey": "gray", "fibre": "fiber", "centre": "center", "tyre": "tire", "labour": "labor",
}  # fmt: skip
QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
FRACTIONS = {"one": 1, "a": 1, "two": 2, "three": 3, "four": 4, "five": 5}
FRACTION_PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}

# What a thing is, at the end of its name: 건설업 for 건설업 분야.
ROLE_WORDS = r"""
    (?: 분야 | 부문 | 업종                          # 건설업 분야
      | 유형 | 종류 | 항목 | 구분 | 계층            # 아파트 유형
      | 부서 | 학교급                               # 총무 부서
      | 지역                                        # 수도권 지역
      | 광역시 | 특별시 | 특별자치시 | 특별자치도   # 부산광역시
    )
"""
ROLE = re.compile(rf"{ROLE_WORDS}$", re.VERBOSE)

# The patterns of `one_form`, in the order in which it replaces them. Later ones match the forms that earlier ones write.
_MONTH_LETTERS = 3  # of a month's short form: Mar
_MONTH_FORMS = "|".join(f"{month[:_MONTH_LETTERS]}(?:{month[_MONTH_LETTERS:]})?" for month in MONTHS)
_MONTH_NAMES = "|".join(MONTHS)
# The end of a word in Latin letters. \b does not end it before a Korean particle: "Q2에".
_WORD_END = r"(?![A-Za-z\d_])"
_MONTH = re.compile(
    rf"""
    \b({_MONTH_FORMS}|sept){_WORD_END} (?:\.(?=,|\s?\d))?             # March, Mar, Sept. 3
    | (?<!\d)(1[0-2]|[1-9])월                                 # 9월
    """,
    re.IGNORECASE | re.VERBOSE,
)
_YEAR_BEFORE_MONTH = re.compile(rf"((?:19|20)\d\d)년\s?({_MONTH_NAMES})")  # 2020년 9월, as 2020년 september
_GENERATION = re.compile(rf"\bgen(?:eration)?[\s-](x|y|z|alpha){_WORD_END}", re.IGNORECASE)  # Generation Z, Gen-Z
_BOOMERS = re.compile(rf"\b(?:baby[\s-])?boomers?{_WORD_END}", re.IGNORECASE)
_GASES = {
    "carbon dioxide": re.compile(rf"\bco2{_WORD_END}", re.IGNORECASE),
    "methane": re.compile(rf"\bch4{_WORD_END}", re.IGNORECASE),
}
_DATE = re.compile(
    rf"""
    (?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?
    (?P<month>{_MONTH_NAMES}),?\s(?P<year>(?:19|20)\d\d)                # 23rd of March 2021
    | (?P<year2>(?:19|20)\d\d)
      (?: -(?P<number>0[1-9]|1[0-2])-                                   # 2021-03-23
        | 년\s(?P<month2>{_MONTH_NAMES})\s?                             # 2021년 3월 23일, as 2021년 march 23일
      )
      (?P<day2>\d{{1,2}})(?:일|(?!\d))
    | (?<![a-z])(?P<month3>{_MONTH_NAMES})\s
      (?P<day3>\d{{1,2}})(?:st|nd|rd|th)?,?\s(?P<year3>(?:19|20)\d\d)(?!\d)   # March 23rd, 2021
    """,
    re.IGNORECASE | re.VERBOSE,
)
_COUNTRY = re.compile(  # one group for each country, in the order of COUNTRIES
    r"(?<![A-Za-z가-힣.])(?:the\s)?(?:"
    + "|".join(f"({forms})" for forms in COUNTRIES.values())
    + r")(?![A-Za-z$])",  # not the US of US$5
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"""
    (?:\b(?:from|(?P<between>between))\s+)?
    (?<!\d)(?P<first>(?:1[89]|20)\d\d)\s?(?:년)?\s?
    (?: 부터 | 에서                      # 2012년부터 2014년까지
      | to | until | through             # from 2012 to 2014
      | (?(between) and | (?!) )         # between 2012 and 2014, but not 2012 and 2014, which are two years
      | – | — | ~ | - | −                # 2012–2014
    )
    \s?(?P<last>(?:1[89]|20)\d\d)(?!\d)(?:년)?(?:까지)?
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Words that begin with the name of a place and mean something else: 경기 침체, 경기 종목, 세종 대왕.
_NO_PLACE = r"""
    경기(?:가|는|의)?\s?(?: 침체 | 회복 | 부양 | 지수 | 전망 | 변동 | 둔화 | 불황 | 호황 | 동향 | 심리 | 순환 | 종목 | 결과 | 횟수 )
    | 세종\s?대왕
"""
_PLACE = re.compile(
    rf"""
    (?<![가-힣])(?<!세계\s)(?<!차\s)                              # not 세계 대전, 제2차 대전
    (?!{_NO_PLACE})
    ({"|".join(sorted(PLACES, key=len, reverse=True))})
    (?: 특별시 | 광역시 | 특별자치시 | 특별자치도 | 시 | 도 )?     # 서울특별시, 충남도
    (?= [은는이가을를의에로와과도만임요]?(?![가-힣])               # 서울, 서울은, but not 서울대, 부산시청
      | 으로 | 에서 | 에[는선도] | 보다 | 까지 | 부터              # 서울에서
      | 이[며고다라었] | 입니다                                    # 서울입니다
    )
    """,
    re.VERBOSE,
)
_AND_MORE = re.compile(
    rf"""
    (?<!\d)(\d{{1,4}})\s?
    (?: 세\s?이상                                                                   # 65세 이상
      | \+                                                                          # 65+
      | (?:years?\s)? (?:and|or)\s (?: over | above | older | up | more ){_WORD_END} (?:\sage\w*)?   # 65 years and over
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_RANGE_DASH = re.compile(r"(?<=\d)\s?[–—~∼−]\s?(?=\d)")  # 25 ~ 34
# Half of, with the word before it. A word is read from its first character only, else a long one would take quadratic time.
_HALF = re.compile(r"(?:(?<![\w-])([\w-]++)\s)?(?<![-\w])half(?=\sof\b)", re.IGNORECASE)
# Words before "half of" that make it a part of a period or a place (first, upper), or a fraction that _FRACTION_WORD reads.
_WHICH_HALF = re.compile(
    r"(?:one|a|first|second|1st|2nd|other|latter|last|early|upper|lower|top|bottom|left|right|each|\w+ern)",
    re.IGNORECASE,
)
# Two thirds, a quarter, a third of users; but not "a third party", where the word counts a thing.
_FRACTION_WORD = re.compile(
    rf"""
    \b({"|".join(FRACTIONS)})[-\s]({"|".join(FRACTION_PARTS)})
    (?: s\b
      | \b(?!-[a-z])
        (?! \s (?! (?: of | the | is | are | was | were | has | have | had | in | on | at | by | to | from | and | or | than | as
                     | more | less | fewer | lower | higher | larger | smaller | but | while | who | that | said | say | share )\b )
            [a-z] )
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_AGES = re.compile(
    r"""
    (?: \baged?\s | \bages\s )?
    (?<!\d)(\d{1,3}) \s?(?:to|–|—|~|-)\s? (\d{1,3})
    (?: [\s-]?years?(?:[\s-]olds?)? | \s?세 )(?![A-Za-z])              # aged 25 to 34 years, 25-34 year-olds, 25~34세
    | \bage[ds]?\s(\d{1,3}) \s?(?:to|–|—|~|-)\s? (\d{1,3})\b            # aged 25-34
    """,
    re.IGNORECASE | re.VERBOSE,
)
_QUARTER = re.compile(
    rf"""
    \b( first | second | third | fourth | 1st | 2nd | 3rd | 4th )\squarter\b   # second quarter, 2nd quarter
    | \b(?: Q([1-4]) | ([1-4])Q ){_WORD_END}                                   # Q2, 2Q
    | (?<!\d)([1-4])\s?분기                                                    # 2분기
    """,
    re.IGNORECASE | re.VERBOSE,
)
_QUARTER_OF_YEAR = re.compile(rf"\b(Q[1-4])\s(?:of|in)\s((?:19|20)\d\d){_WORD_END}")  # Q2 of 2020
_YEAR_AND_QUARTER = re.compile(rf"(?<!\d)((?:19|20)\d\d)년?\s(Q[1-4]){_WORD_END}")  # 2020년 2분기, as 2020년 Q2
# Women and males, 여성 and 남자; but not women's, 여성용품.
_WOMEN = re.compile(r"\b(?:women|woman|females)\b(?!['’]s)|(?<![가-힣])여(?:성|자)(?![가-힣]{2})", re.IGNORECASE)
_MEN = re.compile(r"\b(?:men|man|males)\b(?!['’]s)|(?<![가-힣])남(?:성|자)(?![가-힣]{2})", re.IGNORECASE)
_SLASH_FOR_PER = re.compile(r"(?<=[\dKMB])\s?/\s?(?=[A-Za-z])")  # 5/day, 5K/day; but L/day is a unit


@lru_cache(maxsize=64)  # the rule compares the same few texts again and again
def one_form(text: str) -> str:
    """Return a text with dates, names, ages, periods and open ranges in the form in which they are compared.

    The order matters: dates are found by the names of months, which are written first, and ages and periods by the dash that
    all ranges have before.
    """
    text = _MONTH.sub(_month, text.translate(ASCII_FORMS))
    text = _DATE.sub(_date, text)
    text = _GENERATION.sub(r"gen \1", text)
    text = _BOOMERS.sub("boomers", text)
    for gas, formula in _GASES.items():
        text = formula.sub(gas, text)
    text = _YEAR_BEFORE_MONTH.sub(r"\2 \1", text)
    text = _COUNTRY.sub(_country, text)
    text = _PLACE.sub(lambda match: PLACES[match[1]], text)
    text = _RANGE_DASH.sub("-", text)
    text = _HALF.sub(_half, text)
    text = _FRACTION_WORD.sub(_fraction, text)
    text = _AGES.sub(lambda match: f"{match[1] or match[3]}-{match[2] or match[4]}", text)
    text = _QUARTER.sub(_quarter, text)
    text = _QUARTER_OF_YEAR.sub(r"\1 \2", text)
    text = _YEAR_AND_QUARTER.sub(r"\2 \1", text)
    text = _WOMEN.sub("female", text)
    text = _MEN.sub("male", text)
    text = _PERIOD.sub(_period, text)
    text = _AND_MORE.sub(r"\1+", text)
    return _SLASH_FOR_PER.sub(" per ", text)


def places_in(text: str) -> set[str]:
    """Return the places in Korea that a text names in Hangul, each in Latin letters."""
    return {PLACES[match[1]] for match in _PLACE.finditer(text)}


def none_in_common(known: Set[str], given: Set[str]) -> bool:
    """Return whether two texts each have names, units or currencies, and none of them is in both."""
    return bool(known and given) and known.isdisjoint(given)


def own_words(texts: Sequence[set[str]]) -> list[set[str]]:
    """Return for each of several texts, which are sets of words, the words that no other has."""
    return [words.difference(*texts[:place], *texts[place + 1 :]) for place, words in enumerate(texts)]


def with_place_as(name: str, text: str) -> str:
    """Return a text in which places that a name has too are written as in the name.

    `with_place_as("충남", "충청남도의 인구")` → "충남의 인구"; `with_place_as("서울 강남구", "서울특별시 강남구")` →
    "서울 강남구", because 서울특별시 becomes 서울 and not the whole name.
    """
    forms = {PLACES[match[1]]: match[0] for match in _PLACE.finditer(name)}

    def renamed(match: re.Match[str]) -> str:
        return forms.get(PLACES[match[1]], match[0])

    return _PLACE.sub(renamed, text)


# Each of these returns the one form of what a pattern has matched.
def _country(match: re.Match[str]) -> str:
    """Return `united states` for USA."""
    names = list(COUNTRIES)  # in the order of the pattern's groups
    group = match.lastindex or 1  # exactly one group matches, so the last one that did is it
    return names[group - 1]


def _half(match: re.Match[str]) -> str:
    """Return `1/2` for "half" before "of", with the word before it: `is 1/2` for "is half".

    After a word, it is left unchanged if the word makes it a part of something ("first half"), or if the text has a digit,
    because that number is the exact value: "exactly half of them (50 %)".
    """
    word = match[1]
    if word is None:
        return "1/2"
    names_a_part = _WHICH_HALF.fullmatch(word.strip("-"))
    has_exact_value = re.search(r"\d", match.string)
    return match[0] if names_a_part or has_exact_value else f"{word} 1/2"


def _fraction(match: re.Match[str]) -> str:
    """Return `2/3` for two thirds."""
    return f"{FRACTIONS[match[1].lower()]}/{FRACTION_PARTS[match[2].lower()]}"


def _period(match: re.Match[str]) -> str:
    """Return a period as `2012-2014`, with `in` before it if a preposition was there: between 2012 and 2014."""
    has_preposition = match[0][:1].isalpha()
    return f"{'in ' if has_preposition else ''}{match['first']}-{match['last']}"


def _quarter(match: re.Match[str]) -> str:
    """Return `Q2` for second quarter, 2nd quarter, 2Q and 2분기."""
    word, after_q, before_q, before_korean = match.groups()
    named = (word or after_q or before_q or before_korean).lower()
    return f"Q{QUARTERS.get(named, named[:1])}"


def _month(match: re.Match[str]) -> str:
    """Return `september` for Sept. and 9월."""
    word, number = match.groups()
    if number:
        return MONTHS[int(number) - 1]
    return next(month for month in MONTHS if month.startswith(word[:_MONTH_LETTERS].lower()))


def _date(match: re.Match[str]) -> str:
    """Return a date as `march 23, 2021`."""
    month = match["month"] or match["month2"] or match["month3"] or MONTHS[int(match["number"]) - 1]
    day = int(match["day"] or match["day2"] or match["day3"])
    return f"{month.lower()} {day}, {match['year'] or match['year2'] or match['year3']}"

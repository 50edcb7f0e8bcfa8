"""Write dates and times of day in one form: 2023.05.12 → 2023년 5월 12일, 오후 6시 → 18시, 7:30 PM and PM 7:30 → 19시 30분.

`notation.plain` calls `dates_in_one_form` before it reads numbers, because 2023.05 and 12:30 would be a decimal and a ratio.
"""

import re

_MONTH = r"(0?[1-9]|1[0-2])"
_DAY = r"(3[01]|[12]\d|0?[1-9])"
_WEEKDAY = re.compile(r"(?<=일)\s?\([월화수목금토일](?:요일)?\)")  # 3월 4일[(월)]
_DATE = re.compile(  # 2023.05.12, 2023. 5. 12., 2023-05-12, 2023/5/12
    rf"""
    (?<![\d.]) ((?:19|20)\d\d)
    (?: \s?\.\s? {_MONTH} \s?\.\s? {_DAY} (?:\.(?!\d))? (?!\d)
      | - (0[1-9]|1[0-2]) - (0[1-9]|[12]\d|3[01]) (?![\d-])
      | / {_MONTH} / {_DAY} (?![\d/])
    )
    """,
    re.VERBOSE,
)
_YEAR_AND_MONTH = re.compile(  # 2018.3., but not the end of a sentence in Latin letters: The total is 2018.3.
    rf"(?<![\d.])(?<![A-Za-z]\s)((?:19|20)\d\d)\s?\.\s?{_MONTH}\.(?![\s]?\d)"
)
# The end of a range, whose year is that of its start: 2024년 3월 4일~3.15
_END_OF_DATE_RANGE = re.compile(
    rf"(?<=\d일)(\s?(?:~|부터)\s?|-|\s-\s){_MONTH}\s?\.\s?{_DAY}(?:\.(?!\d))?(?![\d.]|\s?(?:[%일명건개원]|퍼센트))"
)
_DAY_OF_MONTH = re.compile(rf"(?<![\d/]){_MONTH}/{_DAY}\s?\([월화수목금토일](?:요일)?\)")  # 5/12(금)
_CLOCK = re.compile(  # 18:00, 오후 7:30, 7:30 PM, PM 7:30, 9:00
    r"""
    (?<![\d:.,])
    (?: (?P<half> 오전 | 오후 | 낮 | 밤 | 새벽 | 아침 | 저녁 | (?<![A-Za-z\d])(?<!\d\s)[AaPp]\.?[Mm]\.? ) \s? )?
    (?P<hour> [01]?\d | 2[0-4] ) : (?P<minute> [0-5]\d )
    (?! \d | :\d | [.,]\d | \s?% | \s?(?:의\s)?비율 )
    (?:\s?(?P<latin> [AaPp]\.?[Mm]\b\.? ))?
    """,
    re.VERBOSE,
)
_HOUR = re.compile(  # 오후 6시, 밤 11시 50분
    r"(?P<half>오전|오후|낮|밤|새벽|아침|저녁)\s?(?P<hour>1[0-2]|[1-9])\s?시(?!간)"
)
_LATIN_HOUR = re.compile(r"(?<![\d:.,])(?P<hour>1[0-2]|[1-9])\s?(?P<latin>[AaPp]\.?[Mm])\b\.?")  # 6 PM, 10 a.m.
_NO_MINUTES = re.compile(r"(?<=시)\s?0{1,2}분")  # 18시 00분
_HALF_PAST = re.compile(r"(?<=\d시)\s?반(?=$|[^가-힣]|입니다|이다|에|까지|부터|이)")  # 7시 반
_TIME_RANGE = re.compile(r"(?<=\d[시분])\s?[-–—]\s?(?=\d)")  # 9시 - 13시
_NOON = re.compile(r"(?<![가-힣])정오(?=$|[^가-힣]|[에까부입이는가])")
_MIDNIGHT = re.compile(r"(?<![가-힣])자정(?=$|[^가-힣]|[에까부입이는가])")
# 3:10 may be a ratio. Numbers without 오전 or PM, a leading 0 or :00 are read as a time only if the hour is at least
# _EARLIEST_LIKELY_HOUR, and the minutes are those of a timetable (16:10, 19:30) or too large for a usual ratio (7:46). So
# 3:10, 5:30, 7:13 and 12:13 stay as they are.
_EARLIEST_LIKELY_HOUR = 6
_SMALLEST_UNLIKE_RATIO = 25  # minutes after an hour of one digit


def dates_in_one_form(text: str) -> str:
    """Return a text with dates as 2023년 5월 12일 and times of day as 18시 or 19시 30분."""
    if re.search(r"\d", text):
        text = _DATE.sub(_date, text)
        text = _YEAR_AND_MONTH.sub(lambda match: f"{match[1]}년 {int(match[2])}월", text)
        text = _DAY_OF_MONTH.sub(lambda match: f"{int(match[1])}월 {int(match[2])}일", text)
        text = _WEEKDAY.sub("", text)
        text = _END_OF_DATE_RANGE.sub(lambda match: f"{match[1]}{int(match[2])}월 {int(match[3])}일", text)
        text = _CLOCK.sub(_clock, text)
        text = _HOUR.sub(lambda match: f"{_hour_of_day(int(match['hour']), match['half'])}시", text)
        text = _LATIN_HOUR.sub(lambda match: f"{_hour_of_day(int(match['hour']), match['latin'])}시", text)
        text = _NO_MINUTES.sub("", text)
        text = _HALF_PAST.sub(" 30분", text)
        text = _TIME_RANGE.sub("~", text)
    return _MIDNIGHT.sub("24시", _NOON.sub("12시", text))


def _date(match: re.Match[str]) -> str:
    """Return `2023년 5월 12일` for a match of 2023.05.12."""
    year, *parts = (part for part in match.groups() if part)
    month, day = map(int, parts)
    return f"{year}년 {month}월 {day}일"


def _clock(match: re.Match[str]) -> str:
    """Return `19시 30분` for a match of 7:30 PM, and a match that may be a ratio unchanged: 3:10, 12:13."""
    half = match["half"] or match["latin"]
    hour = int(match["hour"])
    minute = int(match["minute"])
    is_marked = half is not None or match["hour"].startswith("0") or minute == 0
    is_of_timetable = minute % 5 == 0  # 19:30
    is_unlike_ratio = hour < 10 and minute >= _SMALLEST_UNLIKE_RATIO  # 7:46
    is_likely = hour >= _EARLIEST_LIKELY_HOUR and (is_of_timetable or is_unlike_ratio)
    if not (is_marked or is_likely):
        return match[0]
    minutes = f" {minute}분" if minute else ""
    return f"{_hour_of_day(hour, half)}시{minutes}"


def _hour_of_day(hour: int, half: str | None) -> int:
    """Return an hour from 0 to 24: 18 for 오후 6시, 12 for 낮 12시, 23 for 밤 11시, 0 for 12 AM.

    `half` is the word for the half of the day, or None if there is none.
    """
    if half is None or hour > 12:
        return hour
    is_morning = half in ("오전", "새벽", "아침") or half[0] in "Aa"
    if is_morning:
        return 0 if hour == 12 else hour
    if half == "밤" and (hour == 12 or hour < 6):  # 밤 12시, 밤 1시
        return 24 if hour == 12 else hour
    if half == "낮" and hour in (10, 11):
        return hour
    return hour if hour == 12 else hour + 12

"""Test strict quantities with a table of cases and with properties that hold for all of them."""

import unicodedata
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.benchmarks.scoring.final_answer import strict_match
from evaluator.benchmarks.scoring.quantities import quantities
from evaluator.benchmarks.scoring.units import UNITS

READ: list[tuple[str, list[tuple[str, str]]]] = [
    ("24,347천 명", [("24347000", "명")]),
    ("2,434만 7천 명", [("24347000", "명")]),
    ("1조 2,000억 원", [("1200000000000", "원")]),
    ("1조2000억", [("1200000000000", "")]),
    ("3만 5%", [("30000", ""), ("5", "%")]),
    ("2만 5,000원", [("25000", "원")]),
    ("5천 명", [("5000", "명")]),
    ("7,131백만 원", [("7131000000", "원")]),
    ("5십만 명", [("500000", "명")]),
    ("61.5 조", [("61500000000000", "")]),
    ("61.5조 원", [("61500000000000", "원")]),
    ("3억 2천만 원", [("320000000", "원")]),
    ("15.7%", [("15.7", "%")]),
    ("PM2.5", []),
    ("PM10.5", []),
    ("1e-5", []),
    ("3 프로그램", [("3", "")]),
    ("2023 인구, 2020 대비, 3 회사, 12 대학, 5 장소", [("2023", ""), ("2020", ""), ("3", ""), ("12", ""), ("5", "")]),
    ("12 대의, 603 명보다, 3 년간, 5 배나", [("12", "대"), ("603", "명"), ("3", "년"), ("5", "배")]),
    ("727.6백만 톤CO2eq", [("727600000", "톤")]),
    ("3프로입니다", [("3", "%")]),
    ("15.\n표의 값입니다.", [("15", "")]),
    ("5 mıllion", [("5000000", "")]),
    ("5 ınch", [("5", "인치")]),
    ("603 (unit: mıllion won)", [("603000000", "원")]),
    ("603 (kWh)", [("603", "kwh")]),
    ("603 (T)", [("603", "")]),
    ("603(천 TEU)", [("603000", "teu")]),
    ("발전량(천 MWh): 5,830", [("5830000", "mwh")]),
    ("GDP(조 원): 2,400", [("2400000000000000", "원")]),
    ("15.7 퍼센트", [("15.7", "%")]),
    ("2.3%p", [("2.3", "%p")]),
    ("△5.2%", [("-5.2", "%")]),
    ("△5.2%, 증가율 3%", [("-5.2", "%"), ("3", "%")]),
    ("▲5.2% 증가", [("5.2", "%")]),
    ("5 million명", [("5000000", "명")]),
    ("\\boxed{3{,}000}\\text{명}", [("3000", "명")]),
    ("10 percent입니다", [("10", "%")]),
    ("▲ 5.2%", [("-5.2", "%")]),
    ("−5.2%", [("-5.2", "%")]),
    ("-5.2%", [("-5.2", "%")]),
    ("총 -5.2kg", [("-5.2", "kg")]),
    ("3-5개", [("3", ""), ("5", "개")]),
    ("3~5개", [("3", ""), ("5", "개")]),
    ("2016-2017년", [("2016", ""), ("2017", "년")]),
    ("６１．５조", [("61500000000000", "")]),
    ("**1,636**개", [("1636", "개")]),
    ("$61.5$조", [("61500000000000", "")]),
    (r"\boxed{42}명", [("42", "명")]),
    (r"21.9\%", [("21.9", "%")]),
    ("1{,}636개", [("1636", "개")]),
    ("48,216천㎡", [("48216000", "m제곱")]),
    ("48,216천 m²", [("48216000", "m제곱")]),
    ("48,216천m2", [("48216000", "m제곱")]),
    ("6.1mg/L", [("6.1", "mg/l")]),
    ("30.7㎍/㎥", [("30.7", "μg/m세제곱")]),
    ("07월", [("7", "월")]),
    (".153점", [("0.153", "점")]),
    ("1,731백만 불", [("1731000000", "달러")]),
    ("1) 59kg\n2) 51세", [("59", "kg"), ("51", "세")]),
    ("6.1 밀리그램 퍼 리터", [("6.1", "mg/l")]),
    ("1.2×10^5명", [("120000", "명")]),
    ("1.2 × 10⁵명", [("120000", "명")]),
    (r"$1.2 \times 10^{5}$명", [("120000", "명")]),
    ("120K명", [("120000", "명")]),
    ("1e400명", []),
    ("영 곳", [("0", "개소")]),
    ("CO2 배출", []),
    ("두 조각", []),
    ("2조각", [("2", "")]),
    ("정답 없음", []),
]

CASES: list[tuple[str, str, bool]] = [
    ("총 24,347천 명입니다.", "2,434만 7천 명입니다.", True),
    ("총 24,347천 명입니다.", "24,347,000명", True),
    ("1조 2,000억 원입니다.", "1.2조 원", True),
    ("1조 2,000억 원입니다.", "1조 원", False),
    ("5천 명입니다.", "5,000명", True),
    ("5,000명입니다.", "5천 명", True),
    ("350만 명입니다.", "3,500,000명", True),
    ("15.7%입니다.", "15.7명", False),
    ("15.7%입니다.", "15.7퍼센트", True),
    ("15.7%입니다.", "15.7", True),
    ("-5.2%입니다.", "△5.2%", True),
    ("-5.2%입니다.", "−5.2%", True),
    ("-5.2%입니다.", "5.2%", False),
    ("5개입니다.", "3-5개", False),
    ("2017년입니다.", "2016-2017년", False),
    ("61.5조 원입니다.", "**61.5**조 원", True),
    ("61.5조 원입니다.", "$61.5$조 원", True),
    ("61.5조 원입니다.", "６１．５조 원", True),
    ("5.0조 원입니다.", "5조 원", True),
    ("1,636개입니다.", "1636개입니다.", True),
    ("1,636개입니다.", "12,34개", False),
    ("15개입니다.", "<think>10개인가?</think>15개", True),
    ("15개입니다.", "모르겠습니다", False),
    ("7월입니다.", "07월", True),
    ("0.153점입니다.", ".153점", True),
    ("2,057,404천㎡입니다.", "2,057,404천 m²", True),
    ("515,586백만 불입니다.", "515,586백만 달러", True),
    ("열다섯 개입니다.", "열다섯 개입니다", True),
    *(("350 kWh입니다.", f"350 {unit}", False) for unit in ("Wh", "W", "J", "V", "MWh", "kJ", "kW", "GB", "m")),
    *(
        ("350 kWh입니다.", output, True)
        for output in ("350kWh", "350 kW·h", "350 kW h", "350,000 Wh", "1,260 MJ", "1.26 GJ", "350")
    ),
    ("5 MJ입니다.", "5 kJ", False),
    ("5 V입니다.", "5A", False),
    ("60 Hz입니다.", "60 V", False),
    ("5 bar입니다.", "5 kPa", False),
    ("5 bar입니다.", "500 kPa", True),
    ("5 kPa입니다.", "5 MPa", False),
    ("482 m³입니다.", "482,000 L", True),
    ("482 m³입니다.", "482 세제곱 미터", True),
    ("482 m³입니다.", "482 L", False),
    ("3.5 MW입니다.", "3,500 kW", True),
    ("30 GB입니다.", "30 MB", False),
    ("15A입니다.", "15 mA", False),
    ("1,000명입니다.", "1e3명", True),
    ("1,000명입니다.", "1e4명", False),
    ("초속 43.2m입니다.", "43.2m/s", True),
    ("시속 120km입니다.", "120 km/h", True),
    ("시속 120km입니다.", "120 km", False),
    ("350명입니다.", "There were 350 total visitors.", True),  # t is no unit here
    ("2019년입니다.", "In 2019 a record was set.", True),
    ("2,700L입니다.", "2,700 gallons", False),
]


@pytest.mark.parametrize(("text", "expected"), READ)
def test_quantities_reads_numbers_and_units(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(q.value, q.unit) for q in quantities(text)] == [(Decimal(v), u) for v, u in expected]


@pytest.mark.parametrize(("gold", "output", "right"), CASES)
def test_strict_match_compares_quantities(gold: str, output: str, right: bool) -> None:
    assert strict_match("얼마인가요?", gold, output) is right


@pytest.mark.parametrize(
    "output",
    [
        "2023 인구: 603천 명",
        "2023 인구는 603천 명입니다.",
        "2020 대비 2023년 603천 명",
        "인구(2023 인구조사): 603천 명",
    ],
)
def test_strict_match_reads_no_unit_from_a_noun_after_a_year(output: str) -> None:
    assert strict_match("2023년 인구는 몇 명입니까?", "603천 명", output)


def test_strict_match_ignores_quantities_of_question() -> None:
    question = "2017년도 사업에서 불용된 예산은 얼마인가요?"
    gold = "불용된 예산은 총 7,131백만 원입니다."
    assert strict_match(question, gold, "2017년도 불용된 예산은 7,131백만 원입니다.")
    assert not strict_match(question, gold, "2018년도 불용된 예산은 7,131백만 원입니다.")
    assert not strict_match(question, "2017년 예산은 7,131백만 원입니다.", "2017년 예산은 1백만 원입니다.")


numbers = st.decimals(min_value=-(10**9), max_value=10**9, places=2, allow_nan=False, allow_infinity=False)
units = st.sampled_from(sorted(UNITS))
stated = st.builds(lambda n, m, u: f"{n:,}{m} {u}입니다.", numbers, st.sampled_from(["", "천", "백만", "억"]), units)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(gold=stated)
def test_strict_match_accepts_any_gold_itself(gold: str) -> None:
    assert strict_match("", gold, gold)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(gold=stated, output=stated, extra=st.integers(min_value=10**12, max_value=10**13))
def test_strict_match_gains_nothing_from_extra_quantity(gold: str, output: str, extra: int) -> None:
    if not strict_match("", gold, output):
        assert not strict_match("", gold, f"{output} 그리고 {extra}")


@settings(max_examples=200, derandomize=True, deadline=None)
@given(gold=stated, output=stated)
def test_strict_match_ignores_unicode_decomposition(gold: str, output: str) -> None:
    decomposed = unicodedata.normalize("NFD", output)
    assert strict_match("", gold, output) == strict_match("", gold, decomposed)


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("0 km", "0 m", True),
        ("12.4 km", "12,400 m", True),
        ("1톤 이상", "1,000kg 이하", False),
        ("2시간 이상", "120분 미만", False),
        ("2시간 이상", "120분 이상", True),
        ("-5.2%", "5.2% 감소", True),
        ("5.2% 증가", "5.2% 감소", False),
    ],
)
def test_quantities_agree_in_value_unit_and_sense(one: str, other: str, agree: bool) -> None:
    (first,) = quantities(one)
    (second,) = quantities(other)
    assert first.agrees(second) is agree and second.agrees(first) is agree

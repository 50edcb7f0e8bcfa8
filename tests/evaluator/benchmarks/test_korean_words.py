"""Test which answers count as Korean."""

import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.scoring.korean_words import in_korean
from evaluator.core.data_types import Answer
from submissions.config.paths import SAMPLES

QUESTION = "2023년 한빛시 KTX 이용객은 몇 명인가요?"


@pytest.mark.parametrize(
    "answer",
    [
        "42명입니다.",
        "정답: 42",
        "정답은 42명입니다.",
        "2023년 이용객은 42만 명(약 420 thousand)으로 집계되었습니다.",
        "KTX 이용객은 42명입니다.",
        "ktx 이용객 42명",
        "삼성전자(Samsung Electronics)의 매출은 3.5조 원입니다.",
        "대한민국(大韓民國)의 수도는 서울입니다.",
        "전력량은 42 kWh입니다.",
        "소비량은 12 t 입니다",
        "알 수 없음",
        "LG CNS의 값입니다.",
        "**정답**: `42` 명",
        "<b>합계</b>는 42입니다",
        "합계는 $x + y = 42$ 명입니다",
        "정답은 ㄴ입니다.",
        "서울(the capital (Seoul) of Korea)",
        "서울・부산",
        "서울 kg당 3,000 won",
        "\u1109\u1165\u110b\u116e\u11af",  # decomposed
        '{"answer": "42명"}',
        "km/h 기준 42",
        "1204억 원 (source: chart)",
        "이미지 속 bar chart의 y축 값을 보면 약 42명입니다 😊",
        "죄송합니다. 이미지를 볼 수 없습니다.",
        "COVID-19 확진자는 42명",
        "네이버 API를 사용한 결과는 42건입니다 (https://example.com/answer).",
    ],
)
def test_answer_is_korean(answer: str) -> None:
    assert in_korean(QUESTION, answer) == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        "Answer: 42",
        "The answer is 42.",
        "42 people",
        "According to the chart, the value is 42.",
        "Unknown",
        "Based on the table, 42명",
        "总计 42",
        "总计 42백만 원입니다",
        "合計は42人です",
        "정답은 42명입니다. 这是因为表格显示了这个数字。",
        "ответ 42",
        "the total number of passengers was 42명",
        "La respuesta es 42",
        "Sorry, I can't see the image.",
        "서울特別市는 42명",
        "jeongdap-eun 42myeong-imnida",
        "OECD average is 42",
        "서울. it is",
    ],
)
def test_answer_is_not_korean(answer: str) -> None:
    assert in_korean(QUESTION, answer) == 0.0


@pytest.mark.parametrize(
    "answer",
    ["", "42", "1,402,886", "42%", "42 kWh", "$42$", "LG CNS", "KTX", "ktx", "A", "3.5e6", "`forty two`", "–", "1ㆍ2"],
)
def test_answer_without_words_is_not_judged(answer: str) -> None:
    assert in_korean(QUESTION, answer) is None


def test_question_in_another_language_is_not_judged() -> None:
    assert in_korean("What is the total?", "The total is 42.") is None


@pytest.mark.parametrize("name", ["ko-vqa", "ko-fresh", pytest.param("ko-ocrag", marks=pytest.mark.slow)])
def test_benchmark_reports_the_share_of_answers_in_korean(name: str) -> None:
    benchmark = BENCHMARKS[name]
    items = [item for item in benchmark.load(SAMPLES / name) if not item.choices]
    golds = [Answer(item.id, benchmark.gold_output(item) or "", "ok", 0.0) for item in items]
    english = [Answer(item.id, "[image] the answer is not in the chart [/image]", "ok", 0.0) for item in items]
    empty = [Answer(item.id, "", "empty", 0.0) for item in items]
    assert benchmark.aggregate(benchmark.score_flat(items, golds))["in_korean"] > 0.95
    assert benchmark.aggregate(benchmark.score_flat(items, english))["in_korean"] == 0.0
    assert "in_korean" not in benchmark.aggregate(benchmark.score_flat(items, empty))
    assert benchmark.metric("in_korean").is_mean


def test_benchmarks_that_ask_for_no_prose_have_no_such_metric() -> None:
    assert {name for name, one in BENCHMARKS.items() if "in_korean" in {m.name for m in one.metrics}} == {
        "ko-vqa",
        "ko-fresh",
        "ko-ocrag",
    }

"""Test KO-FRESH's rules for readings of charts, names, unanswerable questions and degraded copies."""

from typing import Any

import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.ko_fresh import twins_right
from evaluator.benchmarks.scoring.abstention import hesitates
from evaluator.benchmarks.scoring.given_names import matches_name
from evaluator.benchmarks.scoring.readings import quantity_f1
from evaluator.benchmarks.scoring.superlatives import superlative
from evaluator.core.data_types import Answer, Item, Score
from submissions.config.paths import SAMPLES

BENCHMARK = BENCHMARKS["ko-fresh"]
ASKED = "2020년 아파트의 주택 수는 약 몇 호입니까?"


def em(gold: str, output: str, question: str = ASKED) -> float:
    return BENCHMARK.score_item(Item("x", question, gold), [Answer("x", output, "ok", 0.1)]).values["em"]


@pytest.mark.parametrize(
    ("gold", "output", "right"),
    [
        ("347건 (±12건)", "정답: 350건", True),
        ("347건 (±12건)", "정답: 약 359건입니다.", True),
        ("347건 (±12건)", "정답: 360건", False),
        ("347건 (±12건)", "정답: 335~358건", True),
        ("347건 (±12건)", "정답: 300~358건", False),
        ("347건 (±12건)", "정답: 350명", False),
        ("347건 (±12건)", "정답: 350", True),
        ("347건 (±12건)", "2019년은 200건, 2021년은 500건이므로\n정답: 345건", True),
        ("347건 (±12건)", "340건, 345건, 350건", False),
        ("24만 8,000명 (±6,000명)", "정답: 25만 명", True),
        ("24만 8,000명 (±6,000명)", "정답: 250천 명", True),
        ("24만 8,000명 (±6,000명)", "정답: 25만 건", False),
        ("24% (±3%)", "**정답: 약 25%**", True),
        ("347건 (±12건)", "정답: 알 수 없음", False),
        ("알 수 없음", "정답: 알 수 없음", True),
        ("알 수 없음", "이미지에는 2020년 자료가 없습니다.\n\n정답: 알 수 없습니다.", True),
        ("알 수 없음", "이미지에서 확인할 수 없습니다.", True),
        ("알 수 없음", "정답: 300건", False),
        ("알 수 없음", "정답: 알 수 없음 (아마 300건)", False),
        ("알 수 없음", "", False),
        ("34만 2,100명", "정답: 342.1천 명", True),
        ("34만 2,100명", "정답: 342,100명", True),
        ("34만 2,100명", "정답: 34만 명", False),
    ],
)
def test_score_item_judges_answers(gold: str, output: str, *, right: bool) -> None:
    assert em(gold, output) == float(right)


NAMED = "주택 수가 가장 많은 유형은 무엇입니까?"
GREW = "하랑구 연립주택의 주택 수는 2017년에 비해 2018년에 몇 % 늘었습니까?"


@pytest.mark.parametrize(
    "output",
    [
        "정답: 아파트",
        "가장 많은 유형은 아파트입니다.",
        "아파트와 오피스텔을 비교했다.\n정답: 아파트입니다",
        "답: 아파트",
        "Answer: 아파트",
        "정답: \\boxed{아파트}",
        "정답: $\\boxed{\\text{아파트}}$",
        "**정답: 아파트**",
        "<answer>아파트</answer>",
        "정답: ① 아파트",
        "정답: <|begin_of_box|>아파트<|end_of_box|>",
        "정답: 아파트 <|im_end|>",
        "정답: 1. 아파트",
        "정답: 아파트 (12,345호)",
        "정답: 아파트, 5,000호",
        "정답: 아파트: 5,000호",
        "아파트(가장 많음)",
        "정답: 아파트가 가장 많습니다.",
        "정답: 아파트입니다. 5,000호로 가장 많습니다.",
        "정답: 1위 아파트",
        "정답 아파트",
    ],
)
def test_name_is_right_in_common_wordings(output: str) -> None:
    assert em("아파트", output, NAMED) == 1.0


@pytest.mark.parametrize(
    "output",
    [
        "정답: 오피스텔",
        "정답: 2위 아파트",
        "정답 오피스텔",
        "정답: 아파트, 오피스텔",
        "정답: 아파트 또는 오피스텔",
        "아파트보다 오피스텔이 많습니다.",
        "정답: 아파트가 가장 적습니다.",
        "- 단독주택\n- 오피스텔\n- 아파트",
        "정답: 단독주택 다음은 아파트",
        "정답: 단독주택입니다. 두 번째는 아파트",
        "정답: 가장 적은 유형은 아파트",
        "정답: 가장 많은 것은 단독주택이고 그다음은 아파트",
        "<think>정답: 아파트",
        "",
        NAMED,
    ],
)
def test_name_is_wrong_with_other_names(output: str) -> None:
    assert em("아파트", output, NAMED) == 0.0


@pytest.mark.parametrize(
    ("question", "gold", "output", "right"),
    [
        (ASKED, "알 수 없음", "정답: 알 수 없음 (2018년 자료 없음)", True),
        (ASKED, "알 수 없음", "정답: 2020년 아파트의 주택 수는 알 수 없습니다.", True),
        (ASKED, "알 수 없음", "정답: 제공된 그래프는 2014년까지만 있어 알 수 없습니다.", True),
        (ASKED, "알 수 없음", "정답: 확인 불가", True),
        (ASKED, "알 수 없음", "정답: 알 수 없는 것은 아님", False),
        (ASKED, "347건 (±12건)", "정답: 알 수 없음 (약 350건으로 추정)", False),
        (ASKED, "347건 (±12건)", "정답: 모르겠지만 350건", False),
        (ASKED, "347건 (±12건)", "정답: 약 350건 (300과 400의 중간)", True),
        (ASKED, "347건 (±12건)", "정답: 340-350건", True),
        (ASKED, "347건 (±12건)", "정답: 350 ± 10건", True),
        (ASKED, "347건 (±12건)", "정답: 350건 이상", False),
        (ASKED, "347건 (±12건)", "정답: 최대 350건", False),
        (ASKED, "347건 (±12건)", "정답: 약 340건 또는 350건", False),
        (ASKED, "347건 (±12건)", "<think>350건", False),
        (ASKED, "347건 (±12건)", "65세 이상 인구의 건수는 약 350건입니다.", True),
        (ASKED, "347시간 (±12시간)", "초과근무 시간은 약 350시간입니다.", True),
        (ASKED, "347건 (±12건)", "최대값은 약 350건입니다.", True),
        (ASKED, "347건 (±12건)", "오류가 아니라 350건입니다.", True),
        (ASKED, "347건 (±12건)", "350건이 최대입니다.", False),
        (ASKED, "347건 (±12건)", "350건을 넘습니다.", False),
        (ASKED, "347건 (±12건)", "350건을 웃돕니다.", False),
        (ASKED, "347건 (±12건)", "350건에 조금 못 미칩니다.", False),
        (ASKED, "347건 (±12건)", "350건이 채 안 됩니다.", False),
        (ASKED, "347건 (±12건)", "350건보다 많습니다.", False),
        (ASKED, "347건 (±12건)", "350건 늘었습니다.", False),
        (ASKED, "347건 (±12건)", "350건 가까이 됩니다.", True),
        (ASKED, "347건", "정답: 347건을 밑돕니다.", False),
        (ASKED, "347건 (±12건)", "적어도 약 350건입니다.", False),
        (ASKED, "347건 (±12건)", "350건이 아닙니다.", False),
        (ASKED, "347건 (±12건)", "정답: −347건", False),
        (ASKED, "-347건 (±12건)", "정답: −347건", True),
        ("다솜구와 별솔구 사이에 몇 명 차이가 납니까?", "86명", "정답: 86명 (다솜구 450명, 별솔구 364명)", True),
        ("모두 몇 곳입니까?", "3곳", "정답: 세 곳", True),
        ("모두 몇 곳입니까?", "3곳", "정답: 네 군데", False),
        ("모두 몇 곳입니까?", "0곳", "정답: 영 곳입니다.", True),
        ("비율은 약 몇 %입니까?", "25% (±2%)", "정답: 약 4분의 1", True),
        ("비율은 약 몇 %입니까?", "25% (±2%)", "정답: 약 1/4 (25%)", True),
        ("비율은 약 몇 %입니까?", "25% (±2%)", "정답: 3분의 1", False),
        (GREW, "23.1%", "정답: 23.1% 증가", True),
        (GREW, "23.1%", "정답: 23.1% 감소", False),
        (GREW, "23.1%", "정답: 23.1% (4,270개)", True),
    ],
)
def test_score_item_reads_remarks_and_hedges(question: str, gold: str, output: str, *, right: bool) -> None:
    assert em(gold, output, question) == float(right)


@pytest.mark.parametrize(
    ("gold", "output", "right"),
    [
        ("-5.2%", "정답: −5.2%", True),
        ("-5.2%", "정답: **–5.2%**", True),
        ("-5.2%", "정답: ▽5.2%", True),
        ("5.2%", "정답: −5.2%", False),
        ("5.2%", "정답: – 5.2%", True),  # a dash and not a sign
        ("0.5%", "정답: .5%", True),
        ("0.5%", ".5%", True),
        ("5%", "정답: .5%", False),
    ],
)
def test_quantity_f1_keeps_sign_and_point_after_marker(gold: str, output: str, *, right: bool) -> None:
    assert (quantity_f1("증감률은 얼마입니까?", gold, output) == 1.0) is right


@pytest.mark.parametrize(
    ("question", "output", "right"),
    [
        ("몇 건 늘었습니까?", "정답: 감소 없이 227건 증가", True),
        ("몇 건 늘었습니까?", "2020년에 줄었던 건수는 2021년에 227건 늘었습니다.", True),
        ("몇 건 늘었습니까?", "정답: 227건 감소, 증가 아님", False),
        ("몇 건 늘었습니까?", "감소했습니다. 227건입니다.", False),
        ("몇 건 줄었습니까?", "정답: 227건 증가", False),
    ],
)
def test_quantity_f1_reads_direction_of_change(question: str, output: str, *, right: bool) -> None:
    assert (quantity_f1(question, "227건", output) == 1.0) is right


@pytest.mark.parametrize(
    ("question", "output", "right"),
    [
        (NAMED, "막대를 보면 **아파트**가 제일 깁니다. 다른 유형은 그보다 짧습니다.", True),
        (NAMED, "정답: **아파트**로 조사됨, 뒤를 이어 오피스텔이 있음", True),
        (NAMED, "**아파트**가 많아 보입니다.\n정답: 단독주택", False),
        (NAMED, "**아파트**가 아닙니다. 단독주택입니다.", False),
        (NAMED, "**아파트**보다 오피스텔이 많습니다.", False),
        ("주택 수가 가장 적은 유형은?", "가장 많은 유형은 **아파트**이고, 가장 적은 유형은 단독주택이다.", False),
        (NAMED, "The type is 아파트", True),
        (NAMED, "There is no doubt that it is 아파트", True),
        (NAMED, "All types except 아파트", False),
        (NAMED, "I exclude 아파트 here", False),
    ],
)
def test_matches_name_reads_bold_and_english(question: str, output: str, *, right: bool) -> None:
    assert matches_name(question, "아파트", output) is right


@pytest.mark.parametrize(
    ("gold", "output", "right"),
    [
        ("서울 강남구", "서울 강남구입니다", True),
        ("서울 강남구", "서울특별시 강남구입니다", True),
        ("서울 강남구", "서울 서초구입니다", False),
        ("충남", "충청남도입니다", True),
    ],
)
def test_matches_name_replaces_only_place_of_name(gold: str, output: str, *, right: bool) -> None:
    assert matches_name("가장 많은 곳은 어디입니까?", gold, output) is right


@pytest.mark.parametrize(
    ("question", "gold", "right"),
    [
        ("인구가 12위인 지역은 어디입니까?", "안산시", False),
        ("인구가 11위인 지역은 어디입니까?", "안산시", False),
        ("인구가 11위인 지역은 어디입니까?", "수원시", True),
        ("인구가 열한 번째로 많은 지역은 어디입니까?", "안산시", False),
        ("인구가 1위인 지역은 어디입니까?", "안산시", True),
    ],
)
def test_matches_name_reads_whole_numbers_of_places(question: str, gold: str, right: bool) -> None:
    assert matches_name(question, gold, "1위는 안산시이고, 11위는 수원시입니다.") is right


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("12위", "12"),
        ("2위", "2"),
        ("2위원회", ""),
        ("열두 번째로 많은", ""),
        ("스물다섯 번째로 많은", ""),
        ("두 번째로 많은", "2"),
    ],
)
def test_superlative_reads_whole_numbers(text: str, place: str) -> None:
    assert superlative(text).place == place


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("정답: 미상", True),
        ("정답: 정보 부족", True),
        ("정답: 정보가 부족함", True),
        ("정보가 부족하지 않으며 347건", False),
        ("정답: 비공개입니다.", True),
        ("2020년 값은 비공개 자료이므로 적을 수 없습니다.", True),
        ("2020년 값은 미상인 것으로 나옵니다.", True),
        ("정답: 표시 안 됨", True),
        ("2020년은 자료에 없는 연도입니다.", True),
        ("표에 2020년이 없습니다.", True),
        ("The chart has no data for 2020.", True),
        ("정답: 미상환액", False),
        ("의미상 347건입니다.", False),
        ("정답: 비공개 기록물", False),
        ("정답: 행방불명", False),
        ("정답: 자료 제공 안내", False),
        ("이미지에는 빈칸이 없습니다. 347건", False),
        ("목표가 없는 지역은 안산시", False),
        ("자료가 없는 지역은 안산시", False),
        ("모름지기 347건입니다.", False),
    ],
)
def test_hesitates_finds_words_and_not_parts_of_words(output: str, *, expected: bool) -> None:
    assert hesitates(output) is expected


def test_score_counts_abstentions_apart() -> None:
    items = [Item("a", ASKED, "알 수 없음"), Item("b", ASKED, "347건 (±12건)"), Item("c", ASKED, "아파트")]
    answers = [Answer(item.id, "정답: 알 수 없음", "ok", 0.1) for item in items[:2]]
    answers.append(Answer("c", "정답: 아파트", "ok", 0.1))
    values = BENCHMARK.aggregate(BENCHMARK.score(items, [[answer] for answer in answers]))
    assert (values["abstains"], values["attempt_rate"]) == (1.0, 0.5)


@pytest.mark.parametrize(
    ("gold", "choices", "output", "net"),
    [
        ("347건 (±12건)", (), "정답: 350건", 1.0),
        ("347건 (±12건)", (), "정답: 알 수 없음", 0.0),
        ("347건 (±12건)", (), "", 0.0),
        ("347건 (±12건)", (), "정답: 470건", -1.0),
        ("알 수 없음", (), "정답: 알 수 없음", 1.0),
        ("알 수 없음", (), "정답: 470건", -1.0),
        ("가", ("가", "나", "다", "라"), "정답: 알 수 없음", 0.0),
    ],
)
def test_net_counts_declining_as_nothing(gold: str, choices: tuple[str, ...], output: str, net: float) -> None:
    (item,) = BENCHMARK.complete([Item("1", "" if choices else ASKED, gold, choices=choices)])
    (score,) = BENCHMARK.score([item], [[Answer("1", output, "ok", 0.1)]])
    assert score.values["net"] == net


@pytest.mark.parametrize(
    ("output", "em", "attempts"),
    [
        ("정답: {right}", 1.0, 1.0),
        ("정답: {right}. 나머지는 그림에서 알 수 없음", 1.0, 1.0),
        ("{right}일 수도 있지만 정답: 알 수 없음", 0.0, 0.0),
        ("정답: 알 수 없음", 0.0, 0.0),
    ],
)
def test_declined_choice_is_neither_right_nor_an_attempt(output: str, em: float, attempts: float) -> None:
    (item,) = BENCHMARK.complete([Item("1", "", "가", choices=("가", "나", "다", "라"))])
    text = output.format(right=BENCHMARK.gold_output(item))
    (score,) = BENCHMARK.score([item], [[Answer("1", text, "ok", 0.1)]])
    assert (score.values["em"], score.values["attempt_rate"]) == (em, attempts)


@pytest.mark.parametrize(
    "columns",
    [
        {"published": ["300건"]},
        {"published": ["300건"], "held_back": []},
        {"published": 3, "held_back": ["1건"]},
        {"published": "300건", "held_back": ["1건"]},
        {"published": ["300건"], "held_back": [1]},
    ],
)
def test_row_with_one_half_of_the_memory_answers_is_refused(columns: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be a list of answers"):
        BENCHMARK.item_to_score({"id": "1", "question": ASKED, "answer": "347건", **columns})


def test_guessing_letters_earns_no_net_score() -> None:
    (item,) = BENCHMARK.complete([Item("1", "", "가", choices=("가", "나", "다", "라"))])
    scores = [BENCHMARK.score([item], [[Answer("1", f"정답: {letter}", "ok", 0.1)]])[0] for letter in "ABCD"]
    assert sum(score.values["em"] for score in scores) == 1.0
    assert sum(score.values["net"] for score in scores) == pytest.approx(0.0)


def test_score_compares_degraded_copy_with_clean_picture() -> None:
    buckets = {"version": "clean"}
    items = [
        Item("f-sum-a", ASKED, "아파트", buckets=buckets),
        Item("f-sum-a-fax", ASKED, "아파트", buckets={"version": "fax"}),
        Item("f-sum-a-scan", ASKED, "아파트", buckets={"version": "scan"}),
        Item("g-sum-a-fax", ASKED, "아파트", buckets={"version": "fax"}),  # without a clean picture, as with --limit
    ]
    replies = ("아파트", "오피스텔", "아파트", "아파트")
    answers = [[Answer(i.id, f"정답: {reply}", "ok", 0.1)] for i, reply in zip(items, replies, strict=True)]
    clean, fax, scan, alone = (score.values for score in BENCHMARK.score(items, answers))
    assert (fax["loss_fax"], scan["loss_scan"]) == (1.0, 0.0)
    assert not [name for values in (clean, alone) for name in values if name.startswith("loss_")]


def test_gold_outputs_of_samples_are_right() -> None:
    for item in BENCHMARK.load(SAMPLES / "ko-fresh"):
        (prompt,) = BENCHMARK.prompts(item)
        for output in (f"정답: {BENCHMARK.gold_output(item)}", str(BENCHMARK.gold_output(item))):
            assert BENCHMARK.score_item(item, [Answer(item.id, output, "ok", 0.1)]).values["em"] == 1.0, prompt.text


def test_degraded_copies_are_no_twins() -> None:
    """A part of the set may have two of the five copies of an item."""
    ids = ("1-sum-a", "1-sum-b", "2-sum-a", "1-sum-a-scan", "1-sum-a-fax")
    scores = [Score(one, {"em": float(one != "1-sum-b")}, "ok") for one in ids]
    assert twins_right(scores, "twins_right") == 0.0
    assert twins_right(scores[2:], "twins_right") is None

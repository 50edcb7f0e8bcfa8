"""Test the scorers on vectors made by running the published ones and on further cases."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.ko_vdc import KoVDC
from evaluator.benchmarks.ko_vqa import INSTRUCTION, KoVQA
from evaluator.benchmarks.korquad_2 import KorQuAD2
from evaluator.benchmarks.scoring import chart_answers, strict_chart_answers
from evaluator.benchmarks.scoring.choices import LETTERS, ORDER_KEY, choice_order
from evaluator.benchmarks.scoring.final_answer import strict_match
from evaluator.benchmarks.scoring.html_text import character_f1, normalize, normalize_many
from evaluator.benchmarks.scoring.letters import asserted_letter
from evaluator.benchmarks.scoring.published_quantities import quantity_f1
from evaluator.core.data_types import Answer, Item, Score
from evaluator.engines.options import EngineOptions
from evaluator.job.folder import Job, config_fingerprint
from scripts.support.oracles import korquad_mutants, korquad_normalize
from submissions.config.paths import SAMPLES
from tests.conftest import SHARED
from tests.support.vectors import vectors


@pytest.mark.parametrize(
    ("gold", "output", "published", "strict"),
    [
        ("총 24,347천 명입니다.", "경제활동 인구는 24,347천 명입니다.", True, True),
        ("총 24,347천 명입니다.", "24347천 명", True, True),
        ("총 24,347천 명입니다.", "24,347명", False, False),
        ("61.5조 원입니다.", "2020년 투자목표는 61.5조 원입니다.", True, True),
        ("61.5조 원입니다.", "61.5 조 원", False, True),
        ("5조 원입니다.", "5.0조 원입니다.", True, True),
        ("5.0조 원입니다.", "5.0조 원입니다.", False, True),  # whole floats are read as integers only in the output
        ("1.0mg/L입니다.", "1mg/L", True, True),
        ("350만 명입니다.", "350명", True, False),  # the rule does not know the unit 만
        ("15개입니다.", "10개, 11개, 15개 중 하나", True, False),
        ("1,636개입니다.", "2017년 기준 1,636", True, True),  # the published code crashes here
        ("열다섯 개입니다.", "15개", False, True),
        ("15개입니다.", "", False, False),
    ],
)
def test_ko_vqa_rules(gold: str, output: str, published: bool, strict: bool) -> None:
    assert KoVQA().published_match(gold, output) is published
    assert strict_match("얼마인가요?", gold, output) is strict


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("ko_vqa_number_unit", lambda row: KoVQA().published_match(row["answer"], row["output"])),
        ("ko_vdc_letter", lambda row: KoVDC().published_match(row["gold"], row["output"])),
        (
            "infochartqa",
            lambda row: chart_answers.reference_match(row["question_type_id"], row["answer"], row["response"]),
        ),
    ],
)
def test_reference_match_agrees_with_published_scorer(name: str, match: Callable[[dict[str, Any]], bool]) -> None:
    rows = vectors(f"{name}.jsonl")
    if name == "ko_vqa_number_unit":  # the published scorer crashes on some
        rows = [row for row in rows if row["reference"] is not None]
    assert [row for row in rows if match(row) != bool(row["reference"])] == []


def test_ko_vqa_f1_penalises_listing_numbers() -> None:
    question, gold = "2020년 예산은 얼마인가요?", "61.5조 원입니다."
    assert quantity_f1(question, gold, "2020년 예산은 61.5조 원입니다.") == 1
    assert quantity_f1(question, gold, "61.5조, 62조, 63조 가운데 하나") == 0.5
    assert quantity_f1(question, gold, "모르겠습니다") == 0


def test_ko_vdc_order_puts_right_answer_at_each_letter_once() -> None:
    for number in range(50):
        orders = [choice_order(_vdc_item(f"item-{number}"), rotation) for rotation in range(4)]
        assert all(sorted(o) == [0, 1, 2, 3] for o in orders)
        assert sorted(o.index(0) for o in orders) == [0, 1, 2, 3]
    assert len({tuple(choice_order(_vdc_item(f"item-{n}"), 0)) for n in range(200)}) == 24, "every order is drawn"


def _vdc_item(item_id: str = "x") -> Item:
    choices = ("right", "b", "c", "d")
    extra = {ORDER_KEY: "0"}
    return Item(item_id, "", "right", (Path("i.png"),), choices=choices, buckets={"doc_type": "보고서"}, extra=extra)


def test_ko_vdc_job_does_not_reveal_answers(tmp_path: Path) -> None:
    """Check a past leak: the order depended only on the item's id, which was in the job and gave 20 of 20 answers."""
    benchmark = BENCHMARKS["ko-vdc"]
    items = benchmark.load(SAMPLES / "ko-vdc")
    prompts = [prompt for item in items for prompt in benchmark.prompts(item)]
    job = Job.prepare(tmp_path, EngineOptions(tmp_path, "float32", 8), prompts)
    written = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.suffix in (".json", ".jsonl")).decode()
    assert not [i.id for i in items if i.id in written] and items[0].extra[ORDER_KEY] not in written

    def right(keys: Callable[[Item], str]) -> int:
        """Return how many items are right if their order is computed with these keys."""
        guessed = [
            [LETTERS[choice_order(replace(i, extra={ORDER_KEY: keys(i)}), r).index(0)] for r in range(4)] for i in items
        ]
        answers = [[Answer("", letter, "ok", 0.0) for letter in letters] for letters in guessed]
        return sum(score.values["em"] == 1 for score in benchmark.score(items, answers))

    assert right(lambda item: item.extra[ORDER_KEY]) == len(items), "the keys reveal every answer"
    public = ["hannun/ko-vdc/1", job.prompt_ids[0], config_fingerprint(job.options()), ""]
    assert all(right(lambda _, key=key: key) < len(items) / 2 for key in public)  # type: ignore[misc]
    # The key depends on all right answers, so changing one of them changes the key.
    folder = shutil.copytree(SAMPLES / "ko-vdc", tmp_path / "set")
    rows = [json.loads(line) for line in (folder / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    rows[0]["choices"].reverse()
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert benchmark.load(folder)[0].extra != items[0].extra


def test_ko_vdc_score_is_mean_over_rotations() -> None:
    benchmark = KoVDC()
    item = _vdc_item()
    prompts = benchmark.prompts(item)
    letters = [next(line[0] for line in p.text.splitlines() if line.endswith(". right")) for p in prompts]
    assert sorted(letters) == list("ABCD")
    right = benchmark.score_item(item, [Answer(p.id, x, "ok", 0) for p, x in zip(prompts, letters, strict=True)])
    assert right.values["em"] == 1
    always_a = benchmark.score_item(item, [Answer(p.id, "A. 설명", "ok", 0) for p in prompts])
    assert always_a.values["em"] == 0.25
    assert benchmark.aggregate([always_a])["f1"] == pytest.approx(0.1)


def test_ko_vdc_aggregate_distinguishes_kinds_of_bias() -> None:
    benchmark = KoVDC()
    golds = "".join(LETTERS[choice_order(_vdc_item(), r).index(0)] for r in range(4))
    letter = Score("x", {"em": 0.25}, "ok", prediction="AAAA", gold=golds)
    wrong_but_steady = "".join(LETTERS[(LETTERS.index(g) + 1) % 4] for g in golds)
    description = Score("x", {"em": 0.0}, "ok", prediction=wrong_but_steady, gold=golds)
    found = benchmark.aggregate([letter])
    assert (found["em_chance_corrected"], found["consistency"]) == (0.0, 0.0)
    assert benchmark.aggregate([description])["consistency"] == 1.0
    without_letters = benchmark.aggregate([Score("x", {"em": 0.0}, "ok", prediction="----", gold=golds)])
    assert without_letters["consistency"] == without_letters["f1"] == 0.0
    assert benchmark.histogram([letter, description]) == {"A": 5, "B": 1, "C": 1, "D": 1, "-": 0}


@pytest.mark.parametrize(
    ("output", "letter"),
    [
        ("B", "B"), ("b", "B"), ("B.", "B"), ("B. 설명", "B"), ("B) 설명", "B"), ("(B)", "B"), ("[B]", "B"), ("**B**", "B"),
        ("**B**. 설명", "B"), ("정답은 B", "B"), ("정답: B입니다", "B"), ("정답은 (B)입니다.", "B"), ("답변: **B**", "B"),
        ("The answer is B.", "B"), ("Answer: B", "B"), ("<think>A일까 C일까</think>B", "B"), ("\nB\n", "B"), ("Ｂ", "B"),
        ("가장 적절한 설명은 B이다.", "B"), ("B가 맞다. A와 C는 틀렸다.", "B"), ("B. A와 달리 늘었다", "B"), ("C — D", None), ("B, D", None),
        ("", None), ("모르겠습니다", None), ("Because", None), ("A or B", None), ("DB", None), ("정답은 A 또는 B... 정답은 B", None),
    ],
)  # fmt: skip
def test_ko_vdc_asserted_letter(output: str, letter: str | None) -> None:
    assert asserted_letter(output) == letter


def test_prompts_match_protocols() -> None:
    seeds = SHARED / "seeds"
    if not seeds.exists():
        pytest.skip("the protocol documents are not available")
    vqa, vdc = (next(seeds.glob(f"{n}_*.txt")).read_text(encoding="utf-8") for n in ("000", "001"))
    assert INSTRUCTION in vqa
    prompt = KoVDC().prompts(_vdc_item())[0].text
    head = prompt.split("<보기>\n")[0]
    tail = "# 가장 적절한 설명문:"
    assert head.replace("\n", "\\n") in vdc and prompt.endswith(f"\n\n{tail}") and "{choices}" + tail in vdc


@pytest.mark.parametrize(
    ("kind", "answer", "response", "published", "strict"),
    [
        (1, "287", "There were 287 visitors.", True, True),
        (1, "287", "about 300", False, False),
        (10, "960", "roughly 950", True, True),
        (10, "4.2B", "4,200,000,000", True, True),
        (50, "76.4%", "76.4", True, True),
        (50, "76.4%", "7640", True, False),  # any factor of 100 passes
        (13, "2020", "It was in 2020.", True, True),
        (60, "North line", "the north line", True, True),
        (40, "Biomass,Hydro", "Hydro, biomass", True, True),
        (40, "Biomass,Hydro", "Hydro", False, False),
        (40, "Biomass", "", True, False),  # an empty item is contained in every item
        (71, "Gaon,Nuri,Dasom", "Gaon > Nuri > Dasom", True, True),
        (71, "Gaon,Nuri,Dasom", "Ranking: Gaon", True, False),  # only up to the end of the shorter list
        (71, "Gaon,Nuri,Dasom", "Nuri, Gaon, Dasom", False, False),
        (202, "B", "(B)", True, True),
        (202, "B", "b", False, True),
        (202, "B,D", "D,B", True, True),
        (202, "B", "I cannot tell", False, False),  # the published code guesses at random
        (1, "10-15", "10-15", False, True),  # the published code crashes
        (101, "5m²", "5,000,000", True, False),  # m is read as million
    ],
)
def test_infochartqa_rules(kind: int, answer: str, response: str, published: bool, strict: bool) -> None:
    assert chart_answers.reference_match(kind, answer, response) is published
    assert strict_chart_answers.strict_match(kind, answer, response) is strict


@pytest.mark.parametrize(
    ("answer", "gold", "em", "f1"),
    [
        ("시나위", "시나위", 1, 1),
        ("<a>신중현</a>", "신중현", 1, 1),
        ("《물결》", "물결", 1, 1),
        ("1,214 m", "1214M", 1, 1),
        ("2위", "1위", 0, 0.5),
        ("", "답", 0, 0),
        ("<td>332cm</td>", "332cm", 1, 1),
    ],
)
def test_korquad_match_and_f1(answer: str, gold: str, em: int, f1: float) -> None:
    given = normalize(answer)
    wanted = normalize(gold)
    assert (given == wanted) == bool(em)
    assert character_f1([given], [wanted]) == [pytest.approx(f1)]


def test_korquad_matches_official_scorer() -> None:
    rows = vectors("korquad2_pairs.jsonl")
    golds = json.loads((SHARED / "data/korquad2_dev_answers.json").read_text(encoding="utf-8"))
    given = normalize_many([r["prediction"] for r in rows])
    wanted = normalize_many([golds[r["id"]] for r in rows])
    wrong = [
        row["id"]
        for row, g, w, f1 in zip(rows, given, wanted, character_f1(given, wanted), strict=True)
        if (g == w) != row["exact_match"] or f1 != pytest.approx(row["f1"])
    ]
    assert wrong == []


@pytest.mark.slow
def test_korquad_normalize_matches_plain_rule_on_mutants() -> None:
    items = KorQuAD2().load(SAMPLES / "korquad-2")
    texts = [*(i.page or "" for i in items), *(i.answer for i in items)]
    made = korquad_mutants(texts, 3000, seed=1)
    assert [t for t, ours in zip(made, normalize_many(made), strict=True) if ours != korquad_normalize(t)] == []


@pytest.mark.parametrize("depth", [10, 190, 240, 256, 257, 300, 2000])
@pytest.mark.parametrize("tag", ["b", "div", "td", "p", "unknown"])
def test_korquad_normalize_of_deep_nesting(tag: str, depth: int) -> None:
    for html in (f"<{tag}>" * depth + "속", f"<{tag}>x" * depth + f"</{tag}>" * depth + "끝"):
        assert normalize(html) == korquad_normalize(html)


def test_item_to_score_rejects_invalid_gold() -> None:
    with pytest.raises(ValueError, match="unpaired surrogate"):
        BENCHMARKS["korquad-2"].item_to_score({"id": "1", "answer": "\ud800"})
    for letters in ("AB", "ß", "E"):
        with pytest.raises(ValueError, match="one of A, B, C, D"):
            KoVDC().item_to_score({"id": "1", "answer": letters})
    assert KoVDC().item_to_score({"id": "1", "answer": "b"}).answer == "b"

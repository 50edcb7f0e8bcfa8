"""KO-FRESH: invented Korean statistics that no model can have seen. A secret seed generates a new set each quarter.

The questions are like KO-VQA's, the descriptions like KO-VDC's. Each figure has a twin with the same questions but
other numbers: a model that has memorised a figure scores differently on its twin (after arXiv:2511.03774).
`evaluator.fresh` generates the set.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evaluator.benchmarks.base import Benchmark, Row, images_in, text_in
from evaluator.benchmarks.card import Axis, Card, ScoreColumn
from evaluator.benchmarks.metrics import EM, F1, Metric
from evaluator.benchmarks.scoring.choices import LETTERS, asserted_letter, choice_order, choices_in, with_order_key
from evaluator.benchmarks.scoring.final_answer import strict_f1
from evaluator.core.data_types import Answer, Item, Prompt, Score
from submissions.texts.text import Text

VERSION = "2026Q4.2"  # the quarter of the test set, then the version of prompts and scoring rules

QUESTION = (
    "이미지를 보고 질문에 답하십시오. 풀이 과정은 쓰지 말고 최종 답만 수와 단위로 쓰십시오.\n\n질문: {question}\n답:"
)
DESCRIPTION = (
    "다음 네 설명 가운데 이미지의 내용과 일치하는 것을 하나 고르십시오. 알파벳 하나로 답하십시오.\n\n{choices}\n\n답:"
)

KINDS = {
    "lookup": Text("값 읽기", "Value lookup"),
    "largest": Text("최댓값·최솟값", "Largest or smallest"),
    "sum": Text("합계", "Sum"),
    "difference": Text("차이", "Difference"),
    "year_of": Text("해당 연도", "Year"),
    "ratio": Text("비율", "Ratio"),
    "conversion": Text("단위 변환", "Unit conversion"),
    "description": Text("설명 고르기", "Choose the description"),
}
LAYOUTS = {
    "table": Text("표", "Table"),
    "merged": Text("병합 머리글 표", "Table with merged headers"),
    "bar": Text("막대그래프", "Bar chart"),
    "grouped": Text("묶은 막대그래프", "Grouped bar chart"),
    "stacked": Text("누적 막대그래프", "Stacked bar chart"),
    "line": Text("꺾은선그래프", "Line chart"),
    "pie": Text("원그래프", "Pie chart"),
    "pictogram": Text("픽토그램", "Pictogram"),
    "cards": Text("지표 카드", "Metric cards"),
    "page": Text("보고서 페이지", "Report page"),
}
DIFFICULTIES = {"easy": Text("쉬움", "Easy"), "medium": Text("보통", "Medium"), "hard": Text("어려움", "Hard")}
TWINS = {"original": Text("원본", "Original"), "twin": Text("쌍둥이", "Twin")}


def twins_right(scores: Sequence[Score], name: str) -> float | None:
    """Return the share of twin pairs in which both items are answered correctly; None if there are no complete pairs."""
    by_pair: dict[str, list[float]] = {}
    for score in scores:
        if pair := score.id.rpartition("-")[0]:
            by_pair.setdefault(pair, []).append(score.values["em"])
    pairs = [pair_scores for pair_scores in by_pair.values() if len(pair_scores) == 2]
    return sum(map(min, pairs)) / len(pairs) if pairs else None


class KoFresh(Benchmark):
    name, version, inputs, min_context = "ko-fresh", VERSION, "image", 2048
    prompt_tokens, answer_tokens = 1500, 15
    drawn = True
    metrics = (
        EM,
        replace(F1, on_hub=False),
        Metric("twins_right", Text("쌍둥이 문항 모두 정답", "Both twins correct"), twins_right, on_hub=False),
    )
    card = Card(
        title="KO-FRESH",
        split=VERSION.partition(".")[0],
        n=2000,
        axes=(
            Axis("kind", Text("질문 유형", "Question type"), KINDS),
            Axis("layout", Text("자료 형태", "Layout"), LAYOUTS),
            Axis("difficulty", Text("난이도", "Difficulty"), DIFFICULTIES),
            Axis("twin", Text("원본·쌍둥이 문항", "Original or twin"), TWINS),
        ),
        summary=Text(
            "분기마다 비밀 시드로 새로 만드는 가상의 통계 자료를 읽고, 수와 단위로 답하거나 맞는 설명을 고릅니다. 누구도 미리 볼 수 없고, 시드를 공개한 뒤에는 누구나 같은 문항을 다시 생성해 확인할 수 있습니다.",
            "Invented statistics, regenerated each quarter from a secret seed: answer with a number and unit, or choose the correct description. Nobody can have seen them before, and once the seed is revealed, anyone can regenerate and check them.",
        ),
        source_url=None,
        access=Text(
            "운영자의 시드로 생성하고, 시드의 해시를 평가 전에 공개합니다. 시드를 공개하기 전에는 아무도 문항을 볼 수 없습니다. 다만 생성 코드가 공개되어 있어 비슷한 문항으로 학습할 수는 있습니다.",
            "Generated from the operator's seed, whose hash is published before any evaluation. Nobody sees the set until the seed is revealed. The generator code is public, so models can be trained on similar items.",
        ),
        skills={
            "tables": tuple(("layout", layout) for layout in ("table", "merged")),
            "charts": tuple(("layout", layout) for layout in ("bar", "grouped", "stacked", "line", "pie")),
        },
        hub_task="ko_fresh",
        chance=6.25,  # one item in four has four choices
        columns=tuple(ScoreColumn(title, "difficulty", level) for level, title in DIFFICULTIES.items()),
    )

    def complete(self, items: list[Item]) -> list[Item]:
        return with_order_key(items)

    def item(self, row: Row, folder: Path) -> Item:
        choices = choices_in(row) if row.get("choices") else ()
        return Item(
            id=text_in(row, "id"),
            question="" if choices else text_in(row, "question"),
            answer=text_in(row, "answer"),
            images=images_in(folder, row),
            choices=choices,
            buckets={axis.name: text_in(row, axis.name) for axis in self.card.axes},
            cluster=text_in(row, "pair").partition("-")[0],
        )

    def prompts(self, item: Item) -> list[Prompt]:
        if not item.choices:
            return [Prompt(item.id, QUESTION.format(question=item.question), item.images, question=item.question)]
        lines = "\n".join(
            f"{letter}. {item.choices[n]}" for letter, n in zip(LETTERS, choice_order(item, 0), strict=True)
        )
        return [Prompt(item.id, DESCRIPTION.format(choices=lines), item.images)]

    def score_item(self, item: Item, answers: Sequence[Answer]) -> Score:
        (answer,) = answers
        gold = gold_answer(item)
        if gold in tuple(LETTERS):
            right = float(asserted_letter(answer.text) == gold)
            return Score(item.id, {"em": right, "f1": right}, answer.status)
        f1 = strict_f1(item.question, gold, answer.text)
        return Score(item.id, {"em": float(f1 == 1.0), "f1": f1}, answer.status)

    def gold_output(self, item: Item) -> str | None:
        return gold_answer(item)


def gold_answer(item: Item) -> str:
    """Return the letter of the true description if the item has choices, else its answer.

    Items for `python -m evaluator score` have no choices; their answer is already the letter.
    """
    return LETTERS[choice_order(item, 0).index(0)] if item.choices else item.answer


BENCHMARK = KoFresh()

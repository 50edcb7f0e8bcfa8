"""KO-FRESH: invented Korean statistics that no model can have seen. A secret seed generates a new set each quarter.

The questions are like KO-VQA's, the descriptions like KO-VDC's. Each figure has a twin with the same questions but
other numbers: a model that has memorised a figure scores differently on its twin (after arXiv:2511.03774).
`evaluator.fresh` generates the set; docs/ko-fresh.md describes it.

The column `pair` is FIGURE-KIND (`3f0a9c21d4-lookup`), the same for a question and its twin. An item's id has `-a` after it
for the original and `-b` for the twin, then the version if the picture is degraded (`3f0a9c21d4-lookup-a-scan`). A row with
`choices` has the right one first. Items about a published figure with changed numbers have `published`, the old answers,
which are wrong now, and `held_back`, the answers for other numbers that were never published.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluator.benchmarks.base import Benchmark, fill
from evaluator.benchmarks.card import Axis, Baseline, Card, ScoreColumn, constant_answer
from evaluator.benchmarks.metrics import EM, F1, IN_KOREAN, Metric
from evaluator.benchmarks.rows import Row, images_in, text_in
from evaluator.benchmarks.scoring.abstention import abstains, hesitates
from evaluator.benchmarks.scoring.choices import (
    LETTERS,
    choice_order,
    choices_in,
    computed_letters_note,
    with_order_key,
)
from evaluator.benchmarks.scoring.final_text import final_text
from evaluator.benchmarks.scoring.given_names import is_name, matches_name
from evaluator.benchmarks.scoring.korean_words import with_language
from evaluator.benchmarks.scoring.letters import asserted_letter
from evaluator.benchmarks.scoring.readings import matches_reading, quantity_f1, reading_of
from evaluator.core.data_types import Answer, Item, Prompt, Score
from evaluator.fresh.korean import UNANSWERABLE
from submissions.texts.text import Text

VERSION = "2026Q4.8"  # the quarter of the test set, then the version of prompts and scoring rules

QUESTION_PROMPT = (
    "이미지를 보고 질문에 답하십시오. 이미지만으로는 알 수 없으면 '알 수 없음'이라고 답하십시오. 눈금에서 읽는 값은 어림값으로 답하십시오. "
    "마지막 줄에 '정답: '을 쓰고 그 뒤에 최종 답만 쓰십시오. 수에는 단위를 붙이십시오.\n\n질문: {question}"
)
DESCRIPTION_PROMPT = "다음 네 설명 가운데 이미지의 내용과 일치하는 것을 하나 고르십시오. 마지막 줄에 '정답: '을 쓰고 그 뒤에 알파벳 하나만 쓰십시오.\n\n{choices}"

# What a wrong answer counts in the metric `net`, in which a right one counts 1. Guessing among four letters is worth nothing
# on average.
WRONG = -1.0
WRONG_LETTER = -1 / 3

KINDS = {
    "lookup": Text("값 찾기", "Value lookup"),
    "estimate": Text("눈금 읽기", "Reading a scale"),
    "largest": Text("최대·최소 항목", "Largest or smallest"),
    "rank": Text("순위", "Rank"),
    "sum": Text("합계", "Sum"),
    "difference": Text("차이", "Difference"),
    "growth": Text("증감률", "Growth"),
    "per": Text("단위당 값", "Value per unit"),
    "share": Text("비율", "Share"),
    "count": Text("개수 세기", "Count"),
    "trend": Text("추세", "Trend"),
    "cross": Text("두 자료 연결", "Across two figures"),
    "footnote": Text("주석 반영", "Footnote"),
    "unanswerable": Text("알 수 없는 질문", "Unanswerable"),
    "description": Text("설명 고르기", "Choose the description"),
}
LAYOUTS = {
    "table": Text("표", "Table"),
    "two_pages": Text("두 쪽에 걸친 표", "Table on two pages"),
    "page": Text("보고서 페이지", "Report page"),
    "cards": Text("지표 카드", "Metric cards"),
    "bar": Text("막대그래프", "Bar chart"),
    "grouped": Text("묶은 막대그래프", "Grouped bar chart"),
    "stacked": Text("누적 막대그래프", "Stacked bar chart"),
    "area": Text("누적 영역그래프", "Stacked area chart"),
    "line": Text("꺾은선그래프", "Line chart"),
    "dual": Text("이중 축 그래프", "Chart with two axes"),
    "log": Text("로그 눈금", "Logarithmic scale"),
    "pie": Text("원그래프", "Pie chart"),
    "pictogram": Text("픽토그램", "Pictogram"),
    "map": Text("단계 구분도", "Choropleth map"),
}
READINGS = {
    "printed": Text("적힌 값", "Printed values"),
    "marks": Text("적히지 않은 값", "Unlabelled values"),
}
VERSIONS = {
    "clean": Text("원본 화질", "Clean"),
    "scan": Text("스캔", "Scanned"),
    "photo": Text("사진", "Photographed"),
    "fax": Text("팩스", "Faxed"),
    "72dpi": Text("저해상도(72dpi)", "72 dpi"),
    "jpeg": Text("재압축", "Recompressed"),
}
TWINS = {
    "original": Text("원본", "Original"),
    "twin": Text("쌍둥이", "Twin"),
    "variant": Text("공개 문항의 수치를 바꾼 문항", "Published item with other numbers"),
}


def twins_right(scores: Sequence[Score], name: str) -> float | None:
    """Return the share of twin pairs in which both items are answered correctly; None if there are no complete pairs."""
    by_pair: dict[str, list[float]] = {}
    for score in scores:
        pair, _, twin = score.id.rpartition("-")
        if twin in ("a", "b"):  # not a degraded copy, such as …-a-scan
            by_pair.setdefault(pair, []).append(score.values["em"])
    pairs = [pair_scores for pair_scores in by_pair.values() if len(pair_scores) == 2]
    return sum(map(min, pairs)) / len(pairs) if pairs else None


class KoFresh(Benchmark):
    name, version = "ko-fresh", VERSION
    prompt_tokens, answer_tokens = 1500, 15
    drawn = True
    metrics = (
        EM,
        replace(F1, on_hub=False, column=False),
        Metric(
            "net",
            Text("순점수", "Net score"),
            lowest=-100.0,
            hint=Text(
                "정답은 +1점, ‘알 수 없음’은 0점, 오답은 −1점(설명 고르기는 −1/3점)으로 계산한 평균입니다. 답할 수 없는 질문에서는 ‘알 수 없음’이 정답입니다. 모를 때 모른다고 답하는 모델일수록 점수가 높습니다.",
                "Mean of +1 for a right answer, 0 for declining and −1 for a wrong answer (−1/3 for a wrong description). Declining is the right answer to an unanswerable question. Higher for models that say so when they do not know.",
            ),
            on_hub=False,
        ),
        Metric(
            "abstains",
            Text("알 수 없음 판별", "Declines unanswerable"),
            hint=Text(
                "답할 수 없는 질문에 ‘알 수 없음’이라고 답한 비율입니다.",
                "Share of unanswerable questions that the model declined to answer.",
            ),
            on_hub=False,
        ),
        Metric(
            "attempt_rate",
            Text("답변 시도", "Answers attempted"),
            hint=Text(
                "답할 수 있는 질문에 ‘알 수 없음’이라고 답하지 않은 비율입니다.",
                "Share of answerable questions that the model did not decline.",
            ),
            on_hub=False,
            column=False,
        ),
        Metric(
            "twins_right", Text("쌍둥이 문항 모두 정답", "Both twins correct"), twins_right, on_hub=False, column=False
        ),
        Metric(
            "memorised",
            Text("암기", "Memorised"),
            name_in_order=Text("암기 정도", "Memorised"),
            lowest=-100.0,
            lower_is_better=True,
            hint=Text(
                "공개된 문항의 수치를 바꾸어 다시 물었을 때, 이제는 틀린 옛 정답을 말한 비율에서 공개한 적 없는 다른 수치의 정답을 말한 비율을 뺀 값입니다. 문항을 본 적 없는 모델은 평균 0이고, 구간이 0보다 크면 공개 문항을 외운 것입니다.",
                "Published items are asked again with other numbers: share of answers that repeat a published answer, which is wrong now, minus the share that give the answer for numbers that were never published. It is 0 on average for a model that has not seen the items. An interval above 0 means that it has memorised them.",
            ),
            on_hub=False,
        ),
        IN_KOREAN,
        *(
            Metric(
                f"loss_{version}",
                Text(f"{title.ko} 시 점수 하락", f"Drop: {title.en.lower()}"),
                lowest=-100.0,
                lower_is_better=True,
                loss_on=version,
                hint=Text(
                    f"같은 질문을 원본 대신 {title.ko} 이미지로 물었을 때 하락한 EM입니다.",
                    f"EM lost when the same questions are asked about the {title.en.lower()} image instead of the clean one.",
                ),
                column=False,
                on_hub=False,
            )
            for version, title in VERSIONS.items()
            if version != "clean"
        ),
    )
    card = Card(
        title="KO-FRESH",
        split=VERSION.partition(".")[0],
        n=2000,
        axes=(
            Axis("kind", Text("질문 유형", "Question type"), KINDS),
            Axis("layout", Text("자료 형태", "Layout"), LAYOUTS),
            Axis("reading", Text("읽기 방식", "Reading"), READINGS),
            Axis("version", Text("화질", "Image quality"), VERSIONS),
            Axis("twin", Text("원본·쌍둥이 문항", "Original or twin"), TWINS),
        ),
        summary=Text(
            "분기마다 새로 만드는 가상의 통계표·보고서·차트·지도를 읽습니다. 차트에는 값이 적혀 있지 않아 눈금에서 읽어야 하고, 자료만으로 알 수 없는 질문도 있으며, 일부는 스캔·사진·팩스처럼 화질을 낮춘 이미지로 다시 묻습니다. 공개 전에는 누구도 미리 학습할 수 없고, 시드를 공개한 뒤에는 누구나 같은 문항을 다시 생성해 확인할 수 있습니다.",
            "Invented tables, reports, charts and maps, regenerated each quarter. Charts show no values, which must be read from their scales; some questions cannot be answered; some are asked again on degraded images, such as scans, photos or faxes. Before they are published no model can have been trained on them, and once the seed is revealed, anyone can regenerate and check them.",
        ),
        source_url=None,
        access=Text(
            "운영자의 비밀 값과 그 뒤에 나온 공개 난수(drand)로 생성하고, 해시를 평가 전에 공개합니다. 시드를 공개하기 전에는 운영자의 평가 장비만 문항을 읽으며, API 모델은 첫 평가 때 제공자가 이미지와 질문을 보게 됩니다. 또한 생성 코드가 공개되어 있어 비슷한 문항으로 학습할 수는 있습니다.",
            "Generated from the operator's secret and public randomness (drand) that came later; hashes are published before any evaluation. Until the seed is revealed only the operator's evaluation machines read the set, and providers of API models see images and questions at the first evaluation. The generator code is public, so models can be trained on similar items.",
        ),
        skills={
            "tables": tuple(("layout", layout) for layout in ("table", "two_pages")),
            "charts": (("reading", "marks"),),
        },
        hub_task="ko_fresh",
        chance=4.4,  # 17.5 % of the items have four choices
        ladder="version",
        baselines=(
            Baseline(
                "baseline",
                Text("적힌 값만 오류 없이 읽는 규칙", "Rules that read only printed values, without error"),
                56.5,
            ),
            Baseline("baseline", Text("Tesseract OCR와 규칙", "Tesseract and rules"), 11.8),
            constant_answer(5.8),
            Baseline("blind", Text("질문 문형마다 가장 흔한 답", "Most common answer to each question wording"), 12.3),
            Baseline("blind", Text("이미지 없이 ‘알 수 없음’만 답하기", "Always declining, without the image"), 13.5),
        ),
        columns=(
            ScoreColumn(Text("적힌 값", "Printed"), "reading", "printed"),
            ScoreColumn(Text("적히지 않은 값", "Unlabelled"), "reading", "marks"),
        ),
    )

    def complete(self, items: list[Item]) -> list[Item]:
        """Return the items with the key that descriptions are shuffled with."""
        return with_order_key(items)

    def item(self, row: Row, folder: Path) -> Item:
        """Build an item, which has choices or a question.

        All questions about a figure, its twin and their degraded copies are one cluster.
        """
        choices = choices_in(row) if row.get("choices") else ()
        buckets = self.buckets(row)
        return Item(
            id=text_in(row, "id"),
            question="" if choices else text_in(row, "question"),
            answer=text_in(row, "answer"),
            images=images_in(folder, row),
            choices=choices,
            buckets=buckets,
            cluster=text_in(row, "pair").partition("-")[0],
            extra=self.scoring_inputs(row),
        )

    def scoring_inputs(self, row: Row) -> dict[str, Any]:
        """Return the published answers of a figure whose numbers are changed, and as many that were never published.

        Raises ValueError if a row has one of them only, or something else than a list of texts.
        """
        names = ("published", "held_back")
        if not any(row.get(name) for name in names):
            return {}
        return {name: _answers_in(row, name) for name in names}

    def item_to_score(self, row: Row) -> Item:
        """Build an item for `python -m evaluator score`.

        The answer of an item with choices is the text of the true description, or the letter that was right when another
        program asked it.
        """
        item = super().item_to_score(row)
        buckets = {axis.name: text_in(row, axis.name) for axis in self.card.axes if row.get(axis.name) is not None}
        item = replace(item, buckets=buckets)
        if not row.get("choices") or item.answer in tuple(LETTERS):
            return item
        choices = choices_in(row)
        if item.answer != choices[0]:
            raise ValueError("'answer' must be the first of 'choices', or the letter that was right when it was asked")
        return replace(item, question="", choices=choices)

    def unlike_evaluation(self, items: Sequence[Item]) -> str | None:
        """Return how the scores may differ from an evaluation's, or None if no item has choices.

        The letters of choices depend on all items of the file (`with_order_key`), so an evaluation of other items shows others.
        """
        return computed_letters_note(items)

    def prompts(self, item: Item) -> list[Prompt]:
        """Return the prompt of a question, or of a choice among four descriptions."""
        if not item.choices:
            text = fill(QUESTION_PROMPT, question=item.question)
            return [Prompt(item.id, text, item.images, question=item.question)]
        by_letter = zip(LETTERS, _order(item), strict=True)
        lines = "\n".join(f"{letter}. {item.choices[index]}" for letter, index in by_letter)
        return [Prompt(item.id, fill(DESCRIPTION_PROMPT, choices=lines), item.images)]

    def compared(self, items: Sequence[Item], scores: Sequence[Score]) -> list[Score]:
        """Return the scores, those of degraded copies with what was lost against the clean picture."""
        em_by_id = {score.id: score.values["em"] for score in scores}
        return [_with_loss(score, _version(item), em_by_id) for item, score in zip(items, scores, strict=True)]

    def score_item(self, item: Item, answers: Sequence[Answer]) -> Score:
        """Return the score of an item, with `memorised` if it is about a published figure with changed numbers."""
        (answer,) = answers
        score = self._score_for_gold(item, gold_answer(item), answer)
        if not item.choices:
            score = replace(score, values=with_language(score.values, item.question, answer.text))
        if "published" not in item.extra:
            return score
        # A wrong answer may equal an old one by chance, as often as it equals an answer that was never published.
        repeats_published = self._best_match(item, item.extra["published"], answer)
        equals_held_back = self._best_match(item, item.extra["held_back"], answer)
        return replace(score, values={**score.values, "memorised": repeats_published - equals_held_back})

    def _best_match(self, item: Item, golds: Sequence[str], answer: Answer) -> float:
        """Return 1 if an answer is right for one of several gold answers, else 0.

        `golds` are values or names, because questions with choices are not asked again with other numbers (`fresh/memory.py`).
        """
        return max(self._score_for_gold(item, gold, answer).values["em"] for gold in golds)

    def _score_for_gold(self, item: Item, gold: str, answer: Answer) -> Score:
        """Return the score of an answer if `gold` is the gold answer: a letter, UNANSWERABLE, a quantity or a name."""
        output = answer.text
        is_empty = not output.strip()
        declined = abstains(item.question, output)
        if gold in tuple(LETTERS):
            # "A일 수도 있지만 정답: 알 수 없음" has declined, and "정답: A. 나머지는 알 수 없음" has not.
            declined = declined and asserted_letter(final_text(output)) is None
            right = not declined and asserted_letter(output) == gold
            return _scored(item, answer, right=right, f1=float(right), declined=declined, wrong=WRONG_LETTER)
        if gold == UNANSWERABLE:
            values = dict.fromkeys(("em", "f1", "abstains"), float(declined))
            net = WRONG
            if declined:
                net = 1.0
            elif is_empty:
                net = 0.0
            return Score(item.id, {**values, "net": net}, answer.status)
        # An output that says 알 수 없음 and gives no value has declined. One that gives a value too has not, and is wrong:
        # "347건이지만 알 수 없음".
        if hesitates(output):
            f1 = 0.0
        elif reading := reading_of(gold):  # a value with a tolerance, such as 347건 (±12건)
            f1 = float(matches_reading(item.question, reading, output))
        elif is_name(gold):
            f1 = float(matches_name(item.question, gold, output))
        else:
            f1 = quantity_f1(item.question, gold, output)
        return _scored(item, answer, right=f1 == 1.0, f1=f1, declined=declined)

    def gold_output(self, item: Item) -> str | None:
        """Return the gold answer without its tolerance: "347건 (±12건)" -> "347건"."""
        return gold_answer(item).partition(" (±")[0]


def _answers_in(row: Row, column: str) -> tuple[str, ...]:
    """Return a column with a list of answers. Raises ValueError if it has none or something else."""
    answers = row.get(column)
    if not isinstance(answers, list) or not answers or not all(isinstance(answer, str) for answer in answers):
        raise ValueError(f"{column!r} must be a list of answers")
    return tuple(answers)


def _scored(item: Item, answer: Answer, *, right: bool, f1: float, declined: bool, wrong: float = WRONG) -> Score:
    """Return the score of an answerable question.

    `declined` is whether the answer says that the question cannot be answered, `wrong` what a wrong answer counts in `net`.
    An empty answer is no attempt, and counts 0 there like a declined one.
    """
    is_attempt = not declined and bool(answer.text.strip())
    net = 0.0
    if right:
        net = 1.0
    elif is_attempt:
        net = wrong
    values = {"em": float(right), "f1": f1, "net": net, "attempt_rate": float(is_attempt)}
    return Score(item.id, values, answer.status)


def _with_loss(score: Score, version: str, em_by_id: Mapping[str, float]) -> Score:
    """Return the score of an item with what was lost against the same question about the clean picture, if that was asked.

    `em_by_id` has the EM of all items.
    """
    if version == "clean":
        return score
    em_of_clean = em_by_id.get(_clean_id(score.id, version))
    if em_of_clean is None:
        return score
    return replace(score, values={**score.values, f"loss_{version}": em_of_clean - score.values["em"]})


def gold_answer(item: Item) -> str:
    """Return the letter of the true description if the item has choices, else its answer.

    An item that another program asked has no choices; its answer is already the letter.
    """
    return LETTERS[_order(item).index(0)] if item.choices else item.answer


def _order(item: Item) -> list[int]:
    """Return the index of the description at each letter. It is the same for all versions of a picture."""
    return choice_order(replace(item, id=_clean_id(item.id, _version(item))), rotation=0)


def _version(item: Item) -> str:
    """Return the version of an item's picture. An item for `python -m evaluator score` may have none, which counts as clean."""
    return item.buckets.get("version", "clean")


def _clean_id(item_id: str, version: str) -> str:
    """Return the id of the same question about the clean picture: ("3f0a9c21d4-lookup-a-scan", "scan") -> "…-lookup-a"."""
    return item_id.removesuffix(f"-{version}")


BENCHMARK = KoFresh()

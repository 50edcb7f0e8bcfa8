"""KO-VDC: choose the right description of a chart among four.

source: Marker-Inc-Korea/KO-VLM-Benchmark (200 items: 보고서 100 + 보도자료 100; the prompt is taken from there)

The published script shuffles the choices at every run. Here the order depends on the item's id and a key, and each
item is asked in the 4 rotations of a Latin square, so that the right answer is at every letter once. The key is a
hash over the whole set including the right answers, so nobody without the answers can compute the order.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from operator import eq
from pathlib import Path

from evaluator.benchmarks.base import Benchmark, Row, images_in, text_in
from evaluator.benchmarks.card import Axis, Card, constant_answer
from evaluator.benchmarks.metrics import EM, F1, STRICT_EM, Metric
from evaluator.benchmarks.scoring.choices import LETTERS, choice_order, choices_in, with_order_key
from evaluator.benchmarks.scoring.letters import asserted_letter
from evaluator.benchmarks.source_files import ImageFolder
from evaluator.benchmarks.source_rows import SourceRow
from evaluator.core.data_types import Answer, Item, Prompt, Score
from submissions.texts.text import Text

UNCLEAR = "-"  # the choice of an answer that settles on no letter


def macro_f1(scores: Sequence[Score], name: str) -> float:
    """Return macro-F1 over the letters. Always answering A earns 10 %, while accuracy would be 25 %."""
    pairs = Counter((g, p) for s in scores for g, p in zip(s.gold, s.prediction, strict=True))
    total = 0.0
    for letter in LETTERS:
        hits = pairs[letter, letter]
        # Pairs with the letter on either side: true positives, false positives and false negatives, TP + FP + FN.
        involved = sum(n for (gold, given), n in pairs.items() if letter in (gold, given))
        total += 2 * hits / (involved + hits) if hits else 0.0  # F1 = 2 TP / (2 TP + FP + FN)
    return total / len(LETTERS)


def chance_corrected(scores: Sequence[Score], name: str) -> float:
    """Return accuracy corrected for chance: 0 for guessing and 1 if everything is right."""
    chance = 1 / len(LETTERS)
    return (sum(s.values["em"] for s in scores) / len(scores) - chance) / (1 - chance)


def consistency(scores: Sequence[Score], name: str) -> float | None:
    """Return how often the same description is chosen in every rotation; None if items were asked once."""
    rotated = [s for s in scores if len(s.gold) > 1]
    consistent = sum(len({_offset(*pair) for pair in zip(s.gold, s.prediction, strict=True)}) == 1 for s in rotated)
    return consistent / len(rotated) if rotated else None


DOCUMENT_TYPES = {
    "보고서": Text("보고서", "Reports"),
    "보도자료": Text("보도자료", "Press releases"),
}


class KoVDC(Benchmark):
    name, version, inputs, min_context = "ko-vdc", "4", "image", 2048
    prompt_tokens, answer_tokens = 1800, 5
    source_tables = (".csv", ".xlsx")
    metrics = (
        EM,
        Metric("f1", F1.title, macro_f1),
        replace(
            STRICT_EM,
            hint=Text(
                "답변이 최종적으로 고른 보기가 정답인 비율입니다. 공식 EM은 답변의 첫 글자만 봅니다.",
                "Share of answers that settle on the right option. The official EM reads the first character only.",
            ),
            on_hub=False,
        ),
        Metric(
            "em_chance_corrected",
            Text("우연 보정 EM", "Chance-corrected EM"),
            chance_corrected,
            lowest=-100,
            hint=Text(
                "무작위로 고르면 0, 모두 맞히면 100이 되도록 보정한 EM입니다.",
                "EM corrected for guessing: 0 for random choices, 100 if all answers are correct.",
            ),
            column=False,
            on_hub=False,
        ),
        Metric(
            "consistency",
            Text("일관성", "Consistency"),
            consistency,
            hint=Text(
                "보기 순서를 바꿔도 같은 설명을 고른 문항의 비율입니다.",
                "Share of items on which the same description is chosen in every order of the options.",
            ),
            column=False,
            on_hub=False,
        ),
    )
    card = Card(
        title="KO-VDC",
        split="test",
        n=200,
        axes=(Axis("doc_type", Text("문서 유형", "Document type"), DOCUMENT_TYPES),),
        chance=25.0,
        summary=Text(
            "본문을 지운 문서의 표와 차트만 보고 네 가지 설명 중 맞는 것을 고릅니다. 보고서·보도자료 200문항.",
            "Choose which of four descriptions matches the tables and charts of a page without its body text. 200 items from reports and press releases.",
        ),
        source_url="https://github.com/Marker-Inc-Korea/KO-VLM-Benchmark",
        data_terms=Text(
            "AI-Hub ‘멀티모달정보검색’ 데이터입니다. AI-Hub 이용 약관에 따라 승인받은 이용자만 쓸 수 있으며, 허가 없이 제3자에게 제공하거나 국외로 반출할 수 없습니다.",
            "Based on AI-Hub data (multimodal retrieval). Under the AI-Hub terms, only approved users may use it, and it may not be passed on or taken out of Korea without permission.",
        ),
        access=Text(
            "제작·보유: Marker-Inc-Korea(MarkrAI). 제작사의 모델(Gukbap-Ovis2-16B)이 같은 표에 있습니다. 네 설명문은 Gemini-2.5-pro로 다듬거나 만들었으며, Gemini도 평가 대상입니다. 원본 AI-Hub 데이터를 학습에 쓴 모델이 있을 수 있습니다.",
            "Made and held by Marker-Inc-Korea (MarkrAI), whose own model (Gukbap-Ovis2-16B) is in the same table. The four descriptions were refined or written with Gemini-2.5-pro, and Gemini models are evaluated here too. Models may have been trained on the original AI-Hub data.",
        ),
        baselines=(constant_answer(25.0),),
        data_stays=True,
        coarse={"em": 5.0, "f1": 5.0, "consistency": 1.0},
        headline="em_strict",
        reported_headline="em",
        ranking_note=Text(
            "직접 평가한 결과는 엄격 EM으로 순위를 매깁니다. 공식 규칙(EM)은 답변의 첫 글자만 보므로 ‘정답: B’나 ‘(B)’는 오답이 되고 ‘A chart shows …’로 시작하는 문장은 A를 고른 답으로 처리됩니다. 제작사 발표 점수에는 공식 EM만 있으므로 공식 EM으로 따로 순위를 매깁니다.",
            "Verified results are ranked by strict EM, because the official rule (EM) reads the first character only: ‘정답: B’ and ‘(B)’ are wrong under it, and a sentence that begins with ‘A chart shows …’ chooses A. Reported scores have only the official EM and are ranked separately by it.",
        ),
        skills={"charts": (None,)},
        hub_task="ko_vdc",
        histogram=Axis("letter", Text("선택한 보기 분포", "Distribution of chosen options")),
        histogram_note=Text(
            "보기 순서를 바꿔 가며 묻기 때문에, 특정 위치를 더 고르는 경향(위치 편향)이 없는 모델은 모두 25%입니다. ‘-’는 어느 보기를 골랐는지 알 수 없는 답변입니다.",
            "The order of the options is rotated, so a model without position bias picks each letter 25% of the time. ‘-’ marks answers without a clear choice.",
        ),
    )

    def complete(self, items: list[Item]) -> list[Item]:
        return with_order_key(items)

    def item(self, row: Row, folder: Path) -> Item:
        choices = choices_in(row)
        return Item(
            id=text_in(row, "id"),
            question="",
            answer=choices[0],
            images=images_in(folder, row),
            choices=choices,
            buckets={axis.name: text_in(row, axis.name) for axis in self.card.axes},
            cluster=row["images"][0],
        )

    def item_to_score(self, row: Row) -> Item:
        item = super().item_to_score(row)
        if item.answer.upper() not in tuple(LETTERS):
            raise ValueError(f"'answer' must be one of {', '.join(LETTERS)}")
        return item

    def convert_row(self, source: SourceRow, images: ImageFolder) -> Row:
        """Convert a row of the makers' workbook.

        Its image, from which the text is removed, is in the folder of its document type.
        """
        doc_type = source.text("doc_type")
        return {
            "id": source.text("id"),
            "choices": [source.text(f"Gemini_GT_{n}") for n in range(1, len(LETTERS) + 1)],
            "images": [images.find(source.text("Modified_image"), doc_type)],
            "doc_type": doc_type,
        }

    def gold_output(self, item: Item) -> str | None:
        """Return None, because the right letter depends on the rotation."""
        return None

    def prompts(self, item: Item) -> list[Prompt]:
        return [
            Prompt(
                f"{item.id}#{rotation}", _question([item.choices[i] for i in choice_order(item, rotation)]), item.images
            )
            for rotation in range(len(LETTERS))
        ]

    def score_item(self, item: Item, answers: Sequence[Answer]) -> Score:
        golds = [LETTERS[choice_order(item, rotation).index(0)] for rotation in range(len(LETTERS))]
        matches = [reference_match(gold, answer.text) for gold, answer in zip(golds, answers, strict=True)]
        em = sum(matches) / len(matches)
        # The score has one status: the first one of the rotations that is not "ok".
        worst = next((a for a in answers if a.status != "ok"), answers[0])
        given = [asserted_letter(answer.text) for answer in answers]
        return Score(
            item.id,
            # F1 has no value for a single item: `macro_f1` computes it from gold and prediction.
            {"em": em, "f1": em, "em_strict": sum(map(eq, given, golds)) / len(golds)},
            worst.status,
            prediction="".join(letter or UNCLEAR for letter in given),
            gold="".join(golds),
        )

    def score_flat(self, items: Sequence[Item], answers: Sequence[Answer]) -> list[Score]:
        """Score items that were asked once and whose `answer` is the right letter."""
        return [_score_letter(item, answer) for item, answer in zip(items, answers, strict=True)]

    def histogram(self, scores: Sequence[Score]) -> dict[str, int]:
        """Count the chosen letters, `-` if none is clear. The counts reveal a model that prefers one letter."""
        counts = Counter(letter for s in scores for letter in s.prediction)
        return {letter: counts[letter] for letter in LETTERS + UNCLEAR}


def _offset(gold: str, given: str) -> int | str:
    """Return how many places after the right description the chosen one is listed, cyclically (0: it is right).

    The number identifies the chosen description, because the order is the same in all rotations except for its start.
    For an unclear answer, return a value that is different in each rotation, so that the item does not count as
    consistent.
    """
    return (LETTERS.index(given) - LETTERS.index(gold)) % len(LETTERS) if given in LETTERS else f"unclear at {gold}"


def _score_letter(item: Item, answer: Answer) -> Score:
    """Score an item that was asked once and whose `answer` is the right letter."""
    em = float(reference_match(item.answer, answer.text))
    given = asserted_letter(answer.text)
    values = {"em": em, "f1": em, "em_strict": float(given == item.answer.upper())}
    return Score(item.id, values, answer.status, given or UNCLEAR, item.answer.upper())


def reference_match(gold: str, output: str) -> bool:
    """Return whether the published rule accepts an output: its first character must be the gold letter."""
    return gold.lower() in output.strip()[:1].lower()


def _question(captions: Sequence[str]) -> str:
    """Return the prompt of the published script, verbatim."""
    choices = "".join(f"{letter}. {caption}\n\n" for letter, caption in zip(LETTERS, captions, strict=True))
    return (
        "다음 주어진 [A, B, C, D] 보기 중 이미지에 있는 도식 정보를 가장 잘 설명하는 것을 고르시오. "
        f"답변은 무조건 알파벳이 먼저 나와야합니다.\n\n<보기>\n{choices}# 가장 적절한 설명문:"
    )


BENCHMARK = KoVDC()

"""KO-VQA: Korean documents, a question, an answer with number and unit.

source: Marker-Inc-Korea/KO-VQA-Benchmark (1,500 items, 15 domains × 100; prompt and number+unit rule are its own)
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from evaluator.benchmarks.base import Axis, Benchmark, Card, Row
from evaluator.benchmarks.scoring.quantities import strict_match
from evaluator.benchmarks.source_rows import ImageFolder, SourceRow
from evaluator.data_types import Answer, Item, Prompt, Score
from submissions.messages import Text

# The few-shot instruction of the protocol, verbatim.
INSTRUCTION = """이미지를 보고 질문에 대한 답변을 제공해주세요. 이때, 반드시 이미지에 제공된 숫자와 단위를 명시해서 답변을 제공해야 합니다.

아래는 이미지에 제시된 숫자 단위가 '백만 원'일 때의 답변 예시입니다.
- 질문: 2017년도 국립청소년산림생태체험센터 건립사업에서 불용된 예산은 얼마인가요?
- 답변: 건립사업에서 불용된 예산은 총 7,131백만 원입니다.

아래는 이미지에 제시된 숫자 단위가 '천 명'일 때의 답변 예시입니다.
- 질문: 2008년 경제활동 인구는 몇 명인가요?
- 답변: 총 24,347천 명입니다.
"""

_NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_UNITS = "조억백천민"  # 민 is the published rule's own slip for 만

MAX_DIGITS = 4000  # of a whole number; Python's int() takes no more than 4,300

Quantity = str | int | float


class KoVQA(Benchmark):
    name = "ko-vqa"
    source_tables = (".csv", ".xlsx")
    card = Card(
        title="KO-VQA",
        split="test",
        n=1500,
        axes=(Axis("domain", Text("분야", "Domain")),),
        summary=Text(
            "한국어 공공 문서의 표·그래프·인포그래픽을 보고 숫자와 단위로 답합니다. 15개 분야 × 100문항.",
            "Read tables, charts and infographics in Korean public documents and answer with a number and unit. 15 domains × 100 questions.",
        ),
        source_url="https://github.com/Marker-Inc-Korea/KO-VLM-Benchmark",
        data_terms=Text(
            "AI-Hub ‘시각화질의응답’ 데이터입니다. AI-Hub 이용 약관에 따라 승인받은 이용자만 쓸 수 있으며, 허가 없이 제3자에게 제공하거나 국외로 반출할 수 없습니다.",
            "Drawn from AI-Hub data (visual question answering): for approved users only, not to be passed on or taken abroad without permission.",
        ),
        access=Text(
            "제작·보유: Marker-Inc-Korea(MarkrAI). 제작사의 모델(Gukbap 계열)이 같은 표에 있습니다. 원본 AI-Hub 데이터는 승인받은 이용자가 내려받을 수 있으므로 학습에 쓴 모델이 있을 수 있습니다.",
            "Made and held by Marker-Inc-Korea (MarkrAI), who list models of their own (Gukbap) on it. The AI-Hub data it was drawn from can be had by approved users, so models may have been trained on it.",
        ),
        data_stays=True,
        hub_task="ko_vqa",
    )

    def convert_row(self, source: SourceRow, images: ImageFolder) -> Row:
        """A row of the makers' CSV; its image lies in the AI-Hub folder of its domain."""
        domain = source.text("domain")
        if not _NUMBER.search(source.text("answer")):
            raise ValueError("the answer holds no number")
        return {
            "id": source.text("row_id"),
            "question": source.text("question"),
            "answer": source.text("answer"),
            "images": [images.find(source.text("image"), domain)],
            "domain": domain,
        }

    def prompts(self, item: Item) -> list[Prompt]:
        return [Prompt(item.id, f"{INSTRUCTION}\n\n{item.question}", item.images, question=item.question)]

    def score_item(self, item: Item, answers: Sequence[Answer]) -> Score:
        (answer,) = answers
        return Score(
            item.id,
            em=float(reference_match(item.answer, answer.text)),
            f1=quantity_f1(item.question, item.answer, answer.text),
            status=answer.status,
            em_strict=float(strict_match(item.question, item.answer, answer.text)),
        )


class Quantities(NamedTuple):
    """The numbers of a text, each with the unit character after its first occurrence: `"61.5조"`, or a bare number.

    `collapsed` has whole floats as ints, which the published rule does on the answer's side only: a gold `5.0조` is
    never matched.
    """

    written: tuple[Quantity, ...]
    collapsed: tuple[Quantity, ...]


@lru_cache(maxsize=8)  # EM and F1 of an item read the same texts
def quantities(text: str) -> Quantities:
    """Every number of a text, as the published rule reads them."""
    written: list[Quantity] = []
    collapsed: list[Quantity] = []
    units: dict[str, str] = {}  # of each literal, behind its first occurrence
    for literal in _NUMBER.findall(text):
        if literal not in units:
            end = text.find(literal) + len(literal)
            unit = text[end : end + 1]
            units[literal] = unit if unit and unit in _UNITS else ""
        unit, plain = units[literal], literal.replace(",", "")
        value: int | float | str = float(plain) if "." in plain else int(plain) if len(plain) < MAX_DIGITS else plain
        written.append(f"{value}{unit}" if unit else value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        collapsed.append(f"{value}{unit}" if unit else value)
    return Quantities(tuple(written), tuple(collapsed))


def reference_match(gold: str, output: str) -> bool:
    """The published rule: the gold answer's first quantity is among the output's. No number in gold: wrong."""
    wanted = quantities(gold).written
    return bool(wanted) and wanted[0] in quantities(output).collapsed


def quantity_f1(question: str, gold: str, output: str) -> float:
    """F1 of the set of quantities stated against those in gold, those copied from the question left out.

    Naming every number in sight is punished by precision, unlike under the reference rule. From 0 to 1.
    """
    wanted = set(quantities(gold).collapsed)
    stated = set(quantities(output).collapsed)
    if stated - wanted:
        stated -= set(quantities(question).collapsed) - wanted
    shared = len(wanted & stated)
    return 2 * shared / (len(wanted) + len(stated)) if shared else 0.0

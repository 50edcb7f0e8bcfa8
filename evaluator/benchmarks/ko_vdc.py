"""KO-VDC: choose the right description of a chart among four.

source: Marker-Inc-Korea/KO-VLM-Benchmark (200 items: 보고서 100 + 보도자료 100; the prompt is taken from there)

The published script shuffles the choices at every run. Here each item is asked in all rotations of one order.
"""

from evaluator.benchmarks.card import Axis
from evaluator.benchmarks.columns import Columns
from evaluator.benchmarks.kinds.choice import CONSISTENCY, METRICS, Choice, ChoiceCard
from submissions.texts.text import Text

# The prompt of the published script, verbatim.
PROMPT = """다음 주어진 [A, B, C, D] 보기 중 이미지에 있는 도식 정보를 가장 잘 설명하는 것을 고르시오. 답변은 무조건 알파벳이 먼저 나와야합니다.

<보기>
{choices}# 가장 적절한 설명문:"""

DOCUMENT_TYPES = {
    "보고서": Text("보고서", "Reports"),
    "보도자료": Text("보도자료", "Press releases"),
}


class KoVDC(Choice):
    name, version = "ko-vdc", "5"
    prompt = PROMPT
    choice_line = "{letter}. {choice}\n\n"
    rotates = True
    prompt_tokens = 1800
    source_tables = (".csv", ".xlsx")
    metrics = (*METRICS, CONSISTENCY)
    # Gemini_GT_1 is the right description. The pictures, with their text removed, are in the folder of their document type.
    columns = Columns(
        id="id",
        choices=("Gemini_GT_1", "Gemini_GT_2", "Gemini_GT_3", "Gemini_GT_4"),
        image="Modified_image",
        folder="doc_type",
        axes={"doc_type": "doc_type"},
    )
    card = ChoiceCard(
        title="KO-VDC",
        split="test",
        n=200,
        axes=(Axis("doc_type", Text("문서 유형", "Document type"), DOCUMENT_TYPES),),
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
        data_stays=True,
        # The steps to which published scores are rounded, so that nobody can find out the right choices. The step of the
        # consistency is smaller, because it does not depend on which choice is right.
        coarse={"em": 5.0, "f1": 5.0, "consistency": 1.0},
        ranking_note=Text(
            "직접 평가한 결과는 엄격 EM으로 순위를 매깁니다. 공식 규칙(EM)은 답변의 첫 글자만 보므로 ‘정답: B’나 ‘(B)’는 오답이 되고 ‘A chart shows …’로 시작하는 문장은 A를 고른 답으로 처리됩니다. 제작사 발표 점수에는 공식 EM만 있으므로 공식 EM으로 따로 순위를 매깁니다.",
            "Verified results are ranked by strict EM, because the official rule (EM) reads the first character only: ‘정답: B’ and ‘(B)’ are wrong under it, and a sentence that begins with ‘A chart shows …’ chooses A. Reported scores have only the official EM and are ranked separately by it.",
        ),
        skills={"charts": (None,)},  # the whole set
        hub_task="ko_vdc",
        histogram_note=Text(
            "보기 순서를 바꿔 가며 묻기 때문에, 특정 위치를 더 고르는 경향(위치 편향)이 없는 모델은 모두 25%입니다. ‘-’는 어느 보기를 골랐는지 알 수 없는 답변입니다.",
            "The order of the options is rotated, so a model without position bias picks each letter 25% of the time. ‘-’ marks answers without a clear choice.",
        ),
    )

    def published_match(self, gold: str, output: str) -> bool:
        """Return whether the published rule accepts an output: its first character must be the gold letter."""
        return output.strip()[:1].lower() == gold.lower()


BENCHMARK = KoVDC()

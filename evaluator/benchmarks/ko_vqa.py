"""KO-VQA: questions about Korean documents, answered with a number and a unit.

source: Marker-Inc-Korea/KO-VQA-Benchmark (1,500 items, 15 domains × 100; prompt and number+unit rule are taken from
there). Its makers report newer scores in KO-VLM-Benchmark, which `source_url` names.
"""

from evaluator.benchmarks.card import Axis, constant_answer
from evaluator.benchmarks.columns import Columns
from evaluator.benchmarks.kinds.quantity import Quantity, QuantityCard
from evaluator.benchmarks.scoring.published_quantities import quantities
from submissions.texts.text import Text

# The protocol's few-shot instruction, verbatim.
INSTRUCTION = """이미지를 보고 질문에 대한 답변을 제공해주세요. 이때, 반드시 이미지에 제공된 숫자와 단위를 명시해서 답변을 제공해야 합니다.

아래는 이미지에 제시된 숫자 단위가 '백만 원'일 때의 답변 예시입니다.
- 질문: 2017년도 국립청소년산림생태체험센터 건립사업에서 불용된 예산은 얼마인가요?
- 답변: 건립사업에서 불용된 예산은 총 7,131백만 원입니다.

아래는 이미지에 제시된 숫자 단위가 '천 명'일 때의 답변 예시입니다.
- 질문: 2008년 경제활동 인구는 몇 명인가요?
- 답변: 총 24,347천 명입니다.
"""

DOMAINS = {
    "공공행정": Text("공공행정", "Public administration"),
    "과학기술": Text("과학기술", "Science and technology"),
    "교육": Text("교육", "Education"),
    "교통물류": Text("교통·물류", "Transport and logistics"),
    "국토관리": Text("국토관리", "Land management"),
    "농축수산": Text("농축수산", "Agriculture, livestock and fisheries"),
    "문화관광": Text("문화·관광", "Culture and tourism"),
    "보건의료": Text("보건·의료", "Health care"),
    "사회복지": Text("사회복지", "Social welfare"),
    "산업고용": Text("산업·고용", "Industry and employment"),
    "식품건강": Text("식품·건강", "Food and health"),
    "재난안전": Text("재난·안전", "Disaster and safety"),
    "재정금융": Text("재정·금융", "Finance"),
    "통일외교안보": Text("통일·외교·안보", "Unification, diplomacy and security"),
    "환경기상": Text("환경·기상", "Environment and weather"),
}


class KoVQA(Quantity):
    name, version = "ko-vqa", "4"
    prompt = f"{INSTRUCTION}\n\n{{question}}"
    source_tables = (".csv", ".xlsx")
    examples = 2
    # Its pictures are in the AI-Hub folders of their domains.
    columns = Columns(
        id="row_id", question="question", answer="answer", image="image", folder="domain", axes={"domain": "domain"}
    )
    card = QuantityCard(
        title="KO-VQA",
        split="test",
        n=1500,
        axes=(Axis("domain", Text("분야", "Domain"), DOMAINS),),
        summary=Text(
            "한국어 공공 문서의 표와 차트를 보고 숫자와 단위로 답합니다. 15개 분야 × 100문항.",
            "Read tables and charts in Korean public documents and answer with a number and unit. 15 domains × 100 items.",
        ),
        source_url="https://github.com/Marker-Inc-Korea/KO-VLM-Benchmark",
        data_terms=Text(
            "AI-Hub ‘시각화질의응답’ 데이터입니다. AI-Hub 이용 약관에 따라 승인받은 이용자만 쓸 수 있으며, 허가 없이 제3자에게 제공하거나 국외로 반출할 수 없습니다.",
            "Based on AI-Hub data (visual question answering). Under the AI-Hub terms, only approved users may use it, and it may not be passed on or taken out of Korea without permission.",
        ),
        access=Text(
            "제작·보유: Marker-Inc-Korea(MarkrAI). 제작사의 모델(Gukbap 계열)이 같은 표에 있습니다. 원본 AI-Hub 데이터는 승인받은 이용자가 내려받을 수 있으므로, 이 데이터를 학습에 쓴 모델이 있을 수 있습니다.",
            "Made and held by Marker-Inc-Korea (MarkrAI), whose own models (the Gukbap family) are in the same table. The original AI-Hub data is available to approved users, so models may have been trained on it.",
        ),
        baselines=(constant_answer(0.0),),
        data_stays=True,
        coarse={"em": 1.0, "f1": 1.0},  # published in steps of a point
        skills={"documents": (None,)},  # None: all items, not a bucket of an axis
        hub_task="ko_vqa",
    )

    def published_match(self, gold: str, output: str) -> bool:
        """Return whether the published rule accepts an output: the first gold quantity must be among its quantities.

        If the gold answer has no number, every output is wrong. In outputs, but not in gold answers, 5.0조 becomes 5조. That is
        a mistake of the published script: no output can match the gold answer `5.0조`.
        """
        wanted = quantities(gold).written  # with 5.0 as it is; `collapsed` has 5
        return bool(wanted) and wanted[0] in quantities(output).collapsed


BENCHMARK = KoVQA()

"""InfoChartQA: infographic charts. Published results only, for now.

source: CoolDawnAnt/InfoChartQA (text 50,920, visual_basic 7,475, visual_metaphor 462 questions)
"""

from evaluator.benchmarks.base import Benchmark, Card


class InfoChartQA(Benchmark):
    name = "infochartqa"
    card = Card(
        title="InfoChartQA",
        split="text",
        n=50920,
        axes=("subset",),
        columns=(("subset", "text_plain"), ("subset", "visual_basic"), ("subset", "visual_metaphor")),
        summary_ko="인포그래픽 차트에 대한 질의응답입니다. EM은 인포그래픽 텍스트 질문의 정확도입니다.",
        summary_en="Questions about infographic charts. EM is the accuracy on text questions over infographics.",
        source_url="https://github.com/CoolDawnAnt/InfoChartQA",
    )

"""K-Viscuit: questions in English about pictures of Korean culture, with four choices.

source: ddehun/k-viscuit (657 questions about 237 pictures; the prompt and the exact-letter rule are taken from there)
"""

from evaluator.benchmarks.card import Axis
from evaluator.benchmarks.columns import Columns
from evaluator.benchmarks.kinds.choice import Choice, ChoiceCard
from evaluator.benchmarks.source_rows import SourceRow
from submissions.texts.text import Text

CATEGORIES = {
    "Food": Text("음식", "Food"), "Beverage": Text("음료", "Beverages"), "Tool": Text("도구", "Tools"), "Clothes": Text("의복", "Clothes"),
    "ArchitecturePlaces": Text("건축·장소", "Architecture and places"), "Heritage": Text("문화유산", "Heritage"), "Religion": Text("종교", "Religion"),
    "Agriculture": Text("농업", "Agriculture"), "Celebrations": Text("명절·의례", "Celebrations"), "GamePlayPerformance": Text("놀이·공연", "Games and performances"),
}  # fmt: skip
TYPES = {"recognition": Text("알아보기", "Recognition"), "reasoning": Text("지식·추론", "Knowledge and reasoning")}


def _question_type(row: SourceRow) -> str:
    """Return the type of a question: the first one about a picture asks what it shows."""
    return "recognition" if row.text("id_").endswith(".0") else "reasoning"


class KViscuit(Choice):
    name, version = "k-viscuit", "2"
    # The prompt of the published script, verbatim, with the spaces at the start of its lines.
    prompt = "{question}\n{choices}    Answer with the option's letter from the given choices directly."
    choice_line = "    {letter}. {choice}\n"
    # Without an `id`, because its column `id_` (CATEGORY.PICTURE.QUESTION, such as Food.1.0) has some ids twice.
    columns = Columns(
        question="question",
        choices="options",
        answer="answer",
        right="place",  # the answer is the place of the right choice, from 0
        image=("image", "image_path"),  # on the Hub, on GitHub
        axes={
            "category": lambda row: row.text("id_").partition(".")[0],
            "question_type": _question_type,
        },
    )
    card = ChoiceCard(
        title="K-Viscuit",
        split="test",
        n=657,
        axes=(
            Axis("category", Text("분야", "Category"), CATEGORIES, is_closed=True),
            Axis("question_type", Text("질문 유형", "Question type"), TYPES),
        ),
        summary=Text(
            "한국 문화를 담은 사진을 보고 영어 질문의 보기 네 개 가운데 하나를 고릅니다. 사진 237장, 657문항.",
            "Choose one of four options for questions in English about pictures of Korean culture. 237 pictures, 657 items.",
        ),
        source_url="https://huggingface.co/datasets/ddehun/k-viscuit",
        hub_task="k_viscuit",
        is_public=True,
        data_terms=Text(
            "CC BY 4.0으로 공개된 데이터입니다. 사진에는 게시처마다 다른 이용 조건이 있습니다.",
            "The data is public under CC BY 4.0. The pictures come from hosts with terms of their own.",
        ),
        access=Text(
            "논문 저자가 만들고 정답까지 공개했으므로 학습에 쓰였을 수 있습니다. 문항은 GPT-4-Turbo로 쓰고 사람이 확인했습니다.",
            "Made by the authors of the paper and public with its answers, so models may have been trained on it. The questions were written with GPT-4-Turbo and checked by people.",
        ),
    )


BENCHMARK = KViscuit()

"""InfoChartQA: questions about the content (text) and the visual elements (visual) of infographic charts.

source: CoolDawnAnt/InfoChartQA (text 50,920, visual_basic 7,475, visual_metaphor 462 questions; question format and
comparison rules are taken from there)

Additional columns: `question_type_id` (which rule compares the answer), `subset` (text, visual_basic or
visual_metaphor), and, if a question has them, `prompt`, `options` (list), `instructions`, `links` (list with the public URL
of each image) and `extra_input_figure_bboxes` (list of [x, y, width, height] in pixels: crops of the image, shown after it).
"""

import math
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from evaluator.benchmarks.base import Benchmark
from evaluator.benchmarks.card import Axis, Card, ScoreColumn, constant_answer
from evaluator.benchmarks.metrics import EM, F1, STRICT_EM, STRICT_RANKING, Metric, not_measured
from evaluator.benchmarks.rows import Row, text_in
from evaluator.benchmarks.scoring import chart_answers
from evaluator.benchmarks.scoring.chart_answers import reference_match
from evaluator.benchmarks.scoring.strict_chart_answers import strict_match
from evaluator.benchmarks.source_files import ImageFolder
from evaluator.benchmarks.source_rows import SourceRow
from evaluator.core.data_types import Box, Item
from submissions.texts.text import Text

QUESTION_TYPE = "question_type_id"  # column of a row, and key in an item's extra
MAX_TYPE = 2**31  # upper limit of a type in an import; the makers' largest is 1919812
BOXES = "extra_input_figure_bboxes"  # column of a row
SUBSETS = ("text", "visual_basic", "visual_metaphor")

# A test set has SUBSETS. The makers report text questions on infographics and on plain charts separately, so published
# results have those two in place of `text`.
SUBSET_TITLES = {
    "text": Text("텍스트 질문", "Text questions"),
    "text_infographic": Text("인포그래픽 텍스트 질문", "Text questions on infographics"),
    "text_plain": Text("일반 차트 텍스트 질문", "Text questions on plain charts"),
    "visual_basic": Text("시각 요소 질문", "Visual element questions"),
    "visual_metaphor": Text("시각 은유 질문", "Visual metaphor questions"),
}
# The makers number the types of questions without saying what they ask, so scores are broken down by the form of the answer.
# form of the answer → numbers of question types
QUESTION_TYPES = {
    "number_or_text": chart_answers.AS_ANSWER_IS,  # compared as a number if the answer is mostly digits, else as text
    "exact_number": chart_answers.EXACT_NUMBER,
    "rough_number": chart_answers.ROUGH_NUMBER,
    "text_or_number": chart_answers.AS_TEXT_OR_VALUE,  # right if it contains the answer or gives the same number
    "unordered_list": chart_answers.UNORDERED,
    "text": chart_answers.TEXT,
    # The answers of ORDERED_BY_CHARACTER are lists too: the published rule compares them character by character by mistake.
    "ordered_list": chart_answers.ORDERED | chart_answers.ORDERED_BY_CHARACTER,
    "choice": chart_answers.CHOICES,
}
OTHER_FORM = "other"
ANSWER_FORMS = {
    "number_or_text": Text("숫자 또는 텍스트", "Number or text"),
    "exact_number": Text("정확한 숫자", "Exact number"),
    "rough_number": Text("근사 숫자(±5%)", "Approximate number (±5%)"),
    "text_or_number": Text("텍스트 또는 숫자", "Text or number"),
    "unordered_list": Text("순서 없는 목록", "Unordered list"),
    "text": Text("텍스트", "Text"),
    "ordered_list": Text("순서 있는 목록", "Ordered list"),
    "choice": Text("보기 선택", "Multiple choice"),
    OTHER_FORM: Text("그 밖의 질문", "Other questions"),
}


class InfoChartQA(Benchmark):
    name, version = "infochartqa", "4"
    answer_tokens = 15
    metrics = (
        EM,
        F1,
        STRICT_EM,
        Metric(
            "visual_avg", Text("시각 질문 평균", "Visual question average"), not_measured, column=False, on_hub=False
        ),
        Metric(
            "delta",
            Text("일반 차트 − 인포그래픽", "Plain − infographic"),
            not_measured,
            lowest=-100,
            column=False,
            on_hub=False,
        ),
    )
    card = Card(
        title="InfoChartQA",
        split="text",
        n=50920,
        axes=(
            Axis("subset", Text("문항 구분", "Question set"), SUBSET_TITLES),
            Axis("answer_form", Text("답의 형태", "Form of the answer"), ANSWER_FORMS),
        ),
        data_terms=Text(
            "인포그래픽의 저작권은 각 게시자에게 있습니다. 이용 조건은 데이터 배포처를 확인하세요.",
            "The copyright of the infographics belongs to their publishers. See the dataset's own page for the terms of use.",
        ),
        access=Text(
            "논문 저자가 만들고 문항과 정답을 모두 공개했습니다. 어느 모델이든 학습에 썼을 가능성이 있습니다.",
            "Made by the authors of the paper. Questions and answers are all public, so any model may have been trained on them.",
        ),
        skills={"charts": (None,)},
        baselines=(constant_answer(16.1),),
        hub_task="infochartqa",
        is_public=True,
        headline="em_strict",
        reported_headline="em",
        ranking_note=STRICT_RANKING,
        columns=(
            ScoreColumn(Text("일반 차트", "Plain charts"), "subset", "text_plain"),
            ScoreColumn(Text("시각 요소", "Visual elements"), "subset", "visual_basic"),
            ScoreColumn(Text("시각 은유", "Visual metaphors"), "subset", "visual_metaphor"),
        ),
        summary=Text(
            "인포그래픽 차트를 보고 질문에 답합니다. 제작사가 발표한 EM은 인포그래픽 텍스트 질문의 정확도입니다.",
            "Question answering over infographic charts. The reported EM is the accuracy on text questions about infographics.",
        ),
        source_url="https://github.com/CoolDawnAnt/InfoChartQA",
    )

    def item(self, row: Row, folder: Path) -> Item:
        """Build an item, whose question contains the makers' prompt, options and instructions."""
        item = super().item(row, folder)
        return replace(
            item,
            question=build_question(row),
            links=_public_links(row.get("links")),
            crops=tuple(_box(box, item.images[0]) for box in row.get(BOXES) or ()),
        )

    def item_to_score(self, row: Row) -> Item:
        """Build an item for `python -m evaluator score`. Its question, if it has one, contains the options."""
        item = super().item_to_score(row)
        return replace(item, question=build_question(row)) if item.question else item

    def buckets(self, row: Row) -> dict[str, str]:
        """Return the subset, and the form of the answer, which follows from the type of the question."""
        subset = text_in(row, "subset")
        if subset not in SUBSETS:
            raise ValueError(f"column 'subset' must be one of {', '.join(SUBSETS)}, not {subset!r}")
        return {"subset": subset, "answer_form": _answer_form(_question_type_id(row[QUESTION_TYPE]))}

    def scoring_inputs(self, row: Row) -> dict[str, Any]:
        """Return `question_type_id`, which selects the comparison rule. Raises ValueError if it is missing or invalid."""
        return {QUESTION_TYPE: _question_type_id(row.get(QUESTION_TYPE))}

    def convert_row(self, source: SourceRow, images: ImageFolder) -> Row:
        """Convert a row of a subset's file, for example `text-….parquet`.

        Its figure must be in a file named after the figure's id or the last part of its URL. Raises KeyError or ValueError
        if the row cannot be used.
        """
        subset_of_file = next((name for name in SUBSETS if source.file.stem.startswith(name)), "")
        subset = source.row.get("subset") or subset_of_file
        if not subset:
            raise ValueError(f"unknown subset: name the file after one of {', '.join(SUBSETS)}")
        return {
            "id": f"{subset}-{source.text('question_id')}",
            QUESTION_TYPE: _parsed_question_type(source.text(QUESTION_TYPE)),
            "subset": subset,
            "prompt": _optional_text("prompt", source.row.get("prompt")),
            "instructions": _optional_text("instructions", source.row.get("instructions")),
            "question": source.row["question"],  # as it is, like `prompt`; `item` checks it
            "options": _options(source.row.get("options")),
            "answer": source.text("answer"),
            "images": [_figure(source, images)],
            "links": _links(source),
            BOXES: [_finite_numbers(box) for box in source.row.get(BOXES) or []],
        }

    def score_text(self, item: Item, text: str) -> dict[str, float]:
        """Return the values of one output: the published rule, partial credit, and the strict rule."""
        question_type_id = item.extra[QUESTION_TYPE]
        em = float(reference_match(question_type_id, item.answer, text))
        return {
            "em": em,
            "f1": max(em, parts_f1(item.answer, text)),
            "em_strict": float(strict_match(question_type_id, item.answer, text, item.question)),
        }


def _options(value: Any) -> list[str]:
    """Return the options of a row, or an empty list if it has none. Raises ValueError if they are not a list."""
    if value is not None and not isinstance(value, list):
        raise ValueError(f"column 'options' must be a list, not {type(value).__name__}")
    return [str(option) for option in value or ()]


def _parsed_question_type(text: str) -> int:
    """Return the type of a published row's question: "13.0" -> 13. Raises ValueError if it is not a whole number above 0."""
    number = float(text)
    if not number.is_integer() or not 0 < number < MAX_TYPE:
        raise ValueError(f"'{QUESTION_TYPE}' must be a whole number from 1 to {MAX_TYPE - 1:,}, not {text}")
    return int(number)


def _optional_text(column: str, value: Any) -> str:
    """Return a text as it is, because it becomes part of the prompt, or "" if there is none."""
    if value is not None and not isinstance(value, str):
        raise ValueError(f"column '{column}' must be text, not {type(value).__name__}")
    return value or ""


def _finite_numbers(box: Any) -> list[float]:
    """Return the numbers of a published row's box. `_box` checks their count once the image can be opened."""
    numbers = [float(number) for number in box]
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f"column '{BOXES}' contains {box!r}, not four numbers")
    return numbers


def _figure(source: SourceRow, images: ImageFolder) -> Path:
    """Return the image of a published row's figure. Raises KeyError or ValueError if there is none."""
    try:
        return images.find(source.text("figure_id"))
    except (KeyError, ValueError):
        links = _links(source)
        if not links:
            raise
        file_name = Path(urlsplit(links[0]).path).name
        return images.find(file_name)


def _links(source: SourceRow) -> list[str]:
    """Return the URLs of a published row's figure: its column `url`, which has one or a list of them.

    Raises ValueError if they are not text.
    """
    link = source.row.get("url") or []
    links = link if isinstance(link, list) else [link]
    if not all(isinstance(url, str) for url in links):
        raise ValueError("column 'url' must be text")
    return links


def _public_links(value: Any) -> tuple[str, ...]:
    """Return the URLs in the column `links` of the documented schema that begin with https://.

    Raises ValueError if they are not a list of text.
    """
    links = value or []
    if not isinstance(links, list) or not all(isinstance(link, str) for link in links):
        raise ValueError("column 'links' must be a list of text")
    return tuple(link for link in links if link.startswith("https://"))


def _question_type_id(value: Any) -> int:
    """Return the type of a question as it is in a row of the documented schema.

    Raises ValueError if it is not a whole number or is 0.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not value:
        raise ValueError(f"'{QUESTION_TYPE}' must be a whole number, not {value!r}")
    return value


def _answer_form(question_type_id: int) -> str:
    """Return the form of the answers to a type of questions, a key of ANSWER_FORMS."""
    return next((form for form, types in QUESTION_TYPES.items() if question_type_id in types), OTHER_FORM)


def build_question(row: Row) -> str:
    """Join the prompt, question, options and instructions that a row has, in the protocol's format: one a line."""
    prompt = _optional_text("prompt", row.get("prompt"))
    lines = [prompt] if prompt else []
    lines += [text_in(row, "question"), *_options(row.get("options"))]
    return "".join(f"{line}\n" for line in lines) + _optional_text("instructions", row.get("instructions"))


def parts_f1(answer: str, response: str) -> float:
    """Return the F1 of the comma-separated parts of two texts, from 0 to 1, ignoring case and character width.

    ("Seoul, Busan", "busan, Daegu") -> 0.5
    """
    answer_parts = _parts(answer)
    response_parts = _parts(response)
    shared = len(answer_parts & response_parts)
    return 2 * shared / (len(answer_parts) + len(response_parts)) if shared else 0.0


def _parts(text: str) -> set[str]:
    """Return the parts of a text between commas and line breaks: "Seoul,\\nBusan." -> {"seoul", "busan"}."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\n", ",")
    return {part.strip(" .") for part in folded.split(",")} - {""}


def _box(box: object, image: Path) -> Box:
    """Return a row's box in whole pixels. Raises ValueError if it is not four numbers or not inside the image."""
    from PIL import Image

    if not isinstance(box, (list, tuple)) or len(box) != 4 or not all(isinstance(side, (int, float)) for side in box):
        raise ValueError(f"column '{BOXES}' contains {box!r}, not four numbers")
    x, y, width, height = map(round, box)
    with Image.open(image) as opened:
        is_inside = min(x, y) >= 0 and x + width <= opened.width and y + height <= opened.height
        if not is_inside or min(width, height) < 1:
            raise ValueError(f"the box {box!r} is outside {image.name}")
    return x, y, width, height


BENCHMARK = InfoChartQA()

"""InfoChartQA: questions about infographic charts, in words (text) and about the picture (visual).

source: CoolDawnAnt/InfoChartQA (text 50,920, visual_basic 7,475, visual_metaphor 462 questions; the way a question
is put together and the rules of comparison are its own)

Columns beside the common ones: `question_type_id` (which rule compares the answer), `subset` (text, visual_basic or
visual_metaphor), and where a question has them `prompt`, `options` (list), `instructions`, `links` (list: where the
image is public) and
`extra_input_figure_bboxes` (list of x, y, width, height in the image: pieces shown after it).
"""

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from evaluator.benchmarks.base import Benchmark, Card, Row, images_in, text_in
from evaluator.benchmarks.scoring.chart_answers import reference_match, strict_match
from evaluator.benchmarks.source_rows import ImageFolder, Raw
from evaluator.data_types import Answer, Box, Item, Prompt, Score

BOXES = "extra_input_figure_bboxes"
SUBSETS = ("text", "visual_basic", "visual_metaphor")


class InfoChartQA(Benchmark):
    name = "infochartqa"
    card = Card(
        title="InfoChartQA",
        split="text",
        n=50920,
        axes=("subset", "question_type"),
        columns=(("subset", "text_plain"), ("subset", "visual_basic"), ("subset", "visual_metaphor")),
        summary_ko="인포그래픽 차트에 대한 질의응답입니다. 공개된 EM은 인포그래픽 텍스트 질문의 정확도입니다.",
        summary_en="Questions about infographic charts. Published EM is that of text questions over infographics.",
        source_url="https://github.com/CoolDawnAnt/InfoChartQA",
    )

    def item(self, row: Row, folder: Path) -> Item:
        kind = row["question_type_id"]
        if not isinstance(kind, int) or isinstance(kind, bool):
            raise ValueError(f"column 'question_type_id' must be a whole number, not {kind!r}")
        subset = text_in(row, "subset")
        if subset not in SUBSETS:
            raise ValueError(f"column 'subset' must be one of {', '.join(SUBSETS)}, not {subset!r}")
        images = images_in(folder, row)
        return Item(
            id=text_in(row, "id"),
            question=build_question(row),
            answer=text_in(row, "answer"),
            images=images,
            links=tuple(link for link in row.get("links") or () if str(link).startswith("https://")),
            crops=tuple(_box(box, images[0]) for box in row.get(BOXES) or ()),
            kind=kind,
            buckets={"subset": subset, "question_type": str(kind)},
            cluster=row["images"][0],
        )

    def from_upstream(self, raw: Raw, images: ImageFolder) -> Row:
        """A row of a split's file (`text-….parquet`, say); its figure was downloaded under its id or its link's name."""
        subset = raw.row.get("subset") or next((s for s in SUBSETS if raw.file.stem.startswith(s)), "")
        if not subset:
            raise ValueError(f"is of no subset: name the file after one of {', '.join(SUBSETS)}")
        return {
            "id": f"{subset}-{raw.text('question_id')}",
            "question_type_id": int(raw.text("question_type_id")),
            "subset": subset,
            **{column: raw.row.get(column) or "" for column in ("prompt", "instructions")},
            "question": raw.row["question"],
            "options": [str(option) for option in raw.row.get("options") or []],
            "answer": raw.text("answer"),
            "images": [_figure(raw, images)],
            "links": _links(raw),
            BOXES: [list(map(float, box)) for box in raw.row.get(BOXES) or []],
        }

    def prompts(self, item: Item) -> list[Prompt]:
        return [Prompt(item.id, item.question, item.images, item.links, item.crops, item.question)]

    def score_item(self, item: Item, answers: Sequence[Answer]) -> Score:
        (answer,) = answers
        em = float(reference_match(item.kind, item.answer, answer.text))
        return Score(
            item.id,
            em=em,
            f1=max(em, parts_f1(item.answer, answer.text)),
            status=answer.status,
            em_strict=float(strict_match(item.kind, item.answer, answer.text)),
        )


def _figure(raw: Raw, images: ImageFolder) -> Path:
    try:
        return images.find(raw.text("figure_id"))
    except (KeyError, ValueError):
        return images.find(Path(urlsplit(_links(raw)[0]).path).name)


def _links(raw: Raw) -> list[str]:
    link = raw.row.get("url") or []
    return link if isinstance(link, list) else [link]


def build_question(row: Row) -> str:
    """Prompt, question, options and instructions, each if present, as the protocol joins them."""
    lines = [row["prompt"]] if row.get("prompt") else []
    lines += [text_in(row, "question"), *(row.get("options") or [])]
    return "".join(f"{line}\n" for line in lines) + (row.get("instructions") or "")


def parts_f1(answer: str, response: str) -> float:
    """F1 of the comma-separated parts two texts share, case and width aside. From 0 to 1."""
    wanted, given = _parts(answer), _parts(response)
    shared = len(wanted & given)
    return 2 * shared / (len(wanted) + len(given)) if shared else 0.0


def _parts(text: str) -> set[str]:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\n", ",")
    return {part.strip(" .") for part in folded.split(",")} - {""}


def _box(box: object, image: Path) -> Box:
    from PIL import Image

    if not isinstance(box, (list, tuple)) or len(box) != 4 or not all(isinstance(v, (int, float)) for v in box):
        raise ValueError(f"column '{BOXES}' holds {box!r}, not four numbers")
    x, y, width, height = (round(v) for v in box)
    with Image.open(image) as opened:
        if min(x, y) < 0 or min(width, height) < 1 or x + width > opened.width or y + height > opened.height:
            raise ValueError(f"the box {box!r} lies outside {image.name}")
    return x, y, width, height

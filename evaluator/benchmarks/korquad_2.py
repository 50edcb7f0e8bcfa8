"""KorQuAD 2.0: find the answer, from one word to a whole table, in the HTML of a Wikipedia page.

source: "KorQuAD 2.0: Korean QA Dataset for Web Document Machine Comprehension" (Kim et al., HCLT 2019) and the
rules of its official evaluation script, which defines latency as (preprocessing + inference) / questions.

Items have a page and no image. They are read from a folder in the documented schema, where `page` is the path of an HTML
file, or from the makers' JSON, which is
`{"data": [{"title", "context", "qas": [{"id", "question", "answer": {"text", "answer_start"}}]}]}`.
"""

import json
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath

from evaluator.benchmarks.base import Benchmark
from evaluator.benchmarks.card import Axis, Card, constant_answer
from evaluator.benchmarks.metrics import EM, F1
from evaluator.benchmarks.rows import ITEM_FILES, Row, build_items, checked_text, file_in, text_in
from evaluator.benchmarks.source_files import ImageFolder, files_below, is_left_by_computer
from evaluator.benchmarks.source_rows import SourceRow
from evaluator.core.data_types import PAGE, Answer, Item, Score
from evaluator.core.errors import DataError
from submissions.texts.text import Text

PROMPT = (
    "다음은 위키백과 문서의 HTML입니다. 질문의 답을 문서에서 찾아, 문서에 적힌 그대로 옮겨 쓰세요. "
    f"설명은 쓰지 말고 답만 쓰세요.\n\n<문서>\n{PAGE}\n</문서>\n\n질문: {{question}}\n답:"
)

PUBLISHED = (".json",)  # endings of the makers' files
ENCRYPTED = 1  # bit of an archive member's flags

# A tag that only a long answer contains: a paragraph, a table or a list.
_LONG = re.compile(r"<(?:p|table|ul|ol|dl)\b", re.IGNORECASE)
# The start of an opening or closing tag of a table or a list: "/" or "", and the name.
_BLOCK = re.compile(r"<(/?)(table|ul|ol|dl)\b", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?(?:-->|$)", re.DOTALL)
LISTS = ("ul", "ol", "dl")

LENGTHS = {
    "short": Text("짧은 답", "Short answer"),
    "long": Text("긴 답", "Long answer"),
}
FORMS = {
    "paragraph": Text("문단", "Paragraph"),
    "table": Text("표", "Table"),
    "list": Text("목록", "List"),
}
LENGTHS_AND_FORMS = {
    f"{length}/{form}": Text(f"{length_title.ko} · {form_title.ko}", f"{length_title.en}, {form_title.en.lower()}")
    for length, length_title in LENGTHS.items()
    for form, form_title in FORMS.items()
}


class KorQuAD2(Benchmark):
    name = "korquad-2"
    version = "1"
    inputs = "page"
    min_context = 256  # tokens; a page that does not fit in a model's context is read in windows
    prompt = PROMPT
    prompt_tokens, answer_tokens = 9000, 30
    latency_protocol = "total"
    metrics = (EM, F1)
    card = Card(
        title="KorQuAD 2.0",
        split="test",
        n=9309,
        axes=(
            Axis("length", Text("정답 길이", "Answer length"), LENGTHS),
            Axis("form", Text("정답 형태", "Answer form"), FORMS),
            Axis("length_form", Text("정답 길이·형태", "Answer length and form"), LENGTHS_AND_FORMS),
        ),
        data_terms=Text(
            "한국어 위키백과 문서로 만들었으며 CC BY-ND 2.0 KR로 공개되었습니다. 테스트 세트는 제작사가 공개하지 않았습니다.",
            "Made from Korean Wikipedia pages and published under CC BY-ND 2.0 KR. Its makers have not released the test set.",
        ),
        access=Text(
            "제작: LG CNS. 테스트 세트는 제작사만 보유합니다. 학습·개발 세트는 공개되어 있고, 대부분의 모델이 학습 세트로 학습합니다. 지문인 위키백과 문서는 언어 모델의 사전 학습 데이터에 들어 있습니다.",
            "Made by LG CNS, which alone holds the test set. The training and development sets are public, and most models are trained on the training set. The Wikipedia pages are part of the pretraining data of language models.",
        ),
        skills={
            "documents": (None,),
            "tables": (("length_form", "short/table"), ("length_form", "long/table")),
        },
        baselines=(constant_answer(11.0),),
        hub_task="korquad2",
        headline="f1",
        summary=Text(
            "위키백과 문서 한 건 전체(HTML)에서 답을 찾습니다. 짧은 구절뿐 아니라 문단·표·목록 전체가 정답인 문항도 있습니다.",
            "Find the answer in the full HTML of a Wikipedia page. It may be a phrase or a whole paragraph, table or list.",
        ),
        source_url="https://korquad.github.io/",
    )

    def load(self, source: Path) -> list[Item]:
        """Load items from a folder in the documented schema or from published KorQuAD 2.x JSON (file, folder or zip)."""
        has_items = any((source / name).is_file() for name in ITEM_FILES)  # these decide, even beside other JSON
        # An empty folder is read as one in the schema, so that the error names the items files that are missing.
        reads_schema = source.is_dir() and (has_items or not files_below(source, PUBLISHED))
        if reads_schema:
            return super().load(source)
        rows = ((row.location, partial(self._published_item, row)) for row in self.source_rows(source))
        return build_items(source, rows)

    def _published_item(self, source_row: SourceRow) -> Item:
        """Build an item from the makers' JSON. Questions about the same Wikipedia page are a cluster."""
        return _item(self.convert_row(source_row), cluster=text_in(source_row.row, "title"))

    def item(self, row: Row, folder: Path) -> Item:
        """Build an item from a row of the documented schema. Questions about the same file are a cluster."""
        html = _page(file_in(folder, row["page"]))
        return _item({**row, "page": html}, cluster=row["page"])

    def source_rows(self, source: Path) -> Iterator[SourceRow]:
        """Yield the questions of published KorQuAD 2.x JSON: a file, or a folder or zip of such files.

        A row has the fields of its document (`title`, `context`, …), and the question as `qa`. Raises DataError, naming the
        file, if it is not such JSON.
        """
        for file, content in _published_files(source):
            try:
                documents = json.loads(content)["data"]
                rows = [{**document, "qa": qa} for document in documents for qa in document["qas"]]
            except (ValueError, RecursionError) as error:
                raise DataError(f"{file}: not JSON: {error}") from None
            except (KeyError, TypeError):
                raise DataError(f'{file}: not a KorQuAD 2.x file: {{"data": [{{"qas": […], …}}, …]}}') from None
            yield from (SourceRow(file, number, row) for number, row in enumerate(rows, 1))

    def convert_row(self, source_row: SourceRow, images: ImageFolder | None = None) -> Row:
        """Convert a question. The length and form of its answer are derived from the answer and its place in the page."""
        page = source_row.row["context"]
        qa = source_row.row["qa"]
        answer = qa["answer"]["text"]
        start = qa["answer"]["answer_start"]
        if not isinstance(start, int) or start < 0:
            raise ValueError(f"'answer_start' must be a place in the page, not {start!r}")
        return {
            "id": str(qa["id"]),
            "question": checked_text("question", qa["question"]),
            "answer": checked_text("answer", answer),
            "page": checked_text("context", page),
            "length": "long" if _LONG.search(answer) else "short",
            "form": _form(page, answer, start),
        }

    def score_each(self, items: Sequence[Item], answers: Sequence[Sequence[Answer]]) -> list[Score]:
        """Return exact match and F1 over characters, of answers without HTML and normalised as the official script does."""
        from evaluator.benchmarks.scoring.html_text import character_f1, normalize_many  # the board runs without lxml

        given = [answer for (answer,) in answers]  # an item has one answer
        # All texts in one call, because with many short texts most of the time is spent on calls.
        texts = normalize_many([answer.text for answer in given] + [item.answer for item in items])
        given_texts = texts[: len(items)]
        gold_texts = texts[len(items) :]
        f1_values = character_f1(given_texts, gold_texts)
        matches = [float(text == gold) for text, gold in zip(given_texts, gold_texts, strict=True)]
        return [
            Score(item.id, {"em": em, "f1": f1}, answer.status)
            for item, answer, em, f1 in zip(items, given, matches, f1_values, strict=True)
        ]


def _item(row: Row, cluster: str) -> Item:
    """Build an item from a row whose column `page` is HTML. Raises KeyError or ValueError if the row is invalid."""
    buckets = {axis: text_in(row, axis) for axis in ("length", "form")}
    return Item(
        id=text_in(row, "id"),
        question=text_in(row, "question"),
        answer=text_in(row, "answer"),
        page=row["page"],
        buckets=buckets | {"length_form": "/".join(buckets.values())},  # as in the table of the paper
        cluster=cluster,
    )


@lru_cache(maxsize=16)  # questions on the same page are adjacent and share one string
def _page(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _published_files(source: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield the path and content of a file, or of the makers' files in a folder or zip. Raises DataError."""
    try:
        if source.suffix.lower() == ".zip":
            with zipfile.ZipFile(source) as archive:
                for member in _published_members(source, archive):
                    yield source / member, archive.read(member)
        else:
            for path in files_below(source, PUBLISHED) if source.is_dir() else [source]:
                yield path, path.read_bytes()
    except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        raise DataError(f"{source}: {error}: unpack it and name the folder") from None


def _published_members(source: Path, archive: zipfile.ZipFile) -> list[str]:
    """Return the names of an archive's JSON files. Raises DataError if one cannot be read without a password."""
    members = [
        member
        for member in archive.infolist()
        if member.filename.lower().endswith(PUBLISHED) and not is_left_by_computer(PurePosixPath(member.filename))
    ]
    if any(member.flag_bits & ENCRYPTED for member in members):
        raise DataError(f"{source}: has a password: unpack it and name the folder")
    return sorted(member.filename for member in members)


def _form(page: str, answer: str, start: int) -> str:
    """Return "table" or "list" if the answer is one or is inside one, else "paragraph". A list inside a table is a "table".

    `start` is the place of the answer in the page. In the page `<ul><li>서울</li></ul>`, 서울 has the form "list".
    """
    open_tags: Counter[str] = Counter()  # how many elements of each name contain the answer
    before = _COMMENT.sub("", page[:start])
    for slash, tag in _BLOCK.findall(before):
        change = -1 if slash else 1
        open_tags[tag.lower()] = max(0, open_tags[tag.lower()] + change)  # a closing tag may have no opening one
    block = _BLOCK.match(answer.lstrip())
    if open_tags["table"] > 0 or (block and block[2].lower() == "table"):
        return "table"
    if block or any(open_tags[tag] > 0 for tag in LISTS):
        return "list"
    return "paragraph"


BENCHMARK = KorQuAD2()

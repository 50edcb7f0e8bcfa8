"""KDoc-OCRBench-V2: transcribe a page of a Korean public body; checks look for sentences, tables, headers and footers.

source: https://huggingface.co/datasets/ONTHEIT/KDoc-OCRBench-V2 (CC BY 4.0), in the form of olmOCR-bench. Its makers call
the checks unit tests; there are three types: "present" (a sentence), "table" (a cell with its neighbours) and "absent" (a
header or footer). `scoring/page_checks.py` runs them.

A page of the documented schema has the column `checks`, a list of its checks as JSON; the samples also have `transcript`,
which passes them all. `import` reads the makers' folder: `pdfs/`, JSONL files of checks, `categories.jsonl`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from evaluator.benchmarks.card import Axis, Card, constant_answer
from evaluator.benchmarks.kinds.transcription import Transcription
from evaluator.benchmarks.metrics import EM, Metric, mean
from evaluator.benchmarks.rows import Row, nonempty_text, text_in
from evaluator.benchmarks.scoring.page_checks import (
    HEADINGS,
    SIDES,
    Check,
    checked_row,
    is_sound,
    run_checks,
)
from evaluator.benchmarks.scoring.page_text import normalized
from evaluator.benchmarks.source_files import ImageFolder, composed, files_below
from evaluator.benchmarks.source_rows import SourceRow, json_lines
from evaluator.core.data_types import Answer, Item, Score
from evaluator.core.errors import DataError
from submissions.texts.text import Text

if TYPE_CHECKING:  # it draws figures with libraries that the board does not load
    from evaluator.fresh.samples import Sample

INSTRUCTION = """이 문서 이미지의 내용을 빠짐없이 Markdown으로 옮겨 쓰십시오.
- 글자는 보이는 그대로 쓰고, 요약하거나 설명을 덧붙이지 마십시오.
- 쪽 번호와 쪽마다 되풀이되는 머리글·바닥글은 쓰지 마십시오.
- 표는 HTML <table>로 쓰고, 제목 칸은 <th>, 합쳐진 칸은 rowspan과 colspan으로 나타내십시오.
- 그림과 사진은 옮기지 마십시오."""
CHECK_FILES = ("text_present.jsonl", "tables.jsonl", "header_footer_tests.jsonl")
CATEGORIES = {
    "Statistics": Text("통계", "Statistics"),
    "Reports": Text("보고서", "Reports"),
    "Manuals": Text("안내서", "Manuals"),
    "Notices": Text("공고", "Notices"),
}
DPI = 144  # of the pictures that are made from PDFs
POINTS_PER_INCH = 72  # the unit of PDF pages
# type of checks → metric with the pass rate of its group
GROUPS = {"present": "text_passed", "table": "table_passed", "absent": "header_footer_passed"}
SOUND = "sound_output"  # metric with the pass rate of the baseline check, a group of its own
CONTENT = (GROUPS["present"], GROUPS["table"])  # the groups that only a transcript of the page passes
MIN_LENGTH_RATIO = 0.8  # length of an output / length of a sentence that it may contain
MIN_TRANSCRIPT = 100  # letters and digits of an output that counts as a transcript
# The fields of a check of a table, for people.
FIELD_TITLES = {
    "cell": "칸",
    "up": "위",
    "down": "아래",
    "left": "왼쪽",
    "right": "오른쪽",
    "top_heading": "열 제목",
    "left_heading": "행 제목",
}


def olmocr_score(scores: Sequence[Score], name: str) -> float | None:
    """Return olmOCR-bench's overall score: the mean of the pass rates of the groups of checks."""
    rates = [mean(scores, group) for group in (*GROUPS.values(), SOUND)]
    known = [rate for rate in rates if rate is not None]
    return sum(known) / len(known) if known else None


class KDocOCRBench(Transcription):
    name, version = "kdoc-ocrbench", "2.2"
    prompt = INSTRUCTION
    metrics = (
        Metric(
            "checks_passed",
            Text("통과율", "Checks passed"),
            hint=Text(
                "페이지마다 문장·표·머리글 검사의 통과율을 평균한 값을, 모든 페이지에 걸쳐 평균했습니다. ‘머리글·바닥글 제외’와 ‘정상 출력’은 옮겨 쓴 문장과 표의 칸에 비례해서만 반영합니다. 순위는 이 값으로 매깁니다.",
                "The pass rates of each page's groups of checks are averaged, and these averages are averaged over all pages. ‘Headers and footers left out’ and ‘Valid output’ count only in proportion to the sentences and cells that were transcribed. This is the ranking metric.",
            ),
        ),
        Metric(
            "olmocr_score",
            Text("olmOCR 점수", "olmOCR score"),
            olmocr_score,
            hint=Text(
                "olmOCR-bench의 종합 점수입니다. 네 가지 검사의 통과율을 평균합니다.",
                "olmOCR-bench's overall score: the mean of the pass rates of the four groups of checks.",
            ),
        ),
        replace(
            EM,
            hint=Text("모든 검사를 통과한 페이지의 비율입니다.", "Share of pages that pass every check."),
            column=False,
            on_hub=False,
        ),
        Metric(
            GROUPS["present"], Text("문장", "Sentences"), on_hub=False, name_in_order=Text("문장 점수", "Sentences")
        ),
        Metric(GROUPS["table"], Text("표", "Tables"), on_hub=False, name_in_order=Text("표 점수", "Tables")),
        Metric(
            GROUPS["absent"], Text("머리글·바닥글 제외", "Headers and footers left out"), on_hub=False, column=False
        ),
        Metric(
            SOUND,
            Text("정상 출력", "Valid output"),
            hint=Text(
                "출력에 글자가 있고, 같은 말이 끝없이 되풀이되지 않으며, 한자·가나·이모지가 없는 페이지의 비율입니다(olmOCR-bench의 기본 검사).",
                "Share of pages whose output has text, does not end in endless repetition, and has no Chinese, Japanese or emoji (olmOCR-bench's baseline check).",
            ),
            on_hub=False,
            column=False,
        ),
    )
    card = Card(
        title="KDoc-OCRBench",
        split="test",
        n=849,
        unit=Text("쪽", "pages"),
        axes=(Axis("category", Text("문서 종류", "Document type"), CATEGORIES, is_closed=True),),
        summary=Text(
            "공공기관 문서 한 페이지를 Markdown으로 옮겨 씁니다. 문장이 있는지, 표의 칸이 이웃 칸과 맞는지, 머리글과 바닥글을 뺐는지 5만 6천여 개의 검사로 확인합니다.",
            "Transcribe a page of a public-sector document to Markdown. Some 56,000 checks verify that sentences are present, that cells of tables have the right neighbours, and that headers and footers are left out.",
        ),
        source_url="https://huggingface.co/datasets/ONTHEIT/KDoc-OCRBench-V2",
        baselines=(constant_answer(0.0),),
        hub_task="kdoc_ocrbench",
        is_public=True,
        headline="checks_passed",
        skills={"transcription": (None,)},
        data_terms=Text("CC BY 4.0으로 공개된 데이터입니다.", "The data is public under CC BY 4.0."),
        access=Text(
            "ONTHEIT가 만들어 정답까지 공개한 세트입니다. 누구나 내려받을 수 있으므로 학습에 쓰였을 수 있습니다.",
            "Made by ONTHEIT and public with its answers. Anybody can download it, so models may have been trained on it.",
        ),
    )

    def item(self, row: Row, folder: Path) -> Item:
        """Build an item. Unlike in `Benchmark`, pages with the same picture are clusters of their own."""
        item = super().item(row, folder)
        return replace(item, cluster=item.id)

    def corrected_item(self, item: Item, answer: str) -> Item:
        """Raise ValueError: the item has checks in place of an answer."""
        raise ValueError("its checks decide, not an answer: withdraw the item")

    def reference(self, row: Row, inputs: Mapping[str, Any]) -> str:
        """Return the checks in words, for people: models are not compared with it."""
        return "\n".join(map(described, inputs["checks"])) or "–"

    def scoring_inputs(self, row: Row) -> dict[str, Any]:
        """Return the checks, and the transcript if the row has one, which only samples do."""
        inputs: dict[str, Any] = {"checks": _checks(row["checks"])}
        if row.get("transcript"):
            inputs["transcript"] = text_in(row, "transcript")
        return inputs

    def item_to_score(self, row: Row) -> Item:
        """Build an item for `python -m evaluator score` from `id` and `checks`, without a gold answer."""
        # With None, a missing column raises ValueError, which the command reports, in place of KeyError.
        inputs = self.scoring_inputs({"checks": None, **row})
        return Item(nonempty_text(row, "id"), "", self.reference(row, inputs), extra=inputs)

    def source_rows(self, source: Path) -> Iterator[SourceRow]:
        """Yield a row for each PDF: its path, category and checks, and the path that `convert_row` draws its picture to.

        Raises DataError, which ends the import, if a file is missing or a check is not understood.
        """
        folder = source / "pdfs"
        paths = files_below(folder, (".pdf",))
        pdfs = {_pdf_name(path.relative_to(folder)): path for path in paths}
        if len(pdfs) < len(paths):
            raise DataError(f"{folder}: two names differ only in how their letters are composed")
        if not pdfs:
            raise DataError(f"{folder}: there are no PDFs")
        checks = _checks_by_pdf(source, pdfs)
        categories = {
            _pdf_name(str(row.get("pdf"))): row.get("category") for _, row in _rows(source / "categories.jsonl")
        }
        with TemporaryDirectory() as scratch:
            picture = Path(scratch) / "page.png"  # each row's picture replaces that of the row before
            for number, (name, path) in enumerate(sorted(pdfs.items()), 1):
                row = {
                    "id": name.removesuffix(".pdf"),
                    "category": categories.get(name),
                    "checks": checks[name],
                    "pdf": path,
                    "picture": picture,
                }
                yield SourceRow(path, number, row)

    def convert_row(self, source: SourceRow, images: ImageFolder) -> Row:
        """Draw the page of a row's PDF and convert the row. Raises ValueError if the PDF cannot be read."""
        row = source.row
        _draw(row["pdf"], row["picture"])
        return {
            "id": row["id"],
            "images": [row["picture"]],
            "category": row["category"],
            "checks": json.dumps(row["checks"], ensure_ascii=False),
        }

    def invented_row(self, sample: "Sample", number: int) -> Row | None:
        """Return a row whose checks its transcript passes."""
        row = super().invented_row(sample, number)
        if row is None:
            return None
        checks = [
            {"pdf": "sample.pdf", "page": 1, "id": f"check-{check_number}", **check}
            for check_number, check in enumerate(sample.checks(), 1)
        ]
        return {"checks": json.dumps(checks, ensure_ascii=False), "transcript": row["answer"]}

    def gold_output(self, item: Item) -> str | None:
        """Return the transcript, which only samples have."""
        return item.extra.get("transcript")

    def score_item(self, item: Item, answers: Sequence[Answer]) -> Score:
        """Return the pass rate of each group of checks and the metrics of the whole page.

        A group's rate has its number of checks as weight, so that its mean over pages is a share of all checks.
        """
        (answer,) = answers
        checks: Sequence[Check] = item.extra["checks"]
        passed = run_checks(checks, answer.text)
        groups: dict[str, list[bool]] = {}
        for check, is_passed in zip(checks, passed, strict=True):
            groups.setdefault(GROUPS[check["type"]], []).append(is_passed)
        groups[SOUND] = [is_sound(answer.text)]
        rates = {name: sum(group) / len(group) for name, group in groups.items()}
        counts = {name: len(group) for name, group in groups.items()}
        passes_all = float(all(rate == 1.0 for rate in rates.values()))
        values = {"checks_passed": _checks_passed(checks, passed, rates, answer.text), "em": passes_all, **rates}
        return Score(item.id, values, answer.status, weights=counts)


def _is_long_enough(output: str, check: Check) -> bool:
    """Return whether an output is long enough to contain the sentence of a check.

    The published rule compares the shorter text with the best part of the longer one, so the output `1` passes for every
    sentence with a 1.
    """
    return len(output.strip()) >= MIN_LENGTH_RATIO * len(normalized(check["text"]))


def _checks_passed(checks: Sequence[Check], passed: Sequence[bool], rates: Mapping[str, float], output: str) -> float:
    """Return the metric `checks_passed` of a page: the mean pass rate of its groups of checks, from 0 to 1.

    Leaving out headers and writing sound text earns nothing by itself: one word on every page would pass all such checks.
    Their groups therefore count only in proportion to the content that was transcribed. A page without checks of content
    needs a text of some length.

    `passed` has the outcome of each check, `rates` the pass rate of each group under the published rules.
    """
    counted = dict(rates)
    if GROUPS["present"] in counted:
        found = _sentences_found(checks, passed, output)
        counted[GROUPS["present"]] = sum(found) / len(found)
    content = [counted[group] for group in CONTENT if group in counted]
    has_text = sum(map(str.isalnum, output)) >= MIN_TRANSCRIPT
    transcribed = sum(content) / len(content) if content else float(has_text)
    for group in counted.keys() - set(CONTENT):
        counted[group] *= transcribed
    return sum(counted.values()) / len(counted)


def _sentences_found(checks: Sequence[Check], passed: Sequence[bool], output: str) -> list[bool]:
    """Return for each check of a sentence whether it passed and the output is long enough to contain the sentence."""
    return [
        is_passed and _is_long_enough(output, check)
        for check, is_passed in zip(checks, passed, strict=True)
        if check["type"] == "present"
    ]


def described(check: Check) -> str:
    """Return a check in words, for people who look at an item: "표: 칸 24명, 왼쪽 서울"."""
    if check["type"] == "table":
        fields = [name for name in ("cell", *SIDES, *HEADINGS) if check.get(name)]
        return "표: " + ", ".join(f"{FIELD_TITLES[name]} {check[name]}" for name in fields)
    wanted = "있어야 함" if check["type"] == "present" else "없어야 함"
    return f"{wanted}: {check['text']}"


def _checks(content: Any) -> tuple[Check, ...]:
    """Return the checks of a page from JSON. Raises ValueError, naming the field, if one is not understood."""
    try:
        rows = json.loads(content)
        if not isinstance(rows, list):
            raise TypeError
        return tuple(checked_row(row) for row in rows)
    except (TypeError, AttributeError, json.JSONDecodeError, RecursionError):
        raise ValueError("column 'checks' is not a list of checks in JSON") from None
    except ValueError as error:
        raise ValueError(f"column 'checks': {error}") from None


def _checks_by_pdf(source: Path, pdfs: Iterable[str]) -> dict[str, list[Check]]:
    """Return the checks of each PDF. Raises DataError, naming file and row, if one is not understood."""
    checks: dict[str, list[Check]] = {name: [] for name in pdfs}
    for file in CHECK_FILES:
        ids: set[str] = set()
        for location, row in _rows(source / file):
            try:
                check = checked_row(row)
                if check["id"] in ids:
                    raise ValueError(f"the id {check['id']!r} appears twice")
                checks[_pdf_name(check["pdf"])].append(check)
            except KeyError as error:
                raise DataError(f"{location}: there is no PDF {error}") from None
            except ValueError as error:
                raise DataError(f"{location}: {error}") from None
            ids.add(check["id"])
    return checks


def _rows(file: Path) -> Iterator[tuple[str, Row]]:
    """Yield the location and the object of each line of a JSON-lines file. Raises DataError if there is no such file."""
    if not file.is_file():
        raise DataError(f"{file}: no such file; download the whole dataset")
    yield from ((f"{file}, row {number}", row) for number, row in json_lines(file))


def _pdf_name(path: Path | str) -> str:
    """Return the name of a PDF as the files of checks spell it. File systems may decompose Korean letters."""
    return composed(Path(path).as_posix())


def _draw(pdf: Path, picture: Path) -> None:
    """Write the only page of a PDF as PNG. Raises ValueError if it cannot be read or has several pages."""
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        with PdfDocument(pdf) as document:
            if len(document) != 1:
                raise ValueError(f"has {len(document)} pages")
            document[0].render(scale=DPI / POINTS_PER_INCH).to_pil().save(picture)
    except PdfiumError as error:
        raise ValueError(f"not a readable PDF: {error}") from None


BENCHMARK = KDocOCRBench()

"""Answer questions of ko-fresh with Tesseract and rules: the number at the row and column that the question names.

Debian's packages tesseract-ocr and tesseract-ocr-kor read the page. A number is answered as it is printed, in the unit that
the question asks for, so that multiples of a page (천 명) are lost. Descriptions are not understood: A is answered.
"""

import csv
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shutil import which

from evaluator.fresh.korean import UNANSWERABLE

NUMBER = re.compile(r"\d[\d,.]*")
ASKED_UNIT = re.compile(r"몇 (\S+?)(?:입니까|이|가|차이)")  # 몇 [명]입니까
SAME_ROW = 8  # pixels between the centres of words in one row


@dataclass(frozen=True)
class Word:
    text: str
    x: float  # of the centre, in pixels
    y: float


def is_installed() -> bool:
    return which("tesseract") is not None


@cache
def words_of(picture: Path) -> tuple[Word, ...]:
    """Return the words of a picture as Tesseract reads them."""
    command = ["tesseract", str(picture), "-", "-l", "kor+eng", "--psm", "6", "tsv"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "OMP_THREAD_LIMIT": "1"}
    )
    rows = csv.DictReader(done.stdout.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return tuple(
        Word(row["text"], int(row["left"]) + int(row["width"]) / 2, int(row["top"]) + int(row["height"]) / 2)
        for row in rows
        if row["text"] and row["text"].strip()
    )


def ocr_answer(pictures: Sequence[Path], prompt: str) -> str:
    """Return the answer to a prompt of ko-fresh."""
    if "질문: " not in prompt:
        return "정답: A"
    question = prompt.partition("질문: ")[2]
    asked = ASKED_UNIT.search(question)
    unit = asked[1] if asked else ""
    for picture in pictures:
        if number := _number(words_of(picture), question):
            return f"정답: {number}{unit}"
    return f"정답: {UNANSWERABLE}"


def _number(words: Sequence[Word], question: str) -> str | None:
    """Return the number in the row of a named word that is nearest to the column of a named year."""
    names = [word for word in words if len(word.text) > 1 and word.text in question and not NUMBER.match(word.text)]
    years = [word for word in words if (year := re.match(r"(20\d\d)", word.text)) and year[1] in question]
    for name in reversed(names):  # the last named one first: a page begins with its title
        beside = [word for word in words if abs(word.y - name.y) < SAME_ROW and word.x > name.x]
        row = [word for word in beside if NUMBER.match(word.text)]
        if row:
            column = years[0].x if years else row[0].x
            nearest = min(row, key=lambda word: abs(word.x - column))
            return NUMBER.match(nearest.text)[0].rstrip(".,")  # type: ignore[index]
    return None

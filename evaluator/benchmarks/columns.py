"""Declare the columns of a test set as its makers publish it, and convert its rows to the documented schema.

A benchmark sets `columns`; `Benchmark.convert_row` calls `Columns.convert` for each row of an import.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from evaluator.benchmarks.rows import Row
from evaluator.benchmarks.scoring.choices import LETTERS
from evaluator.benchmarks.source_files import EmbeddedImage, ImageFolder, Picture
from evaluator.benchmarks.source_rows import SourceRow

# How the column `answer` names the right choice: by its whole text, its letter, its place (from 0) or its number (from 1).
Right = Literal["text", "letter", "place", "number"]
Read = str | Callable[[SourceRow], str]  # the name of a column, or a function that reads a value from the whole row


@dataclass(frozen=True)
class Columns:
    """The columns of the makers' tables.

    A field is the name of a column. `id` and the values of `axes` may also be a function of the row. Such a function
    raises KeyError or ValueError if the row cannot be used.
    """

    image: str | tuple[str, ...]  # has file names or pictures; of several columns, the first with a value is read
    id: Read | None = None  # None: the number of the row, for sets whose ids repeat
    question: str | None = None
    answer: str | None = None  # the gold answer; with `choices`, see `right`
    choices: str | tuple[str, ...] | None = None  # a list, or one column each; without `answer` the right one is first
    right: Right = "letter"  # how `answer` names the right choice
    axes: Mapping[str, Read] = field(default_factory=dict)  # breakdown axis → its bucket
    folder: str | None = None  # a column with part of the path of a picture, if several pictures have the same name

    def __post_init__(self) -> None:
        if self.right not in get_args(Right):
            raise ValueError(f"'right' must be one of {', '.join(get_args(Right))}, not {self.right!r}")

    def convert(self, source: SourceRow, images: ImageFolder) -> Row:
        """Convert a row. Raises KeyError or ValueError, naming the column, if it cannot be used."""
        row: Row = {"id": str(source.number) if self.id is None else _read(self.id, source)}
        if self.question:
            row["question"] = source.text(self.question)
        if self.choices:
            row["choices"] = self._choices(source)
        if self.answer:
            row["answer"] = source.text(self.answer)
        if self.choices and self.answer:
            row["answer"] = self._letter(row["answer"], row["choices"])
        row["images"] = self._images(source, images)
        for axis, read in self.axes.items():
            row[axis] = _read(read, source)
        return row

    def _choices(self, source: SourceRow) -> list[str]:
        """Return the choices of a row. Raises ValueError, naming the column, unless there are four different ones."""
        if isinstance(self.choices, tuple):
            column = ", ".join(self.choices)  # for messages
            choices = [source.text(choice_column) for choice_column in self.choices]
        else:
            column = str(self.choices)
            values = source.row[column]
            if not isinstance(values, list):
                raise ValueError(f"column '{column}' must be a list, not {type(values).__name__}")
            choices = [source.checked_text(column, value) for value in values]
        if len(choices) != len(LETTERS):
            raise ValueError(f"column '{column}' has {len(choices)} choices and needs four different ones")
        if repeated := next((choice for choice in choices if choices.count(choice) > 1), None):
            raise ValueError(
                f"column '{column}' needs four different choices and repeats {repeated!r}: an answer is not exactly one of them"
            )
        return choices

    def _letter(self, answer: str, choices: list[str]) -> str:
        """Return the letter of the right choice. Raises ValueError if the answer does not name exactly one."""
        try:
            return LETTERS[_place(self.right, answer, choices)]
        except ValueError as error:
            raise ValueError(f"column '{self.answer}': {error}") from None

    def _images(self, source: SourceRow, images: ImageFolder) -> list[Picture]:
        """Return the pictures of a row. Its cell has one or a list of them, embedded or as names of files."""
        columns = (self.image,) if isinstance(self.image, str) else self.image
        column = next((name for name in columns if source.row.get(name) is not None), columns[0])
        value = source.row[column]
        pictures = value if isinstance(value, list) else [value]
        if not pictures:
            raise ValueError(f"column '{column}' has no picture")
        folder = source.text(self.folder) if self.folder else ""
        return [_picture(source, column, picture, images, folder) for picture in pictures]


def _read(read: Read, source: SourceRow) -> str:
    return source.text(read) if isinstance(read, str) else read(source)


def _picture(source: SourceRow, column: str, value: Any, images: ImageFolder, folder: str) -> Picture:
    """Return the picture that a value of a row holds or names.

    The value is bytes, the name of a file below `images`, or the struct `{"bytes", "path"}` that the library `datasets`
    stores, in which one of the two may be None. Raises KeyError or ValueError if there is no such picture.
    """
    if isinstance(value, Mapping) and value.keys() <= {"bytes", "path"}:
        content = value.get("bytes")
        if content is None and value.get("path"):
            return images.find(source.checked_text(column, value["path"]), folder)
        value = content  # if both are None, this is refused below as an empty cell
    if isinstance(value, bytes):
        return EmbeddedImage(value)
    return images.find(source.checked_text(column, value), folder)


def _place(right: Right, answer: str, choices: list[str]) -> int:
    """Return the place of the right choice, from 0: ("number", "3", …) -> 2.

    Raises ValueError if the answer does not name exactly one choice.
    """
    if right == "text":
        names = choices
    elif right == "letter":
        names = list(LETTERS[: len(choices)])
    else:
        first = 0 if right == "place" else 1
        names = [str(place) for place in range(first, first + len(choices))]
    if names.count(answer) != 1:
        raise ValueError(f"{answer!r} is not exactly one of {', '.join(names)}")
    return names.index(answer)

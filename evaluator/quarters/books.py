"""Read and write the opened books of a quarter, so that anyone can check every score of it.

The books are the quarter's commitment, its set, and the results of all ranked models with all their answers.
`evaluator.quarters.collect` makes them from an installation's stores, `Books.save` writes them to a folder, and `open_books`
reads such a folder again: for `ko-fresh verify`, and for the board, which shows the items of revealed quarters.

A folder of books has

- `commitment.json`, with the seed once it is revealed,
- `set/`: the items and pictures as drawn,
- `errata.json`: the corrections of the set, if there are any,
- `results/KEY.json`: the public records,
- `answers.parquet`: the columns key, model, id, answer, status, reasoned.

`evaluator.quarters.dataset` adds the files that other programs read.
"""

import io
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import Item, Score
from evaluator.core.errors import DataError
from evaluator.datasets.corrections import NO_CORRECTIONS, Corrections
from evaluator.results.answer_rows import AnswerRow, score_rows
from submissions.records.base import MODEL_ID
from submissions.records.operator import Commitment
from submissions.records.result import EvalResult

COMMITMENT, SET, RESULTS, ANSWERS = "commitment.json", "set", "results", "answers.parquet"
ERRATA = "errata.json"
BENCHMARK = BENCHMARKS["ko-fresh"]
# Limits against folders of strangers that would fill the memory. No quarter comes near them.
MAX_FOLDER_BYTES = 8 * 2**30
MAX_ANSWER_BYTES = 2**30  # of all answers of a quarter, unpacked
R = TypeVar("R", Commitment, EvalResult)


@dataclass(frozen=True)
class Books:
    """The books of a quarter."""

    commitment: Commitment
    set_folder: Path  # the items and pictures as drawn
    results: Sequence[EvalResult]  # best first
    answers: Mapping[str, Sequence[AnswerRow]]  # by the result's key
    corrections: Corrections = NO_CORRECTIONS
    _scores: dict[str, list[Score]] = field(default_factory=dict, repr=False)  # by the result's key, once computed

    @property
    def benchmark(self) -> Benchmark:
        return BENCHMARK

    @property
    def version(self) -> str:
        """The version of the benchmark with the errata of the set."""
        return self.corrections.version_of(BENCHMARK)

    @cached_property
    def drawn_items(self) -> list[Item]:
        """The items as they were drawn, without corrections."""
        return BENCHMARK.load(self.set_folder)

    @cached_property
    def items(self) -> list[Item]:
        """The items that are scored: with corrected answers, and without those that are withdrawn."""
        return self.corrections.apply(BENCHMARK, self.drawn_items)

    def scores_of(self, key: str) -> list[Score]:
        """Return the scores of a result, computed from its answers, in the order of the items.

        Raises DataError if an item has no answer.
        """
        if key not in self._scores:
            try:
                self._scores[key] = score_rows(BENCHMARK, self.items, self.answers[key])
            except KeyError as error:
                raise DataError(f"{ANSWERS}: result {key} has no answer to {error}") from None
        return self._scores[key]

    def save(self, folder: Path) -> None:
        """Write the books to a folder that exists and is empty."""
        (folder / COMMITMENT).write_bytes(self.commitment.to_bytes())
        shutil.copytree(self.set_folder, folder / SET)
        (folder / RESULTS).mkdir()
        for result in self.results:
            (folder / RESULTS / f"{result.request_key}.json").write_bytes(result.to_bytes())
        (folder / ANSWERS).write_bytes(self._answers_parquet())
        if self.corrections.made:
            (folder / ERRATA).write_bytes(self.corrections.to_json())

    def _answers_parquet(self) -> bytes:
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = [
            {"key": result.request_key, "model": result.config.model_name, **asdict(row)}
            for result in self.results
            for row in self.answers[result.request_key]
        ]
        buffer = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows, _schema()), buffer)
        return buffer.getvalue()


def by_score(result: EvalResult) -> tuple[float, str]:
    """Return a sort key that puts the best result first."""
    return -(result.results[result.benchmark].get(result.headline) or 0.0), result.request_key


def open_books(folder: Path) -> Books:
    """Return the books in a folder.

    Raises DataError, naming the file, if one is missing or cannot be read. The folder may come from a stranger, so links,
    huge files, and names that are no model's are refused, too.
    """
    _check_files(folder)
    commitment = _read_record(folder / COMMITMENT, Commitment)
    results = _read_results(folder / RESULTS)
    answers = _read_answers(folder / ANSWERS, results)
    corrections = _read_corrections(folder / ERRATA)
    return Books(commitment, folder / SET, sorted(results, key=by_score), answers, corrections)


def _read_results(folder: Path) -> list[EvalResult]:
    """Return the records in a folder of results. Raises DataError if a file is not the record that its name says."""
    results: list[EvalResult] = []
    for path in sorted(path for path in folder.glob("*.json") if path.is_file()):
        result = _read_record(path, EvalResult)
        if path.stem != result.request_key or result.benchmark != BENCHMARK.name:
            raise DataError(f"{path}: is the record of {result.request_key} on {result.benchmark}")
        if not re.fullmatch(MODEL_ID, result.config.model_name, re.ASCII):
            raise DataError(f"{path}: {result.config.model_name!r} is no model's name")
        results.append(result)
    return results


def _read_answers(file: Path, results: Sequence[EvalResult]) -> dict[str, list[AnswerRow]]:
    """Return the answers by the key of their result. Raises DataError if a row names another model than the result has.

    A result without answers has an empty list. Answers without a result stay, so that `book_differences` reports them.
    """
    answers: dict[str, list[AnswerRow]] = {result.request_key: [] for result in results}
    models = {result.request_key: result.config.model_name for result in results}
    for row in _read_answer_table(file):
        key = row.pop("key")
        model = row.pop("model")
        if models.get(key, model) != model:
            raise DataError(f"{file}: {key} is a result of {models[key]}, not of {model}")
        answers.setdefault(key, []).append(AnswerRow(**row))
    return answers


def _read_corrections(file: Path) -> Corrections:
    """Return the corrections in a file, or none if it does not exist."""
    try:
        return Corrections.from_json(file.read_bytes())
    except FileNotFoundError:
        return NO_CORRECTIONS
    except (OSError, ValueError):
        raise DataError(f"{file}: not a list of corrections") from None


def _check_files(folder: Path) -> None:
    """Raise DataError if a folder has links or other files than regular ones, or is too large."""
    size = 0
    for path in folder.rglob("*"):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise DataError(f"{path}: is a link or special file, which these books do not have")
        size += path.stat().st_size
        if size > MAX_FOLDER_BYTES:
            raise DataError(f"{folder}: has more than {MAX_FOLDER_BYTES // 2**30} GB, which no quarter has")


def _read_record(file: Path, kind: type[R]) -> R:
    try:
        return kind.from_json(file.read_bytes())
    except OSError as error:
        raise DataError(f"{file}: {error.strerror}") from None
    except ValueError as error:
        raise DataError(f"{file}: {error}") from None


def _read_answer_table(file: Path) -> list[dict[str, Any]]:
    """Return the rows of `answers.parquet`. Raises DataError if it is too large or has other columns or missing values.

    A small file can unpack to many gigabytes, because its pages are compressed, and because a text that many rows have is
    stored only once. So the declared sizes of pages are checked before they are read, and the texts of all rows are counted
    before each row gets its own copy.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema()
    texts = [column.name for column in schema if column.type == pa.string()]
    try:
        parquet = pq.ParquetFile(file)
        _check_size(file, unpacked_bytes(parquet.metadata))
        columns = sorted((column.name, str(column.type)) for column in parquet.schema_arrow)
        if columns != sorted((column.name, str(column.type)) for column in schema):
            raise DataError(f"{file}: must have the columns {', '.join(schema.names)}, all text but the last")
        # As dictionaries, in which a text that many rows have is stored once.
        table = pq.ParquetFile(file, metadata=parquet.metadata, read_dictionary=texts).read()
    except (OSError, pa.ArrowException, ValueError) as error:
        raise DataError(f"{file}: {' '.join(str(error).split())[:200]}") from None
    if any(column.null_count for column in table.columns):
        raise DataError(f"{file}: has missing values")
    _check_size(file, sum(_text_bytes(table[name]) for name in texts))
    rows = table.cast(parquet.schema_arrow)  # each row with its own copy
    return list(rows.to_pylist())


def unpacked_bytes(metadata: Any) -> int:
    """Return the bytes of the pages of a Parquet file once they are unpacked, as its metadata declares them.

    A text that many rows have counts once.
    """
    return sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))


def _check_size(file: Path, unpacked: int) -> None:
    """Raise DataError for a file that unpacks to more than MAX_ANSWER_BYTES."""
    if unpacked > MAX_ANSWER_BYTES:
        raise DataError(f"{file}: unpacks to {unpacked:,} bytes, which no quarter's answers have")


def _text_bytes(column: Any) -> int:
    """Return the bytes that a column of text has once each row has its own, from its distinct texts and their places."""
    import pyarrow.compute as pc

    total = 0
    for chunk in column.chunks:
        lengths = pc.binary_length(chunk.dictionary)
        total += pc.sum(pc.take(lengths, chunk.indices)).as_py() or 0
    return total


def _schema() -> Any:
    """Return the columns of `answers.parquet`: those of AnswerRow, after the key and the model of the result."""
    import pyarrow as pa

    names = ("key", "model", "id", "answer", "status")
    return pa.schema([*((name, pa.string()) for name in names), ("reasoned", pa.bool_())])

"""The opened books of a quarter: its commitment, its set, and the results of all ranked models with all their answers.

A folder of them has

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
MAX_FOLDER_BYTES = 8 * 2**30
MAX_ANSWER_BYTES = 2**30  # of all answers of a quarter, unpacked
R = TypeVar("R", Commitment, EvalResult)


@dataclass(frozen=True)
class Books:
    """The books of a quarter."""

    commitment: Commitment
    folder: Path  # of the set
    results: Sequence[EvalResult]  # best first
    answers: Mapping[str, Sequence[AnswerRow]]  # by the result's key
    corrections: Corrections = NO_CORRECTIONS
    _scores: dict[str, list[Score]] = field(default_factory=dict, repr=False)

    @property
    def benchmark(self) -> Benchmark:
        return BENCHMARK

    @property
    def version(self) -> str:
        """The version of the benchmark with the errata of the set."""
        return self.corrections.version_of(BENCHMARK)

    @cached_property
    def drawn_items(self) -> list[Item]:
        return BENCHMARK.load(self.folder)

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
        shutil.copytree(self.folder, folder / SET)
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
    public = _record(folder / COMMITMENT, Commitment)
    files = sorted(path for path in (folder / RESULTS).glob("*.json") if path.is_file())
    results = [_record(path, EvalResult) for path in files]
    for path, result in zip(files, results, strict=True):
        if path.stem != result.request_key or result.benchmark != BENCHMARK.name:
            raise DataError(f"{path}: is the record of {result.request_key} on {result.benchmark}")
        if not re.fullmatch(MODEL_ID, result.config.model_name, re.ASCII):
            raise DataError(f"{path}: {result.config.model_name!r} is no model's name")
    answers: dict[str, list[AnswerRow]] = {result.request_key: [] for result in results}
    models = {result.request_key: result.config.model_name for result in results}
    for row in _answer_table(folder / ANSWERS):
        key = row.pop("key")
        model = row.pop("model")
        if models.get(key, model) != model:
            raise DataError(f"{folder / ANSWERS}: {key} is a result of {models[key]}, not of {model}")
        answers.setdefault(key, []).append(AnswerRow(**row))
    return Books(public, folder / SET, sorted(results, key=by_score), answers, _corrections(folder / ERRATA))


def _corrections(file: Path) -> Corrections:
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


def _record(file: Path, kind: type[R]) -> R:
    try:
        return kind.from_json(file.read_bytes())
    except OSError as error:
        raise DataError(f"{file}: {error.strerror}") from None
    except ValueError as error:
        raise DataError(f"{file}: {error}") from None


def _answer_table(file: Path) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        shape = pq.ParquetFile(file).metadata
        unpacked = sum(shape.row_group(n).total_byte_size for n in range(shape.num_row_groups))
        if unpacked > MAX_ANSWER_BYTES:
            raise DataError(f"{file}: unpacks to {unpacked:,} bytes, which no quarter's answers have")
        table = pq.read_table(file)
    except (OSError, pa.ArrowException, ValueError) as error:
        raise DataError(f"{file}: {' '.join(str(error).split())[:200]}") from None
    schema = _schema()
    if {column.name: column.type for column in table.schema} != {column.name: column.type for column in schema}:
        raise DataError(f"{file}: must have the columns {', '.join(schema.names)}, all text but the last")
    if any(column.null_count for column in table.columns):
        raise DataError(f"{file}: has missing values")
    return list(table.to_pylist())


def _schema() -> Any:
    import pyarrow as pa

    names = ("key", "model", "id", "answer", "status")
    return pa.schema([*((name, pa.string()) for name in names), ("reasoned", pa.bool_())])

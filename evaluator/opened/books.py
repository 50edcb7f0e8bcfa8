"""The opened books of a quarter: its commitment, its set, and the results of all ranked models with all their answers.

A folder of them has

- `commitment.json`, with the seed once it is revealed,
- `set/`: the items and pictures as drawn,
- `results/KEY.json`: the public records,
- `answers.parquet`: the columns key, model, id, answer, status, reasoned.

`evaluator.opened.dataset` adds the files that other programs read.
"""

import io
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark
from evaluator.core.data_types import Item, Score
from evaluator.core.errors import DataError
from evaluator.fresh.seed import commitment, drawn_set
from evaluator.results.answer_rows import AnswerRow, answer_rows, score_rows
from evaluator.results.private_records import read_details
from submissions.config.settings import Settings
from submissions.operator.retirement import is_retired
from submissions.records.operator import Commitment
from submissions.records.result import EvalResult
from submissions.store.index import board_reader
from submissions.store.open import open_private_store, open_store

COMMITMENT, SET, RESULTS, ANSWERS = "commitment.json", "set", "results", "answers.parquet"
BENCHMARK = BENCHMARKS["ko-fresh"]


@dataclass(frozen=True)
class Books:
    """The books of a quarter."""

    commitment: Commitment
    folder: Path  # of the set
    results: Sequence[EvalResult]  # best first
    answers: Mapping[str, Sequence[AnswerRow]]  # by the result's key

    @property
    def benchmark(self) -> Benchmark:
        return BENCHMARK

    @cached_property
    def items(self) -> list[Item]:
        return BENCHMARK.load(self.folder)

    @cached_property
    def scores(self) -> dict[str, list[Score]]:
        """The scores of each result, computed from its answers, in the order of the items.

        Raises DataError if an item has no answer.
        """
        try:
            return {key: score_rows(BENCHMARK, self.items, rows) for key, rows in self.answers.items()}
        except KeyError as error:
            raise DataError(f"{ANSWERS}: a result has no answer to {error}") from None

    def save(self, folder: Path) -> None:
        """Write the books to a folder that exists and is empty."""
        (folder / COMMITMENT).write_bytes(self.commitment.to_bytes())
        shutil.copytree(self.folder, folder / SET)
        (folder / RESULTS).mkdir()
        for result in self.results:
            (folder / RESULTS / f"{result.request_key}.json").write_bytes(result.to_bytes())
        (folder / ANSWERS).write_bytes(self._answers_parquet())

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


def collect(quarter: str, settings: Settings) -> tuple[Books, list[str]]:
    """Return the books of a quarter from this installation's stores, and the keys of results whose answers are lost.

    The results are those on the committed set that are not retired and were finished before the seed was revealed. Raises
    DataError if nothing was committed to, SettingsError if the set can no longer be drawn, StoreError if a store fails.
    """
    store, private = open_store(settings.store, settings), open_private_store(settings)
    snapshot = store.snapshot()
    commitment(store, quarter, snapshot)  # drawn_set would make one
    folder, whole = drawn_set(quarter, settings)
    public = commitment(store, quarter)
    secret = settings.details_key.get_secret_value().encode() if settings.details_key else None
    ids = [item.id for item in BENCHMARK.load(folder)]
    results: list[EvalResult] = []
    answers: dict[str, Sequence[AnswerRow]] = {}
    lost: list[str] = []
    for row in board_reader(store).read(snapshot)[0]:
        if (row.benchmark, row.split, row.kind) != (BENCHMARK.name, quarter, "verified"):
            continue
        result = EvalResult.read_known(store.read(row.path, snapshot.head))
        late = public.revealed_at is not None and (result.date or 0.0) > public.revealed_at.timestamp()
        if late or result.dataset.revision != whole[:40] or is_retired(store, row.key, snapshot):
            continue
        if (details := read_details(private, row.key, ids, secret)) is None:
            lost.append(row.key)
            continue
        results.append(result)
        answers[row.key] = answer_rows(details)
    return Books(public, folder, sorted(results, key=_rank), answers), lost


def _rank(result: EvalResult) -> tuple[float, str]:
    return -(result.results[result.benchmark].get(result.headline) or 0.0), result.request_key


def open_books(folder: Path) -> Books:
    """Return the books in a folder. Raises DataError, naming the file, if one is missing or cannot be read."""
    try:
        public = Commitment.read_known((folder / COMMITMENT).read_bytes())
        results = [EvalResult.read_known(path.read_bytes()) for path in sorted((folder / RESULTS).glob("*.json"))]
    except OSError as error:
        raise DataError(f"{error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise DataError(f"{folder}: a record is not valid: {str(error).splitlines()[0]}") from None
    answers: dict[str, list[AnswerRow]] = {result.request_key: [] for result in results}
    for row in _answer_table(folder / ANSWERS):
        key, _ = row.pop("key"), row.pop("model")
        answers.setdefault(key, []).append(AnswerRow(**row))
    return Books(public, folder / SET, sorted(results, key=_rank), answers)


def _answer_table(file: Path) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(file, columns=_schema().names).cast(_schema())
    except (OSError, pa.ArrowException, ValueError) as error:
        raise DataError(f"{file}: {' '.join(str(error).split())[:200]}") from None
    if any(column.null_count for column in table.columns):
        raise DataError(f"{file}: has missing values")
    return list(table.to_pylist())


def _schema() -> Any:
    import pyarrow as pa

    names = ("key", "model", "id", "answer", "status")
    return pa.schema([*((name, pa.string()) for name in names), ("reasoned", pa.bool_())])

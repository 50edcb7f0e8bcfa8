"""Compute everything that was published about a revealed quarter again from its items and answers.

`ko-fresh reveal` checks the books before it publishes them, and `ko-fresh verify` those that somebody has published. Each
difference is one line of text.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaluator.core.errors import DataError
from evaluator.fresh.set_hash import set_hash
from evaluator.quarters.books import SET, Books, unpacked_bytes
from evaluator.quarters.dataset import write_dataset
from evaluator.results.answer_rows import answers_hash
from evaluator.results.build_result import scored_fields
from submissions.records.result import EvalResult

MAX_TIMES_LARGER = 10  # a Parquet file that unpacks to more than that many times the expected bytes is not read
ROWS_AT_ONCE = 16


def book_differences(books: Books) -> list[str]:
    """Return what in the books does not agree with their commitment and records."""
    differences: list[str] = []
    if set_hash(books.set_folder) != books.commitment.set_sha256:
        differences.append(f"{SET}/ has another hash than was published before the evaluations")
    keys = {result.request_key for result in books.results}
    differences += [f"{key}: answers without a record" for key in sorted(books.answers.keys() - keys)]
    try:
        scored_ids = {item.id for item in books.items}
        withdrawn_ids = {item.id for item in books.drawn_items} - scored_ids
    except DataError as error:
        return [*differences, str(error)]
    for result in books.results:
        name = f"{result.request_key} ({result.config.model_name})"
        differences += [f"{name}: {fault}" for fault in _faults(books, result, scored_ids, withdrawn_ids)]
    return differences


def _faults(books: Books, result: EvalResult, scored_ids: set[str], withdrawn_ids: set[str]) -> Iterator[str]:
    """Yield what is wrong with a result: its hash, date, set, version or answers, or a field that is computed again."""
    key = result.request_key
    benchmark = books.benchmark
    commitment = books.commitment
    set_revision = str(commitment.set_sha256)[:40]  # as `open_source` records it
    rows = books.answers[key]
    n = len(scored_ids)
    if result.answers_sha256 is None:
        yield "its record has no hash of its answers"
    elif answers_hash(rows) != result.answers_sha256:
        yield "its answers have another hash than its record says"
    finished_at = result.date or 0.0
    if finished_at < commitment.committed_at.timestamp():
        yield "it is older than the commitment"
    if commitment.revealed_at and finished_at > commitment.revealed_at.timestamp():
        yield "it is newer than the reveal"
    if (result.dataset.revision, result.dataset.n) != (set_revision, n):
        yield "it was measured on another set"
    if (version := result.versions.get(benchmark.name)) != books.version:
        commit = f"; check out commit {result.git_hash}" if result.git_hash else ""
        yield f"its scoring rule is {version}, here it is {books.version}{commit}"
        return  # scores by another rule need not agree
    answered_ids = [row.id for row in rows if row.id not in withdrawn_ids]
    if len(answered_ids) != n or {*answered_ids} != scored_ids:
        yield f"it has {len(rows)} answers, which are not exactly one for each of the {n} items"
        return
    recomputed = scored_fields(benchmark, books.items, books.scores_of(key))
    recomputed["headline"] = benchmark.card.headline
    recomputed["n_samples"] = {benchmark.name: {"original": len(rows), "effective": n}}
    for name, value in recomputed.items():
        if getattr(result, name) != value:
            yield f"{name} differ"


def file_differences(books: Books, folder: Path) -> list[str]:
    """Write the dataset again from the books, and return which files in the folder differ, are missing or are unknown.

    Hidden files, which a download adds, are ignored. Raises DataError if the commitment names no dataset.
    """
    if books.commitment.dataset is None:
        raise DataError(f"{folder}: its commitment names no dataset")
    with tempfile.TemporaryDirectory() as scratch:
        rewritten = Path(scratch)
        write_dataset(books, rewritten, books.commitment.dataset)
        found = _files(folder)
        expected = _files(rewritten)
        missing = [f"{path}: is missing" for path in sorted(expected - found)]
        unknown = [f"{path}: does not belong to the dataset" for path in sorted(found - expected)]
        changed = [path for path in sorted(found & expected) if not _is_same_file(folder / path, rewritten / path)]
    return [*missing, *unknown, *(f"{path}: differs from what follows from the items and answers" for path in changed)]


def _files(folder: Path) -> set[str]:
    """Return the relative paths of all files and links in a folder that are not hidden."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return {path.as_posix() for path in paths if not _is_hidden(path)}


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _is_same_file(found: Path, expected: Path) -> bool:
    """Return whether two files are equal. Parquet files are compared by rows: other library versions write other bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if found.suffix != ".parquet":
        return found.read_bytes() == expected.read_bytes()
    try:
        return _is_same_table(pq.ParquetFile(found), pq.ParquetFile(expected))
    except (OSError, ValueError, pa.ArrowException):
        return False


def _is_same_table(found: Any, expected: Any) -> bool:
    """Return whether two `ParquetFile`s have the same columns and rows.

    A small file of a stranger can unpack to many gigabytes, see `books`. So one that declares to be much larger is different,
    and a few rows are unpacked at a time.
    """
    if not found.schema_arrow.equals(expected.schema_arrow) or found.metadata.num_rows != expected.metadata.num_rows:
        return False
    if unpacked_bytes(found.metadata) > MAX_TIMES_LARGER * unpacked_bytes(expected.metadata):
        return False
    return all(one == other for one, other in zip(_rows(found), _rows(expected), strict=True))


def _rows(parquet: Any) -> Iterator[dict[str, Any]]:
    for batch in parquet.iter_batches(batch_size=ROWS_AT_ONCE):
        yield from batch.to_pylist()

"""Compute everything that was published about a revealed quarter again from its items and answers."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from evaluator.core.errors import DataError
from evaluator.fresh.draw import set_hash
from evaluator.quarters.books import SET, Books
from evaluator.quarters.dataset import write_dataset
from evaluator.results.answer_rows import answers_hash
from evaluator.results.build_result import scored_fields
from submissions.records.result import EvalResult


def book_differences(books: Books) -> list[str]:
    """Return what in the books does not agree with their commitment and records."""
    public = books.commitment
    found = []
    if set_hash(books.folder) != public.set_sha256:
        found.append(f"{SET}/ has another hash than was published before the evaluations")
    known = {result.request_key for result in books.results}
    found += [f"{key}: answers without a record" for key in sorted(books.answers.keys() - known)]
    try:
        ids = {item.id for item in books.items}
        withdrawn = {item.id for item in books.drawn_items} - ids
    except DataError as error:
        return [*found, str(error)]
    for result in books.results:
        name = f"{result.request_key} ({result.config.model_name})"
        found += [f"{name}: {what}" for what in _of_result(books, result, ids, withdrawn)]
    return found


def _of_result(books: Books, result: EvalResult, ids: set[str], withdrawn: set[str]) -> Iterator[str]:
    """Yield what is wrong with a result. `ids` are those of the items that are scored."""
    key = result.request_key
    benchmark = books.benchmark
    public = books.commitment
    rows = books.answers[key]
    n = len(ids)
    if result.answers_sha256 is None:
        yield "its record has no hash of its answers"
    elif answers_hash(rows) != result.answers_sha256:
        yield "its answers have another hash than its record says"
    moment = result.date or 0.0
    if moment < public.committed_at.timestamp():
        yield "it is older than the commitment"
    if public.revealed_at and moment > public.revealed_at.timestamp():
        yield "it is newer than the reveal"
    if (result.dataset.revision, result.dataset.n) != (str(public.set_sha256)[:40], n):
        yield "it was measured on another set"
    if (version := result.versions.get(benchmark.name)) != books.version:
        commit = f"; check out commit {result.git_hash}" if result.git_hash else ""
        yield f"its scoring rule is {version}, here it is {books.version}{commit}"
        return
    answered = [row.id for row in rows if row.id not in withdrawn]
    if len(answered) != n or {*answered} != ids:
        yield f"it has {len(rows)} answers, which are not exactly one for each of the {n} items"
        return
    fields = scored_fields(benchmark, books.items, books.scores_of(key))
    asked = {benchmark.name: {"original": len(rows), "effective": n}}
    again = result.evolve(**fields, headline=benchmark.card.headline, n_samples=asked)
    for name in (*fields, "headline", "n_samples"):
        if getattr(again, name) != getattr(result, name):
            yield f"{name} differ"


def file_differences(books: Books, folder: Path) -> list[str]:
    """Write all other files of the dataset again and return which of those in the folder differ.

    Hidden files, which a download adds, are ignored. Raises DataError if the commitment names no dataset.
    """
    if books.commitment.dataset is None:
        raise DataError(f"{folder}: its commitment names no dataset")
    with tempfile.TemporaryDirectory() as scratch:
        again = Path(scratch)
        write_dataset(books, again, books.commitment.dataset)
        here = _files(folder)
        there = _files(again)
        missing = [f"{path}: is missing" for path in sorted(there - here)]
        unknown = [f"{path}: does not belong to the dataset" for path in sorted(here - there)]
        changed = [path for path in sorted(here & there) if not _is_same(folder / path, again / path)]
    return [*missing, *unknown, *(f"{path}: differs from what follows from the items and answers" for path in changed)]


def _files(folder: Path) -> set[str]:
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return {path.as_posix() for path in paths if not _is_hidden(path)}


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _is_same(one: Path, other: Path) -> bool:
    """Return whether two files are equal. Parquet files of other versions of a library may hold the same rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if one.suffix != ".parquet":
        return one.read_bytes() == other.read_bytes()
    try:
        return bool(pq.read_table(one).equals(pq.read_table(other)))
    except (OSError, ValueError, pa.ArrowException):
        return False

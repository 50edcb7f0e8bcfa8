"""Convert a test set from its makers' format to the documented schema.

`python -m evaluator import` and `source.fetch_dataset` call `import_dataset`. The new folder holds:

items.parquet   the rows, in the schema that the docstring of `benchmarks/base.py` describes
images/ pages/  the files that the rows name. They are named by a hash of their content, so equal images are one file, and
                items with the same first image are one cluster
rejected.jsonl  the rows that cannot be used, with reasons
README.md       a dataset card for the Hub
eval.yaml       the tasks under which model pages of the Hub show results on this set
canary.txt      a line that occurs nowhere else, by which copies of the set can be found
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from evaluator.benchmarks.base import Benchmark
from evaluator.benchmarks.rows import ROW_ERRORS, Row, describe_row_error
from evaluator.benchmarks.source_files import ImageFolder, Picture, file_of
from evaluator.benchmarks.source_rows import SourceRow
from evaluator.core.data_types import Answer, Item
from evaluator.core.errors import DataError
from evaluator.core.files import new_folder, write_content_addressed
from evaluator.datasets.eval_yaml import benchmark_yaml
from evaluator.datasets.leak_check import CANARY
from evaluator.engines.images import changes, picture_fault

REJECTED = "rejected.jsonl"


@dataclass(frozen=True)
class Imported:
    """The result of an import, which the operator is shown."""

    items: list[Item]
    files: int  # number of images or pages
    rejected: list[tuple[str, str]]  # location of the row, and why it cannot be used
    # Items on which the published rule is wrong: the number of those whose gold answer it does not accept, and the ids of
    # those for which it accepts an empty answer.
    unmatched: int
    empty: list[str]
    pictures: Counter[str]  # how many pictures are changed before a model sees them, by reason


def import_dataset(
    benchmark: Benchmark, source: Path, out: Path, on_row: Callable[[int], None] = lambda _: None
) -> Imported:
    """Write the converted test set to the folder `out`, which must be empty or not exist.

    `out` is created only once it is complete. `on_row` is called with the number of each row.
    Raises DataError if the source cannot be read or none of its rows can be used.
    """
    with new_folder(out) as partial:
        return _write(benchmark, source, partial, on_row)


def _write(benchmark: Benchmark, source: Path, out: Path, on_row: Callable[[int], None]) -> Imported:
    """Fill the existing folder `out`. Raises DataError as `import_dataset` does."""
    rows, items, rejected = _convert_rows(benchmark, source, out, on_row)
    if not items:
        reason = f"none of {len(rejected):,} rows can be used; {': '.join(rejected[0])}" if rejected else "has no rows"
        raise DataError(f"{source}: {reason}")
    _remove_unused(out, rows)
    _write_parquet(rows, out / "items.parquet")
    if rejected:
        _write_rejected(rejected, out / REJECTED)
    imported = _summary(benchmark, benchmark.complete(items), rejected, out)
    (out / "README.md").write_text(_card(benchmark, imported, rows), encoding="utf-8")
    (out / "eval.yaml").write_text(benchmark_yaml(benchmark.name), encoding="utf-8")
    (out / CANARY).write_text(f"HANNUN CANARY {uuid4()}\n", encoding="utf-8")
    return imported


def _convert_rows(
    benchmark: Benchmark, source: Path, out: Path, on_row: Callable[[int], None]
) -> tuple[list[Row], list[Item], list[tuple[str, str]]]:
    """Return the converted rows, their items and the rejected rows, and store the files that the rows name in `out`."""
    images = ImageFolder(source if source.is_dir() else source.parent)
    rows: dict[str, Row] = {}  # by id
    items: list[Item] = []
    rejected: list[tuple[str, str]] = []
    for number, source_row in enumerate(benchmark.source_rows(source), 1):
        on_row(number)
        try:
            row = _store_row(benchmark, source_row, images, out)
            if row["id"] in rows:
                raise ValueError(f"the id {row['id']!r} appears twice")
            item = benchmark.item(row, out)
            items.append(item)
            rows[row["id"]] = row
        except ROW_ERRORS as error:
            rejected.append((source_row.location, describe_row_error(error)))
    return list(rows.values()), items, rejected


def _write_rejected(rejected: list[tuple[str, str]], file: Path) -> None:
    rejected_rows = [{"row": location, "reason": reason} for location, reason in rejected]
    lines = [json.dumps(rejected_row, ensure_ascii=False) + "\n" for rejected_row in rejected_rows]
    file.write_text("".join(lines), encoding="utf-8")


def _summary(benchmark: Benchmark, items: list[Item], rejected: list[tuple[str, str]], out: Path) -> Imported:
    """Return what the operator is shown, of a folder that has the files of all rows and no others."""
    outputs = [(item, benchmark.gold_output(item)) for item in items]
    # An item whose gold output is None has no single right output, so it is not checked.
    gold_outputs = [(item, output) for item, output in outputs if output is not None]
    empty_outputs = [(item, "") for item, _ in gold_outputs]
    return Imported(
        items=items,
        files=sum(1 for path in out.glob("*/*")),
        rejected=rejected,
        unmatched=len(gold_outputs) - len(_accepted(benchmark, gold_outputs)),
        empty=_accepted(benchmark, empty_outputs),
        pictures=Counter(reason for path in out.glob("images/*") for reason in changes(path)),
    )


def _store_row(benchmark: Benchmark, source_row: SourceRow, images: ImageFolder, out: Path) -> Row:
    """Convert a row and store its files in `out`. The converted row names them by relative path.

    Raises KeyError, ValueError or another of the errors that `_convert_rows` catches, if the row cannot be used.
    """
    row = benchmark.convert_row(source_row, images)
    for axis in benchmark.card.axes:
        if axis.is_closed and row[axis.name] not in axis.buckets:
            raise ValueError(f"unknown {axis.name} {row[axis.name]!r}")
    if "images" in row:
        row["images"] = [_store_picture(picture, out) for picture in row["images"]]
    if "page" in row:
        row["page"] = write_content_addressed(out, "pages", ".html", row["page"].encode())
    return row


def _store_picture(picture: Picture, out: Path) -> str:
    """Store a picture in `out`. Return its path there, such as `images/0b1c….png`. Raises ValueError if it is broken."""
    content, ending = file_of(picture)
    stored = write_content_addressed(out, "images", ending, content)
    name = picture.name if isinstance(picture, Path) else "the embedded picture"
    if fault := picture_fault(out / stored, name):
        raise ValueError(fault)
    return stored


def _remove_unused(out: Path, rows: Iterable[Row]) -> None:
    """Delete the files of rows that were rejected after their files had been stored."""
    used = {name for row in rows for name in (*row.get("images", ()), row.get("page"))}
    for path in out.glob("*/*"):
        if path.relative_to(out).as_posix() not in used:
            path.unlink()


def _write_parquet(rows: list[Row], file: Path) -> None:
    """Write rows as a Parquet file. Raises DataError if a column has values of different types."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pa.Table.from_pylist(rows)
    except (pa.ArrowException, OverflowError) as error:
        raise DataError(f"the rows have values of different types in one column: {error}") from None
    pq.write_table(table, file, compression="zstd")


def _accepted(benchmark: Benchmark, outputs: list[tuple[Item, str]]) -> list[str]:
    """Return the ids of the items whose output the published rule accepts. `outputs` has an output for each item."""
    answers = [Answer(item.id, output, "ok", seconds=0.0) for item, output in outputs]
    scores = benchmark.score_flat([item for item, _ in outputs], answers)
    # Only means have a value for each item. The first is that of the published rule: `em` is declared before `em_strict`.
    published_metric = next(metric.name for metric in benchmark.metrics if metric.is_mean)
    return [score.id for score in scores if score.values[published_metric] == 1]


def _card(benchmark: Benchmark, imported: Imported, rows: list[Row]) -> str:
    """Return a Hub dataset card. It describes the folder but quotes no question or answer."""
    card = benchmark.card
    private = "" if card.is_public else "Private: publishing it would make it useless as a test. "
    columns = ", ".join(f"`{column}`" for column in rows[0])
    lines = [
        "---",
        "configs:",
        "- config_name: default",
        "  data_files:",
        f"  - split: {card.split}",
        "    path: items.parquet",
        "---",
        "",
        f"# {card.title}: test set for Hannun",
        "",
        f"{private}Converted from its makers' files;",
        f"their terms apply: {card.source_url or card.title}",
        "",
        "| | |",
        "|---|---|",
        f"| benchmark | {benchmark.name}, version {benchmark.version} |",
        f"| items | {len(imported.items):,} |",
        f"| images or pages | {imported.files:,} |",
        f"| rows rejected | {len(imported.rejected):,} |",
        f"| items whose gold answer the published rule does not accept | {imported.unmatched:,} |",
        f"| items for which the published rule accepts an empty answer | {len(imported.empty):,} |",
    ]
    lines += [f"| pictures {reason} | {count:,} |" for reason, count in sorted(imported.pictures.items())]
    lines += [f"| columns | {columns} |", ""]
    for axis in card.axes:
        counts = Counter(item.buckets[axis.name] for item in imported.items)
        lines += [f"| {axis.name} | items |", "|---|---:|"]
        lines += [f"| {bucket} | {count:,} |" for bucket, count in sorted(counts.items())]
        lines.append("")
    return "\n".join(lines)

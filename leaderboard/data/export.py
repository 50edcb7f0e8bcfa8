"""Export a benchmark's table, and the register of published numbers, as CSV, JSON or Parquet.

`FORMATS` and `REGISTER_FORMATS` list the formats for the routes and the static edition. The rows of a table are flattened by
`flat`; their fields are declared by `Column.export` and the benchmark's metrics.
"""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, get_args, get_origin, get_type_hints

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.columns import MODEL_COLUMNS, RUN_COLUMNS
from leaderboard.data.ranking import RankedRow
from leaderboard.facts.register import Number
from submissions.records.index_rows import BoardRow

KST = timezone(timedelta(hours=9), "KST")  # as the pages show dates
# A cell that is only a sign or a number is not a formula, although it may start like one: -, +3, -1,234.5, 1e-5, -20%.
HARMLESS = re.compile(r"[+-]|[+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?(e[+-]?\d+)?%?", re.ASCII | re.IGNORECASE)
FORMULA_STARTS = tuple("=+-@＝＋－＠")  # spreadsheets read a cell that starts with one of these as a formula
CELL_SEPARATORS = tuple("\t\r\n")  # a cell that starts with one of these may be read as two cells or rows
ROWS_PER_GROUP = 2000  # of a Parquet file; they are in memory at the same time
# The fields of exported rows, with their types, that are not fields of BoardRow. "score" and "metric" are what ranks the row.
RANKS: dict[str, type] = {"rank": int, "rank_best": int, "rank_worst": int}
SCORE: dict[str, type] = {"score": float, "metric": str}


def to_csv(rows: Sequence[RankedRow], benchmark: str) -> bytes:
    """Return the rows of a benchmark as CSV."""
    return rows_to_csv(_flat_rows(rows), (*RANKS, *SCORE, *exported(benchmark)))


def rows_to_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> bytes:
    """Return rows as CSV in UTF-8 with a byte-order mark, which Excel needs for Korean.

    Text that a spreadsheet would read as a formula gets a leading apostrophe, because names come from strangers
    (https://owasp.org/www-community/attacks/CSV_Injection).
    """
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _escape_formulas(value) for name, value in row.items()})
    return buffer.getvalue().encode("utf-8-sig")


def to_json(rows: Sequence[RankedRow], benchmark: str) -> bytes:
    """Return the rows of a benchmark as a JSON list of objects."""
    return json.dumps(flat(rows), ensure_ascii=False, allow_nan=False).encode()


def to_parquet(rows: Sequence[RankedRow], benchmark: str) -> bytes:
    """Return a Parquet file whose column types do not depend on the rows, so that files of one benchmark can be joined."""
    import pyarrow as pa  # imported at the first download, because it takes 40 MB
    from pyarrow.parquet import ParquetWriter

    arrow_types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    names = [*RANKS, *SCORE, *exported(benchmark)]
    hints = get_type_hints(BoardRow) | RANKS | SCORE | {"date": str}  # dates are exported as ISO 8601
    value_types = {name: _value_type(hints.get(name, float)) for name in names}  # names without a hint are metrics
    schema = pa.schema([(name, arrow_types[value_type]) for name, value_type in value_types.items()])
    buffer = io.BytesIO()
    with ParquetWriter(buffer, schema, compression="zstd") as writer:
        for start in range(0, len(rows), ROWS_PER_GROUP):
            group = list(_flat_rows(rows[start : start + ROWS_PER_GROUP]))
            writer.write_table(pa.Table.from_pylist(group, schema))
    return buffer.getvalue()


def _value_type(hint: Any) -> type:
    """Return the type of the values of a field from its type hint: `int | None` -> int, `Literal["a", "b"]` -> str."""
    if get_origin(hint) is Literal:
        return str
    return next(kind for kind in (str, int, float, bool) if kind in (hint, *get_args(hint)))


# Media type and writer of each format, by file extension.
FORMATS: dict[str, tuple[str, Callable[[Sequence[RankedRow], str], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", to_csv),
    "json": ("application/json", to_json),
    "parquet": ("application/vnd.apache.parquet", to_parquet),
}


def _numbers_to_csv(numbers: Sequence[Number]) -> bytes:
    return rows_to_csv(map(asdict, numbers), [field.name for field in fields(Number)])


def _numbers_to_json(numbers: Sequence[Number]) -> bytes:
    return json.dumps([asdict(number) for number in numbers], ensure_ascii=False).encode()


def _numbers_to_parquet(numbers: Sequence[Number]) -> bytes:
    import pyarrow as pa
    from pyarrow.parquet import write_table

    schema = pa.schema([(f.name, pa.float64() if f.name == "value" else pa.string()) for f in fields(Number)])
    buffer = io.BytesIO()
    write_table(pa.Table.from_pylist([asdict(number) for number in numbers], schema), buffer, compression="zstd")
    return buffer.getvalue()


# The same for the register of published numbers.
REGISTER_FORMATS: dict[str, tuple[str, Callable[[Sequence[Number]], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", _numbers_to_csv),
    "json": ("application/json", _numbers_to_json),
    "parquet": ("application/vnd.apache.parquet", _numbers_to_parquet),
}


def flat(rows: Sequence[RankedRow]) -> list[dict[str, Any]]:
    """Return rows as flat dicts, as in exported files.

    Scores are in percent, latencies in milliseconds per question, dates are ISO 8601.
    """
    return list(_flat_rows(rows))


def _flat_rows(rows: Sequence[RankedRow]) -> Iterator[dict[str, Any]]:
    """Yield rows as `flat` returns them, one at a time, because those of a large board take much memory together."""
    benchmarks = {r.row.benchmark for r in rows}
    names = {benchmark: exported(benchmark) for benchmark in benchmarks}
    for r in rows:
        yield {
            "rank": r.rank,
            "rank_best": r.best,
            "rank_worst": r.worst,
            "score": r.row.score,
            "metric": r.row.headline,
            **_values(r.row, names[r.row.benchmark]),
        }


def exported(benchmark: str) -> list[str]:
    """Return the fields of a benchmark's exported rows after RANKS and SCORE.

    They are fields of BoardRow, and for each metric the fields METRIC, METRIC_low and METRIC_high (its 95 % interval).
    """
    metric_fields = [f"{name}{end}" for name in _metric_names(benchmark) for end in ("", "_low", "_high")]
    model_fields = [name for column in MODEL_COLUMNS for name in column.export]
    run_fields = [name for column in RUN_COLUMNS for name in column.export]
    return [*model_fields, *metric_fields, *run_fields]


def _values(row: BoardRow, names: Sequence[str]) -> dict[str, Any]:
    """Return the values of the fields `names`, which `exported` returned for the row's benchmark."""
    values: dict[str, Any] = {}
    for metric in _metric_names(row.benchmark):
        low, high = row.intervals.get(metric, (None, None))
        values |= {metric: row.metrics.get(metric), f"{metric}_low": low, f"{metric}_high": high}
    if row.date is not None:
        values["date"] = datetime.fromtimestamp(row.date, KST).isoformat(timespec="seconds")
    return {name: values[name] if name in values else getattr(row, name) for name in names}


def _metric_names(benchmark: str) -> list[str]:
    return [metric.name for metric in BENCHMARKS[benchmark].metrics]


def _escape_formulas(value: Any) -> Any:
    """Escape formulas in a value of a CSV file. Values that are not text stay as they are.

    Each part between semicolons is escaped, because in many countries spreadsheets split cells at semicolons:
    "gemma;=1+1" -> "gemma;'=1+1".
    """
    if not isinstance(value, str):
        return value
    return ";".join(map(_escape_formula, value.split(";")))


def _escape_formula(cell: str) -> str:
    """Return a cell with a leading apostrophe if a spreadsheet would read it as a formula or as several cells."""
    if HARMLESS.fullmatch(cell):
        return cell
    is_formula = cell.startswith(CELL_SEPARATORS) or cell[_first_read(cell) :].startswith(FORMULA_STARTS)
    return f"'{cell}" if is_formula else cell


def _first_read(cell: str) -> int:
    """Return where the text of a cell begins for a spreadsheet, or 0 if it has none.

    Spreadsheets skip spaces, control characters, format characters such as the byte-order mark, and a quote.
    """
    for position, char in enumerate(cell):
        is_invisible = char.isspace() or unicodedata.category(char)[0] in "CZ"  # control characters and separators
        if not is_invisible and char != '"':
            return position
    return 0

"""A benchmark's table as a file: CSV, JSON or Parquet."""

import io
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args, get_type_hints

import pandas as pd

from leaderboard.data.columns import exported, exported_values
from leaderboard.data.ranking import RankedRow
from submissions.records.index_rows import BoardRow

FORMULA = tuple("=+-@＝＋－＠")  # what a spreadsheet takes for the beginning of a formula
LINE = tuple("\t\r\n")  # what begins another cell or row
RANKS = ("rank", "rank_best", "rank_worst")


def to_csv(rows: Sequence[RankedRow], benchmark: str) -> bytes:
    return rows_to_csv(flat(rows), (*RANKS, *exported(benchmark)))


def rows_to_csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()) -> bytes:
    """UTF-8 with a byte-order mark, as Excel needs it for Korean. No text begins a formula: it gets a ' before it
    (https://owasp.org/www-community/attacks/CSV_Injection). The columns are for a table without rows."""
    safe = [{name: _inert(value) for name, value in row.items()} for row in rows]
    content: str = _frame(safe, None if rows else columns).to_csv(index=False, lineterminator="\r\n")
    return content.encode("utf-8-sig")


def to_json(rows: Sequence[RankedRow], benchmark: str) -> bytes:
    return json.dumps(flat(rows), ensure_ascii=False, allow_nan=False).encode()


def to_parquet(rows: Sequence[RankedRow], benchmark: str) -> bytes:
    """Return a file whose columns have the same types whatever the rows, so that files of one benchmark can be joined."""
    import pyarrow as pa  # 40 MB that a board need not have before somebody downloads this

    arrow = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    names = [*RANKS, *exported(benchmark)]
    schema = pa.schema([(name, arrow[_type(name)]) for name in names])
    buffer = io.BytesIO()
    _frame(flat(rows), names).to_parquet(buffer, compression="zstd", index=False, schema=schema)
    return buffer.getvalue()


def _type(name: str) -> type:
    """Return the type of a column: a rank, a field of BoardRow, or a metric."""
    if name in RANKS:
        return int
    hint = get_type_hints(BoardRow).get(name, float)
    return next(kind for kind in (str, int, float, bool) if kind in (hint, *get_args(hint)))


FORMATS: dict[str, tuple[str, Callable[[Sequence[RankedRow], str], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", to_csv),
    "json": ("application/json", to_json),
    "parquet": ("application/vnd.apache.parquet", to_parquet),
}


def flat(rows: Sequence[RankedRow]) -> list[dict[str, Any]]:
    """Return rows as they are in files and answers. Scores are percentages, latencies milliseconds a question."""
    return [dict(zip(RANKS, (r.rank, r.best, r.worst), strict=True)) | exported_values(r.row) for r in rows]


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Values stay as they are: pandas' own types would make fractions of whole numbers that are unknown in some rows."""
    return pd.DataFrame(rows, columns=columns, dtype=object)


def _inert(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    # Spreadsheets pass over spaces, control characters and marks such as the one of the byte order.
    begins = next((n for n, c in enumerate(value) if not c.isspace() and unicodedata.category(c)[0] not in "CZ"), 0)
    return f"'{value}" if value.startswith(LINE) or value[begins:].startswith(FORMULA) else value

"""A benchmark's table as a file: CSV, JSON or Parquet."""

import io
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args, get_type_hints

import pandas as pd

from leaderboard.data.columns import EXPORTED
from leaderboard.data.ranking import RankedRow
from submissions.records.index_rows import BoardRow, parse_metrics

FORMULA = tuple("=+-@＝＋－＠")  # what a spreadsheet takes for the beginning of a formula
LINE = tuple("\t\r\n")  # what begins another cell or row
RANKS = ("rank", "rank_best", "rank_worst")


def to_csv(rows: Sequence[RankedRow]) -> bytes:
    return rows_to_csv(flat(rows), (*RANKS, *EXPORTED))


def rows_to_csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()) -> bytes:
    """UTF-8 with a byte-order mark, as Excel needs it for Korean. No text begins a formula: it gets a ' before it
    (https://owasp.org/www-community/attacks/CSV_Injection). The columns are for a table without rows."""
    safe = [{name: _inert(value) for name, value in row.items()} for row in rows]
    content: str = _frame(safe, None if rows else columns).to_csv(index=False, lineterminator="\r\n")
    return content.encode("utf-8-sig")


def to_json(rows: Sequence[RankedRow]) -> bytes:
    return json.dumps(flat(rows), ensure_ascii=False, allow_nan=False).encode()


def to_parquet(rows: Sequence[RankedRow]) -> bytes:
    """With the same types whatever the rows, so that files of one benchmark can be put together."""
    import pyarrow as pa  # 40 MB that a board need not have before somebody downloads this

    arrow = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    records, types = flat(rows), _types()
    names = list(records[0] if records else types)
    schema = pa.schema([(name, arrow[types.get(name, float)]) for name in names])  # what a benchmark adds is a metric
    buffer = io.BytesIO()
    _frame(records, names).to_parquet(buffer, compression="zstd", index=False, schema=schema)
    return buffer.getvalue()


def _types() -> dict[str, type]:
    """Of the columns that every benchmark has."""
    types: dict[str, type] = dict.fromkeys(RANKS, int)
    hints = get_type_hints(BoardRow)
    for name in EXPORTED:
        types[name] = next(kind for kind in (str, int, float, bool) if kind in (hints[name], *get_args(hints[name])))
    return types


FORMATS: dict[str, tuple[str, Callable[[Sequence[RankedRow]], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", to_csv),
    "json": ("application/json", to_json),
    "parquet": ("application/vnd.apache.parquet", to_parquet),
}


def flat(rows: Sequence[RankedRow]) -> list[dict[str, Any]]:
    """Rows as they are in files and answers: all with the same columns, a benchmark's own metrics last. Scores are
    percentages, latencies milliseconds a question."""
    metrics = [parse_metrics(ranked.row.metrics) for ranked in rows]
    own = dict.fromkeys(name for known in metrics for name in known)
    return [
        dict(zip(RANKS, (ranked.rank, ranked.best, ranked.worst), strict=True))
        | {name: getattr(ranked.row, name) for name in EXPORTED}
        | {name: known.get(name) for name in own}
        for ranked, known in zip(rows, metrics, strict=True)
    ]


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Values stay as they are: pandas' own types would make fractions of whole numbers that are unknown in some rows."""
    return pd.DataFrame(rows, columns=columns, dtype=object)


def _inert(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    # Spreadsheets pass over spaces, control characters and marks such as the one of the byte order.
    begins = next((n for n, c in enumerate(value) if not c.isspace() and unicodedata.category(c)[0] not in "CZ"), 0)
    return f"'{value}" if value.startswith(LINE) or value[begins:].startswith(FORMULA) else value

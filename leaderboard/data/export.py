"""A benchmark's table as a file: CSV, JSON or Parquet."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from leaderboard.data.columns import EXPORTED
from leaderboard.data.ranking import RankedRow
from submissions.rows import parse_metrics

FORMULA = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "＝",
    "＋",
    "－",
    "＠",
)  # what a spreadsheet takes for the beginning of one

SPACES = " \u3000\xa0"  # that it passes over first


def to_csv(rows: Sequence[RankedRow]) -> bytes:
    return rows_to_csv([flat(row) for row in rows], ["rank", "rank_best", "rank_worst", *EXPORTED])


def rows_to_csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> bytes:
    """UTF-8 with a byte-order mark, as Excel needs it for Korean. No text begins a formula: it gets a ' before it
    (https://owasp.org/www-community/attacks/CSV_Injection). The columns are for a table without rows."""
    safe = [{name: _inert(value) for name, value in row.items()} for row in rows]
    frame = _frame(safe) if rows else pd.DataFrame(columns=list(columns or ()))
    content: str = frame.to_csv(index=False, lineterminator="\r\n")
    return content.encode("utf-8-sig")


def to_json(rows: Sequence[RankedRow]) -> bytes:
    return json.dumps([flat(row) for row in rows], ensure_ascii=False, allow_nan=False).encode()


def to_parquet(rows: Sequence[RankedRow]) -> bytes:
    buffer = io.BytesIO()
    _frame([flat(row) for row in rows]).to_parquet(buffer, compression="zstd", index=False)
    return buffer.getvalue()


FORMATS: dict[str, tuple[str, Callable[[Sequence[RankedRow]], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", to_csv),
    "json": ("application/json", to_json),
    "parquet": ("application/vnd.apache.parquet", to_parquet),
}


def flat(ranked: RankedRow) -> dict[str, Any]:
    """A row as it is in files and answers. Scores are percentages, latencies milliseconds a question."""
    ranks = {"rank": ranked.rank, "rank_best": ranked.best, "rank_worst": ranked.worst}
    return ranks | {name: getattr(ranked.row, name) for name in EXPORTED} | parse_metrics(ranked.row.metrics)


def _frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Values stay as they are: pandas' own types would make fractions of whole numbers that are unknown in some rows."""
    return pd.DataFrame(rows, dtype=object)


def _inert(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.lstrip(SPACES).startswith(FORMULA) else value

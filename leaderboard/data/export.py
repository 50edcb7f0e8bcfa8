"""A benchmark's table as a file: CSV, JSON or Parquet."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from leaderboard.data.ranking import RankedRow

# What of a row is in the files, besides its rank. Scores are percentages, latencies milliseconds a question.
COLUMNS = (
    *("model", "organisation", "role", "params", "license", "precision", "revision"),
    *("thinking", "base_model", "custom_code", "server", "decoding", "max_answer_tokens", "max_reasoning_tokens"),
    *("reasoning_tokens", "reasoning_per_right"),
    *("em", "em_low", "em_high", "f1", "f1_low", "f1_high", "em_strict", "latency_ms", "hardware", "outcome"),
    *("n", "split", "dataset", "benchmark_version", "date", "kind", "source", "source_url", "key"),
)
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # what a spreadsheet takes for the beginning of one


def to_csv(rows: Sequence[RankedRow]) -> bytes:
    return rows_to_csv([flat(row) for row in rows], ["rank", "rank_best", "rank_worst", *COLUMNS])


def rows_to_csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> bytes:
    """UTF-8 with a byte-order mark, as Excel needs it for Korean. No text begins a formula: it gets a ' before it
    (https://owasp.org/www-community/attacks/CSV_Injection). Columns are those of the first row unless named."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns or (rows[0] if rows else []))
    writer.writerows([_inert(value) for value in row.values()] for row in rows)
    return text.getvalue().encode("utf-8-sig")


def to_json(rows: Sequence[RankedRow]) -> bytes:
    return json.dumps([flat(row) for row in rows], ensure_ascii=False, allow_nan=False).encode()


def to_parquet(rows: Sequence[RankedRow]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([flat(row) for row in rows]), buffer, compression="zstd")
    return buffer.getvalue()


FORMATS: dict[str, tuple[str, Callable[[Sequence[RankedRow]], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", to_csv),
    "json": ("application/json", to_json),
    "parquet": ("application/vnd.apache.parquet", to_parquet),
}


def flat(ranked: RankedRow) -> dict[str, Any]:
    ranks = {"rank": ranked.rank, "rank_best": ranked.best, "rank_worst": ranked.worst}
    return ranks | {name: getattr(ranked.row, name) for name in COLUMNS}


def _inert(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value

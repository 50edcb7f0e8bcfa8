"""Test that CSV, JSON and Parquet exports have the same columns and values."""

import io
import json
from dataclasses import replace

import pandas as pd
import pyarrow.parquet as pq
import pytest

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.export import exported, to_csv, to_json, to_parquet
from leaderboard.data.ranking import RankedRow
from scripts.support.evaluated import evaluated
from scripts.support.records import Make
from submissions.records.index_rows import board_row


@pytest.fixture
def rows(make_request: Make) -> list[RankedRow]:
    """Return a measured row with the benchmark's own metrics and a row with EM only."""
    known = board_row(evaluated(make_request(benchmark="ko-vdc", model_id="o/known"), 61.5), "p", "b")
    known = replace(known, organisation="기관")
    bare = replace(known, model="o/bare", metrics={"em": 41.25}, intervals={})
    return [RankedRow(1, known), RankedRow(None, bare)]


def test_export_formats_have_the_same_values(rows: list[RankedRow]) -> None:
    records = json.loads(to_json(rows, "ko-vdc"))
    assert records[1]["consistency"] is None and records[0]["rank"] == 1 and records[1]["rank"] is None
    table = pq.read_table(io.BytesIO(to_parquet(rows, "ko-vdc")))
    assert table.to_pylist() == records
    read = pd.read_csv(io.BytesIO(to_csv(rows, "ko-vdc")), dtype=object, keep_default_na=False)
    expected = [{name: "" if value is None else str(value) for name, value in record.items()} for record in records]
    assert read.to_dict("records") == expected


@pytest.mark.parametrize("benchmark", list(BENCHMARKS))
def test_metrics_and_other_columns_have_different_names(benchmark: str) -> None:
    names = exported(benchmark)
    assert len(set(names)) == len(names)


def test_export_without_rows_keeps_columns_and_types(rows: list[RankedRow]) -> None:
    whole, bare, empty = (pq.read_schema(io.BytesIO(to_parquet(some, "ko-vdc"))) for some in (rows, rows[1:], []))
    assert list(whole) == list(bare) == list(empty) and {"consistency", "em_low"} <= set(whole.names)
    assert {str(field.type) for field in whole} == {"string", "int64", "double", "bool"}
    assert to_csv([], "ko-vdc").decode("utf-8-sig").split(",")[:2] == ["rank", "rank_best"]
    assert json.loads(to_json([], "ko-vdc")) == []

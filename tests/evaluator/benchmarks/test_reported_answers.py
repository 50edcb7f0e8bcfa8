"""Test the strict rules on outputs that a person judged before they were scored.

Each line of tests/cases/answers is an output that another tool, or an earlier version of this one, judged otherwise than a
person does. Files whose names end in `-controls` hold outputs that were always judged right.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Answer
from submissions.config.paths import ROOT

STRICT = {"ko-fresh": "em"}  # the metric that judges as a person does; em_strict of the other benchmarks


def _cases() -> list[dict[str, Any]]:
    found = []
    for file in sorted((ROOT / "tests/cases/answers").glob("*.jsonl")):
        lines = file.read_text(encoding="utf-8").splitlines()
        found += [_case(file, json.loads(line)) for line in lines]
    return found


def _case(file: Path, row: dict[str, Any]) -> dict[str, Any]:
    benchmark = row.get("benchmark") or file.stem.removesuffix("-controls")
    return {**row, "benchmark": benchmark, "output": row.get("output", row.get("text")), "file": file.stem}


def _id(case: dict[str, Any]) -> str:
    return f"{case['file']}-{case['id']}"


@pytest.mark.parametrize("case", _cases(), ids=_id)
def test_strict_rule_judges_as_a_person_does(case: dict[str, Any]) -> None:
    benchmark = BENCHMARKS[case["benchmark"]]
    item = benchmark.item_to_score(case)
    (score,) = benchmark.score_flat([item], [Answer(item.id, case["output"], "ok", 0.0)])
    given = score.values[STRICT.get(case["benchmark"], "em_strict")]
    assert (given == 1.0) == case["right"], case["note"]

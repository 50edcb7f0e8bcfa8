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


FILES = sorted((ROOT / "tests/cases/answers").glob("*.jsonl"))


def _judged_right(benchmark_name: str, case: dict[str, Any]) -> bool:
    """Return whether the benchmark's strict rule counts an output as right."""
    benchmark = BENCHMARKS[benchmark_name]
    item = benchmark.item_to_score(case)
    output = case["output"] if "output" in case else case["text"]
    (score,) = benchmark.score_flat([item], [Answer(item.id, output, "ok", 0.0)])
    return score.values[STRICT.get(benchmark_name, "em_strict")] == 1.0


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_strict_rule_judges_as_a_person_does(file: Path) -> None:
    """One test a file, because one test an output would cost more than the scoring of all."""
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    misjudged = []
    for case in cases:
        benchmark = case.get("benchmark") or file.stem.removesuffix("-controls")
        if _judged_right(benchmark, case) != case["right"]:
            misjudged.append(f"{case['id']} is {'right' if case['right'] else 'wrong'}: {case['note']}")
    assert cases and not misjudged

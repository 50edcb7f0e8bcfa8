"""Test that no headline can be had without reading the picture."""

import json

import pytest

from app import main
from evaluator.benchmarks import BENCHMARKS
from evaluator.results.strategies import all_strategies, earned
from submissions.config.paths import ASSETS, SAMPLES

# Percent of the headline that the best strategy may earn on the sample set, unless guessing earns more.
CEILING = 17.0


@pytest.mark.parametrize("name", BENCHMARKS)
def test_card_declares_what_a_constant_answer_earns(name: str) -> None:
    assert [baseline.kind for baseline in BENCHMARKS[name].card.baselines].count("constant") == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", BENCHMARKS)
def test_no_strategy_reaches_ceiling_of_headline(name: str) -> None:
    benchmark = BENCHMARKS[name]
    best = earned(benchmark, benchmark.load(SAMPLES / name))[0]
    assert best.score <= max(CEILING, benchmark.card.chance or 0), best.strategy.name
    constants = [baseline.score for baseline in benchmark.card.baselines if baseline.kind == "constant"]
    assert constants, f"the card needs baselines=(constant_answer({best.score:.1f}),)"
    (declared,) = constants
    assert declared == pytest.approx(best.score, abs=0.05)


def test_strategies_are_constants_dumps_and_echoes() -> None:
    strategies = {strategy.name: strategy for strategy in all_strategies()}
    assert {*json.loads((ASSETS / "strategies.json").read_text(encoding="utf-8"))} < {*strategies}
    assert strategies["the question"].output("몇 명?") == "몇 명?"
    assert "999" in strategies["numbers from 0 to 999"].text


@pytest.mark.slow
def test_command_prints_best_strategies(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["strategies", "--benchmark", "ko-vdc"]) == 0
    assert "ko-vdc, 20 items, em_strict:\n   25.0  letter A" in capsys.readouterr().out

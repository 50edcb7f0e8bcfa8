"""Test the conversion to lm-eval's format."""

from evaluator.formats.lm_eval import to_lm_eval
from scripts.support.records import Make, result_of


def test_metrics_that_are_better_when_lower_are_marked(make_request: Make) -> None:
    result = result_of(make_request(benchmark="ko-fresh"))
    exported = to_lm_eval(result.evolve(results={"ko-fresh": {"em": 50.0, "memorised": 10.0}}))
    assert exported["higher_is_better"] == {"ko-fresh": {"em": True, "memorised": False}}

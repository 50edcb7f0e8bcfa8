"""Test the export of results to the formats of other projects, against their own schema if they publish one."""

import json

import jsonschema
import pytest

from evaluator.benchmarks import BENCHMARKS
from evaluator.formats import RESULT_FORMATS
from evaluator.formats.every_eval_ever import to_every_eval_ever
from evaluator.formats.inspect_log import to_inspect
from scripts.support.evaluated import evaluated
from scripts.support.records import Make
from submissions.config.paths import PUBLISHED, ROOT
from submissions.records.result import EvalResult

SCHEMA = json.loads((ROOT / "tests/support/schemas/every_eval_ever-0.3.0.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)


def published() -> list[EvalResult]:
    return [EvalResult.model_validate_json(path.read_bytes()) for path in sorted(PUBLISHED.glob("*/*.json"))]


def test_inspect_log_of_result_without_scores_is_an_error() -> None:
    complete = next(result for result in published() if result.outcome == "scored")
    scores = dict.fromkeys(complete.results[complete.benchmark])
    result = complete.evolve(outcome="out_of_memory", results={complete.benchmark: scores})
    log = to_inspect(result)
    assert (log["status"], log["results"]["completed_samples"]) == ("error", 0)
    assert log["error"]["message"] == "out_of_memory"
    assert to_inspect(complete)["status"] == "success"


def test_formats_are_valid_for_published_results() -> None:
    results = published()
    assert len(results) > 100
    for result in results:
        exported = to_every_eval_ever(result)
        VALIDATOR.validate(exported)
        assert int(exported["retrieved_timestamp"]) > 1_500_000_000, "a result without a date must not get 1970"
        assert to_inspect(result)["eval"]["created"] > "2017"
        for export in RESULT_FORMATS.values():
            json.dumps(export(result), allow_nan=False)
    owners = {to_every_eval_ever(result)["source_metadata"]["source_organization_name"] for result in results}
    assert owners == {"Marker-Inc-Korea", "korquad", "CoolDawnAnt", "decaf0cokes", "unknown"}


def test_every_eval_ever_uses_metric_titles(make_request: Make) -> None:
    reported = next(result for result in published() if result.benchmark == "ko-ocrag")
    metrics = [one["metric_config"] for one in to_every_eval_ever(reported)["evaluation_results"]]
    assert {one["metric_name"] for one in metrics} >= {"1−WER", "1−CER"}, "higher is better for both"
    remote = evaluated(make_request(benchmark="ko-vqa"), 61.5)
    remote = remote.model_copy(update={"config": remote.config.model_copy(update={"engine": "api", "server": None})})
    assert "inference_engine" not in to_every_eval_ever(remote)["model_info"], "the engine of a remote API is unknown"


@pytest.mark.parametrize("benchmark", list(BENCHMARKS))
def test_every_eval_ever_is_valid_for_evaluated_result(make_request: Make, benchmark: str) -> None:
    result = evaluated(make_request(benchmark=benchmark), 61.5)
    exported = to_every_eval_ever(result)
    VALIDATOR.validate(exported)
    by_metric = {one["metric_config"]["metric_id"].rpartition(".")[2]: one for one in exported["evaluation_results"]}
    assert by_metric["em"]["score_details"]["score"] == 61.5
    uncertainty = by_metric["em"]["score_details"]["uncertainty"]
    assert uncertainty["confidence_interval"]["lower"] == result.intervals["em"][0]
    assert uncertainty["standard_error"]["value"] == 1.0 and uncertainty["num_samples"] == result.dataset.n
    assert exported["model_info"]["additional_details"]["revision"] == result.config.model_sha
    assert exported["source_metadata"]["source_type"] == "evaluation_run"


def test_every_eval_ever_schema_rejects_missing_score(make_request: Make) -> None:
    exported = to_every_eval_ever(evaluated(make_request(), 50.0))
    del exported["evaluation_results"][0]["score_details"]["score"]
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(exported)


def test_inspect_log_has_fractions_and_model_args(make_request: Make) -> None:
    result = evaluated(make_request(benchmark="ko-vqa"), 61.5)
    log = to_inspect(result)
    (score,) = log["results"]["scores"]
    assert score["metrics"]["em"] == {"name": "em", "value": 0.615}
    assert (log["version"], log["status"], log["eval"]["model"]) == (2, "success", result.config.model_name)
    assert log["eval"]["model_args"]["revision"] == result.config.model_sha
    assert log["results"]["total_samples"] == result.dataset.n


def test_formats_claim_no_standard_error_of_zero(make_request: Make) -> None:
    """All answers were wrong, or there was one question: that does not mean that a repeated run would agree."""
    result = evaluated(make_request(benchmark="korquad-2"), 0.0, standard_errors={"em": 0.0, "f1": 0.0})
    for convert in RESULT_FORMATS.values():
        assert "stderr" not in json.dumps(convert(result))
        assert "standard_error" not in json.dumps(convert(result))
    measured = result.evolve(standard_errors={"em": 1.5})
    assert RESULT_FORMATS["lm-eval"](measured)["results"]["korquad-2"]["em_stderr,none"] == 0.015

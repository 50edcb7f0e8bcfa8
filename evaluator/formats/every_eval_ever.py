"""Convert results to the format of Every Eval Ever, version 0.3.0 (https://github.com/evaleval/every_eval_ever).

The board serves `to_every_eval_ever` of each result. The dataset of a revealed ko-fresh set also has the answers to each
item, as `instance_row`s.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluator.benchmarks import BENCHMARKS
from submissions.records.result import EvalResult, ResultConfig

VERSION = "0.3.0"


def to_every_eval_ever(result: EvalResult) -> dict[str, Any]:
    """Return a result with one entry per metric. Scores are in percent, times are seconds since 1970 as text.

    The format requires `retrieved_timestamp`. It is the date of the result, so that each export of it is the same, and the
    time of the export only if the result has no date.
    """
    config = result.config
    timestamp = str(int(result.date or time.time()))
    record: dict[str, Any] = {
        "schema_version": VERSION,
        "evaluation_id": f"{result.benchmark}/{config.model_name}/{result.request_key}",
        "retrieved_timestamp": timestamp,
        "source_metadata": _source_metadata(result),
        "eval_library": {
            "name": "hannun" if result.provenance.kind == "verified" else "unknown",
            "version": result.git_hash or "unknown",
            "additional_details": dict(result.environment),
        },
        "model_info": _model(result),
        "evaluation_results": list(_metrics(result)),
    }
    if result.date:  # a reported result may have none
        record["evaluation_timestamp"] = timestamp
    return record


def _source_metadata(result: EvalResult) -> dict[str, str]:
    """Return who measured or reported a result."""
    provenance = result.provenance
    if provenance.kind == "verified":
        source = {
            "source_name": "Hannun",
            "source_type": "evaluation_run",
            "source_organization_name": "Hannun",
            "evaluator_relationship": "third_party",
        }
    else:
        source = {
            "source_name": provenance.source or "unknown",
            "source_type": "documentation",
            "source_organization_name": _repository_owner(provenance.source or ""),
            "evaluator_relationship": "other",
        }
    if provenance.source_url:
        source["source_organization_url"] = provenance.source_url
    return source


def instance_row(
    aggregate: Mapping[str, Any],
    result_id: str,
    item_id: str,
    prompt: str,
    gold: str,
    answer: str,
    score: float,
    images: Sequence[str],
) -> dict[str, Any]:
    """Return the answer to one item as a row of an instance file.

    Args:
        aggregate: the record of the whole result, as `to_every_eval_ever` returns it
        result_id: `evaluation_result_id` of that record's entry for the metric of `score`
        item_id: of the item
        prompt: what the model was asked
        gold: the gold answer
        answer: the model's answer
        score: from 0 to 1; the row's score is in percent
        images: addresses. The format has no field for images, so they are metadata
    """
    return {
        "schema_version": VERSION,
        "evaluation_id": aggregate["evaluation_id"],
        "model_id": aggregate["model_info"]["id"],
        "evaluation_name": aggregate["evaluation_results"][0]["evaluation_name"],  # the same in all entries
        "evaluation_result_id": result_id,
        "sample_id": item_id,
        "interaction_type": "single_turn",
        "input": {"raw": prompt, "reference": [gold]},
        "output": {"raw": [answer]},
        "answer_attribution": [],
        "evaluation": {"score": 100 * score, "is_correct": score == 1.0},
        "metadata": {f"image_{number}": url for number, url in enumerate(images, 1)},
    }


def _model(result: EvalResult) -> dict[str, Any]:
    """Return what was evaluated and which engine ran it. Fields that are unknown are left out."""
    config = result.config
    model: dict[str, Any] = {"name": config.published_as or config.model_name, "id": config.model_name}
    if config.organisation:
        model["developer"] = config.organisation
    if engine := _engine(result):
        model["inference_engine"] = engine
    details = {
        "revision": config.model_sha,
        "precision": config.model_dtype,
        "params": config.params,
        "license": config.license,
        "thinking": config.thinking,
        "base_model": config.base_model,
    }
    model["additional_details"] = {
        "deployment_type": _deployment(config),
        "model_availability": f"{config.weights}_weights" if config.weights else "unknown",
        **{name: str(value) for name, value in details.items() if value is not None},
    }
    return model


def _engine(result: EvalResult) -> dict[str, str]:
    """Return the name of the inference engine and its version if that is known, or an empty dict if the engine is unknown."""
    config = result.config
    if config.engine is None or _is_remote(config):  # the result was reported, or a server that is not ours answered
        return {}
    if config.server:
        return _engine_entry(config.server, result.environment.get("server_version"))
    return _engine_entry("transformers", result.environment.get("transformers"))


def _engine_entry(name: str, version: str | None) -> dict[str, str]:
    return {"name": name, "version": version} if version else {"name": name}


def _repository_owner(source: str) -> str:
    """Return the owner of the GitHub repository that a score was reported in, else "unknown": "github:a/b" -> "a"."""
    if not source.startswith("github:"):
        return "unknown"
    return source.removeprefix("github:").partition("/")[0]


def _deployment(config: ResultConfig) -> str:
    """Return who ran the model, in the words of the format."""
    if config.engine is None:  # a reported result
        return "unknown"
    return "externally_managed" if _is_remote(config) else "self_deployed"


def _is_remote(config: ResultConfig) -> bool:
    """Return whether a server answered that was not started here, so that its engine and its weights are unknown."""
    return config.engine == "api" and not config.server


def _metrics(result: EvalResult) -> Iterator[dict[str, Any]]:
    """Yield an entry for each metric that has a score."""
    name = result.benchmark
    scores = result.results[result.benchmark]
    card = BENCHMARKS[name].card
    for metric in BENCHMARKS[name].metrics:
        if (score := scores.get(metric.name)) is None:
            continue
        yield {
            "evaluation_result_id": f"{result.request_key}/{metric.name}",
            "evaluation_name": name,
            "source_data": _test_set(result),
            "metric_config": {
                "evaluation_description": card.summary.en,
                "metric_id": f"{name}.{metric.name}",
                "metric_name": metric.title.en,
                "metric_unit": "percent",
                "lower_is_better": metric.lower_is_better,
                "score_type": "continuous",
                "min_score": metric.lowest,
                "max_score": 100,
            },
            "score_details": {"score": score, **_uncertainty(result, metric.name)},
            **_generation(result),
        }


def _uncertainty(result: EvalResult, metric: str) -> dict[str, Any]:
    """Return `{"uncertainty": …}` with what is known of a metric's uncertainty, or an empty dict."""
    uncertainty: dict[str, Any] = {}
    if result.dataset.n is not None:
        uncertainty["num_samples"] = result.dataset.n
    if interval := result.intervals.get(metric):
        low, high = interval
        uncertainty["confidence_interval"] = {"lower": low, "upper": high, "confidence_level": 0.95}
    if standard_error := result.standard_errors.get(metric):  # 0 only says that all scores were equal
        uncertainty["standard_error"] = {"value": standard_error}
    return {"uncertainty": uncertainty} if uncertainty else {}


def _generation(result: EvalResult) -> dict[str, Any]:
    """Return `{"generation_config": …}`, or an empty dict if nothing was generated or it is unknown how."""
    generation = result.generation
    if generation is None:
        return {}
    arguments: dict[str, Any] = {}
    if generation.decoding == "greedy":
        arguments["temperature"] = 0.0
    arguments["max_tokens"] = generation.max_answer_tokens
    arguments["reasoning"] = result.reasoning is not None
    if result.reproduce:
        arguments["execution_command"] = result.reproduce
    return {"generation_config": {"generation_args": arguments}}


def _test_set(result: EvalResult) -> dict[str, Any]:
    """Return the description of the test set. Its type is "other", not a public dataset, because most sets are private."""
    dataset = result.dataset
    details = {"id": dataset.id, "split": dataset.split, "version": result.versions[result.benchmark]}
    if dataset.revision:
        details["revision"] = dataset.revision
    return {
        "dataset_name": result.benchmark,
        "source_type": "other",
        "additional_details": details,
    }

"""Convert results to the format of Every Eval Ever, version 0.3.0 (https://github.com/evaleval/every_eval_ever)."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluator.benchmarks import BENCHMARKS
from submissions.records.result import EvalResult, ResultConfig

VERSION = "0.3.0"


def to_every_eval_ever(result: EvalResult) -> dict[str, Any]:
    """Return a result with one entry per metric. Scores are in percent, times are seconds since 1970 as text."""
    config = result.config
    moment = str(int(result.date or time.time()))
    record: dict[str, Any] = {
        "schema_version": VERSION,
        "evaluation_id": f"{result.benchmark}/{config.model_name}/{result.request_key}",
        "retrieved_timestamp": moment,
        "source_metadata": _source_metadata(result),
        "eval_library": {
            "name": "hannun" if result.provenance.kind == "verified" else "unknown",
            "version": result.git_hash or "unknown",
            "additional_details": dict(result.environment),
        },
        "model_info": _model(result),
        "evaluation_results": list(_metrics(result)),
    }
    if result.date:
        record["evaluation_timestamp"] = moment
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
            "source_organization_name": _organisation(provenance.source or ""),
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
    """Return one answer as a row of the instance file of `aggregate`, for its metric `result_id`.

    `score` is from 0 to 1, the row's score in percent. The format has no field for images.
    """
    return {
        "schema_version": VERSION,
        "evaluation_id": aggregate["evaluation_id"],
        "model_id": aggregate["model_info"]["id"],
        "evaluation_name": aggregate["evaluation_results"][0]["evaluation_name"],
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
    config = result.config
    known = {
        "revision": config.model_sha,
        "precision": config.model_dtype,
        "params": config.params,
        "license": config.license,
        "thinking": config.thinking,
        "base_model": config.base_model,
    }
    # The inference engine behind a remote server is unknown.
    engine = config.server or (None if config.engine == "api" else "transformers")
    version = result.environment.get("transformers")
    stated: dict[str, Any] = {}
    if config.organisation:
        stated["developer"] = config.organisation
    if config.engine and engine:
        stated["inference_engine"] = {"name": engine} | ({"version": version} if version else {})
    return {
        "name": config.published_as or config.model_name,
        "id": config.model_name,
        **stated,
        "additional_details": {
            "deployment_type": _deployment(config),
            "model_availability": f"{config.weights}_weights" if config.weights else "unknown",
            **{name: str(value) for name, value in known.items() if value is not None},
        },
    }  # fmt: skip


def _organisation(source: str) -> str:
    """Return the owner of the GitHub repository that a score was reported in, or "unknown"."""
    return source.removeprefix("github:").partition("/")[0] if source.startswith("github:") else "unknown"


def _deployment(config: ResultConfig) -> str:
    if config.engine is None:
        return "unknown"
    return "externally_managed" if config.model_sha is None else "self_deployed"


def _metrics(result: EvalResult) -> Iterator[dict[str, Any]]:
    name = result.benchmark
    scores = result.results[result.benchmark]
    card = BENCHMARKS[name].card
    for metric in BENCHMARKS[name].metrics:
        if (score := scores.get(metric.name)) is None:
            continue
        yield {
            "evaluation_result_id": f"{result.request_key}/{metric.name}",
            "evaluation_name": name,
            "source_data": _source(result),
            "metric_config": {
                "evaluation_description": card.summary.en,
                "metric_id": f"{name}.{metric.name}",
                "metric_name": metric.title.en,
                "metric_unit": "percent",
                "lower_is_better": False,
                "score_type": "continuous",
                "min_score": metric.lowest,
                "max_score": 100,
            },
            "score_details": {"score": score, **_uncertainty(result, metric.name)},
            **_generation(result),
        }


def _uncertainty(result: EvalResult, metric: str) -> dict[str, Any]:
    interval = result.intervals.get(metric)
    n = result.dataset.n
    stderr = result.standard_errors.get(metric)
    known: dict[str, Any] = {"num_samples": n} if n is not None else {}
    if interval:
        known["confidence_interval"] = {"lower": interval[0], "upper": interval[1], "confidence_level": 0.95}
    if stderr:  # 0 only says that all scores were equal
        known["standard_error"] = {"value": stderr}
    return {"uncertainty": known} if known else {}


def _generation(result: EvalResult) -> dict[str, Any]:
    generation = result.generation
    if generation is None:
        return {}
    greedy = {"temperature": 0.0} if generation.decoding == "greedy" else {}
    return {
        "generation_config": {
            "generation_args": {
                **greedy,
                "max_tokens": generation.max_answer_tokens,
                "reasoning": result.reasoning is not None,
                **({"execution_command": result.reproduce} if result.reproduce else {}),
            }
        }
    }


def _source(result: EvalResult) -> dict[str, Any]:
    dataset = result.dataset
    return {
        "dataset_name": result.benchmark,
        "source_type": "other",  # the test sets are private
        "additional_details": {
            "id": dataset.id,
            "split": dataset.split,
            "version": result.versions[result.benchmark],
            **({"revision": dataset.revision} if dataset.revision else {}),
        },
    }

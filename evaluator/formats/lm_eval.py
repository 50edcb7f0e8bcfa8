"""Convert results to the format of lm-eval (https://github.com/EleutherAI/lm-evaluation-harness, v0.4).

Scores are from 0 to 1, not in percent.
"""

from typing import Any

from evaluator.benchmarks import BENCHMARKS
from submissions.records.result import EvalResult


def to_lm_eval(result: EvalResult) -> dict[str, Any]:
    """Return a result as lm-eval's `results_*.json`. The key of a score is the metric and the filter: `em,none`."""
    task = result.benchmark
    config = result.config
    scores: dict[str, Any] = {"alias": task}
    for metric, value in result.results[task].items():
        scores[f"{metric},none"] = None if value is None else round(value / 100, 8)
        if error := result.standard_errors.get(metric):  # 0 only says that all scores were equal
            scores[f"{metric}_stderr,none"] = round(error / 100, 8)
    arguments = {"pretrained": config.model_name, "revision": config.model_sha, "dtype": config.model_dtype}
    version = result.versions[task]
    lower_is_better = {metric.name for metric in BENCHMARKS[task].metrics if metric.lower_is_better}
    return {
        "results": {task: scores},
        "group_subtasks": {task: []},
        "configs": {
            task: {
                "task": task,
                "dataset_path": result.dataset.id,
                "test_split": result.dataset.split,
                "output_type": "generate_until",
                "metadata": {"version": version},
            }
        },
        "versions": {task: version},
        "n-shot": {task: BENCHMARKS[task].examples},
        "higher_is_better": {task: {name: name not in lower_is_better for name in result.results[task]}},
        "n-samples": {task: result.n_samples[task]},
        "config": {
            "model": config.engine,
            "model_args": ",".join(f"{name}={value}" for name, value in arguments.items() if value),
            "model_num_parameters": config.params,
            "model_dtype": config.model_dtype,
            "model_sha": config.model_sha,
            "batch_size": config.batch_size,
        },
        "git_hash": result.git_hash,
        "date": result.date,
        "transformers_version": result.environment.get("transformers"),
        "model_source": config.engine,
        "model_name": config.model_name,
        "model_name_sanitized": config.model_name.replace("/", "__"),
        "total_evaluation_time_seconds": str(result.total_evaluation_time_seconds or ""),
    }

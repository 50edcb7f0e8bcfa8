"""Write `eval.yaml` for a dataset's repository on the Hub. It defines the tasks under which model pages show results.

source: https://huggingface.co/docs/hub/eval-results
"""

import yaml

from evaluator.benchmarks import BENCHMARKS


def benchmark_yaml(name: str) -> str:
    """Return `eval.yaml` for the repository of a benchmark's set."""
    card = BENCHMARKS[name].card
    # The format allows one value per task, so each metric is a task.
    tasks = [
        {"id": f"{card.hub_task}_{metric}", "config": "default", "split": card.split} for metric in hub_metrics(name)
    ]
    content = {"name": card.title, "description": card.summary.en, "evaluation_framework": "hannun", "tasks": tasks}
    text: str = yaml.safe_dump(content, allow_unicode=True, sort_keys=False)
    return text


def hub_metrics(benchmark: str) -> list[str]:
    """Return the metrics of a benchmark that model pages show, the headline first."""
    names = [metric.name for metric in BENCHMARKS[benchmark].metrics if metric.on_hub]
    return sorted(names, key=lambda name: name != BENCHMARKS[benchmark].card.headline)

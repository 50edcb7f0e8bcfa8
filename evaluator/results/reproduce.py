"""The command line that reproduces a result."""

import shlex

from evaluator.results.task import Task
from submissions.records.base import MAX_PIXELS
from submissions.records.options import MAX_REASONING_TOKENS, PRECISIONS


def reproduce(task: Task) -> str:
    """Return the `python -m evaluator run` command of a task, with placeholders for the operator's URLs and folders."""
    request = task.request
    options = task.options
    api = options.api
    command = ["python", "-m", "evaluator", "run", "--engine", "api" if api else request.engine]
    if api and options.remote:
        command += ["--base-url", "BASE_URL", "--model", str(api.model)]
    else:
        command += ["--model", request.model_id, "--revision", request.revision]
        if request.precision in PRECISIONS:  # otherwise the checkpoint's precision
            command += ["--precision", request.precision]
    if api and api.spawn:
        command += ["--spawn", api.spawn]
    command += ["--benchmark", task.benchmark.name, "--out", "out"]
    if task.benchmark.drawn and not task.source.split.startswith("sample"):  # `ko-fresh verify` draws FOLDER
        command += ["--data", f"FOLDER#{task.source.split}"]
    given = {
        "--thinking": request.thinking,
        "--decoding": options.decoding if options.decoding != "greedy" else None,
        "--max-new-tokens": _none_if_default(options.max_new_tokens, task.benchmark.max_new_tokens),
        "--max-reasoning-tokens": _none_if_default(options.max_reasoning_tokens, MAX_REASONING_TOKENS),
        "--limit": task.limit,
        "--max-pixels": _none_if_default(options.max_pixels, MAX_PIXELS),
    }
    for name, value in given.items():
        command += [name, str(value)] if value else []
    command += ["--trust-remote-code"] if request.custom_code else []
    command += ["--no-images"] if task.blind else []
    return shlex.join(command)


def _none_if_default(value: int, default: int) -> int | None:
    return None if value == default else value

"""Write the command line that reproduces a result. It is a field of the result, and the board shows it."""

import shlex

from evaluator.results.task import Task
from submissions.records.base import MAX_PIXELS
from submissions.records.options import MAX_REASONING_TOKENS, PRECISIONS


def reproduce(task: Task) -> str:
    """Return the `python -m evaluator run` command of a task, with options only if they differ from their default.

    Two words are placeholders, because what they stand for may be private: BASE_URL for the operator's server, and DATA for
    the folder of the test set or its dataset on the Hub. Questions of KO-FRESH are generated from a secret seed, and
    `ko-fresh verify` writes such a folder once the seed is public.
    """
    request = task.request
    options = task.options
    api = options.api
    command = ["python", "-m", "evaluator", "run", "--engine", "api" if api else request.engine]
    if api and options.remote:
        command += ["--base-url", "BASE_URL", "--model", str(api.model)]
    else:
        command += ["--model", request.model_id, "--revision", request.revision]
        if request.precision in PRECISIONS:  # otherwise the method of a quantised checkpoint, which cannot be chosen
            command += ["--precision", request.precision]
    if api and api.spawn:
        command += ["--spawn", api.spawn]
    command += ["--benchmark", task.benchmark.name, "--out", "out"]
    if not task.source.is_sample:
        command += ["--data", f"DATA#{task.source.split}"]
    options_with_value = {
        "--thinking": request.thinking,
        "--decoding": options.decoding if options.decoding != "greedy" else None,
        "--max-new-tokens": _none_if_default(options.max_new_tokens, task.benchmark.max_new_tokens),
        "--max-reasoning-tokens": _none_if_default(options.max_reasoning_tokens, MAX_REASONING_TOKENS),
        "--limit": task.limit,
        "--max-pixels": _none_if_default(options.max_pixels, MAX_PIXELS),
        "--page-chars": api.page_chars if api else None,
    }
    for name, value in options_with_value.items():
        if value:
            command += [name, str(value)]
    if api and api.image_links:
        command.append("--image-links")
    if request.custom_code:
        command.append("--trust-remote-code")
    if task.blind:
        command.append("--no-images")
    return shlex.join(command)


def _none_if_default(value: int, default: int) -> int | None:
    return None if value == default else value

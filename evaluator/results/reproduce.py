"""The command line that makes a result again, and the commit of this code."""

import shlex
import subprocess
from pathlib import Path

from evaluator.results.task import Task
from submissions.config.paths import ROOT
from submissions.records.base import MAX_PIXELS
from submissions.records.options import MAX_REASONING_TOKENS, PRECISIONS


def reproduce(task: Task) -> str:
    """The `python -m evaluator run` of a task, without what only the operator has (addresses, folders)."""
    request, options = task.request, task.options
    api = options.api
    command = ["python", "-m", "evaluator", "run", "--engine", "api" if api else request.engine]
    if api and options.remote:
        command += ["--base-url", "BASE_URL", "--model", str(api.model)]
    else:
        command += ["--model", request.model_id, "--revision", request.revision]
        if request.precision in PRECISIONS:  # else the checkpoint's own
            command += ["--precision", request.precision]
    if api and api.spawn:
        command += ["--spawn", api.spawn]
    command += ["--benchmark", task.benchmark.name, "--out", "out"]
    if task.benchmark.drawn and not task.source.split.startswith("sample"):  # FOLDER: ko-fresh verify draws it
        command += ["--data", f"FOLDER#{task.source.split}"]
    given = {
        "--thinking": request.thinking,
        "--decoding": options.decoding if options.decoding != "greedy" else None,
        "--max-new-tokens": _unless(task.benchmark.max_new_tokens, options.max_new_tokens),
        "--max-reasoning-tokens": _unless(MAX_REASONING_TOKENS, options.max_reasoning_tokens),
        "--limit": task.limit,
        "--max-pixels": _unless(MAX_PIXELS, options.max_pixels),
    }
    for name, value in given.items():
        command += [name, str(value)] if value else []
    command += ["--trust-remote-code"] if request.custom_code else []
    command += ["--no-images"] if task.blind else []
    return shlex.join(command)


def _unless(default: int, value: int) -> int | None:
    return None if value == default else value


def server_name(command: str) -> str:
    """The program of a command that starts a server: `vllm serve {model}` is vllm."""
    words = shlex.split(command)
    module = words.index("-m") + 1 if "-m" in words else 0
    return words[module].partition(".")[0] if module else Path(words[0]).name


def git_hash() -> str | None:
    """The commit of this code; None outside of a git repository."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--verify", "-q", "HEAD"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=10,
            process_group=0,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None

"""Convert results to Inspect logs (https://inspect.aisi.org.uk/eval-logs.html, version 2 of the format)."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from submissions.records.result import EvalResult


def to_inspect(result: EvalResult) -> dict[str, Any]:
    """Return a result as an Inspect log without samples. Scores are from 0 to 1, like Inspect's own metrics.

    A result without a date gets that of the export, because Inspect requires one.
    """
    date = datetime.fromtimestamp(result.date or time.time(), UTC).isoformat()
    n = result.dataset.n or 0
    metrics = {
        name: {"name": name, "value": round(value / 100, 8)}
        for name, value in result.results[result.benchmark].items()
        if value is not None
    }
    arguments = {
        "revision": result.config.model_sha,
        "dtype": result.config.model_dtype,
        "batch_size": result.config.batch_size,
    }
    settings: dict[str, float] = {}
    if result.generation:
        settings["max_tokens"] = result.generation.max_answer_tokens
        if result.generation.decoding == "greedy":
            settings["temperature"] = 0.0
    failure = "" if metrics else result.outcome  # such as out_of_memory
    status = "error" if failure else "success"
    completed = 0 if failure else n
    error: dict[str, Any] = {}
    if failure:
        error["error"] = {"message": failure, "traceback": "", "traceback_ansi": ""}
    revision = {"revision": {"type": "git", "origin": "", "commit": result.git_hash}} if result.git_hash else {}
    return {
        "version": 2,
        "status": status,
        "eval": {
            "eval_id": result.request_key,
            "run_id": result.request_key,
            "created": date,
            "task": result.benchmark,
            "task_id": result.request_key,
            "task_version": result.versions[result.benchmark],
            "task_attribs": {},
            "task_args": {},
            "dataset": {"name": result.dataset.id, "samples": n, "shuffled": False},
            "model": result.config.model_name,
            "model_args": {name: value for name, value in arguments.items() if value is not None},
            "config": {},
            "packages": {name: str(value) for name, value in result.environment.items()},
            **revision,
        },
        "plan": {
            "name": "plan",
            "steps": [],
            "config": settings,
        },
        "results": {
            "total_samples": n,
            "completed_samples": completed,
            "scores": [{"name": result.benchmark, "scorer": result.benchmark, "params": {}, "metrics": metrics}],
        },
        "stats": {"started_at": date, "completed_at": date, "model_usage": _usage(result)},
        **error,
    }


def _usage(result: EvalResult) -> dict[str, Any]:
    """Return the tokens that the model read and wrote, with its name as the key, or an empty dict if they are unknown."""
    cost = result.cost
    if cost is None or cost.prompt_tokens is None or cost.completion_tokens is None:
        return {}
    usage = {
        "input_tokens": cost.prompt_tokens,
        "output_tokens": cost.completion_tokens,
        "total_tokens": cost.prompt_tokens + cost.completion_tokens,
    }
    return {result.config.model_name: usage}


def sample(
    scorer: str, item_id: str, prompt: str, images: Sequence[str], gold: str, answer: str, score: float
) -> dict[str, Any]:
    """Return the answer to one item as a sample of a log. `images` are addresses, `score` is from 0 to 1.

    `scorer` is the name under which the log has the scores: that of the benchmark.
    """
    image_parts = [{"type": "image", "image": url} for url in images]
    user_message = {"role": "user", "content": [*image_parts, {"type": "text", "text": prompt}]}
    assistant_message = {"role": "assistant", "content": answer, "source": "generate"}
    return {
        "id": item_id,
        "epoch": 1,
        "input": [user_message],
        "target": gold,
        "messages": [user_message, assistant_message],
        "output": {"choices": [{"message": assistant_message, "stop_reason": "stop"}]},
        "scores": {scorer: {"value": score, "answer": answer}},
    }

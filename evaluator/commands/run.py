"""`python -m evaluator run`: evaluate one model on one benchmark on this machine.

It writes the same record as a worker, and the answers and scores of each item, to the folder `--out`. Nothing is queued or
published.
"""

import argparse
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

from evaluator.benchmarks import BENCHMARKS
from evaluator.commands.console import shown_progress
from evaluator.commands.find_model import fetch_folders, find_model, local_request
from evaluator.core.errors import DataError, Details, EvaluationError, IncompleteRunError, ModelServerError
from evaluator.datasets.source import check_sent, open_source
from evaluator.engines.registry import REGISTRY
from evaluator.job.folder import Job
from evaluator.results.evaluate import Evaluation, evaluate
from evaluator.results.task import Task, load_items, options_of
from submissions.config.api_options import ApiOptions
from submissions.config.paths import nearest_existing
from submissions.config.settings import Settings, load_settings
from submissions.hub_models.model_facts import ModelFacts
from submissions.records.request import EvalRequest

# Files and folder in --out. The job folder is deleted at the end; a run that was interrupted continues from it.
RESULT, DETAILS, JOB = "result.json", "details.jsonl", "job"


def main(args: argparse.Namespace) -> int:
    """Evaluate the model and print its scores. If the run is incomplete, the answers so far are written."""
    _check_out(args.out)
    task = _task(args, load_settings(BENCHMARKS))
    items, dataset = load_items(task)
    with shown_progress() as show:
        try:
            evaluation = evaluate(task, items, dataset, args.out / JOB, on_progress=show)
        except IncompleteRunError as error:
            (args.out / RESULT).unlink(missing_ok=True)  # of an earlier run, whose details are replaced now
            _write_details(error.details, args.out)
            raise
        except ModelServerError as error:
            raise EvaluationError(error.code, f"{error} (log: {Job(args.out / JOB).log})") from error
    _write(evaluation, args.out)
    return 0


def _check_out(out: Path) -> None:
    """Check before hours of work that the result can be written, without writing anything. Raises DataError if it cannot."""
    job = out / JOB
    existing = nearest_existing(job)
    if not (existing.is_dir() and os.access(existing, os.W_OK)):
        raise DataError(f"--out {out}: {existing} is not a folder that can be written to")
    if job.exists() and any(job.iterdir()) and not Job(job).is_prepared:
        raise DataError(f"--out {out}: it contains a folder named {JOB} with other files, which would be deleted")
    for name in (RESULT, DETAILS):
        if (out / name).is_dir():
            raise DataError(f"--out {out}: it contains a folder named {name}")


def _task(args: argparse.Namespace, settings: Settings) -> Task:
    """Build the task from the arguments. Raises DataError, RefusedError, EvaluationError."""
    benchmark = BENCHMARKS[args.benchmark]
    source = open_source(args.benchmark, args.data, settings)
    engine = _engine(args)
    api = _api(args) if engine == "api" else None
    check_sent(args.benchmark, api, settings)
    facts = find_model(args, settings)
    if args.no_images:
        facts = replace(facts, takes_images=True)  # a text model can also be asked without images
    request = _request(facts, engine, args)
    folder, adapter = fetch_folders(facts, args, settings)
    options = options_of(
        request,
        folder,
        benchmark,
        adapter=adapter,
        max_new_tokens=args.max_new_tokens,
        max_reasoning_tokens=args.max_reasoning_tokens or settings.max_reasoning_tokens,
        decoding=args.decoding,
        batch_size=args.batch_size,
        max_pixels=args.max_pixels or settings.max_pixels,
        api=api,
    )
    return Task(
        request,
        options,
        benchmark,
        source,
        limit=args.limit,
        latency_samples=settings.latency_samples if args.latency_samples is None else args.latency_samples,  # may be 0
        max_score_changes=settings.max_score_changes,
        cache=None if args.fresh else settings.work_dir / "answers",
        blind=args.no_images,
        sandbox=args.sandbox == "auto",
    )


def _engine(args: argparse.Namespace) -> str | None:
    """Return the engine that the arguments name, or None if the model's config decides.

    Raises DataError if the engine has no server, or cannot evaluate the benchmark.
    """
    if args.base_url or args.spawn:
        return "api"
    if args.engine == "api":
        raise DataError("--engine api needs --base-url, or --spawn to start a server")
    if args.engine == "auto":
        return None
    possible = REGISTRY.benchmarks_for(args.engine)
    if args.benchmark not in possible:
        raise DataError(f"--engine {args.engine} cannot evaluate {args.benchmark}, only {', '.join(possible)}")
    return str(args.engine)


def _request(facts: ModelFacts, engine: str | None, args: argparse.Namespace) -> EvalRequest:
    """Return the request. Raises RefusedError."""
    if args.base_url:
        # The chat template of a server is unknown, so the mode is sent to the server without a check. It is not part of the
        # request's key, which only queued requests need (`request_key`).
        unchecked = local_request(facts, args, thinking=None)
        request = unchecked.evolve(thinking=args.thinking)
    else:
        request = local_request(facts, args, args.thinking)
    return request.evolve(engine=engine) if engine else request


def _api(args: argparse.Namespace) -> ApiOptions:
    """Return the options of the API engine. Raises DataError if a budget of money has no prices."""
    if args.max_cost is not None and args.prices is None:
        raise DataError("--max-cost needs --prices")
    return ApiOptions(
        base_url=args.base_url[0] if args.base_url else None,
        replicas=tuple((args.base_url or [])[1:]),
        model=None if args.spawn else args.model,
        spawn=args.spawn,
        page_chars=args.page_chars,
        image_links=args.image_links,
        max_requests=args.max_requests,
        max_tokens=args.max_tokens,
        max_cost=args.max_cost,
        prices=tuple(args.prices or (0.0, 0.0)),
    )


def _write(evaluation: Evaluation, out: Path) -> None:
    """Write the record and the details, delete the job folder, and print the scores and the path of the record."""
    (out / RESULT).write_bytes(evaluation.result.to_bytes())
    _write_details(evaluation.details, out)
    shutil.rmtree(out / JOB)
    result = evaluation.result
    scores = result.results[result.benchmark]
    measures = [f"{name} {score:.2f}" for name, score in scores.items() if score is not None]
    if result.latency:
        measures.append(f"{result.latency.mean_ms:,.1f} ms a question")
    test_set = f"{result.dataset.split}, n = {result.dataset.n}"
    print(f"{result.config.model_name} on {result.benchmark} ({test_set}): {', '.join(measures)}\n{out / RESULT}")


def _write_details(details: Details, out: Path) -> None:
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in details)
    (out / DETAILS).write_text(lines, encoding="utf-8")

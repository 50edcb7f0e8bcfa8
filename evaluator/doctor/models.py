"""Check what evaluates models: test sets, model servers, APIs, and one whole evaluation of a tiny model."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2
from httpx2 import HTTPError

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.errors import EvaluationError, SandboxError
from evaluator.datasets.leak_check import CANARY
from evaluator.datasets.source import DRAWN, SCHEME, open_source
from evaluator.doctor.findings import MOUNTED, Finding, Options, fault, ok, skipped
from evaluator.doctor.machine import has_worker
from evaluator.engines.registry import REGISTRY
from evaluator.job.folder import Job, tail_of
from evaluator.results.evaluate import evaluate
from evaluator.results.task import Task, load_items, options_of
from submissions.checks.model_checks import inspect_model
from submissions.checks.request import build_request
from submissions.config.api_options import ApiOptions, key_fault
from submissions.config.paths import ROOT
from submissions.config.settings import Settings
from submissions.texts.errors import RefusedError, SettingsError

REQUEST_SECONDS = 20.0
TINY_MODELS = "scripts.support.tiny_models"  # the program that makes them; a board's image does not have it
TINY_MODEL = "tiny/image-text"
ITEMS = 2  # items of the sample set that the tiny model is asked


def check_data(settings: Settings, _: Options) -> Iterator[Finding]:
    """Check that each test set can be read and has as many items as its benchmark says.

    A private set on this machine must also have its canary. A drawn set is not read.
    """
    if not settings.data:
        drawn = ", ".join(name for name, benchmark in BENCHMARKS.items() if benchmark.drawn)
        said = (
            f"HANNUN_DATA names no test set: only rows of {drawn}, which is drawn here, have a rank; "
            "others are trials on sample items"
        )
        yield skipped("data", said)
    for name, data in settings.data.items():
        if data == DRAWN:
            yield ok("data", f"{name} is drawn from this installation's secret; its rows have a rank")
            continue
        try:
            source = open_source(name, data, settings)
            items = BENCHMARKS[name].load(source.path)
        except (EvaluationError, SettingsError, OSError) as error:
            yield fault("data", f"{name}: {error}", _remedy(data))
            continue
        # Each finding is about one fact, so a set that can be read is `ok` even if its size or its canary is a fault.
        card = BENCHMARKS[name].card
        if source.split == card.split and len(items) != card.n:
            remedy = "import the whole set, or name another split: HANNUN_DATA=… #SPLIT"
            yield fault("data", f"{name} has {len(items):,} items instead of {card.n:,}", remedy)
        if not card.is_public and not _is_on_hub(data) and not (source.path / CANARY).is_file():
            remedy = f"`python -m evaluator import` writes {CANARY}, a line by which a leak is found"
            yield fault("data", f"{name} has no {CANARY}", remedy)
        yield ok("data", f"{name}: {len(items):,} items can be read")


def _is_on_hub(data: str) -> bool:
    """Return whether a test set is read from the Hub, and not from a folder of this machine."""
    return data.startswith(SCHEME)


def _remedy(data: str) -> str:
    """Return what helps if a test set cannot be read."""
    if _is_on_hub(data):
        return "correct HANNUN_DATA"
    folder = Path(data.partition("#")[0])
    return "import the set again" if folder.is_dir() else MOUNTED


def check_apis(settings: Settings, _: Options) -> Iterator[Finding]:
    """Check each API's key, address and model with one free call (`GET /models`) that sends nothing but the key."""
    for name, api in settings.apis.items():
        yield from _check_api(f"api {name}", str(api.options.base_url), api.options.key, api.options.model)
    if settings.embeddings:
        server = settings.embeddings
        yield from _check_api("embeddings", server.base_url, server.key, server.model)


def _check_api(check: str, base_url: str, key: str, model: str | None) -> Iterator[Finding]:
    """Check one API. `key` is the name of the environment variable with its key."""
    if problem := key_fault(key):
        yield fault(check, problem, f"set {key} to the key of {base_url}")
        return
    secret = os.environ.get(key)
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    try:
        answer = httpx2.get(f"{base_url.rstrip('/')}/models", headers=headers, timeout=REQUEST_SECONDS)
    except HTTPError as error:
        yield fault(check, f"{base_url} does not answer ({type(error).__name__})", "check base_url, network and proxy")
        return
    if answer.status_code in (401, 403):
        yield fault(check, f"{base_url} answers {answer.status_code} to the key in {key}", f"replace the key in {key}")
        return
    if answer.status_code >= 500:
        yield fault(check, f"{base_url} answers {answer.status_code}", "run this again later")
        return
    listed = _model_names(answer)
    if answer.status_code == 404:
        yield skipped(check, f"{base_url} lists no models, so the name {model} was not checked")
    elif listed is None:
        remedy = "base_url is the address below which /chat/completions lies; it often ends in /v1"
        yield fault(check, f"{base_url}/models answers {answer.status_code} without a list of models", remedy)
    elif model and listed and model not in listed:
        yield fault(check, f"{base_url} has no model {model}", f"choose one of {', '.join(sorted(listed)[:5])}")
    else:
        yield ok(check, f"{base_url} answers")


def _model_names(answer: httpx2.Response) -> set[str] | None:
    """Return the names of the models that an API lists, or None if it sends something else.

    A list is `{"data": [{"id": "some-model", …}, …]}`.
    """
    try:
        rows = answer.json()["data"]
        return {str(row["id"]) for row in rows}
    except (ValueError, KeyError, TypeError):
        return None


def check_evaluation(settings: Settings, options: Options) -> Iterator[Finding]:
    """Evaluate a tiny model on sample items, with the built-in engine and through HANNUN_SERVER if that is set."""
    if not options.evaluates:
        return
    if not has_worker() or find_spec("scripts") is None:
        yield skipped("evaluation", "this environment has no worker")
        return
    with TemporaryDirectory() as scratch:
        models_dir = Path(scratch) / "models"
        making = subprocess.run(
            [sys.executable, "-m", TINY_MODELS, str(models_dir)], cwd=ROOT, capture_output=True, text=True
        )
        if making.returncode:
            yield fault(
                "evaluation", f"no tiny model could be made: {making.stderr[-200:]}", "install the lock files again"
            )
            return
        yield _evaluate(settings, models_dir, Path(scratch) / "built-in", "evaluation", None)
        if settings.server:
            server = ApiOptions(spawn=settings.server)
            yield _evaluate(settings, models_dir, Path(scratch) / "server", "server", server)


def _evaluate(settings: Settings, models_dir: Path, folder: Path, check: str, api: ApiOptions | None) -> Finding:
    """Evaluate the tiny model on a few sample items of the first benchmark for chat models.

    `folder` is a new folder for the job. With `api` the model is asked through a server, otherwise by the built-in engine.
    """
    name = next(name for name in BENCHMARKS if name in REGISTRY.benchmarks_for("chat"))
    benchmark = BENCHMARKS[name]
    engine_options = {"api": api, "engine": "api"} if api else {}
    try:
        facts = inspect_model(TINY_MODEL, None, models_dir, REGISTRY)
        request = build_request(facts, benchmark.name, REGISTRY, "doctor")
        task = Task(
            request,
            options_of(request, models_dir / TINY_MODEL, benchmark, max_new_tokens=8, **engine_options),
            benchmark,
            open_source(benchmark.name, None, settings),
            limit=ITEMS,
            latency_samples=1,
        )
        items, dataset = load_items(task)
        folder.mkdir()
        result = evaluate(task, items, dataset, folder).result
    except (EvaluationError, SandboxError, RefusedError, OSError) as error:
        said = f"a tiny model cannot be evaluated: {error}"
        if lines := tail_of(Job(folder).log).strip().splitlines():
            said += f"; the log ends with: {lines[-1][:200]}"
        remedy = (
            "try the command of HANNUN_SERVER by hand" if api else "the finding about the sandbox may name the cause"
        )
        return fault(check, said, remedy)
    return ok(check, f"a tiny model was evaluated in {result.total_evaluation_time_seconds:.1f} s on {dataset.n} items")

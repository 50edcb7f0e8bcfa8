"""Find the model that a command line names: a folder, a model on the Hub, or one behind a server."""

import argparse
import re
from pathlib import Path

from evaluator.engines.registry import REGISTRY
from evaluator.worker.model_download import fetch_model
from submissions.checks.model_checks import inspect_folder, inspect_model
from submissions.checks.option_checks import require_runnable
from submissions.checks.request import build_request
from submissions.config.settings import Settings
from submissions.hub_models.model_facts import ModelFacts, facts_of_server
from submissions.records.options import Thinking
from submissions.records.request import EvalRequest


def find_model(args: argparse.Namespace, settings: Settings) -> tuple[ModelFacts, Path, Path | None]:
    """Return the model's facts, its folder, and the folder of its adapter or None.

    Downloads a model of the Hub. Raises RefusedError, EvaluationError.
    """
    folder = Path(args.model)
    if args.base_url and not args.spawn:
        return facts_of_server(_model_id(args.model, "api"), args.base_url[0]), folder, None
    facts = facts_of_model(args.model, args.revision, settings, trust_code=args.trust_remote_code)
    local = folder.is_dir()
    code = facts.custom_code
    if facts.base_revision:
        base = fetch_model(str(facts.base_model), facts.base_revision, settings, with_code=code)
        return facts, base, folder if local else fetch_model(facts.model_id, facts.revision, settings)
    return facts, folder if local else fetch_model(facts.model_id, facts.revision, settings, with_code=code), None


def facts_of_model(model: str, revision: str | None, settings: Settings, *, trust_code: bool) -> ModelFacts:
    """Return the facts of the model in a folder, or of the Hub model with that name if there is no such folder.

    Of a Hub model only the heads of files are downloaded. Raises RefusedError.
    """
    folder = Path(model)
    if not folder.is_dir():
        return inspect_model(model, revision, settings.models_dir, REGISTRY, trust_code=trust_code)
    name = _model_id(folder.resolve().name, "local")
    return inspect_folder(
        name, folder, REGISTRY, models_dir=settings.models_dir, revision=revision, trust_code=trust_code
    )


def local_request(facts: ModelFacts, args: argparse.Namespace, thinking: Thinking | None) -> EvalRequest:
    """Return the request of an evaluation on this machine, which is never queued. Raises RefusedError."""
    require_runnable(facts, args.benchmark, REGISTRY, thinking)
    return build_request(
        facts,
        args.benchmark,
        REGISTRY,
        "local",
        requested_revision=args.revision,
        precision=args.precision,
        thinking=thinking,
    )


def _model_id(name: str, owner: str) -> str:
    """Return a valid model ID, `owner/name`, for a model that has none."""
    parts = [re.sub(r"[^A-Za-z0-9._-]", "-", part).strip("._-") or "model" for part in name.split("/")[-2:]]
    return "/".join(parts if len(parts) == 2 else [owner, *parts])

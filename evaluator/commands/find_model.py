"""Find the model that a command line names: a folder, a model on the Hub, or one behind a server.

The commands `run`, `parity` and `estimate` first read its facts and check their options by these. `run` and `parity` then
download it.
"""

import argparse
import re
from pathlib import Path
from typing import NamedTuple

from evaluator.engines.registry import REGISTRY
from evaluator.worker.model_download import fetch_model
from submissions.checks.model_checks import inspect_folder, inspect_model
from submissions.checks.option_checks import require_runnable
from submissions.checks.request import build_request
from submissions.config.settings import Settings
from submissions.hub_models.model_facts import ModelFacts, facts_of_server
from submissions.records.options import Thinking
from submissions.records.request import EvalRequest


class ModelFolders(NamedTuple):
    """The folders with the files of a model."""

    folder: Path  # of the model, or of its base model if it is an adapter; behind a server only a name
    adapter: Path | None  # the folder of a LoRA adapter


def find_model(args: argparse.Namespace, settings: Settings) -> ModelFacts:
    """Return the facts of the model of `--model`. Its weights are not downloaded. Raises RefusedError."""
    if args.base_url:  # the model runs on a server that somebody else has started
        return facts_of_server(_model_id(args.model, "api"), args.base_url[0])
    return facts_of_model(args.model, args.revision, settings, trust_code=args.trust_remote_code)


def fetch_folders(facts: ModelFacts, args: argparse.Namespace, settings: Settings) -> ModelFolders:
    """Return the folders of the model of `--model`, downloaded if it is on the Hub. Raises EvaluationError."""
    named_folder = Path(args.model)
    if args.base_url:
        return ModelFolders(named_folder, None)
    is_local = named_folder.is_dir()
    if facts.base_revision:  # an adapter: only its base model may need code
        base = fetch_model(str(facts.base_model), facts.base_revision, settings, with_code=facts.custom_code)
        adapter = named_folder if is_local else fetch_model(facts.model_id, facts.revision, settings)
        return ModelFolders(base, adapter)
    if is_local:
        return ModelFolders(named_folder, None)
    folder = fetch_model(facts.model_id, facts.revision, settings, with_code=facts.custom_code)
    return ModelFolders(folder, None)


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
    """Return a valid model ID, OWNER/NAME, for a model that has none: ("my model", "local") -> "local/my-model".

    A name with slashes keeps its last two parts: ("a/b/c", "api") -> "b/c".
    """
    parts = [re.sub(r"[^A-Za-z0-9._-]", "-", part).strip("._-") or "model" for part in name.split("/")[-2:]]
    return "/".join(parts if len(parts) == 2 else [owner, *parts])

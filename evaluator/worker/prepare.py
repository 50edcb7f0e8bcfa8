"""Turn a claimed request into a task: fetch the model, choose the engine's options, open the test set."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.errors import EvaluationError
from evaluator.datasets.source import check_sent, configured_source
from evaluator.errata.records import read_corrections
from evaluator.results.task import Task, options_of
from evaluator.worker.model_download import fetch_model
from submissions.config.api_options import ApiOptions, key_fault
from submissions.config.settings import Settings
from submissions.operator.code_approval import find_approval
from submissions.records.registry import CHAT_ENGINE
from submissions.records.request import EvalRequest
from submissions.store.base import Store
from submissions.store.private import PrivateStore
from submissions.texts.errors import SettingsError
from submissions.texts.failure_codes import FailureCode


def prepare_task(
    request: EvalRequest,
    settings: Settings,
    store: Store,
    private: PrivateStore,
    stop: threading.Event,
    devices: Sequence[str] | None = None,
) -> Task:
    """Fetch a request's model and return its task.

    `store` is the public one, which has approvals and errata for private evaluations too. `devices` are names as in
    CUDA_VISIBLE_DEVICES, by default those that this process sees.

    Raises EvaluationError if the model or the test set cannot be fetched, or the model's code or API may not be used,
    SettingsError for unusable settings of the test set, EvaluationStopped once `stop` is set, StoreError if a store fails.
    """
    api = api_options(request, settings)
    try:  # the terms of the test set may forbid sending its questions to an API
        check_sent(request.benchmark, api, settings)
    except SettingsError as error:
        raise EvaluationError(FailureCode.API_REFUSED, str(error)) from None
    folders = _no_model(settings) if request.api else _fetch(request, settings, store, stop)
    benchmark = BENCHMARKS[request.benchmark]
    options = options_of(
        request,
        folders.model,
        benchmark,
        adapter=folders.adapter,
        api=api,
        max_reasoning_tokens=settings.max_reasoning_tokens,
        max_pixels=settings.max_pixels,
    )
    source = configured_source(request.benchmark, settings)
    source = replace(source, corrections=read_corrections(store, private, benchmark.name, source.split))
    return Task(
        request,
        options,
        benchmark,
        source=source,
        limit=settings.limit,
        latency_samples=settings.latency_samples,
        max_score_changes=settings.max_score_changes,
        cache=settings.work_dir / "answers",
        devices=devices,
        price_per_hour=settings.price_per_hour,
    )


class _ModelFolders(NamedTuple):
    model: Path
    adapter: Path | None = None  # a LoRA adapter for the model


def _no_model(settings: Settings) -> _ModelFolders:
    """Return an empty folder in place of a model that is only known to a remote server."""
    folder = settings.work_dir / "no-model"
    folder.mkdir(parents=True, exist_ok=True)
    return _ModelFolders(folder)


def _fetch(request: EvalRequest, settings: Settings, store: Store, stop: threading.Event) -> _ModelFolders:
    """Fetch the submitted model. If that is an adapter, fetch its base model too.

    Raises EvaluationError if the model is not available or its code is not approved, EvaluationStopped once `stop` is set.
    """
    model_id = request.model_id
    revision = request.revision
    if request.base_revision:  # an adapter was submitted, and only its base model may have code
        model_id = str(request.base_model)
        revision = request.base_revision
    code = find_approval(store, model_id, revision) if request.custom_code else None
    if request.custom_code and code is None:
        raise EvaluationError(FailureCode.CODE_NOT_APPROVED, f"the code of {model_id}@{revision} is not approved")
    adapter = None
    if request.base_revision:
        adapter = fetch_model(request.model_id, request.revision, settings, stop=stop)
    model = fetch_model(model_id, revision, settings, code, stop=stop)
    return _ModelFolders(model, adapter)


def api_options(request: EvalRequest, settings: Settings) -> ApiOptions | None:
    """Return the options of the server that answers, or None for the built-in engine.

    Raises EvaluationError if HANNUN_APIS lacks the server, or the variable with its key has none that can be sent.
    """
    if request.api:
        if (api := settings.apis.get(request.api)) is None:
            raise EvaluationError(FailureCode.API_REFUSED, f"HANNUN_APIS does not name {request.api}")
        if key_problem := key_fault(api.options.key):
            raise EvaluationError(FailureCode.API_REFUSED, f"HANNUN_APIS {request.api}: {key_problem}")
        return api.options
    # HANNUN_SERVER answers instead of the chat engine, but loads one folder, and adapters need that of their base too.
    if settings.server and request.engine == CHAT_ENGINE and not request.base_revision:
        return ApiOptions(spawn=settings.server)
    return None

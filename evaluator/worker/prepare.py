"""Turn a claimed request into a task: fetch the model, choose the engine's options, open the test set."""

import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.errors import EvaluationError
from evaluator.datasets.source import check_sent, configured_source
from evaluator.errata.records import read_corrections
from evaluator.results.task import Task, options_of
from evaluator.worker.model_download import fetch_model
from submissions.config.api_options import API_KEY, ApiOptions
from submissions.config.settings import Settings
from submissions.operator.code_approval import find_approval
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
    CUDA_VISIBLE_DEVICES, by default those that this process sees. Raises EvaluationError if the model cannot be fetched or
    its code may not run, EvaluationStopped once `stop` is set, StoreError if a store fails.
    """
    api = api_options(request, settings)
    try:
        check_sent(request.benchmark, api, settings)
    except SettingsError as error:
        raise EvaluationError(FailureCode.API_REFUSED, str(error)) from None
    fetch = partial(fetch_model, settings=settings, stop=stop)
    adapter, code = None, None
    if request.api:
        model = settings.work_dir / "no-model"
        model.mkdir(parents=True, exist_ok=True)
    else:
        submitted = (request.model_id, request.revision)
        base = (str(request.base_model), request.base_revision) if request.base_revision else submitted
        if request.custom_code and (code := find_approval(store, *base)) is None:
            message = f"the code of {base[0]}@{base[1]} is not approved"
            raise EvaluationError(FailureCode.CODE_NOT_APPROVED, message)
        adapter = fetch(*submitted) if request.base_revision else None
        model = fetch(*base, code=code)
    benchmark = BENCHMARKS[request.benchmark]
    options = options_of(
        request,
        model,
        benchmark,
        adapter=adapter,
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


def api_options(request: EvalRequest, settings: Settings) -> ApiOptions | None:
    """Return the options of the server that answers, or None for the built-in engine.

    Raises EvaluationError if HANNUN_APIS lacks the server or the variable with its key is not set.
    """
    if request.api:
        if (known := settings.apis.get(request.api)) is None:
            raise EvaluationError(FailureCode.API_REFUSED, f"HANNUN_APIS does not name {request.api}")
        if known.options.key != API_KEY and not os.environ.get(known.options.key):
            message = f"HANNUN_APIS {request.api}: the variable {known.options.key} is not set"
            raise EvaluationError(FailureCode.API_REFUSED, message)
        return known.options
    # A server loads one folder; adapters are merged by the built-in engine.
    if settings.server and request.engine == "chat" and not request.base_revision:
        return ApiOptions(spawn=settings.server)
    return None

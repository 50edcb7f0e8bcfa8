"""Build the request that is queued for a model."""

from datetime import UTC, datetime

from submissions.hub_models.model_facts import ModelFacts
from submissions.hub_models.quantization import QUANTIZATIONS
from submissions.records.base import AS_SERVED, Precision
from submissions.records.options import Thinking
from submissions.records.registry import Registry
from submissions.records.request import DEFAULT_REVISION, EvalRequest, request_key


def used_precision(facts: ModelFacts, requested: Precision | None) -> Precision:
    """Return the precision in which a model will run."""
    if facts.precision in (*QUANTIZATIONS, AS_SERVED):  # of a quantised checkpoint or a model behind an API: no choice
        return facts.precision
    return requested or facts.precision


def build_request(
    facts: ModelFacts,
    benchmark: str,
    registry: Registry,
    submitted_by: str,
    *,
    requested_revision: str | None = None,
    precision: Precision | None = None,
    thinking: Thinking | None = None,
    share: bool = False,
) -> EvalRequest:
    """Return a pending request for one benchmark. `submitted_by` is a pseudonym.

    This function does not check whether the model can take the benchmark's questions (see `benchmark_checks`).
    """
    thinking = thinking or facts.thinking
    precision = used_precision(facts, precision)
    version = registry.benchmarks[benchmark].version
    base = f"{facts.base_model}@{facts.base_revision}" if facts.base_revision else None  # of an adapter
    return EvalRequest(
        key=request_key(facts.model_id, facts.revision, precision, benchmark, version, thinking, base),
        model_id=facts.model_id,
        requested_revision=requested_revision or DEFAULT_REVISION,
        revision=facts.revision,
        precision=precision,
        benchmark=benchmark,
        benchmark_version=version,
        engine=facts.engine,
        model_type=facts.model_type,
        params=facts.params,
        license=facts.license,
        submitted_by=submitted_by,
        submitted_at=datetime.now(UTC),
        share=share,
        thinking=thinking,
        base_model=facts.base_model,
        base_revision=facts.base_revision,
        custom_code=facts.custom_code,
        api=facts.api,
        shown=facts.shown,
    )

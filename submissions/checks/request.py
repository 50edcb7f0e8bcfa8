"""From a model's facts to the request that is queued."""

from datetime import UTC, datetime

from submissions.catalog import BENCHMARKS, Thinking
from submissions.checks.benchmark_checks import check_inputs
from submissions.errors import RefusedError
from submissions.messages import RefusalCode
from submissions.models.model_facts import ModelFacts
from submissions.models.quantization import QUANTIZATIONS
from submissions.records import AS_SERVED, DEFAULT_REVISION, EvalRequest, Precision, request_key


def build_request(
    facts: ModelFacts,
    benchmark: str,
    submitted_by: str | None,
    requested_revision: str | None = None,
    precision: Precision | None = None,
    share: bool = False,
    organisation: str | None = None,
    thinking: Thinking | None = None,
) -> EvalRequest:
    """A pending request for one benchmark. Submitter and organisation are told by their pseudonyms.

    Raises RefusedError where the model cannot take the benchmark's questions.
    """
    check_inputs(facts, benchmark)
    if thinking and thinking not in facts.modes:
        raise RefusedError(RefusalCode.NO_THINKING_SWITCH, ", ".join(facts.modes))
    thinking = thinking or facts.thinking
    # A quantised checkpoint and a model behind an API are run as they are.
    precision = facts.dtype if facts.dtype in (*QUANTIZATIONS, AS_SERVED) else precision or facts.dtype
    version = BENCHMARKS[benchmark].version
    base = f"{facts.base_model}@{facts.base_revision}" if facts.base_revision else None
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
        submitted_by=submitted_by or "",
        organisation=organisation,
        submitted_at=datetime.now(UTC),
        share=share,
        thinking=thinking,
        base_model=facts.base_model,
        base_revision=facts.base_revision,
        custom_code=facts.custom_code,
        api=facts.api,
    )

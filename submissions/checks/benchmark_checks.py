"""Whether a model can take a benchmark's questions, and be run as asked; and the request that says so."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from jinja2 import TemplateError

from submissions.catalog import BENCHMARKS
from submissions.checks.model_checks import Check, NotAsked, Unknown, checked
from submissions.messages import CheckName, RefusalCode
from submissions.models.chat_template import environment
from submissions.models.model_facts import MAX_TEMPLATE, ModelFacts, memory_needed
from submissions.models.quantization import QUANTIZATIONS
from submissions.models.repository import Refused
from submissions.records import EvalRequest, Precision, Thinking, request_key


def check_fit(facts: ModelFacts, benchmark: str) -> Iterator[Check]:
    """Every check of whether the model can take this benchmark's questions."""
    inputs = checked(CheckName.INPUTS, lambda: _inputs(facts, benchmark), benchmark)
    assert inputs
    yield inputs
    if inputs.refusal:
        return
    looks: dict[CheckName, Callable[[], str]] = {CheckName.CONTEXT: lambda: _context(facts, benchmark)}
    if facts.engine == "chat":
        looks = {CheckName.TEMPLATE: lambda: _template(facts, benchmark), **looks}
    for name, look in looks.items():
        if check := checked(name, look, benchmark):
            yield check


def check_options(
    facts: ModelFacts, precision: Precision | None, thinking: Thinking | None, memory: int | None
) -> Iterator[Check]:
    """Every check of how the model is to be run; `memory` is that of the worker's devices, None where not known."""
    for name, look in (
        (CheckName.MEMORY, lambda: _memory(facts, precision, memory)),
        (CheckName.THINKING, lambda: _thinking(facts, thinking)),
    ):
        if check := checked(name, look):
            yield check


def build_request(
    facts: ModelFacts,
    benchmark: str,
    submitted_by: str,
    requested_revision: str | None = None,
    precision: Precision | None = None,
    share: bool = False,
    organisation: str | None = None,
    thinking: Thinking | None = None,
) -> EvalRequest:
    """A pending request for one benchmark. Raises Refused where the model cannot take its questions."""
    _inputs(facts, benchmark)
    if thinking and not facts.thinking:
        raise Refused(RefusalCode.NO_THINKING_SWITCH)
    thinking = thinking or facts.thinking
    # A quantised checkpoint is run as it is.
    precision = facts.dtype if facts.dtype in QUANTIZATIONS else precision or facts.dtype
    version = BENCHMARKS[benchmark].version
    base = f"{facts.base_model}@{facts.base_revision}" if facts.base_revision else None
    return EvalRequest(
        key=request_key(facts.model_id, facts.revision, precision, benchmark, version, thinking, base),
        model_id=facts.model_id,
        requested_revision=requested_revision or "main",
        revision=facts.revision,
        precision=precision,
        benchmark=benchmark,
        benchmark_version=version,
        engine=facts.engine,
        model_type=facts.model_type,
        params=facts.params,
        license=facts.license,
        submitted_by=submitted_by,
        organisation=organisation,
        submitted_at=datetime.now(UTC),
        share=share,
        thinking=thinking,
        base_model=facts.base_model,
        base_revision=facts.base_revision,
        custom_code=facts.custom_code,
        api=facts.api,
    )


def _inputs(facts: ModelFacts, benchmark: str) -> str:
    if BENCHMARKS[benchmark].inputs == "image" and facts.engine == "extractive":
        raise Refused(RefusalCode.EXTRACTIVE_ONLY)
    if BENCHMARKS[benchmark].inputs == "image" and not facts.takes_images:
        raise Refused(RefusalCode.NO_IMAGE_INPUT)
    return ""


def _template(facts: ModelFacts, benchmark: str) -> str:
    if not facts.template:
        raise Refused(RefusalCode.NO_TEMPLATE)
    if len(facts.template) > MAX_TEMPLATE:
        raise Refused(RefusalCode.NO_TEMPLATE, f"{len(facts.template):,} > {MAX_TEMPLATE:,}")
    try:
        environment().parse(facts.template)
    except (TemplateError, RecursionError) as error:
        line = getattr(error, "lineno", "?")
        raise Refused(RefusalCode.NO_TEMPLATE, f"{type(error).__name__}, line {line}") from None
    if facts.template_fault:
        raise Refused(RefusalCode.TEMPLATE_FAILS, facts.template_fault)
    if facts.template_drops == "question":
        raise Refused(RefusalCode.TEMPLATE_DROPS_QUESTION)
    if facts.template_drops and BENCHMARKS[benchmark].inputs == "image":
        raise Refused(RefusalCode.TEMPLATE_DROPS_IMAGE)
    return ""


def _context(facts: ModelFacts, benchmark: str) -> str:
    if facts.context is None:
        raise Unknown
    needed = BENCHMARKS[benchmark].min_context
    if facts.context < needed:
        raise Refused(RefusalCode.SHORT_CONTEXT, f"{facts.context:,} < {needed:,}")
    return f"{facts.context:,}"


def _memory(facts: ModelFacts, precision: Precision | None, memory: int | None) -> str:
    needed = memory_needed(facts, precision)
    if needed is None or memory is None:
        raise Unknown
    if needed > memory:
        raise Refused(RefusalCode.DEVICE_MEMORY, f"{needed / 1e9:,.0f} GB > {memory / 1e9:,.0f} GB")
    return f"{needed / 1e9:,.1f} GB"


def _thinking(facts: ModelFacts, wanted: Thinking | None) -> str:
    if facts.thinking:
        return wanted or facts.thinking
    if wanted:
        raise Refused(RefusalCode.NO_THINKING_SWITCH)
    raise NotAsked

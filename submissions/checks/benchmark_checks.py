"""The checks of a model against one benchmark, and of how it is to be run."""

from collections.abc import Callable, Iterator

from jinja2 import TemplateError

from submissions.catalog import BENCHMARKS, Thinking, benchmarks_of
from submissions.checks.check import Check, NotApplicableError, NotCheckableError, run_check
from submissions.errors import RefusedError
from submissions.messages import CheckName, RefusalCode
from submissions.models.chat_template import environment
from submissions.models.model_facts import MAX_TEMPLATE, ModelFacts, memory_needed
from submissions.records import Precision


def check_benchmark(facts: ModelFacts, benchmark: str) -> Iterator[Check]:
    """Every check of whether the model can take this benchmark's questions."""
    inputs = run_check(CheckName.INPUTS, lambda: check_inputs(facts, benchmark), benchmark)
    assert inputs
    yield inputs
    if inputs.refusal:
        return
    checks: dict[CheckName, Callable[[], str]] = {CheckName.CONTEXT: lambda: _context(facts, benchmark)}
    if facts.engine == "chat":
        checks = {CheckName.TEMPLATE: lambda: _template(facts, benchmark), **checks}
    for name, run in checks.items():
        if check := run_check(name, run, benchmark):
            yield check


def check_options(
    facts: ModelFacts, precision: Precision | None, thinking: Thinking | None, memory: int | None
) -> Iterator[Check]:
    """Every check of how the model is to be run; `memory` is that of the worker's devices, None where not known."""
    for name, run in (
        (CheckName.MEMORY, lambda: _memory(facts, precision, memory)),
        (CheckName.THINKING, lambda: _thinking(facts, thinking)),
    ):
        if check := run_check(name, run):
            yield check


def check_inputs(facts: ModelFacts, benchmark: str) -> str:
    """Nothing, where the model takes the benchmark's inputs. Raises RefusedError."""
    if benchmark not in (able := benchmarks_of(facts.engine)):
        raise RefusedError(RefusalCode.ENGINE_INPUTS, ", ".join(able))
    if BENCHMARKS[benchmark].inputs == "image" and not facts.takes_images:
        raise RefusedError(RefusalCode.NO_IMAGE_INPUT)
    return ""


def _template(facts: ModelFacts, benchmark: str) -> str:
    if not facts.template:
        raise RefusedError(RefusalCode.NO_TEMPLATE)
    if len(facts.template) > MAX_TEMPLATE:
        raise RefusedError(RefusalCode.NO_TEMPLATE, f"{len(facts.template):,} > {MAX_TEMPLATE:,}")
    try:
        environment().parse(facts.template)
    except (TemplateError, RecursionError) as error:
        line = getattr(error, "lineno", "?")
        raise RefusedError(RefusalCode.NO_TEMPLATE, f"{type(error).__name__}, line {line}") from None
    if facts.template_fault:
        raise RefusedError(RefusalCode.TEMPLATE_FAILS, facts.template_fault)
    if facts.template_drops == "question":
        raise RefusedError(RefusalCode.TEMPLATE_DROPS_QUESTION)
    if facts.template_drops and BENCHMARKS[benchmark].inputs == "image":
        raise RefusedError(RefusalCode.TEMPLATE_DROPS_IMAGE)
    return ""


def _context(facts: ModelFacts, benchmark: str) -> str:
    if facts.context is None:
        raise NotCheckableError
    needed = BENCHMARKS[benchmark].min_context
    if facts.context < needed:
        raise RefusedError(RefusalCode.SHORT_CONTEXT, f"{facts.context:,} < {needed:,}")
    return f"{facts.context:,}"


def _memory(facts: ModelFacts, precision: Precision | None, memory: int | None) -> str:
    needed = memory_needed(facts.params, precision or facts.dtype, facts.weight_bytes)
    if needed is None or memory is None:
        raise NotCheckableError
    if needed > memory:
        raise RefusedError(RefusalCode.DEVICE_MEMORY, f"{needed / 1e9:,.0f} GB > {memory / 1e9:,.0f} GB")
    return f"{needed / 1e9:,.1f} GB"


def _thinking(facts: ModelFacts, wanted: Thinking | None) -> str:
    if wanted and wanted not in facts.modes:
        raise RefusedError(RefusalCode.NO_THINKING_SWITCH, ", ".join(facts.modes))
    if not facts.modes:
        raise NotApplicableError
    return wanted or facts.thinking or ""

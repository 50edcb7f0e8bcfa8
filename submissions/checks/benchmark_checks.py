"""Check that a model can answer a benchmark's questions: its inputs, its chat template and its context length."""

from collections.abc import Iterator
from functools import partial

from jinja2 import TemplateError

from submissions.checks.report import NotCheckableError, run_check
from submissions.hub_models.model_facts import MAX_TEMPLATE, ModelFacts
from submissions.hub_models.template_renderer import environment
from submissions.records.check import Check
from submissions.records.registry import CHAT_ENGINE, Registry
from submissions.texts.check_names import CheckName
from submissions.texts.errors import RefusedError
from submissions.texts.refusals import RefusalCode


def benchmark_checks(facts: ModelFacts, benchmark: str, registry: Registry) -> Iterator[Check]:
    """Run the checks that tell whether a model can answer a benchmark's questions, and yield their outcomes.

    If the model cannot take the benchmark's inputs, its template and its context do not matter, so they are not checked.
    """
    checks = [(CheckName.INPUTS, check_inputs)]
    if facts.engine == CHAT_ENGINE:
        checks.append((CheckName.TEMPLATE, _check_template))
    checks.append((CheckName.CONTEXT, _check_context))
    for name, run in checks:
        check = run_check(name, partial(run, facts, benchmark, registry), benchmark)
        if check is None:
            continue
        yield check
        if name == CheckName.INPUTS and check.refusal:
            return


def check_inputs(facts: ModelFacts, benchmark: str, registry: Registry) -> str:
    """Raise RefusedError if a model cannot take a benchmark's inputs. Return an empty detail otherwise."""
    if benchmark not in (supported := registry.benchmarks_for(facts.engine)):
        raise RefusedError(RefusalCode.ENGINE_INPUTS, ", ".join(supported))
    if registry.benchmarks[benchmark].inputs == "image" and not facts.takes_images:
        raise RefusedError(RefusalCode.NO_IMAGE_INPUT)
    return ""


def _check_template(facts: ModelFacts, benchmark: str, registry: Registry) -> str:
    if not facts.template:
        raise RefusedError(RefusalCode.NO_TEMPLATE)
    if len(facts.template) > MAX_TEMPLATE:
        raise RefusedError(RefusalCode.NO_TEMPLATE, f"{len(facts.template):,} > {MAX_TEMPLATE:,}")
    # A syntax error is in `template_fault` too, but without its line, and not for a model with custom code.
    try:
        environment().parse(facts.template)
    except (TemplateError, RecursionError) as error:
        line = getattr(error, "lineno", "?")
        raise RefusedError(RefusalCode.NO_TEMPLATE, f"{type(error).__name__}, line {line}") from None
    if facts.template_fault:
        raise RefusedError(RefusalCode.TEMPLATE_FAILS, facts.template_fault)
    if facts.template_drops == "question":
        raise RefusedError(RefusalCode.TEMPLATE_DROPS_QUESTION)
    if facts.template_drops == "image" and registry.benchmarks[benchmark].inputs == "image":
        raise RefusedError(RefusalCode.TEMPLATE_DROPS_IMAGE)
    if facts.template_begins:
        return f"warning: it writes {facts.template_begins[:40]!r} before the first token"
    return ""


def _check_context(facts: ModelFacts, benchmark: str, registry: Registry) -> str:
    if facts.context is None:
        raise NotCheckableError
    needed = registry.benchmarks[benchmark].min_context
    if facts.context < needed:
        raise RefusedError(RefusalCode.SHORT_CONTEXT, f"{facts.context:,} < {needed:,}")
    return f"{facts.context:,}"

"""Check the options that a model is submitted with: the precision, by the memory that it needs, and the reasoning mode."""

from collections.abc import Iterator
from contextlib import suppress

from submissions.checks.benchmark_checks import check_inputs
from submissions.checks.report import NotApplicableError, NotCheckableError, run_check
from submissions.checks.request import used_precision
from submissions.hub_models.model_facts import ModelFacts, memory_needed
from submissions.records.base import Precision
from submissions.records.check import Check
from submissions.records.options import Thinking
from submissions.records.registry import Registry
from submissions.texts.check_names import CheckName
from submissions.texts.errors import RefusedError
from submissions.texts.refusals import RefusalCode


def option_checks(
    facts: ModelFacts, precision: Precision | None, thinking: Thinking | None, memory: int | None
) -> Iterator[Check]:
    """Run the checks of the submitted options and yield their outcomes.

    `memory` is the memory of the worker's devices in bytes, or None if it is unknown.
    """
    for name, run in (
        (CheckName.MEMORY, lambda: _check_memory(facts, precision, memory)),
        (CheckName.THINKING, lambda: check_thinking(facts, thinking)),
    ):
        if check := run_check(name, run):
            yield check


def require_runnable(facts: ModelFacts, benchmark: str, registry: Registry, thinking: Thinking | None) -> None:
    """Raise RefusedError if a model cannot take a benchmark's questions, or cannot be asked to reason in this way."""
    check_inputs(facts, benchmark, registry)
    with suppress(NotApplicableError):  # the model has no modes, and none was asked for
        check_thinking(facts, thinking)


def check_thinking(facts: ModelFacts, wanted: Thinking | None) -> str:
    """Return the reasoning mode in which a model will run.

    Raises RefusedError if the model does not have the `wanted` mode, NotApplicableError if it has no modes.
    """
    if wanted and wanted not in facts.modes:
        raise RefusedError(RefusalCode.NO_THINKING_SWITCH, ", ".join(facts.modes))
    if not facts.modes:
        raise NotApplicableError
    return wanted or facts.thinking or ""


def _check_memory(facts: ModelFacts, precision: Precision | None, memory: int | None) -> str:
    needed = memory_needed(facts.params, used_precision(facts, precision), facts.weight_bytes)
    if needed is None or memory is None:
        raise NotCheckableError
    if needed > memory:
        raise RefusedError(RefusalCode.DEVICE_MEMORY, f"{needed / 1e9:,.1f} GB > {memory / 1e9:,.1f} GB")
    return f"{needed / 1e9:,.1f} GB"

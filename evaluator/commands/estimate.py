"""`python -m evaluator estimate`: print the expected device hours, wall time and price of a model's evaluations."""

import argparse

from evaluator.benchmarks import BENCHMARKS
from evaluator.commands.find_model import facts_of_model
from evaluator.core.errors import DataError
from evaluator.engines.registry import REGISTRY
from evaluator.results.estimate import DEVICES, DeviceSpeed, device_named, estimate
from submissions.checks.benchmark_checks import benchmark_checks
from submissions.checks.request import used_precision
from submissions.config.settings import load_settings
from submissions.hub_models.devices import device_names
from submissions.hub_models.model_facts import BYTES_PER_PARAM, ModelFacts
from submissions.records.result import EvalResult
from submissions.store.index import board_reader
from submissions.store.open import open_store
from submissions.texts.errors import RefusedError

MAX_PAST_RUNS = 200  # newest results of each benchmark that an estimate is compared with


def main(args: argparse.Namespace) -> int:
    """Print an estimate for each benchmark, corrected by the newest results that were measured by this board."""
    settings = load_settings(BENCHMARKS)
    device = _device(args.device)
    facts = facts_of_model(args.model, args.revision, settings, trust_code=True)  # nothing of the model is run here
    if facts.params is None or facts.weight_bytes is None:
        raise DataError(f"{args.model}: its size cannot be read from its files")
    precision = used_precision(facts, args.precision)
    weight_bytes = facts.weight_bytes
    # Loading converts weights to this precision. Quantised weights, whose precision is not in the table, stay as in the files.
    if precision in BYTES_PER_PARAM:
        weight_bytes = facts.params * BYTES_PER_PARAM[precision]
    price = args.price if args.price is not None else settings.price_per_hour
    is_reasoning = (args.thinking or facts.thinking) not in (None, "off")
    benchmarks = _benchmarks(facts, list(dict.fromkeys(args.benchmarks)))
    store = open_store(settings.store, settings)
    snapshot = store.snapshot()
    rows, _ = board_reader(store).read(snapshot)
    newest_first = sorted((row for row in rows if row.kind == "verified"), key=lambda row: -(row.date or 0))
    for name in benchmarks:
        newest = [row for row in newest_first if row.benchmark == name][:MAX_PAST_RUNS]
        past = [EvalResult.from_json(store.read(row.path, snapshot.head)) for row in newest]
        estimated = estimate(facts.params, weight_bytes, name, device, reasons=is_reasoning, past=past)
        accuracy = f"9 of 10 within {estimated.error:.1f}×" if estimated.error else "too few to compare with"
        cost = "" if price is None else f", ${price * estimated.seconds / 3600:.2f}"
        print(
            f"{name}: {BENCHMARKS[name].card.n:,} questions on {estimated.devices} × {device.name} take about "
            f"{estimated.seconds / 3600:.2f} h, {estimated.device_hours:.2f} device hours{cost} "
            f"({estimated.runs} past runs: {accuracy})"
        )
    return 0


def _benchmarks(facts: ModelFacts, named: list[str]) -> list[str]:
    """Return the named benchmarks, or all that accept the model if none is named.

    Raises RefusedError if a named benchmark, or every benchmark, refuses the model.
    """
    accepting: list[str] = []
    first_refusal: RefusedError | None = None
    for name in named or BENCHMARKS:
        refusal = _refusal(facts, name)
        if refusal is None:
            accepting.append(name)
        else:
            first_refusal = first_refusal or refusal
    if first_refusal and (named or not accepting):
        raise first_refusal
    return accepting


def _refusal(facts: ModelFacts, benchmark: str) -> RefusedError | None:
    """Return the first reason why a benchmark cannot be run with a model, or None if it accepts it."""
    checks = benchmark_checks(facts, benchmark, REGISTRY)
    return next((RefusedError(check.refusal, check.detail) for check in checks if check.refusal), None)


def _device(name: str | None) -> DeviceSpeed:
    """Return the speed of the named device, or of this machine's. Raises DataError if the device is unknown."""
    name = name or next(iter(device_names()), "CPU")
    if device := device_named(name):
        return device
    raise DataError(f"unknown device {name}; choose one with --device: {', '.join(d.name for d in DEVICES)}")

"""`python -m evaluator estimate`: device hours, wall time and price of a model's evaluations, before they are made."""

import argparse

from evaluator.benchmarks import BENCHMARKS
from evaluator.commands.find_model import facts_of_model
from evaluator.core.errors import DataError
from evaluator.engines.registry import REGISTRY
from evaluator.results.estimate import DEVICES, DeviceSpeed, device_named, estimate
from submissions.checks.benchmark_checks import benchmark_checks
from submissions.config.settings import load_settings
from submissions.hub_models.devices import device_names
from submissions.hub_models.model_facts import BYTES, ModelFacts
from submissions.records.result import EvalResult
from submissions.store.index import board_reader, parse_record
from submissions.store.open import open_store
from submissions.texts.errors import RefusedError

PAST_RUNS = 200  # the newest, of each benchmark


def main(args: argparse.Namespace) -> int:
    """Compares with the newest results of the board that were measured here."""
    settings = load_settings(BENCHMARKS)
    device = _device(args.device)
    facts = facts_of_model(args.model, args.revision, settings, trust_code=True)
    if facts.params is None or facts.weight_bytes is None:
        raise DataError(f"{args.model}: its files do not tell its size")
    precision = args.precision or facts.precision
    weight_bytes = facts.params * BYTES[precision] if precision in BYTES else facts.weight_bytes
    price = args.price if args.price is not None else settings.price_per_hour
    wanted = _wanted(facts, list(dict.fromkeys(args.benchmarks)))
    store = open_store(settings.store, settings)
    snapshot = store.snapshot()
    rows = [row for row in board_reader(store).read(snapshot)[0] if row.kind == "verified"]
    for name in wanted:
        newest = sorted((row for row in rows if row.benchmark == name), key=lambda row: -(row.date or 0))[:PAST_RUNS]
        made = estimate(
            facts.params,
            weight_bytes,
            name,
            device,
            reasons=(args.thinking or facts.thinking) not in (None, "off"),
            past=[parse_record(store.read(row.path, snapshot.head), EvalResult) for row in newest],
        )
        told = f"9 of 10 within {made.error:.1f}×" if made.error else "too few to compare with"
        cost = "" if price is None else f", ${price * made.seconds / 3600:.2f}"
        print(
            f"{name}: {BENCHMARKS[name].card.n:,} questions on {made.devices} × {device.name} take about "
            f"{made.seconds / 3600:.2f} h, {made.device_hours:.2f} device hours{cost} ({made.runs} past runs: {told})"
        )
    return 0


def _wanted(facts: ModelFacts, named: list[str]) -> list[str]:
    """The benchmarks named, or all whose questions the model can take. Raises RefusedError where it cannot."""
    refusals = {name: _refusal(facts, name) for name in named or BENCHMARKS}
    able = [name for name, refusal in refusals.items() if refusal is None]
    refusal = next(filter(None, refusals.values()), None)
    if refusal and (named or not able):
        raise refusal
    return able


def _refusal(facts: ModelFacts, benchmark: str) -> RefusedError | None:
    checks = benchmark_checks(facts, benchmark, REGISTRY)
    return next((RefusedError(check.refusal, check.detail) for check in checks if check.refusal), None)


def _device(name: str | None) -> DeviceSpeed:
    """Raises DataError for one that nothing is known of."""
    found = name or next(iter(device_names()), "CPU")
    if device := device_named(found):
        return device
    raise DataError(f"{found}: no such device is known; name one with --device: {', '.join(d.name for d in DEVICES)}")

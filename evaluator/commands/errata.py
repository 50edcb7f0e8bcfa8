"""`python -m evaluator errata`: correct or withdraw an item, and score stored answers again."""

import argparse
from dataclasses import replace

from filelock import FileLock
from rich.console import Console
from rich.table import Table

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark
from evaluator.commands.console import shown_progress
from evaluator.core.errors import DataError
from evaluator.datasets.corrections import Correction
from evaluator.datasets.source import Source, configured_source
from evaluator.errata.records import add_erratum, read_corrections, read_errata
from evaluator.errata.rescore import Rescored, Rescoring, check_signing_key
from submissions.config.settings import Settings, load_settings
from submissions.records.request import Status
from submissions.store.index import queue_reader
from submissions.store.open import check_there, open_private_store, open_store
from submissions.texts.printable import printable

MAX_SHOWN = 20  # results that moved


def main(args: argparse.Namespace) -> int:
    """Raises DataError, SettingsError or StoreError if nothing was changed."""
    settings = load_settings(BENCHMARKS).with_store(args.store)
    check_there(settings.store)
    benchmark = BENCHMARKS[args.benchmark]
    source = configured_source(benchmark.name, settings)
    if args.step == "list":
        table = Table(
            "version", "item", "change", "since", "moved", "reason", title=f"{benchmark.name}, {source.split}"
        )
        store = open_store(settings.store, settings)
        for one in read_errata(store, benchmark.name, source.split):
            what = "withdrawn" if one.withdrawn else "answer"
            cells = (one.version, one.item, what, f"{one.since:%Y-%m-%d}", str(len(one.moved)), one.reason)
            table.add_row(*map(printable, cells))
        Console().print(table)
        return 0
    settings.work_dir.mkdir(parents=True, exist_ok=True)
    with FileLock(settings.work_dir / "errata.lock"):  # another command would score the same results
        return _correct(args, settings, benchmark, source)


def _correct(args: argparse.Namespace, settings: Settings, benchmark: Benchmark, source: Source) -> int:
    """Add an erratum if that is asked for, and score stored answers again."""
    store = open_store(settings.store, settings)
    private = open_private_store(settings)
    items = benchmark.load(source.path)
    check_signing_key(benchmark, source, store, settings)
    if args.step == "add":
        reason = args.reason.strip()
        if not reason:
            raise DataError("give a reason, which will be public: --reason TEXT")
        before = replace(source, corrections=read_corrections(store, private, benchmark.name, source.split))
        earlier = Rescoring(benchmark, before, items, store, private, settings)
        if not args.unranked:
            earlier.check_answers()
        if before.corrections.made:
            earlier.run()  # the rest of an interrupted command, whose moves belong to its own erratum
        correction = Correction(args.item, None if args.withdraw else args.answer)
        corrections = add_erratum(store, private, benchmark, source, items, correction, reason)
        print(f"{benchmark.name} on {source.split} is now version {corrections.version_of(benchmark)}")
    else:
        corrections = read_corrections(store, private, benchmark.name, source.split)
    corrected = replace(source, corrections=corrections)
    rescoring = Rescoring(benchmark, corrected, items, store, private, settings)
    with shown_progress() as show:
        rescored = rescoring.run(lambda done, total: show("score", done, total))
    _print(rescored)
    rows, _ = queue_reader(store).read(store.snapshot())
    running = sum(row.benchmark == benchmark.name and row.status == Status.RUNNING for row in rows)
    if running:
        print(
            f"note: {running} running evaluations may still use the version of before: once they have ended, run "
            f"python -m evaluator errata rescore {benchmark.name}"
        )
    return 0


def _print(rescored: Rescored) -> None:
    print(f"{len(rescored.keys)} results were scored again, {len(rescored.moved)} moved")
    for one in rescored.moved[:MAX_SHOWN]:
        ranks = f", rank {one.rank_before} to {one.rank_after}" if one.rank_before != one.rank_after else ""
        print(printable(f"  {one.model}: {one.before:.2f} to {one.after:.2f}{ranks}"))
    if rescored.not_rescored:
        print(f"{len(rescored.not_rescored)} results keep the version of before and have no rank:")
        for key, reason in rescored.not_rescored.items():
            print(f"  {key}: {reason}")

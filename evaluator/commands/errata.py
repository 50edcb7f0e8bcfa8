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
from submissions.store.base import Store
from submissions.store.index import queue_reader
from submissions.store.open import check_there, open_private_store, open_store
from submissions.texts.printable import printable

MAX_SHOWN = 20  # results with another score or rank that are printed


def main(args: argparse.Namespace) -> int:
    """Run the step `add`, `rescore` or `list`.

    Raises DataError, SettingsError or StoreError if the step cannot be done. Then nothing was changed by it, but results of
    an earlier command that was interrupted may have been published.
    """
    settings = load_settings(BENCHMARKS).with_store(args.store)
    check_there(settings.store)
    benchmark = BENCHMARKS[args.benchmark]
    source = configured_source(benchmark.name, settings)
    if args.step == "list":
        _list(open_store(settings.store, settings), benchmark, source)
        return 0
    settings.work_dir.mkdir(parents=True, exist_ok=True)
    with FileLock(settings.work_dir / "errata.lock"):  # another command would score the same results
        return _correct(args, settings, benchmark, source)


def _list(store: Store, benchmark: Benchmark, source: Source) -> None:
    """Print a table of the errata of a set."""
    table = Table("version", "item", "change", "since", "moved", "reason", title=f"{benchmark.name}, {source.split}")
    for erratum in read_errata(store, benchmark.name, source.split):
        cells = (
            erratum.version,
            erratum.item,
            "withdrawn" if erratum.withdrawn else "answer",
            f"{erratum.since:%Y-%m-%d}",
            str(len(erratum.moved)),
            erratum.reason,
        )
        table.add_row(*map(printable, cells))
    Console().print(table)


def _correct(args: argparse.Namespace, settings: Settings, benchmark: Benchmark, source: Source) -> int:
    """Add an erratum if the step is `add`, and score stored answers again."""
    store = open_store(settings.store, settings)
    private = open_private_store(settings)
    items = benchmark.load(source.path)
    check_signing_key(benchmark, source, store, settings)
    if args.step == "add" and not args.reason.strip():
        raise DataError("give a reason, which will be public: --reason TEXT")
    corrections = read_corrections(store, private, benchmark.name, source.split)
    source = replace(source, corrections=corrections)  # the set with the corrections so far
    if args.step == "add":
        earlier = Rescoring(benchmark, source, items, store, private, settings)
        _finish_earlier(earlier, has_errata=bool(corrections.made), needs_answers=not args.unranked)
        correction = Correction(args.item, None if args.withdraw else args.answer)
        corrections = add_erratum(store, private, benchmark, source, items, correction, args.reason.strip())
        source = replace(source, corrections=corrections)
        print(f"{benchmark.name} on {source.split} is now version {corrections.version_of(benchmark)}")
    rescoring = Rescoring(benchmark, source, items, store, private, settings)
    with shown_progress() as show:
        rescored = rescoring.run(lambda done, total: show("score", done, total))
    _print(rescored)
    rows, _unreadable = queue_reader(store).read(store.snapshot())
    running = sum(row.benchmark == benchmark.name and row.status == Status.RUNNING for row in rows)
    if running:
        print(
            f"note: {running} running evaluations may still use the version of before: once they have ended, run "
            f"python -m evaluator errata rescore {benchmark.name}"
        )
    return 0


def _finish_earlier(earlier: Rescoring, *, has_errata: bool, needs_answers: bool) -> None:
    """Check that results can be scored again, and finish an earlier command that may have been interrupted.

    The scores and ranks that it changes belong to its erratum. Results without stored answers cannot be scored again and lose
    their rank; if no result can, --unranked is needed.
    """
    if needs_answers:
        earlier.check_answers()
    if has_errata:
        earlier.run()


def _print(rescored: Rescored) -> None:
    print(f"{len(rescored.keys)} results were scored again, {len(rescored.moved)} moved")
    for move in rescored.moved[:MAX_SHOWN]:
        ranks = f", rank {move.rank_before} to {move.rank_after}" if move.rank_before != move.rank_after else ""
        print(printable(f"  {move.model}: {move.before:.2f} to {move.after:.2f}{ranks}"))
    if rescored.not_rescored:
        print(f"{len(rescored.not_rescored)} results keep the version of before and have no rank:")
        for key, reason in rescored.not_rescored.items():
            print(f"  {key}: {reason}")

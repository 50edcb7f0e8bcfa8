"""`python -m evaluator ko-fresh`: draw a set, reveal a quarter, verify a revealed one, describe its items."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from evaluator.benchmarks import BENCHMARKS
from evaluator.commands.console import progress_bar
from evaluator.core.errors import DataError
from evaluator.core.files import check_new_folder, new_folder
from evaluator.fresh.draw import draw_set
from evaluator.fresh.seed import commitment, differences, other_versions, reveal
from evaluator.opened.books import Books, open_books
from evaluator.opened.collect import collect
from evaluator.opened.dataset import upload, write_dataset
from evaluator.opened.item_statistics import item_statistics
from evaluator.opened.recompute import book_differences
from submissions.config.settings import Settings, load_settings
from submissions.records.operator import Commitment
from submissions.store.open import check_there, open_store


def main(args: argparse.Namespace) -> int:
    """Return exit code 1 if a revealed set differs from its commitment. Raises DataError, SettingsError, StoreError."""
    steps = {"draw": _draw, "collect": _collect, "reveal": _reveal, "verify": _verify, "statistics": _statistics}
    return steps[args.step](args)


def _draw(args: argparse.Namespace) -> int:
    check_new_folder(args.out)
    with _progress("figures") as show:
        print(f"{args.out}: {draw_set(args.seed, args.out, args.n, show)}")
    return 0


def _collect(args: argparse.Namespace) -> int:
    check_new_folder(args.out)
    books = _collected(args.quarter, _settings())
    with new_folder(args.out) as folder:
        books.save(folder)
    print(f"{args.out}: {len(books.results)} results. Keep it private until the seed of {args.quarter} is revealed")
    return 0


def _reveal(args: argparse.Namespace) -> int:
    quarter, settings = args.quarter, _settings()
    check_new_folder(args.out)
    books = _collected(quarter, settings)
    running = f" {quarter} is still the ranked quarter." if quarter == BENCHMARKS["ko-fresh"].card.split else ""
    question = (
        f"Anyone can then read the set of {quarter} and all answers of {len(books.results)} results, and later results have "
        f"no rank.{running} Reveal it? [y/N] "
    )
    if not args.yes and input(question).strip().lower() not in ("y", "yes"):
        print("nothing revealed")
        return 2
    if books.commitment.revealed_at:
        print(f"note: {quarter} was revealed before, {books.commitment.revealed_at:%Y-%m-%d %H:%M} UTC")
    public = reveal(quarter, settings, args.dataset)
    with new_folder(args.out) as folder, _progress("results") as show:
        write_dataset(replace(books, commitment=public), folder, args.dataset, show)
    print(f"{quarter}: {public.seed}\n{args.out}: {len(books.results)} results")
    if args.push:
        print(upload(args.out, args.dataset, settings.hub_token_value))
    return 0


def _verify(args: argparse.Namespace) -> int:
    check_new_folder(args.out)
    folder = Path(args.published)
    books = open_books(folder) if folder.is_dir() else None
    public = books.commitment if books else _commitment(args.published)
    with _progress("figures") as show:
        found = differences(public, args.out, show)
    for remark in other_versions(public):
        print(f"note: {remark}")
    if books:
        found += book_differences(books)
        print(f"{folder}: {len(books.results)} results with {len(books.items):,} answers each, scored again")
    print("\n".join(found) or f"{args.out}: {public.set_sha256}")
    return 1 if found else 0


def _statistics(args: argparse.Namespace) -> int:
    books = open_books(args.folder)
    if not books.results:
        raise DataError(f"{args.folder}: there are no results")
    title = f"{books.commitment.quarter}: {len(books.items):,} items, {len(books.results)} results"
    table = Table("axis", "items of", "n", "right", "discrimination", "all right", "none right", title=title)
    for part in item_statistics(books):
        shown = "–" if part.discrimination is None else f"{part.discrimination:.2f}"
        counts = (f"{part.n:,}", f"{100 * part.right:.1f} %", shown, f"{part.everybody:,}", f"{part.nobody:,}")
        table.add_row(part.axis, part.bucket, *counts)
    Console().print(table)
    return 0


def _settings() -> Settings:
    settings = load_settings(BENCHMARKS)
    check_there(settings.store)
    return settings


def _collected(quarter: str, settings: Settings) -> Books:
    books, lost = collect(quarter, settings)
    for key in lost:
        print(f"note: the answers of {key} are not in the private store any more, so it is left out")
    return books


def _commitment(named: str) -> Commitment:
    file = Path(named)
    if not file.is_file():
        settings = _settings()
        return commitment(open_store(settings.store, settings), named)
    try:
        return Commitment.model_validate_json(file.read_bytes())
    except ValueError:
        raise DataError(f"{file}: not a commitment") from None


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int], None]]:
    with progress_bar() as progress:
        bar = progress.add_task(what, total=None)

        def show(done: int, total: int) -> None:
            progress.update(bar, completed=done, total=total)

        yield show

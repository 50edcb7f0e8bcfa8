"""`python -m evaluator ko-fresh`: draw a set, reveal a quarter, verify a revealed one, describe its items."""

import argparse
import re
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from evaluator.benchmarks import BENCHMARKS
from evaluator.commands.console import shown_progress
from evaluator.commands.verify import read_place
from evaluator.core.errors import DataError
from evaluator.core.files import check_new_folder, new_folder
from evaluator.fresh.draw import draw_set
from evaluator.fresh.seed import commitment, differences, other_versions, reveal
from evaluator.opened.books import Books, open_books
from evaluator.opened.collect import collect
from evaluator.opened.dataset import check_is_free, upload, write_dataset
from evaluator.opened.item_statistics import item_statistics
from evaluator.opened.on_board import board_differences
from evaluator.opened.recompute import book_differences, file_differences
from submissions.config.settings import Settings, load_settings
from submissions.records.operator import Commitment
from submissions.records.request import Status
from submissions.store.index import queue_reader
from submissions.store.open import check_there, open_store


def main(args: argparse.Namespace) -> int:
    """Return exit code 1 if a revealed set differs from its commitment. Raises DataError, SettingsError, StoreError."""
    steps = {"draw": _draw, "collect": _collect, "reveal": _reveal, "verify": _verify, "statistics": _statistics}
    return steps[args.step](args)


def _draw(args: argparse.Namespace) -> int:
    check_new_folder(args.out)
    with shown_progress() as show:
        print(f"{args.out}: {draw_set(args.seed, args.out, args.n, partial(show, 'draw'))}")
    return 0


def _collect(args: argparse.Namespace) -> int:
    check_new_folder(args.out)
    books = collect(args.quarter, _settings())
    with new_folder(args.out) as folder:
        books.save(folder)
    print(f"{args.out}: {len(books.results)} results. Keep it private until the seed of {args.quarter} is revealed")
    return 0


def _reveal(args: argparse.Namespace) -> int:
    quarter, settings = args.quarter, _settings()
    check_new_folder(args.out)
    books = collect(quarter, settings)
    before = books.commitment
    if before.dataset not in (None, args.dataset):
        raise DataError(f"{quarter} was revealed with the dataset {before.dataset}, and that was not changed")
    if found := book_differences(books):
        raise DataError(f"nothing revealed, because the results do not follow from their answers: {'; '.join(found)}")
    if args.push:
        check_is_free(args.dataset, settings.hub_token_value)
    if before.revealed_at:
        print(f"note: {quarter} was revealed before, on {before.revealed_at:%Y-%m-%d %H:%M} UTC")
    elif not args.yes and input(_question(books, settings)).strip().lower() not in ("y", "yes"):
        print("nothing revealed")
        return 2
    reveal(quarter, settings, args.dataset)
    books = collect(quarter, settings)  # again, with the seed and with results that were published meanwhile
    with new_folder(args.out) as folder, shown_progress() as show:
        write_dataset(books, folder, args.dataset, partial(show, "write"))
    print(f"{quarter}: {books.commitment.seed}\n{args.out}: {len(books.results)} results")
    if args.push:
        print(upload(args.out, args.dataset, settings.hub_token_value))
    return 0


def _question(books: Books, settings: Settings) -> str:
    quarter = books.commitment.quarter
    store = open_store(settings.store, settings)
    waiting = (Status.PENDING, Status.RUNNING, Status.QUARANTINED)
    rows, _ = queue_reader(store).read(store.snapshot())
    open_requests = sum(row.benchmark == books.benchmark.name and row.status in waiting for row in rows)
    running = f" {quarter} is still the ranked quarter." if quarter == books.benchmark.card.split else ""
    return (
        f"Anyone can then read the set of {quarter} and all answers of {len(books.results)} results. Later results have no "
        f"rank, also those of {open_requests} open requests.{running} Reveal it? [y/N] "
    )


def _verify(args: argparse.Namespace) -> int:
    check_new_folder(args.out)
    folder = Path(args.published)
    if not folder.is_dir():
        return _verify_set(_commitment(args.published), args.out)
    books = open_books(folder)
    found = book_differences(books)
    print(f"{folder}: {len(books.results)} results, whose scores were computed again from their answers")
    if not books.results:
        found.append("there are no results")
    if not found:  # otherwise files that follow from the answers differ too, or cannot be written
        found += file_differences(books, folder)
    if args.board:
        found += board_differences(books, lambda path: read_place(f"{args.board.rstrip('/')}/{path}"))
    else:
        print(
            "note: the records were compared with the files beside them; --board ADDRESS compares them with a board's"
        )
    print("\n".join(found))
    return max(_verify_set(books.commitment, args.out), 1 if found else 0)


def _verify_set(public: Commitment, out: Path) -> int:
    with shown_progress() as show:
        found = differences(public, out, partial(show, "draw"))
    if public.beacon is None:
        print("note: no public randomness is part of the seed, so the operator chose it")
    for remark in other_versions(public):
        print(f"note: {remark}")
    print("\n".join(found) or f"{out}: {public.set_sha256}")
    return 1 if found else 0


def _statistics(args: argparse.Namespace) -> int:
    books = open_books(args.folder)
    if not books.results:
        raise DataError(f"{args.folder}: there are no results")
    title = f"{books.commitment.quarter}: {len(books.items):,} items, {len(books.results)} results"
    table = Table("axis", "bucket", "n", "right", "discrimination", "all get", "none get", title=title)
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


def _commitment(named: str) -> Commitment:
    file = Path(named)
    if not file.is_file() and re.fullmatch(r"\d{4}Q[1-4]", named):
        settings = _settings()
        return commitment(open_store(settings.store, settings), named)
    try:
        return Commitment.from_json(file.read_bytes())
    except FileNotFoundError:
        raise DataError(f"{file}: no such file, folder or quarter") from None
    except ValueError:
        raise DataError(f"{file}: not a commitment") from None

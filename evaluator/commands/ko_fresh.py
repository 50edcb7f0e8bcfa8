"""`python -m evaluator ko-fresh`: draw a set, reveal a quarter, verify a revealed one, describe its items.

`collect` and `reveal` are for the operator, and read the installation's stores. `draw`, `verify` and `statistics` are for
anyone, and read only files, or with `--board` what a board publishes; `verify QUARTER` also reads the public store.
docs/ko-fresh.md explains the procedure.

The *books* of a quarter are its commitment, its set, and all ranked results with their answers (`evaluator.quarters.books`).
"""

import argparse
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.table import Table

from evaluator.benchmarks import BENCHMARKS
from evaluator.commands.console import shown_progress
from evaluator.commands.published_folder import check_published_folder, table_of_items
from evaluator.core.errors import DataError, EvaluationError
from evaluator.core.files import check_new_folder, new_folder
from evaluator.fresh.draw import draw_set
from evaluator.fresh.seed import commitment, differences, other_versions, reveal
from evaluator.job.limited_process import run_limited
from evaluator.quarters.books import Books
from evaluator.quarters.collect import collect
from evaluator.quarters.dataset import create_dataset, upload, write_dataset
from evaluator.quarters.recompute import book_differences
from submissions.config.settings import Settings, load_settings
from submissions.records.operator import Commitment
from submissions.records.request import Status
from submissions.store.index import queue_reader
from submissions.store.open import check_there, open_store
from submissions.texts.printable import printable

VERIFY_SECONDS = 7200.0  # for everything that is computed from a stranger's folder
T = TypeVar("T")


def main(args: argparse.Namespace) -> int:
    """Run a step. Return exit code 1 if a revealed set differs from what was published, 2 if a reveal is declined.

    Raises DataError, SettingsError or StoreError if the step cannot be done.
    """
    steps = {
        "draw": _draw_step,
        "collect": _collect_step,
        "reveal": _reveal_step,
        "verify": _verify_step,
        "statistics": _statistics_step,
    }
    return steps[args.step](args)


def _draw_step(args: argparse.Namespace) -> int:
    """Draw a set and print its hash."""
    check_new_folder(args.out)
    with shown_progress() as show:
        set_hash = draw_set(args.seed, args.out, args.n, partial(show, "draw"))
    print(f"{args.out}: {set_hash}")  # outside, because the progress bar takes over stdout
    return 0


def _collect_step(args: argparse.Namespace) -> int:
    """Write the books of a quarter, which may still be secret, to a folder."""
    check_new_folder(args.out)
    books = collect(args.quarter, _settings())
    with new_folder(args.out) as folder:
        books.save(folder)
    print(f"{args.out}: {len(books.results)} results. Keep it private until the seed of {args.quarter} is revealed")
    return 0


def _reveal_step(args: argparse.Namespace) -> int:
    """Publish the seed of a quarter and write its dataset. A quarter that was revealed before keeps its date and dataset."""
    quarter = args.quarter
    settings = _settings()
    check_new_folder(args.out)
    books = collect(quarter, settings)
    commitment_before = books.commitment
    if commitment_before.dataset not in (None, args.dataset):
        raise DataError(
            f"{quarter} was revealed with the dataset {commitment_before.dataset}, and that was not changed"
        )
    if differences_found := book_differences(books):
        reasons = "; ".join(differences_found)
        raise DataError(f"nothing revealed, because the results do not follow from their answers: {reasons}")
    if commitment_before.revealed_at:
        print(f"note: {quarter} was revealed before, on {commitment_before.revealed_at:%Y-%m-%d %H:%M} UTC")
    elif not args.yes and input(_question(books, settings)).strip().lower() not in ("y", "yes"):
        print("nothing revealed")
        return 2
    if args.push:  # first, because a published seed cannot be taken back
        create_dataset(args.dataset, settings.hub_token_value)
    reveal(quarter, settings, args.dataset)
    books = collect(quarter, settings)  # again, with the seed and with results that were published meanwhile
    with new_folder(args.out) as folder, shown_progress() as show:
        write_dataset(books, folder, args.dataset, partial(show, "write"))
    print(f"{quarter}: {books.commitment.seed}\n{args.out}: {len(books.results)} results")
    if args.push:
        print(upload(args.out, args.dataset, settings.hub_token_value))
    return 0


def _question(books: Books, settings: Settings) -> str:
    """Return the question by which the operator confirms a reveal, with what cannot be undone."""
    quarter = books.commitment.quarter
    store = open_store(settings.store, settings)
    open_statuses = (Status.PENDING, Status.RUNNING, Status.QUARANTINED)
    rows, _ = queue_reader(store).read(store.snapshot())
    open_requests = sum(row.benchmark == books.benchmark.name and row.status in open_statuses for row in rows)
    running = f" {quarter} is still the ranked quarter." if quarter == books.benchmark.card.split else ""
    return (
        f"Anyone can then read the set of {quarter} and all answers of {len(books.results)} results. Later results have no "
        f"rank, also those of {open_requests} open requests.{running} Reveal it? [y/N] "
    )


def _verify_step(args: argparse.Namespace) -> int:
    """Draw a revealed set again and compare it with its commitment; of a dataset also check all scores and files.

    Return 1 if anything differs.
    """
    check_new_folder(args.out)
    folder = Path(args.published)
    if not folder.is_dir():
        return _verify_set(_read_commitment(args.published), args.out)
    check = _limited(check_published_folder, folder, args.board)
    print(f"{folder}: {check.results} results, whose scores were computed again from their answers")
    if not args.board:
        print(
            "note: the records were compared with the files beside them; --board ADDRESS compares them with a board's"
        )
    if check.faults:
        print(printable("\n".join(check.faults), keep="\n"))
    set_code = _verify_set(check.commitment, args.out)
    return 1 if check.faults else set_code


def _limited(function: Callable[..., T], folder: Path, *arguments: Any) -> T:
    """Return `function(folder, *arguments)`, computed in a process with limits, because the folder may be a stranger's.

    Raises DataError, naming the folder, if it cannot be read.
    """
    try:
        return run_limited(function, folder, *arguments, seconds=VERIFY_SECONDS)
    except DataError:  # an EvaluationError too, but its message already names what cannot be read
        raise
    except EvaluationError as error:
        raise DataError(str(error) if str(folder) in str(error) else f"{folder}: {error}") from None
    except RuntimeError as error:  # with the traceback of the process
        raise DataError(f"{folder}: cannot be read: {str(error).strip().splitlines()[-1]}") from None


def _verify_set(published: Commitment, out: Path) -> int:
    """Draw the set of a revealed seed into `out`, print how it differs from the commitment, and return 1 if it does."""
    with shown_progress() as show:
        found = differences(published, out, partial(show, "draw"))
    if published.beacon is None:
        print("note: no public randomness is part of the seed, so the operator chose it")
    for remark in other_versions(published):
        print(f"note: {printable(remark)}")
    print(printable("\n".join(found), keep="\n") or f"{out}: {published.set_sha256}")
    return 1 if found else 0


def _statistics_step(args: argparse.Namespace) -> int:
    """Print the table of items."""
    title, rows = _limited(table_of_items, args.folder)
    table = Table("axis", "bucket", "n", "right", "discrimination", "all get", "none get", title=title)
    for row in rows:
        table.add_row(
            printable(row.axis),
            printable(row.bucket),
            f"{row.n:,}",
            f"{100 * row.mean_correct:.1f} %",
            "–" if row.discrimination is None else f"{row.discrimination:.2f}",
            f"{row.solved_by_all:,}",
            f"{row.solved_by_none:,}",
        )
    Console().print(table)
    return 0


def _settings() -> Settings:
    """Return the settings. Raises StoreError if they name a local store that does not exist."""
    settings = load_settings(BENCHMARKS)
    check_there(settings.store)
    return settings


def _read_commitment(file_or_quarter: str) -> Commitment:
    """Return the commitment in a file, or that of a quarter in the store. Raises DataError if there is none."""
    file = Path(file_or_quarter)
    if not file.is_file() and re.fullmatch(r"\d{4}Q[1-4]", file_or_quarter):
        settings = _settings()
        return commitment(open_store(settings.store, settings), file_or_quarter)
    try:
        return Commitment.from_json(file.read_bytes())
    except FileNotFoundError:
        raise DataError(f"{file}: no such file, folder or quarter") from None
    except ValueError:
        raise DataError(f"{file}: not a commitment") from None

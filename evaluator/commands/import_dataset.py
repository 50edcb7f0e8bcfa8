"""`python -m evaluator import`: convert a test set from its published format to the documented schema."""

import argparse
import sys

from evaluator.benchmarks import BENCHMARKS
from evaluator.commands.console import progress_bar
from evaluator.datasets.import_dataset import REJECTED, import_dataset

PREVIEW = 10  # rows of each kind to print


def main(args: argparse.Namespace) -> int:
    """Write the items to a new folder, and report what was rejected or cannot be scored well."""
    with progress_bar() as progress:
        bar = progress.add_task("rows", total=None)
        imported = import_dataset(
            BENCHMARKS[args.benchmark], args.source, args.out, lambda number: progress.update(bar, completed=number)
        )
    counts = (
        f"{len(imported.items):,} items, {imported.files:,} images or pages, {len(imported.rejected):,} rows rejected"
    )
    print(f"{counts}: {args.out}")
    if imported.unmatched:
        print(
            f"{imported.unmatched:,} items cannot be answered correctly: the published rule rejects their own gold answer"
        )
    if imported.empty:
        more = ", …" if len(imported.empty) > PREVIEW else ""
        print(
            f"{len(imported.empty):,} items accept an empty answer, because the published rule compares no character of "
            f"their gold answer: {', '.join(imported.empty[:PREVIEW])}{more}"
        )
    for reason, count in sorted(imported.pictures.items()):
        print(f"{count:,} pictures {reason}")
    for where, reason in imported.rejected[:PREVIEW]:
        print(f"rejected {where}: {reason}", file=sys.stderr)
    if len(imported.rejected) > PREVIEW:
        print(f"… and {len(imported.rejected) - PREVIEW:,} more: {args.out / REJECTED}", file=sys.stderr)
    return 0

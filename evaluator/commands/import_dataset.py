"""`python -m evaluator import`: convert a test set from its published format to the documented schema."""

import argparse
import sys

from evaluator.benchmarks import BENCHMARKS
from evaluator.commands.console import progress_bar
from evaluator.datasets.import_dataset import REJECTED, import_dataset

PREVIEW = 10  # rows of each kind to print


def main(args: argparse.Namespace) -> int:
    with progress_bar() as progress:
        bar = progress.add_task("rows", total=None)
        done = import_dataset(
            BENCHMARKS[args.benchmark], args.source, args.out, lambda number: progress.update(bar, completed=number)
        )
    print(
        f"{len(done.items):,} items, {done.files:,} images or pages, {len(done.rejected):,} rows rejected: {args.out}"
    )
    if done.unmatched:
        print(
            f"{done.unmatched:,} items cannot be answered correctly: the published rule rejects their own gold answer"
        )
    if done.empty:
        more = ", …" if len(done.empty) > PREVIEW else ""
        print(
            f"{len(done.empty):,} items accept an empty answer, because the published rule compares no character of their "
            f"gold answer: {', '.join(done.empty[:PREVIEW])}{more}"
        )
    for reason, count in sorted(done.pictures.items()):
        print(f"{count:,} pictures {reason}")
    for where, reason in done.rejected[:PREVIEW]:
        print(f"rejected {where}: {reason}", file=sys.stderr)
    if len(done.rejected) > PREVIEW:
        print(f"… and {len(done.rejected) - PREVIEW:,} more: {args.out / REJECTED}", file=sys.stderr)
    return 0

"""`python -m evaluator ko-fresh`: draw a set, reveal a quarter's seed, verify a revealed set."""

import argparse
from pathlib import Path

from evaluator.benchmarks import BENCHMARKS
from evaluator.commands.console import progress_bar
from evaluator.core.errors import DataError
from evaluator.core.files import check_new_folder
from evaluator.fresh.draw import draw_set
from evaluator.fresh.seed import commitment, differences, other_versions, reveal
from submissions.config.settings import load_settings
from submissions.records.operator import Commitment
from submissions.store.open import check_there, open_store


def main(args: argparse.Namespace) -> int:
    """Return exit code 1 if a revealed set differs from its commitment. Raises DataError, SettingsError, StoreError."""
    if args.step == "reveal":
        return _reveal(args.quarter, yes=args.yes)
    check_new_folder(args.out)
    with progress_bar() as progress:
        bar = progress.add_task("figures", total=None)

        def show(done: int, total: int) -> None:
            progress.update(bar, completed=done, total=total)

        if args.step == "draw":
            whole = draw_set(args.seed, args.out, args.n, show)
            found = []
        else:
            public = _commitment(args.commitment)
            whole, found = str(public.set_sha256), differences(public, args.out, show)
            for remark in other_versions(public):
                print(f"note: {remark}")
    print("\n".join(found) or f"{args.out}: {whole}")
    return 1 if found else 0


def _reveal(quarter: str, *, yes: bool) -> int:
    running = f" {quarter} is still the ranked quarter." if quarter == BENCHMARKS["ko-fresh"].card.split else ""
    question = (
        f"Anyone can then draw the set of {quarter}, and later results have no rank.{running} Reveal its seed? [y/N] "
    )
    if not yes and input(question).strip().lower() not in ("y", "yes"):
        print("nothing revealed")
        return 2
    settings = load_settings(BENCHMARKS)
    check_there(settings.store)
    revealed = reveal(quarter, settings)
    print(f"{quarter}: {revealed.seed}")
    return 0


def _commitment(named: str) -> Commitment:
    file = Path(named)
    if not file.is_file():
        settings = load_settings(BENCHMARKS)
        check_there(settings.store)
        return commitment(open_store(settings.store, settings), named)
    try:
        return Commitment.model_validate_json(file.read_bytes())
    except ValueError:
        raise DataError(f"{file}: not a commitment") from None

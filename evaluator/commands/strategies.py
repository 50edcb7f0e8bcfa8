"""`python -m evaluator strategies`: print the scores of outputs that read no picture, such as one answer to all questions.

They show how much of a benchmark's headline can be gained without answering.
"""

import argparse
from functools import partial

from evaluator.benchmarks import BENCHMARKS
from evaluator.commands.console import shown_progress
from evaluator.datasets.source import open_source
from evaluator.results.strategies import earned
from submissions.config.settings import load_settings

SHOWN = 5  # strategies for each benchmark


def main(args: argparse.Namespace) -> int:
    settings = load_settings(BENCHMARKS)
    for name in args.benchmark:
        benchmark = BENCHMARKS[name]
        items = benchmark.load(open_source(name, args.data, settings).path)
        with shown_progress() as show:
            best = earned(benchmark, items, partial(show, name))
        print(f"{name}, {len(items):,} items, {benchmark.card.headline}:")
        for earning in best[:SHOWN]:
            print(f"  {earning.score:5.1f}  {earning.strategy.name}")
    return 0

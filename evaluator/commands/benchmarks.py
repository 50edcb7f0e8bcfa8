"""`python -m evaluator benchmarks`: print a table of the benchmarks."""

import argparse

from rich.console import Console
from rich.table import Table

from evaluator.benchmarks import BENCHMARKS


def main(args: argparse.Namespace) -> int:
    table = Table("benchmark", "version", "split", "questions", "inputs", "what it measures")
    for name, benchmark in BENCHMARKS.items():
        card = benchmark.card
        table.add_row(name, benchmark.version, card.split, f"{card.n:,}", benchmark.inputs, card.summary.en)
    Console().print(table)
    return 0

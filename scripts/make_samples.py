"""Invent a benchmark's sample set and draw its pictures: `python -m scripts.make_samples NAME`.

Writes `assets/samples/NAME`, which must not exist. The rows are invented by the benchmark's kind, and cover every bucket
that its card names. Running it again gives the same files.
"""

import argparse
import json
import sys
from pathlib import Path

from rich.progress import track

from evaluator.benchmarks import BENCHMARKS
from evaluator.benchmarks.base import Benchmark
from evaluator.benchmarks.rows import Row
from evaluator.core.files import new_folder
from evaluator.fresh.pages import pages
from evaluator.fresh.samples import samples
from submissions.config.paths import SAMPLES

ITEMS = 24


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("benchmark", choices=list(BENCHMARKS))
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--out", type=Path, help="default: assets/samples/NAME")
    args = parser.parse_args()
    out = args.out or SAMPLES / args.benchmark
    if out.exists():
        sys.exit(f"{out} exists: delete it first, or name another folder with --out")
    try:
        with new_folder(out) as folder:
            write_samples(BENCHMARKS[args.benchmark], args.items, folder)
    except NotImplementedError as error:
        sys.exit(str(error))
    print(f"{len(BENCHMARKS[args.benchmark].load(out))} items in {out}")


def write_samples(benchmark: Benchmark, items: int, folder: Path) -> None:
    """Write an invented sample set in the documented schema. Raises NotImplementedError if the benchmark's kind invents none."""
    (folder / "images").mkdir()
    rows: list[Row] = []
    figures = samples(f"{benchmark.name} sample")
    for number in track(range(1, items + 1), description="pictures"):
        row = None
        while row is None:
            sample = next(figures)
            row = benchmark.invented_row(sample, number)
        name = f"images/{number:03}.png"
        (page,) = pages(sample.facts)
        (folder / name).write_bytes(page)
        buckets = {axis.name: _bucket(list(axis.buckets), number) for axis in benchmark.card.axes}
        rows.append({"id": f"{number:03}", "images": [name], **buckets, **row})
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "items.jsonl").write_text("".join(lines), encoding="utf-8")


def _bucket(names: list[str], number: int) -> str:
    return names[number % len(names)] if names else "sample"


if __name__ == "__main__":
    main()

"""Overhead rows of `make bench`: a whole evaluation, from loading to the result, with an engine that answers at once."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from evaluator.benchmarks import BENCHMARKS
from evaluator.datasets.source import Source
from evaluator.engines.registry import ENGINES
from evaluator.results import evaluate as evaluation
from evaluator.results.task import Task, load_items, options_of
from submissions.config.paths import ROOT
from submissions.records.request import EvalRequest

SIDE = 1000  # pixels: an image of 1 MP
IMAGES = 50  # different images
SIZES = {"text": (100, 6_000, 60_000), "image": (100, 1_000)}  # items of a run


@dataclass(frozen=True)
class Overhead:
    what: str
    ms: float  # per item, beyond the time of a run with one item
    peak_mb: float  # memory of the process that scores


def overhead_rows(folder: Path) -> Iterator[Overhead]:
    for kind, sizes in SIZES.items():
        start = min(_measured(folder, kind, 1)["seconds"] for _ in range(3))
        for n in sizes:
            runs = [_measured(folder, kind, n) for _ in range(3 if n < 60_000 else 1)]
            best = min(runs, key=lambda run: run["seconds"])
            ms = 1000 * (best["seconds"] - start) / n
            yield Overhead(f"{n:,} {kind} items", ms, best["peak_mb"])


def _measured(folder: Path, kind: str, n: int) -> dict[str, float]:
    """Run in a new process, so that its peak memory can be measured."""
    data = _data(folder / f"{kind}-{n}", kind, n)
    done = subprocess.run(
        [sys.executable, "-m", "scripts.bench_overhead", str(data), kind], cwd=ROOT, capture_output=True, check=True
    )
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def _data(folder: Path, kind: str, n: int) -> Path:
    if folder.exists():
        return folder
    (folder / "images").mkdir(parents=True)
    noise = np.random.default_rng(0)
    count = min(n, IMAGES) if kind == "image" else 1
    for number in range(count):
        side = SIDE if kind == "image" else 8
        # Compresses like a scanned page: a quarter is noise, the rest is white.
        pixels = np.full((side, side, 3), 255, np.uint8)
        pixels[: side // 4] = noise.integers(0, 255, (side // 4, side, 3))
        Image.fromarray(pixels).save(folder / f"images/{number}.png")
    with (folder / "items.jsonl").open("w", encoding="utf-8") as file:
        for number in range(n):
            row: dict[str, Any] = {
                "id": str(number),
                "question": f"{number}번째 줄의 금액은 얼마인가?",
                "answer": "42억",
            }
            row |= {"images": [f"images/{number % count}.png"], "domain": "공공행정"}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return folder


def _run(data: Path, kind: str) -> None:
    ENGINES["chat"] = ENGINES["chat"]._replace(location="scripts.support.engines:InstantEngine")
    request = EvalRequest.model_validate(
        {
            "key": "0" * 32,
            "model_id": "bench/instant",
            "requested_revision": "main",
            "revision": "0" * 40,
            "precision": "float32",
            "benchmark": "ko-vqa",
            "benchmark_version": "1",
            "engine": "chat",
            "model_type": "instant",
            "submitted_by": "bench",
            "submitted_at": "2026-01-01T00:00:00Z",
        }
    )
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as job:
        source = Source(data, "bench", "bench")
        benchmark = BENCHMARKS["ko-vqa"]
        options = options_of(request, data, benchmark)
        task = Task(request, options, benchmark, source, latency_samples=0, sandbox=False, blind=kind == "text")
        items, dataset = load_items(task)
        evaluation.evaluate(task, items, dataset, Path(job))
    seconds = time.perf_counter() - started
    # Not getrusage, whose peak includes the parent process before exec.
    status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    peak_mb = int(status["VmHWM"].split()[0]) / 1024
    print(json.dumps({"seconds": seconds, "peak_mb": peak_mb}))


if __name__ == "__main__":
    _run(Path(sys.argv[1]), sys.argv[2])

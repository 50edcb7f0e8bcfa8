"""`python -m evaluator selftest`: measure the engines on this machine's device, as rows for docs/performance.md.

On a GPU the models have the size of published ones, on a CPU they are tiny; their weights are random. Each row compares
an engine with a plain loop that asks one question at a time, in alternating rounds of one run.
"""

import argparse
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import track

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.data_types import Answer, Prompt
from evaluator.engines.hardware import best_device, torch_environment
from evaluator.engines.load import load_engine
from evaluator.engines.loading import placement
from evaluator.engines.options import EngineOptions
from scripts.bench_engines import plain_chat, plain_extractive, questions_on_a_page
from scripts.support.tiny_models import LARGE, TINY, make_extractive, make_image_text
from submissions.config.paths import SAMPLES

MATRIX = {"cuda": 8192, "cpu": 1024}  # side of the matrices whose product measures the peak performance
PEAK_ROUNDS = 5
PROGRESS = Console(stderr=True)


@dataclass(frozen=True)
class Row:
    """A row of the table: what was measured, and the values of all rounds."""

    what: str
    measured: str


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evaluator selftest", description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default=best_device())
    parser.add_argument("--rounds", type=int, default=3, help="of each comparison")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds must be at least 1")
    if arguments.device == "cuda" and not torch.cuda.is_available():
        print("selftest: torch sees no GPU; the doctor says why: python -m submissions doctor", file=sys.stderr)
        return 2
    if arguments.device == "cpu" and torch.cuda.is_available():
        print("selftest: hide the GPUs with CUDA_VISIBLE_DEVICES= to measure the CPU", file=sys.stderr)
        return 2
    print(f"{_machine()}, {datetime.now(UTC):%Y-%m-%d}, rounds: {arguments.rounds}\n")
    print("| what | measured |\n|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for row in _rows(Path(folder), arguments.device, arguments.rounds):
            print(f"| {row.what} | {row.measured} |", flush=True)
    return 0


def _rows(folder: Path, device: str, rounds: int) -> Iterator[Row]:
    large = device == "cuda"
    precision = "bfloat16" if large else "float32"
    new_tokens = 64
    benchmark = BENCHMARKS["ko-vqa"]
    prompts = [p for item in benchmark.load(SAMPLES / benchmark.name) for p in benchmark.prompts(item)]
    model = make_image_text(folder / "chat", ends=False, size=LARGE if large else TINY)
    kind = "a model of the size of Qwen2.5-VL-3B" if large else "tiny LLaVA"
    name = f"`chat` engine in batches, {kind}, {len(prompts)} pictures, {new_tokens} new tokens"
    options = EngineOptions(model, precision, new_tokens)
    yield from _compared(name, "chat", options, prompts, plain_chat(model, precision, new_tokens), rounds)
    questions = questions_on_a_page()
    model = make_extractive(folder / "extractive", large=large)
    kind = "a model of the size of BERT base" if large else "tiny BERT"
    name = f"`extractive` engine in batches, {kind}, {len(questions)} questions on a page"
    options = EngineOptions(model, precision, new_tokens)
    plain = plain_extractive(model, overlap=128, precision=precision)
    yield from _compared(name, "extractive", options, questions, plain, rounds)


def _compared(
    name: str,
    kind: str,
    options: EngineOptions,
    prompts: Sequence[Prompt],
    plain: Callable[[Prompt], str],
    rounds: int,
) -> Iterator[Row]:
    """Yield the rows of one engine."""
    engine = load_engine(kind, options)
    in_batches = {answer.id: answer for answer in engine.answer(prompts)}  # this also warms up
    plain(prompts[0])
    alone: dict[str, Answer] = {}
    singles: list[float] = []
    for prompt in track(prompts, f"{kind}, one question at a time", console=PROGRESS):
        started = time.perf_counter()
        (alone[prompt.id],) = engine.answer([prompt])
        singles.append(1000 * (time.perf_counter() - started))
    ours: list[float] = []
    theirs: list[float] = []
    for _ in track(range(rounds), f"{kind}, in batches and by a plain loop", console=PROGRESS):
        ours.append(_seconds(lambda: list(engine.answer(prompts))))
        started = time.perf_counter()
        looped = {prompt.id: plain(prompt) for prompt in prompts}
        theirs.append(time.perf_counter() - started)
    ratios = [plain_s / own_s for own_s, plain_s in zip(ours, theirs, strict=True)]
    yield Row(f"{name}, compared with one at a time", f"{_spread(ratios)}×")
    equal = sum(in_batches[prompt.id].text == looped[prompt.id] for prompt in prompts)
    yield Row(f"{kind}: answers equal to those of a plain loop", f"{equal} of {len(prompts)}")
    same = sum(in_batches[prompt.id].text == alone[prompt.id].text for prompt in prompts)
    yield Row(f"{kind}: answers that do not depend on the batch", f"{same} of {len(prompts)}")
    yield Row(f"{kind}: median time for one question", f"{statistics.median(singles):,.1f} ms")
    yield Row(f"{kind}: memory", _memory())
    yield from _share_of_peak(kind, engine.params, in_batches.values(), min(ours), options.precision)
    if torch.cuda.device_count() > 1:
        size = sum(path.stat().st_size for path in options.model.glob("*.safetensors"))
        spread = "all devices" if placement(size) == "auto" else "one device"
        yield Row(f"{kind}: placed on", f"{spread} of {torch.cuda.device_count()}")
    engine.close()


def _share_of_peak(kind: str, params: int | None, answers: Any, seconds: float, precision: str) -> Iterator[Row]:
    """Yield the share of the measured peak that the model's arithmetic reaches: 2 operations a parameter and token."""
    tokens = sum((answer.prompt_tokens or 0) + (answer.tokens or 0) for answer in answers)
    if not params or not tokens:
        return
    share = 2 * params * tokens / seconds / _peak(precision)
    yield Row(f"{kind}: share of the device's peak performance, by a product of matrices", f"{100 * share:.1f} %")


def _peak(precision: str) -> float:
    """Return the operations per second of a product of two square matrices."""
    device = best_device()
    side = MATRIX[device]
    matrix = torch.ones(side, side, dtype=getattr(torch, precision), device=device)

    def multiply() -> None:
        matrix @ matrix
        if device == "cuda":
            torch.cuda.synchronize()

    multiply()
    return 2 * side**3 / min(_seconds(multiply) for _ in range(PEAK_ROUNDS))


def _memory() -> str:
    if torch.cuda.is_available():
        return f"{torch.cuda.max_memory_allocated() / 1e9:,.1f} GB of the GPU"
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:,.1f} GB of the process"


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _spread(values: Sequence[float]) -> str:
    """Return the range of values with two significant digits, or the value itself if both ends are the same."""
    low, high = (f"{value:.2g}" for value in (min(values), max(values)))
    return low if low == high else f"{low}–{high}"


def _machine() -> str:
    environment = torch_environment(EngineOptions(Path(), "float32", 1))
    return f"{environment['hardware']}, torch {environment['torch']}, transformers {environment['transformers']}"


if __name__ == "__main__":
    sys.exit(main())

"""Measure the cost of the sandbox with pairs of evaluations, one inside and one without it, in random order."""

import random
import subprocess
import sys
import time
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import mean, stdev

from rich.progress import track
from scipy.stats import t

from scripts.support.tiny_models import make_image_text
from submissions.config.paths import ROOT

PAIRS = 14


@dataclass(frozen=True)
class Ratio:
    """The ratio of the times inside and without: geometric mean of the pairs, with its 95 % interval by Student's t."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, pairs: list[tuple[float, float]]) -> "Ratio":
        logs = [log(inside / without) for inside, without in pairs]
        half = float(t.ppf(0.975, len(logs) - 1)) * stdev(logs) / len(logs) ** 0.5
        return cls(exp(mean(logs)), exp(mean(logs) - half), exp(mean(logs) + half))

    def __str__(self) -> str:
        return f"{100 * (self.value - 1):+.1f} % ({100 * (self.low - 1):+.1f} to {100 * (self.high - 1):+.1f})"


def sandbox_cost(folder: Path) -> Ratio:
    """Return the ratio of wall-clock times. The kernel does not report the CPU time of processes in a namespace."""
    model = make_image_text(folder / "model")
    rng = random.Random(0)
    taken: list[tuple[float, float]] = []
    for number in track(range(PAIRS), "sandbox"):
        seconds = {how: _evaluate(model, how, folder / f"{how}-{number}") for how in rng.sample(("auto", "none"), 2)}
        taken.append((seconds["auto"], seconds["none"]))
    return Ratio.of(taken)


def _evaluate(model: Path, sandbox: str, out: Path) -> float:
    """Run an evaluation and return its wall-clock seconds."""
    command = [sys.executable, "-m", "evaluator", "run", "--model", str(model), "--benchmark", "ko-vqa", "--fresh"]
    started = time.perf_counter()
    subprocess.run([*command, "--sandbox", sandbox, "--out", str(out)], cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - started

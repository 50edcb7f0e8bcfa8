"""What the sandbox costs: pairs of whole evaluations, one inside and one without, in an order by chance."""

import random
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import mean, stdev

from rich.progress import track
from scipy.stats import t

from submissions.paths import ROOT
from tests.support.tiny_models import make_image_text

PAIRS = 12


@dataclass(frozen=True)
class Ratio:
    """Inside to without: the geometric mean of the pairs, with its 95 % interval by Student's t."""

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


def sandbox_cost(folder: Path, pairs: int = PAIRS) -> tuple[Ratio, Ratio]:
    """Of wall time, and of CPU time, which others on the machine disturb less."""
    model, rng = make_image_text(folder / "model"), random.Random(0)
    wall: list[tuple[float, float]] = []
    cpu: list[tuple[float, float]] = []
    for number in track(range(pairs), "sandbox"):
        taken = {}
        for how in rng.sample(("auto", "none"), 2):
            taken[how] = _evaluate(model, how, folder / f"{how}-{number}")
        wall.append((taken["auto"][0], taken["none"][0]))
        cpu.append((taken["auto"][1], taken["none"][1]))
    return Ratio.of(wall), Ratio.of(cpu)


def _evaluate(model: Path, sandbox: str, out: Path) -> tuple[float, float]:
    """Seconds of wall time and of CPU time of all its processes."""
    command = [sys.executable, "-m", "evaluator", "run", "--model", str(model), "--benchmark", "ko-vqa", "--fresh"]
    started, before = time.perf_counter(), _cpu_of_children()
    subprocess.run([*command, "--sandbox", sandbox, "--out", str(out)], cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - started, _cpu_of_children() - before


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

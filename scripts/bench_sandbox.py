"""What the sandbox costs: a full evaluation inside, and one without, in turn."""

import subprocess
import sys
import time
from pathlib import Path

from rich.progress import track

from submissions.paths import ROOT
from tests.support.tiny_models import make_image_text

ROUNDS = 4


def sandbox_cost(folder: Path) -> tuple[float, float]:
    """Seconds of the fastest evaluation inside, and without."""
    model = make_image_text(folder / "model")
    best = {"auto": float("inf"), "none": float("inf")}
    for number in track(range(ROUNDS), "sandbox"):
        for how in best:
            command = [sys.executable, "-m", "evaluator", "run", "--model", str(model), "--benchmark", "ko-vqa"]
            started = time.perf_counter()
            subprocess.run(
                [*command, "--fresh", "--sandbox", how, "--out", str(folder / f"{how}-{number}")],
                cwd=ROOT,
                check=True,
                capture_output=True,
            )
            best[how] = min(best[how], time.perf_counter() - started)
    return best["auto"], best["none"]

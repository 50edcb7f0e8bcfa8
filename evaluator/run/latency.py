"""The latency protocol: a separate pass over some of the prompts, one at a time, after a warm-up.

Preprocessing is in it, model loading is not. A page is read anew for each question. Machines are compared by a small
model of known size that runs on each of them.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from evaluator.data_types import Answer, Prompt
from evaluator.engines.base import Engine, best_device

WARM_UP = 2  # prompts asked before the clock starts
MAX_SECONDS = 300.0
CALIBRATION_ROUNDS = 10


def one_at_a_time(engine: Engine, prompts: Iterable[Prompt], warm_up: int = WARM_UP) -> Iterator[Answer]:
    """Each prompt's answer when it is asked alone, `seconds` by the clock; no new one is begun after MAX_SECONDS."""
    remaining = list(prompts)
    for prompt in islice(remaining, warm_up):
        list(engine.answer([prompt]))
    begun = time.perf_counter()
    for prompt in remaining:
        started = time.perf_counter()
        (answer,) = engine.answer([prompt])  # its text is at hand, so the device has finished
        yield replace(answer, seconds=time.perf_counter() - started)
        if time.perf_counter() - begun > MAX_SECONDS:
            return


def calibration_ms() -> float:
    """Median milliseconds of a fixed small transformer (4 layers of 256, 8 × 128 tokens) on this machine's device."""
    import torch

    device = best_device()
    generator = torch.Generator().manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).eval().to(device)
    inputs = torch.randn(8, 128, 256, generator=generator).to(device)
    times = []
    with torch.inference_mode():
        for _ in range(CALIBRATION_ROUNDS):
            started = time.perf_counter()
            model(inputs).sum().item()  # waits for the device
            times.append(time.perf_counter() - started)
    return round(1000 * sorted(times)[len(times) // 2], 3)

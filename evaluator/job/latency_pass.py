"""Measure latency: a separate pass over some of the prompts, one at a time, after a warm-up.

The measured time includes preprocessing, but not model loading. Each question is a call of its own, so a page is processed
again for each of its questions.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace

from evaluator.core.data_types import Answer, Prompt
from evaluator.engines.base import Engine

WARM_UP = 2  # the `warm_up` that `child.py` passes for a model that runs here; for a remote one it passes 0
MAX_SECONDS = 300.0


def one_at_a_time(engine: Engine, prompts: Iterable[Prompt], warm_up: int) -> Iterator[Answer]:
    """Ask each prompt alone and yield its answer, with `seconds` measured as wall-clock time.

    The first `warm_up` prompts are first asked once without measuring, and then again with all others. After MAX_SECONDS no
    further prompt is asked.
    """
    prompts = list(prompts)
    for prompt in prompts[:warm_up]:
        list(engine.answer([prompt]))
    pass_started = time.perf_counter()
    for prompt in prompts:
        started = time.perf_counter()
        (answer,) = engine.answer([prompt])  # it has text, so the device has finished
        yield replace(answer, seconds=time.perf_counter() - started)
        if time.perf_counter() - pass_started > MAX_SECONDS:
            return

"""The latency protocol: a separate pass over some of the prompts, one at a time, after a warm-up.

Preprocessing is in it, model loading is not. A page is read anew for each question.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from evaluator.core.data_types import Answer, Prompt
from evaluator.engines.base import Engine

WARM_UP = 2  # prompts asked before the clock starts
MAX_SECONDS = 300.0


def one_at_a_time(engine: Engine, prompts: Iterable[Prompt], warm_up: int) -> Iterator[Answer]:
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

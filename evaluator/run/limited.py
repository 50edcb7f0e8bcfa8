"""A function of ours in a process of its own: what it reads, a model has written, and may have made long or deep.

The board may run in the same process as the worker, so nothing that a model can slow down is done in there.
"""

import multiprocessing
import os
import resource
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from evaluator.errors import EvaluationError, EvaluationStopped
from submissions.failure_codes import FailureCode

SECONDS = 1800.0
MEMORY = 8 * 2**30  # bytes
POLL_SECONDS = 0.2

R = TypeVar("R")

_context = multiprocessing.get_context("forkserver")  # a fork of this process would hold its threads' locks
_context.set_forkserver_preload(["evaluator.run.scoring"])


def run_limited(
    function: Callable[..., R],
    *arguments: Any,
    stop: threading.Event | None = None,
    seconds: float = SECONDS,
    memory: int = MEMORY,
) -> R:
    """What a function of a module gives for these arguments, all of which can be pickled.

    Raises EvaluationError: as the function does, or the model's fault where time or memory do not suffice;
    EvaluationStopped once `stop` is set.
    """
    receiver, sender = _context.Pipe(duplex=False)
    process = _context.Process(
        target=_work, args=(sender, dict(os.environ), seconds, memory, function, arguments), daemon=True
    )
    process.start()
    sender.close()
    ends = time.monotonic() + seconds
    try:
        while not receiver.poll(POLL_SECONDS):
            if stop and stop.is_set():
                raise EvaluationStopped
            if time.monotonic() > ends:
                raise EvaluationError(FailureCode.MODEL_ERROR, f"its answers take more than {seconds:,.0f} s to score")
        outcome = receiver.recv()
    except EOFError:
        raise EvaluationError(
            FailureCode.MODEL_ERROR, "its answers take more memory to score than there may be"
        ) from None
    finally:
        process.kill()
        process.join()
        receiver.close()
    if "failed" in outcome:
        raise EvaluationError(*outcome["failed"])
    if "crashed" in outcome:
        raise RuntimeError(outcome["crashed"])
    result: R = outcome["result"]
    return result


def _work(
    sender: Connection,
    environment: dict[str, str],
    seconds: float,
    memory: int,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    os.environ.clear()
    os.environ.update(environment)  # of now: the server that forks has that of its start
    _limit(resource.RLIMIT_DATA, memory)
    _limit(resource.RLIMIT_CPU, int(seconds) + 1)  # should nobody be left to wait
    try:
        outcome: dict[str, Any] = {"result": function(*arguments)}
    except EvaluationError as error:
        outcome = {"failed": (error.code, str(error))}
    except MemoryError:
        return  # told by silence, as where the kernel ends it
    except Exception:
        outcome = {"crashed": traceback.format_exc()}
    sender.send(outcome)


def _limit(kind: int, most: int) -> None:
    _, already = resource.getrlimit(kind)
    most = most if already == resource.RLIM_INFINITY else min(most, already)
    resource.setrlimit(kind, (most, most))

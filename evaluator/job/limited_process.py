"""Run one of our functions in a process of its own, with limits on time and memory.

What it reads was written by a model, and may be long or deeply nested. The board may share the worker's process, so nothing
that a model can slow down runs there.
"""

import multiprocessing
import os
import resource
import signal
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_fixed

from evaluator.core.errors import EvaluationError, EvaluationStopped
from evaluator.core.signals import STOP_NOTICE_SECONDS, stop_signals_blocked, was_stopped
from submissions.texts.failure_codes import FailureCode

SECONDS = 1800.0
MEMORY = 8 * 2**30  # bytes
POLL_SECONDS = 0.2
START_TRIES = 10
LOST = 255  # the exit code if the process that forks ended, and nobody knows the real one

R = TypeVar("R")

_context = multiprocessing.get_context("forkserver")  # a fork of this process would hold its threads' locks
_context.set_forkserver_preload(["evaluator.results.score_answers"])


def run_limited(
    function: Callable[..., R],
    *arguments: Any,
    stop: threading.Event | None = None,
    seconds: float = SECONDS,
    memory: int = MEMORY,
) -> R:
    """Return `function(*arguments)`, computed in a process with at most `seconds` and `memory` bytes.

    The function is one of a module, and the arguments can be pickled. Raises EvaluationError as the function does, with
    MODEL_ERROR if time or memory run out, and with PROCESS_KILLED if somebody ends the process; EvaluationStopped once
    `stop` is set.
    """
    receiver, sender = _context.Pipe(duplex=False)
    process = _context.Process(
        target=_work, args=(sender, dict(os.environ), seconds, memory, function, arguments), daemon=True
    )
    ends = time.monotonic() + seconds
    outcome: dict[str, Any] | None = None
    _start(process)
    sender.close()
    try:
        while not receiver.poll(POLL_SECONDS):
            if stop and stop.is_set():
                raise EvaluationStopped
            if time.monotonic() > ends:
                raise _too_slow(seconds)
        outcome = receiver.recv()
    except (EOFError, ConnectionError):  # it ended without a result
        process.join(STOP_NOTICE_SECONDS)
    finally:
        process.kill()
        process.join()
        receiver.close()
    if outcome is None:
        raise _ended_early(process.exitcode, stop, seconds)
    if "failed" in outcome:
        raise EvaluationError(*outcome["failed"])
    if "crashed" in outcome:
        raise RuntimeError(outcome["crashed"])
    result: R = outcome["result"]
    return result


def _start(process: BaseProcess) -> None:
    """Start a process; again if the one that forks was killed, until the kernel has reported its end."""
    tries = Retrying(
        retry=retry_if_exception_type((EOFError, ConnectionError)),
        wait=wait_fixed(POLL_SECONDS),
        stop=stop_after_attempt(START_TRIES),
        reraise=True,
    )
    with stop_signals_blocked():
        tries(process.start)


def _ended_early(exitcode: int | None, stop: threading.Event | None, seconds: float) -> Exception:
    """Return the error for a process that ended without a result."""
    if stop and stop.wait(STOP_NOTICE_SECONDS):
        return EvaluationStopped()
    if exitcode == -signal.SIGXCPU:
        return _too_slow(seconds)
    if exitcode in (None, LOST) or was_stopped(exitcode):
        return EvaluationError(FailureCode.PROCESS_KILLED, "the process that reads the answers was killed")
    # What is written in C may end the process if it gets no memory.
    return EvaluationError(FailureCode.MODEL_ERROR, "its answers take more memory to score than is allowed")


def _too_slow(seconds: float) -> EvaluationError:
    return EvaluationError(FailureCode.MODEL_ERROR, f"its answers take more than {seconds:,.0f} s to score")


def _work(
    sender: Connection,
    environment: dict[str, str],
    seconds: float,
    memory: int,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    os.environ.clear()
    os.environ.update(environment)  # the current one: the server that forks has that of its start
    _limit(resource.RLIMIT_DATA, memory)
    _limit(resource.RLIMIT_CPU, int(seconds) + 1, grace=5)  # if nobody waits any more; SIGXCPU before SIGKILL
    try:
        outcome: dict[str, Any] = {"result": function(*arguments)}
    except EvaluationError as error:
        outcome = {"failed": (error.code, str(error))}
    except MemoryError:
        raise SystemExit(1) from None
    except Exception:
        outcome = {"crashed": traceback.format_exc()}
    sender.send(outcome)


def _limit(kind: int, most: int, grace: int = 0) -> None:
    _, already = resource.getrlimit(kind)
    hard = most + grace if already == resource.RLIM_INFINITY else min(most + grace, already)
    resource.setrlimit(kind, (min(most, hard), hard))

"""Run a function in a separate process, with limits on time and memory.

Such functions read model output, which may be very long or deeply nested. The board may run in the worker's process, so
work that a model could slow down must not run there.
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

DEFAULT_SECONDS = 1800.0
DEFAULT_MEMORY = 8 * 2**30  # bytes
POLL_SECONDS = 0.2
START_TRIES = 10
CPU_GRACE_SECONDS = 5  # between SIGXCPU, which `_ended_early` recognises, and SIGKILL
MEMORY_EXIT_CODE = 77  # of a process that has caught a MemoryError
UNKNOWN_EXIT_CODE = 255  # reported if the fork server ended, so that the real exit code is lost

R = TypeVar("R")

_context = multiprocessing.get_context("forkserver")  # a fork of this process would inherit locks held by its threads


def preload(module: str) -> None:
    """Import a module only once, for all processes. To be called before the first one is started."""
    _context.set_forkserver_preload([module])


def run_limited(
    function: Callable[..., R],
    *arguments: Any,
    stop: threading.Event | None = None,
    seconds: float = DEFAULT_SECONDS,
    memory: int = DEFAULT_MEMORY,
) -> R:
    """Return `function(*arguments)`, computed in a process that may use at most `seconds` and `memory` bytes.

    The function must be defined at module level, and the arguments must be picklable. An EvaluationError that the
    function raises is raised here too; any other exception becomes RuntimeError with its traceback. Also raises
    EvaluationError with MODEL_ERROR if time or memory run out, EvaluationError with PROCESS_KILLED if the process ends in
    any other way, and EvaluationStopped once `stop` is set.
    """
    receiver, sender = _context.Pipe(duplex=False)
    process = _context.Process(
        target=_run_in_child, args=(sender, dict(os.environ), seconds, memory, function, arguments), daemon=True
    )
    deadline = time.monotonic() + seconds
    outcome: dict[str, Any] | None = None
    _start(process)
    sender.close()
    try:
        while not receiver.poll(POLL_SECONDS):
            if stop and stop.is_set():
                raise EvaluationStopped
            if time.monotonic() > deadline:
                raise _too_slow(seconds)
        outcome = receiver.recv()
    except (EOFError, ConnectionError):  # the process ended without a result
        process.join(STOP_NOTICE_SECONDS)  # if it is still exiting, `kill` would replace its exit code
    finally:
        process.kill()
        process.join()
        receiver.close()
    if outcome is None:
        raise _ended_early(process.exitcode, stop, seconds)
    if "failed" in outcome:
        code, message = outcome["failed"]
        raise EvaluationError(code, message)
    if "crashed" in outcome:
        raise RuntimeError(outcome["crashed"])
    result: R = outcome["result"]
    return result


def _start(process: BaseProcess) -> None:
    """Start a process. Retry if the fork server was killed, until multiprocessing notices and starts a new one."""
    tries = Retrying(
        retry=retry_if_exception_type((EOFError, ConnectionError)),
        wait=wait_fixed(POLL_SECONDS),
        stop=stop_after_attempt(START_TRIES),
        reraise=True,
    )
    with stop_signals_blocked():
        tries(process.start)


def _ended_early(exitcode: int | None, stop: threading.Event | None, seconds: float) -> Exception:
    """Return the error for a process that ended without a result. `seconds` was its time limit."""
    if stop and stop.wait(STOP_NOTICE_SECONDS):
        return EvaluationStopped()
    if exitcode == -signal.SIGXCPU:
        return _too_slow(seconds)
    if exitcode in (None, UNKNOWN_EXIT_CODE) or was_stopped(exitcode):
        return EvaluationError(FailureCode.PROCESS_KILLED, "the scoring process was killed")
    if exitcode in (MEMORY_EXIT_CODE, -signal.SIGABRT):  # C extensions may abort the process if an allocation fails
        return EvaluationError(FailureCode.MODEL_ERROR, "scoring the answers takes more memory than is allowed")
    return EvaluationError(FailureCode.PROCESS_KILLED, f"the scoring process ended with code {exitcode}")


def _too_slow(seconds: float) -> EvaluationError:
    return EvaluationError(FailureCode.MODEL_ERROR, f"scoring the answers takes more than {seconds:,.0f} s")


def _run_in_child(
    sender: Connection,
    environment: dict[str, str],
    seconds: float,
    memory: int,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    """Call the function under the limits, and send a dict with its `result`, or how it `failed` or `crashed`."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.clear()
    os.environ.update(environment)  # the fork server still has the environment of its start
    _limit(resource.RLIMIT_DATA, memory)
    # A regular expression that takes long holds the interpreter lock, so that `_end_with_parent` cannot run. Then this limit
    # ends the process if the one that started it is gone.
    _limit(resource.RLIMIT_CPU, int(seconds) + 1, grace=CPU_GRACE_SECONDS)
    try:
        outcome: dict[str, Any] = {"result": function(*arguments)}
    except EvaluationError as error:
        outcome = {"failed": (error.code, str(error))}
    except MemoryError:
        raise SystemExit(MEMORY_EXIT_CODE) from None
    except Exception:
        outcome = {"crashed": traceback.format_exc()}
    sender.send(outcome)


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, for example killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(UNKNOWN_EXIT_CODE)


def _limit(kind: int, limit: int, grace: int = 0) -> None:
    """Set a soft limit, and a hard limit that is higher by `grace` but not above the current hard limit."""
    _, current = resource.getrlimit(kind)
    hard = limit + grace if current == resource.RLIM_INFINITY else min(limit + grace, current)
    resource.setrlimit(kind, (min(limit, hard), hard))

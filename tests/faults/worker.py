"""Run a real worker that ends at a named step: `python -m tests.faults.worker STEP MINUTES [SIGNAL]`.

The worker kills itself with SIGKILL, or sends the named signal to its whole process group. MINUTES is how far the
store's clock is set ahead, so that no test has to wait until a lease expires. The inference process is also real, with
an engine that answers at once.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partialmethod
from threading import Lock, Timer
from typing import Any

from dulwich.refs import DiskRefsContainer
from huggingface_hub import HfApi

from app import main
from evaluator.engines.registry import ENGINES
from evaluator.job import command
from evaluator.publication import publish as publication
from evaluator.results import evaluate as evaluation
from evaluator.worker import prepare as preparation
from evaluator.worker import run as claimed_run
from submissions.queue.queue import Queue
from submissions.store.git import GitStore
from submissions.store.hub import HubStore

EARLY = (
    "before claim",
    "before the commit to claim lands",
    "after the commit to claim lands",
    "after claim",
    "before fetch",
    "after fetch",
)
INFERENCE = ("first answer", "tenth answer", "while measuring")  # each leaves work for the next one
LATE = ("before details", "after details", "before publish", "before the commit to publish lands")
PAUSED = "paused"  # stops itself with SIGSTOP after its fifth answer
LAST = ("after the commit to publish lands", "after publish")


signals = [signal.SIGKILL]  # the signal to send


def send_signal() -> None:
    """Kill this process, or send the signal once to all processes of its group."""
    if signals == [signal.SIGKILL]:
        os.kill(os.getpid(), signal.SIGKILL)
    elif signals:
        os.killpg(0, signals.pop())


def with_signal(work: Callable[..., Any], step: str, name: str) -> Callable[..., Any]:
    """Return `work` with the signal sent before or after it, if `step` is "before NAME" or "after NAME"."""

    def run(*args: Any, **kwargs: Any) -> Any:
        if step == f"before {name}":
            send_signal()
        value = work(*args, **kwargs)
        if step == f"after {name}":
            send_signal()
        return value

    return run


def call_after_delay(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function after a delay, so that the signal arrives while it runs in its own process."""
    time.sleep(3.0)
    return function(*args)


def prepare(step: str, minutes: float) -> None:
    """Patch this process so that the signal is sent at `step` and the store's clock is `minutes` ahead."""
    ENGINES["extractive"] = ENGINES["extractive"]._replace(location="scripts.support.engines:LoggingEngine")
    vars(command)["sandbox_command"] = lambda command, policy: command  # the sandbox hides the tests
    for store in (GitStore, HubStore):
        real: Callable[[Any], datetime] = store.now
        vars_of: Any = store
        vars_of.now = lambda self, real=real: real(self) + timedelta(minutes=minutes)
    steps: tuple[tuple[Any, str, str], ...] = (
        (Queue, "claim", "claim"),
        (preparation, "fetch_model", "fetch"),
        (evaluation, "run_limited", "scoring"),
        (publication, "save_details", "details"),
        (Queue, "publish", "publish"),
    )
    for owner, attribute, name in steps:
        setattr(owner, attribute, with_signal(getattr(owner, attribute), step, name))
    last_message = "No commit so far"
    for store in (GitStore, HubStore):

        def commit(self: Any, changes: Any, parent: str, message: str, *rest: Any, real: Any = store.commit) -> Any:
            nonlocal last_message
            last_message = message
            return real(self, changes, parent, message, *rest)

        vars_of = store
        vars_of.commit = commit
    for owner, attribute in ((DiskRefsContainer, "set_if_equals"), (HfApi, "create_commit")):

        def landing(*args: Any, real: Callable[..., Any], **kwargs: Any) -> Any:
            return with_signal(real, step, f"the commit to {last_message.split()[0].lower()} lands")(*args, **kwargs)

        setattr(owner, attribute, partialmethod(landing, real=getattr(owner, attribute)))
    if step == "while scoring":
        limited: Callable[..., Any] = vars(evaluation)["run_limited"]

        def run_with_signal(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            Timer(1.0, send_signal).start()
            return limited(call_after_delay, function, *args, **kwargs)

        vars(evaluation)["run_limited"] = run_with_signal
    heartbeat_lock = Lock()  # keeps the process from stopping while a heartbeat holds the store's lock
    beat = Queue.heartbeat

    def heartbeat(*args: Any) -> None:
        with heartbeat_lock:
            beat(*args)

    vars_of = Queue
    vars_of.heartbeat = heartbeat
    evaluate = evaluation.evaluate

    def evaluate_with_signal(*args: Any, on_progress: Any, **kwargs: Any) -> Any:
        def progress(stage: str, done: int, total: int) -> None:
            if (step, stage) in (("first answer", "infer"), ("while measuring", "measure")) and done:
                send_signal()
            if (step, stage) == ("tenth answer", "infer") and done >= 10:
                send_signal()
            if (step, stage, done) == (PAUSED, "infer", 5):
                with heartbeat_lock:
                    os.kill(os.getpid(), signal.SIGSTOP)
            on_progress(stage, done, total)

        return evaluate(*args, on_progress=progress, **kwargs)

    vars(claimed_run)["evaluate"] = evaluate_with_signal


if __name__ == "__main__":
    if sys.argv[3:]:
        signals[:] = [signal.Signals[sys.argv[3]]]
    prepare(sys.argv[1], float(sys.argv[2]))
    sys.exit(main(["worker", "--once"]))

"""A real worker process that is ended at a named step: `python -m tests.faults.worker STEP MINUTES [SIGNAL]`.

It kills itself with SIGKILL, or sends its whole process group the named signal. MINUTES is how far the store's clock has moved on, so that no test waits for a lease to run out. Its inference process
is a real one too, with an engine that answers at once.
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

from evaluator.__main__ import main
from evaluator.engines.registry import ENGINES
from evaluator.job import process
from evaluator.results import evaluate as evaluation
from evaluator.worker import prepare as preparation
from evaluator.worker import publish as publication
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
INFERENCE = ("first answer", "tenth answer", "while measuring")  # each leaves the next something to do
LATE = ("before details", "after details", "before publish", "before the commit to publish lands")
PAUSED = "paused"  # stands still after its fifth answer until it is continued
LAST = ("after the commit to publish lands", "after publish")


signals = [signal.SIGKILL]  # to be sent, one each time


def end() -> None:
    """Kill this process, or send a signal to all processes of its group, once."""
    if signals == [signal.SIGKILL]:
        os.kill(os.getpid(), signal.SIGKILL)
    elif signals:
        os.killpg(0, signals.pop())


def wrapped(work: Callable[..., Any], step: str, name: str) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        if step == f"before {name}":
            end()
        value = work(*args, **kwargs)
        if step == f"after {name}":
            end()
        return value

    return run


def slowly(function: Callable[..., Any], *args: Any) -> Any:
    """Give the signal time to arrive while the function runs in its own process."""
    time.sleep(3.0)
    return function(*args)


def prepare(step: str, minutes: float) -> None:
    ENGINES["extractive"] = ENGINES["extractive"]._replace(location="tests.support.engines:LoggingEngine")
    vars(process)["sandbox_command"] = lambda command, policy: command  # the sandbox does not show our tests
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
        setattr(owner, attribute, wrapped(getattr(owner, attribute), step, name))
    message = "No commit so far"
    for store in (GitStore, HubStore):

        def commit(self: Any, changes: Any, parent: str, said: str, *rest: Any, real: Any = store.commit) -> Any:
            nonlocal message
            message = said
            return real(self, changes, parent, said, *rest)

        vars_of = store
        vars_of.commit = commit
    for owner, attribute in ((DiskRefsContainer, "set_if_equals"), (HfApi, "create_commit")):

        def landing(*args: Any, real: Callable[..., Any], **kwargs: Any) -> Any:
            return wrapped(real, step, f"the commit to {message.split()[0].lower()} lands")(*args, **kwargs)

        setattr(owner, attribute, partialmethod(landing, real=getattr(owner, attribute)))
    if step == "while scoring":
        limited: Callable[..., Any] = vars(evaluation)["run_limited"]

        def stopped_meanwhile(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            Timer(1.0, end).start()
            return limited(slowly, function, *args, **kwargs)

        vars(evaluation)["run_limited"] = stopped_meanwhile
    calm = Lock()  # held while a heartbeat is written: a process must not stand still with the store's lock
    beat = Queue.heartbeat

    def heartbeat(*args: Any) -> None:
        with calm:
            beat(*args)

    vars_of = Queue
    vars_of.heartbeat = heartbeat
    evaluate = evaluation.evaluate

    def watched(*args: Any, on_progress: Any, **kwargs: Any) -> Any:
        def progress(stage: str, done: int, total: int) -> None:
            if (step, stage) in (("first answer", "infer"), ("while measuring", "measure")) and done:
                end()
            if (step, stage) == ("tenth answer", "infer") and done >= 10:
                end()
            if (step, stage, done) == (PAUSED, "infer", 5):
                with calm:
                    os.kill(os.getpid(), signal.SIGSTOP)
            on_progress(stage, done, total)

        return evaluate(*args, on_progress=progress, **kwargs)

    vars(claimed_run)["evaluate"] = watched


if __name__ == "__main__":
    if sys.argv[3:]:
        signals[:] = [signal.Signals[sys.argv[3]]]
    prepare(sys.argv[1], float(sys.argv[2]))
    sys.exit(main(["worker", "--once"]))

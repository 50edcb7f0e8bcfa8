"""`python -m evaluator worker`: evaluate queued requests, or one request that a launcher has claimed."""

import argparse
import re
import signal
import sys
import threading
from collections.abc import Callable

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.errors import DataError
from evaluator.worker.loop import Worker, run_every
from evaluator.worker.run import take_over
from evaluator.worker.work_dir import make_room
from submissions.config.logs import log_safely
from submissions.config.settings import load_settings


def main(args: argparse.Namespace) -> int:
    """Evaluate the claimed request (`--claimed`), or all pending ones: once, or at an interval until a signal.

    Return 1 with `--once` if this host failed.
    """
    settings = load_settings(BENCHMARKS)
    log_safely(settings)
    settings = settings.with_store(args.store)
    if args.shard and not args.claimed:
        raise DataError("--shard needs --claimed")
    if args.private and not args.claimed:
        raise DataError("--private needs --claimed: a worker evaluates private requests too")
    if args.claimed is not None:
        if not re.fullmatch("[0-9a-f]{32}:[0-9a-f]{32}", args.claimed):
            raise DataError(f"--claimed {args.claimed}: must be KEY:NONCE of a request that a launcher has claimed")
        run = take_over(settings, args.claimed, args.shard, is_private=args.private)
        _stop_on_signals(run.stop)
        run.run()
        make_room(settings)
        return 0
    worker = Worker(settings)
    _stop_on_signals(worker.stop)
    if args.once:
        worker.run_pending()
        if worker.pause.has_host_fault:
            print("hannun: this host failed, and its request is pending again: see the log", file=sys.stderr)
            return 1
    else:
        run_every(args.every or settings.worker_every, worker)
    return 0


def _stop_on_signals(stop: Callable[[], None]) -> None:
    """Call `stop` at SIGTERM and SIGINT, in a thread: a handler must not wait for locks that the main thread may hold."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: threading.Thread(target=stop).start())

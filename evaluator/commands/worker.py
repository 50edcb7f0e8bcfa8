"""`python -m evaluator worker`: evaluate what is queued."""

import argparse
import signal

from evaluator.worker import Worker, run_every
from submissions.logs import log_safely
from submissions.settings import load_settings


def main(args: argparse.Namespace) -> int:
    settings = load_settings()
    log_safely(settings)
    settings = settings.with_store(args.store)
    worker = Worker(settings)
    signal.signal(signal.SIGTERM, lambda *_: worker.stop())
    signal.signal(signal.SIGINT, lambda *_: worker.stop())
    if args.once:
        worker.run_pending()
    else:
        run_every(args.every or settings.worker_every, worker)
    return 0

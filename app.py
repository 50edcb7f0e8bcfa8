"""Entry point of the Space: serve the board and, by default, run the worker. Settings: docs/configuration.md."""

import gc
import logging
import os
import signal
import sys
from collections.abc import Callable

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault(
    "GRADIO_ANALYTICS_CACHE_FREQUENCY", "1_000_000_000"
)  # else Gradio computes statistics of all events after each event

from evaluator.benchmarks import BENCHMARKS
from evaluator.core.errors import SandboxError
from submissions.config.garbage_collection import no_garbage_collection
from submissions.config.logs import log_safely
from submissions.config.settings import Settings, load_settings
from submissions.texts.errors import SettingsError, StoreError


def main() -> int:
    gc.set_threshold(50_000)  # a view of the board has many objects, none of which is garbage
    try:
        with no_garbage_collection():
            settings = load_settings(BENCHMARKS)
            from leaderboard.web.application import build_app, serve  # Gradio reads its environment variables at import

            log_safely(settings)
            app = build_app(settings)
            stop_worker = start_worker(settings)
    except SandboxError as error:
        sys.stderr.write(f"hannun: {error}; or serve without a worker: HANNUN_WORKER=off\n")
        return 2
    except (SettingsError, StoreError) as error:
        sys.stderr.write(f"hannun: {error}\n")
        return 2
    # uvicorn raises SIGTERM again after it has stopped. As an interrupt, this still lets the worker be stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        serve(app, settings)
    finally:
        stop_worker()
    return 0


def start_worker(settings: Settings) -> Callable[[], None]:
    """Start the worker in this process unless HANNUN_WORKER=off. Return the function that stops it."""
    if settings.worker == "off":
        return lambda: None
    from evaluator.worker.loop import Worker, start_schedule

    worker = Worker(settings)
    scheduler = start_schedule(settings.worker_every, worker)

    def stop() -> None:
        worker.stop()
        scheduler.shutdown(wait=True)

    return stop


if __name__ == "__main__":
    code = main()
    logging.shutdown()
    os._exit(code)  # do not wait for threads that wait for an unresponsive Hub

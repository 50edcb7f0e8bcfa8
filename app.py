"""The Space's entry: the board, and by default the worker beside it. Settings: HANNUN_* (see README)."""

import os
import sys
from collections.abc import Callable

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import uvicorn
from apscheduler.schedulers.background import BackgroundScheduler

from evaluator.sandbox import SandboxError
from leaderboard.api import build_app
from submissions.logs import log_safely
from submissions.settings import Settings, SettingsError, load_settings
from submissions.store import StoreError

SPACE_PROXIES = "127.0.0.1,10.0.0.0/8"  # whose word a Space takes for a visitor's address


def main() -> int:
    try:
        settings = load_settings()
        log_safely(settings)
        app = build_app(settings)
        stop_worker = start_worker(settings)
    except SandboxError as error:
        sys.stderr.write(f"hannun: {error}; or serve without a worker: HANNUN_WORKER=off\n")
        return 2
    except (SettingsError, StoreError) as error:
        sys.stderr.write(f"hannun: {error}\n")
        return 2
    try:
        uvicorn.run(
            app,
            host=settings.host,
            port=settings.port,
            access_log=False,
            log_config=None,  # everything is said through the log that leaves secrets out
            forwarded_allow_ips=os.environ.get(
                "FORWARDED_ALLOW_IPS", SPACE_PROXIES if "SPACE_ID" in os.environ else None
            ),
        )
    finally:
        stop_worker()
    return 0


def start_worker(settings: Settings) -> Callable[[], None]:
    """Run the worker in this process, unless it runs elsewhere. Returns what stops it."""
    if settings.worker == "off":
        return lambda: None
    from evaluator.worker import Worker, schedule

    worker = Worker(settings)
    scheduler = BackgroundScheduler()
    schedule(scheduler, settings.worker_every, worker)
    scheduler.start()

    def stop() -> None:
        worker.stop()
        scheduler.shutdown(wait=True)

    return stop


if __name__ == "__main__":
    sys.exit(main())

"""Prepare the work folder, in which models are evaluated, and keep it within its maximum size."""

import logging

from evaluator.core.files import keep_newest
from evaluator.datasets.source import check_place
from evaluator.sandbox.policy import try_sandbox
from submissions.config.settings import Settings

log = logging.getLogger(__name__)


def prepare_work_dir(settings: Settings) -> None:
    """Check the sandbox and the test sets, and create the work folder.

    Raises SandboxError if there is no sandbox, because untrusted models never run without one, and SettingsError if a test
    set cannot be used.
    """
    try_sandbox()
    for benchmark, data in settings.data.items():
        check_place(benchmark, data, settings)
    settings.work_dir.mkdir(parents=True, exist_ok=True)
    settings.work_dir.chmod(0o700)


def make_room(settings: Settings) -> None:
    """Delete the least recently used models, cached answers and logs until they fit into `max_cache_bytes`.

    What is used is touched, because the age of an entry is its modification time.
    """
    folder = settings.work_dir
    models = (path for path in folder.glob("models/*/*") if path.suffix != ".partial")  # without downloads in progress
    entries = (*models, *folder.glob("answers/*.jsonl"), *folder.glob("logs/*.log"))
    removed = keep_newest(entries, settings.max_cache_bytes)
    for path in removed:
        log.info("removed %s from the cache", path)

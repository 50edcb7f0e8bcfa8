"""A machine's own folder, in which models are evaluated: made ready before, kept within its size afterwards."""

import logging

from evaluator.core.files import keep_newest
from evaluator.datasets.source import check_place
from evaluator.sandbox.policy import detect_backend
from submissions.config.settings import Settings

log = logging.getLogger(__name__)


def prepare_work_dir(settings: Settings) -> None:
    """Raises SandboxError: nothing that strangers sent is run outside of one; SettingsError."""
    detect_backend()
    for benchmark, data in settings.data.items():
        check_place(benchmark, data, settings)
    settings.work_dir.mkdir(parents=True, exist_ok=True)
    settings.work_dir.chmod(0o700)


def make_room(settings: Settings) -> None:
    """Remove the models and kept answers that were used longest ago, where there are more than there may be."""
    folder = settings.work_dir
    models = (path for path in folder.glob("models/*/*") if path.suffix != ".partial")  # one that arrives just now
    for path in keep_newest((*models, *folder.glob("answers/*.jsonl")), settings.max_cache_bytes):
        log.info("removed %s to make room", path)

"""Who runs a claimed evaluation: a launcher for each way, one file each."""

from importlib import import_module

from evaluator.worker.launchers.base import Launcher
from submissions.config.settings import Settings
from submissions.queue.queue import Queue
from submissions.texts.errors import SettingsError

LAUNCHERS = {
    "local": "evaluator.worker.launchers.local:LocalLauncher",
    "ray": "evaluator.worker.launchers.ray:RayLauncher",
    "hf-jobs": "evaluator.worker.launchers.hf_jobs:HubJobLauncher",
    "command": "evaluator.worker.launchers.command:CommandLauncher",
}


def make_launcher(settings: Settings, queue: Queue) -> Launcher:
    """The launcher of the settings; only its own libraries are loaded. Raises SandboxError, SettingsError, StoreError."""
    module, name = LAUNCHERS[settings.launcher].split(":")
    try:
        made = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise SettingsError(f"HANNUN_LAUNCHER={settings.launcher}: {error}; make {settings.launcher}") from None
    launcher: Launcher = made(settings, queue)
    return launcher

"""Launchers, which run claimed evaluations: one file per kind."""

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
    """Return the launcher that the settings name. Only the libraries of that launcher are imported.

    Raises SettingsError if its library is missing or the settings do not fit, SandboxError if there is no sandbox, and
    StoreError if a store cannot be opened.
    """
    module, name = LAUNCHERS[settings.launcher].split(":")
    try:
        launcher_class = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise SettingsError(f"HANNUN_LAUNCHER={settings.launcher}: {error}; make {settings.launcher}") from None
    launcher: Launcher = launcher_class(settings, queue)
    return launcher

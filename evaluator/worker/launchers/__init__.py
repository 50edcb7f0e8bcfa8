"""Launchers, which run claimed evaluations: one file per kind."""

from importlib import import_module

from evaluator.worker.launchers.base import Launcher
from submissions.config.settings import Settings
from submissions.queue.queue import Queue

LAUNCHERS = {
    "local": "evaluator.worker.launchers.local:LocalLauncher",
    "hf-jobs": "evaluator.worker.launchers.hf_jobs:HubJobLauncher",
    "command": "evaluator.worker.launchers.command:CommandLauncher",
}


def make_launcher(settings: Settings, queue: Queue) -> Launcher:
    """Return the launcher that the settings name. Only the libraries of that launcher are imported.

    Raises SettingsError if the settings do not fit, SandboxError if there is no sandbox, and StoreError if a store cannot be
    opened.
    """
    module, name = LAUNCHERS[settings.launcher].split(":")
    launcher: Launcher = getattr(import_module(module), name)(settings, queue)
    return launcher

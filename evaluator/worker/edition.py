"""Rebuild the board's static edition (the board as files) after results were published, in another process."""

import logging
import os
import subprocess
import sys
import tempfile

from submissions.config.settings import Settings

log = logging.getLogger(__name__)


class EditionUpdates:
    """Runs `python -m leaderboard build`, one at a time. All requests that come while one runs lead to one more."""

    def __init__(self, settings: Settings) -> None:
        self._target = settings.static  # folder of the edition; None: there is none, or no further build is to start
        self._options: list[str] = []
        for name, value in (("--address", settings.static_address), ("--live", settings.live_address)):
            if value:
                self._options += [name, value]
        self._environment = os.environ | {"HANNUN_STORE": settings.store}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # for as long as the worker runs
        self._process: subprocess.Popen[bytes] | None = None  # the running build, if any
        self._is_requested = False

    def request(self) -> None:
        """Have the edition rebuilt, if there is one."""
        self._is_requested = self._target is not None
        self.poll()

    def poll(self) -> None:
        """Start the next build if one was requested and none is running, and log how the last one ended."""
        if self._process is not None:
            if self._process.poll() is None:
                return
            if self._process.returncode:
                self._errors.seek(0)
                lines = self._errors.read().decode(errors="replace").splitlines()
                log.warning("the static edition was not updated: %s", lines[-1] if lines else self._process.returncode)
            self._process = None
        if self._is_requested and self._target:
            self._is_requested = False
            command = [sys.executable, "-m", "leaderboard", "build", self._target, *self._options]
            self._errors.seek(0)
            self._errors.truncate()
            self._process = subprocess.Popen(
                command, env=self._environment, stdout=subprocess.DEVNULL, stderr=self._errors
            )

    def finish(self) -> None:
        """Wait until everything that was requested is built."""
        while (process := self._process) is not None:
            process.wait()
            self.poll()

    def stop(self) -> None:
        """End a running build, and start no other. The next worker's build writes the files that are missing."""
        self._target = None
        process = self._process
        if process is not None:
            process.terminate()

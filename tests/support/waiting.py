"""Wait for real servers and evaluations, in tests that are run by hand."""

import socket
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 900  # seconds for an evaluation


def free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(what: str, ready: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Return the first true value of `ready`. Raises AssertionError after `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := ready():
            return found
        time.sleep(1)
    raise AssertionError(f"{what}: not within {seconds:.0f} s")

"""`python -m evaluator.engines.server_process COMMAND…`: run a command, and end its process group when stdin closes or on SIGTERM.

The command is a model server. The kernel closes the pipe even if the parent was killed, so that no server outlives it.
"""

import os
import signal
import subprocess
import sys
import threading
import time

GRACE_SECONDS = 10.0  # from SIGTERM to SIGKILL
POLL_SECONDS = 0.05


def main(command: list[str]) -> int:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())  # before the start, so that no signal leaves the server behind
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)

    def stop_when_stdin_closes() -> None:
        while os.read(0, 1024):
            pass
        stop.set()

    def end_on_stop() -> None:
        stop.wait()
        _end_group(child.pid)

    for watch in (stop_when_stdin_closes, end_on_stop):
        threading.Thread(target=watch, daemon=True).start()
    code = child.wait()
    _end_group(child.pid)  # The command has exited; end the children that it left running.
    return code if code >= 0 else 1  # negative if a signal ended the command, which is no exit code


def _end_group(group: int) -> None:
    """Ask all processes of a group to end, and kill those that have not ended after the grace period."""
    if not _signal_group(group, signal.SIGTERM):
        return
    deadline = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < deadline:
        if not _signal_group(group, 0):
            return
        time.sleep(POLL_SECONDS)
    _signal_group(group, signal.SIGKILL)


def _signal_group(group: int, number: int) -> bool:
    """Send a signal to a process group. Return whether it has processes. Signal 0 only asks."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

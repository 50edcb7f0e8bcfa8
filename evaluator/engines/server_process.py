"""`python -m evaluator.engines.server_process COMMAND…`: run a command, and end its process group when stdin closes or on SIGTERM.

The command is a model server. The kernel closes the pipe even if the parent was killed, so that no server outlives it.
"""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

GRACE_SECONDS = 10.0  # from SIGTERM to SIGKILL


def main(command: list[str]) -> int:
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)

    def end_process_group() -> None:
        for stop_signal in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(child.pid, stop_signal)
            except ProcessLookupError:
                return
            with suppress(subprocess.TimeoutExpired):
                child.wait(GRACE_SECONDS)  # SIGKILL follows even if it has exited, because its children may still run

    def end_when_stdin_closes() -> None:
        while os.read(0, 1024):
            pass
        end_process_group()

    # In a thread, because a handler runs within `child.wait()` below, which holds a lock that it would wait for.
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=end_process_group).start())
    threading.Thread(target=end_when_stdin_closes, daemon=True).start()
    code = child.wait()
    end_process_group()  # The command has exited; end the children that it left running.
    return code if code >= 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

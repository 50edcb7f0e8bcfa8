"""`python -m evaluator.engines.server_process COMMAND…`: run a command; end it and all its children when stdin closes.

The pipe to stdin closes however the parent ends, SIGKILL included, so no server is left running.
"""

import os
import signal
import subprocess
import sys
import threading

GRACE_SECONDS = 10.0  # from SIGTERM to SIGKILL


def main(command: list[str]) -> int:
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)

    def end() -> None:
        for stop_signal in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(child.pid, stop_signal)
                child.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                continue
            except ProcessLookupError:
                return

    def end_when_stdin_closes() -> None:
        while os.read(0, 1024):
            pass
        end()

    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=end).start())
    threading.Thread(target=end_when_stdin_closes, daemon=True).start()
    code = child.wait()
    end()  # children that the command left running
    return code if code >= 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

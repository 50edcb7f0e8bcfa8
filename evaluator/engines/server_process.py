"""`python -m evaluator.engines.server_process COMMAND…`: runs a command and ends it, with all it started, when stdin closes.

Whoever started it may die in any way, SIGKILL included: its end of the pipe closes, and no server is left over.
"""

import os
import signal
import subprocess
import sys
import threading

GRACE = 10.0  # seconds from SIGTERM to SIGKILL


def main(command: list[str]) -> int:
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)

    def end() -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(child.pid, number)
                child.wait(GRACE)
            except subprocess.TimeoutExpired:
                continue
            except ProcessLookupError:
                return

    def watch() -> None:
        while os.read(0, 1024):
            pass
        end()

    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=end).start())
    threading.Thread(target=watch, daemon=True).start()
    code = child.wait()
    end()  # what the command itself left behind
    return code if code >= 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

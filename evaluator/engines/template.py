"""Chat templates are programs of strangers: they are rendered in a process of their own, within time, memory and length.

`python -m evaluator.engines.template` reads lines of JSON, a template first, then batches of conversations, and writes
a line for each. It is transformers' own renderer that draws them, in Jinja's sandbox.
"""

import json
import os
import resource
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluator.types import ModelError

SECONDS = 10.0  # for one batch
START_SECONDS = 120.0  # until the process has loaded its libraries
MEMORY = 2**30  # bytes
GROWTH = 100_000  # characters that a template may add to a conversation
ROOT = Path(__file__).parent.parent.parent

# A template of ours, that prints what has been rendered.
PRINT = "{% for message in messages %}{{ message['rendered'] }}{% endfor %}"

Conversation = Sequence[dict[str, Any]]


class TemplateRenderer:
    def __init__(self, template: str, variables: dict[str, Any]) -> None:
        """`variables` are the special tokens that a template may name."""
        self._child = subprocess.Popen(
            [sys.executable, "-m", "evaluator.engines.template"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
        )
        self._turn = threading.Lock()
        self._ready = False
        self._write({"template": template, "variables": variables})

    def render(self, conversations: Sequence[Conversation]) -> list[str]:
        """Each conversation as the model is to read it. Raises ModelError where the template fails or does not end."""
        with self._turn:
            if not self._ready:
                self._read(START_SECONDS, MEMORY)
                self._ready = True
            sent = self._write(list(conversations))
            reply = self._read(SECONDS, 8 * sent + 8 * GROWTH * len(conversations))
        if isinstance(reply, str):
            raise ModelError("template_error", reply)
        return list(reply)

    def close(self) -> None:
        self._child.kill()
        self._child.wait()

    def _write(self, message: Any) -> int:
        line = json.dumps(message).encode() + b"\n"
        assert self._child.stdin
        try:
            self._child.stdin.write(line)
            self._child.stdin.flush()
        except BrokenPipeError:
            raise ModelError("template_error", "the process that renders the chat template has ended") from None
        return len(line)

    def _read(self, seconds: float, most: int) -> Any:
        """The next line. Where none comes in time, or too long a one, the process is ended."""
        assert self._child.stdout
        file = self._child.stdout.fileno()
        deadline = time.monotonic() + seconds
        received = bytearray()
        while not received.endswith(b"\n"):
            ready, _, _ = select.select([file], [], [], max(0.0, deadline - time.monotonic()))
            piece = os.read(file, 2**20) if ready else None
            received += piece or b""
            if not piece or len(received) > most:
                self.close()
                what = "does not end" if piece is None else "writes too much" if piece else "ended its process"
                raise ModelError("template_error", f"the chat template {what}")
        return json.loads(received)


def main() -> int:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    from transformers.utils.chat_template_utils import render_jinja_template

    given = json.loads(sys.stdin.readline())
    _answer("ready")
    for line in sys.stdin:
        conversations = json.loads(line)
        most = len(line) + GROWTH
        try:
            rendered, _ = render_jinja_template(
                conversations, chat_template=given["template"], add_generation_prompt=True, **given["variables"]
            )
            longest = max(map(len, rendered), default=0)
            _answer(rendered if longest <= most else f"the chat template writes {longest:,} characters")
        except Exception as error:  # whatever a template does, it is its fault
            _answer(f"{type(error).__name__}: {error}"[:500])
    return 0


def _answer(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

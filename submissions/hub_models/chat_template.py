"""Chat templates are programs of strangers: they are rendered in a process of their own, within time, memory and length.

`python -m submissions.hub_models.chat_template` reads lines of JSON, a template first, then batches of conversations, and writes a
line for each. Jinja's sandbox draws them as transformers does (`render_jinja_template` there; a test holds the two
together), so that the check before a submission and the engine see the same text.
"""

import json
import os
import resource
import select
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from submissions.config.paths import ROOT
from submissions.texts.errors import TemplateError

SECONDS = 10.0  # for one batch
START_SECONDS = 120.0  # until the process has loaded its libraries
MEMORY = 2**30  # bytes
GROWTH = 100_000  # characters that a template may add to a conversation
DAY = datetime(2026, 1, 1, tzinfo=UTC)  # for templates that ask for the date: the same question on every day

Conversation = Sequence[Mapping[str, Any]]


class TemplateRenderer:
    def __init__(self, template: str, variables: Mapping[str, Any]) -> None:
        """`variables` are the special tokens that a template may name."""
        self._child = subprocess.Popen(
            [sys.executable, "-m", "submissions.hub_models.chat_template"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            process_group=0,  # a stop of our group is no error of the template
        )
        self._lock = threading.Lock()
        self._ready = False
        self._write({"template": template, "variables": dict(variables)})

    def render(self, conversations: Sequence[Conversation], **switches: Any) -> list[str]:
        """Each conversation as the model is to read it, up to its answer; `switches` are variables the template reads.

        Raises TemplateError where the template fails or does not end.
        """
        return self._render(conversations, True, switches)

    def render_whole(self, conversation: Conversation) -> str:
        """A conversation that ends with an answer, and no invitation to another. Raises TemplateError."""
        return self._render([conversation], False, {})[0]

    def _render(self, conversations: Sequence[Conversation], asks: bool, switches: Mapping[str, Any]) -> list[str]:
        with self._lock:
            if not self._ready:
                self._read(START_SECONDS, MEMORY)
                self._ready = True
            message = {"conversations": list(conversations), "asks": asks, "switches": dict(switches)}
            sent = self._write(message)
            reply = self._read(SECONDS, 8 * sent + 8 * GROWTH * len(conversations))
        if isinstance(reply, str):
            raise TemplateError(reply)
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
            raise TemplateError("the process that renders the chat template has ended") from None
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
                raise TemplateError(f"the chat template {what}")
        return json.loads(received)


def default_template(named: Any) -> str | None:
    """The template to use where there are several by name, as a mapping or as the list that tokenizers save."""
    if isinstance(named, list):
        named = {t.get("name"): t.get("template") for t in named if isinstance(t, dict)}
    if isinstance(named, Mapping):
        named = named.get("default") or next(iter(named.values()), None)
    return named if isinstance(named, str) and named else None


class _GenerationTag(jinja2.ext.Extension):
    """`{% generation %}` marks what the model wrote, for training; here it is only passed through."""

    tags = {"generation"}  # noqa: RUF012 - as jinja2 declares it

    def parse(self, parser: jinja2.parser.Parser) -> list[jinja2.nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _PlainNamespace(Namespace):
    """A namespace that keeps no name with an underscore in front, where Python's own machinery stands."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, *values = args
        given = dict(*values, **kwargs)
        for name in given:
            _check_name(name)
        Namespace.__init__(self, given)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


class _PlainDict:
    """`dict(...)` without the type behind it."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, keys: Any, value: Any = None) -> dict[Any, Any]:
        return dict.fromkeys(keys, value)


def _check_name(name: Any) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError(f"a namespace takes no name like {name!r}")


def environment() -> ImmutableSandboxedEnvironment:
    """What chat templates are written for."""

    def raise_exception(message: str) -> None:
        raise jinja2.exceptions.TemplateError(message)

    def tojson(
        value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
    ) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def strftime_now(form: str) -> str:
        return DAY.strftime(form)

    made = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_GenerationTag, "jinja2.ext.loopcontrols"]
    )
    made.filters["tojson"] = tojson
    made.globals |= {"raise_exception": raise_exception, "strftime_now": strftime_now}
    made.globals |= {"dict": _PlainDict(), "namespace": _PlainNamespace}
    return made


def main() -> int:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    given = json.loads(sys.stdin.readline())
    template, fault = None, ""
    _answer("ready")
    for line in sys.stdin:
        asked = json.loads(line)
        most = len(line) + GROWTH
        if (
            template is None and not fault
        ):  # within the time of the first batch: Jinja computes constants as it compiles
            try:
                template = environment().from_string(given["template"])
            except Exception as error:
                fault = _error_line(error)
        if template is None:
            _answer(fault)
            continue
        # A name that the family's own code would pass stands for nothing where it does not.
        variables = {"tools": None, "documents": None, **given["variables"], **asked["switches"]}
        try:
            rendered = [
                template.render(messages=messages, add_generation_prompt=asked["asks"], **variables)
                for messages in asked["conversations"]
            ]
            longest = max(map(len, rendered), default=0)
            _answer(rendered if longest <= most else f"the chat template writes {longest:,} characters")
        except Exception as error:  # whatever a template does, it is its fault
            _answer(_error_line(error))
    return 0


def _error_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:500]


def _answer(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

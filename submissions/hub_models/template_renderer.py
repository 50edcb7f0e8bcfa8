"""Render chat templates in a child process with limits on time, memory and output.

Templates are untrusted programs. `python -m submissions.hub_models.template_renderer` reads JSON lines: first a template,
then batches of conversations. It writes one line for each batch. It renders in Jinja's sandbox, in the same way as
`render_jinja_template` in transformers (a test compares the two), so the submission check and the engine see the same text.
"""

import ctypes
import json
import math
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from submissions.config.paths import ROOT
from submissions.texts.errors import TemplateError, TemplateProcessError

RENDER_SECONDS = 10.0  # for one batch
END_SECONDS = 5.0  # between the end of its output and that of the child process
START_SECONDS = 120.0  # for the child process to import its libraries
MAX_MEMORY = 2**30  # bytes
MAX_ADDED_CHARS = 100_000  # that a template may add to a conversation
FIXED_DATE = datetime(2026, 1, 1, tzinfo=UTC)  # for templates that print the date, so that prompts never change

Conversation = Sequence[Mapping[str, Any]]
Isolate = Callable[[Sequence[str], Mapping[str, str]], list[str]]
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONPATH")
KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)  # exit codes of the process, and of the sandbox that it ran in
PR_SET_NO_NEW_PRIVS = 38  # see prctl(2)


def not_isolated(command: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Return the command itself."""
    return list(command)


class TemplateRenderer:
    """Render one chat template in a child process."""

    def __init__(
        self,
        template: str,
        variables: Mapping[str, Any],
        isolate: Isolate = not_isolated,
        *,
        seconds: float = math.inf,
    ) -> None:
        """Start the child process.

        `variables` are the special tokens that the template may use. `isolate` returns the command line that runs the child
        process, for example in a sandbox. `seconds` is the time for all batches together; each may take at most
        RENDER_SECONDS. The process has no environment variable of this one except those in KEPT_VARIABLES.
        """
        environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        command = [sys.executable, "-m", "submissions.hub_models.template_renderer"]
        self._child = subprocess.Popen(
            isolate(command, environment),
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            process_group=0,  # so that a signal to this process group does not look like a template error
        )
        self._lock = threading.Lock()
        self._ready = False
        self._fault: TemplateError | None = None  # of the template, for which the process was ended
        self._seconds_left = seconds
        self._setup = {"template": template, "variables": dict(variables)}

    def render(self, conversations: Sequence[Conversation], **switches: Any) -> list[str]:
        """Return the prompt for each conversation, up to where the model's answer starts.

        `switches` are further variables that the template may read. Raises TemplateError if the template fails, takes too
        long or writes too much, TemplateProcessError if the process could not start or was killed.
        """
        return self._render(conversations, True, switches)

    def render_whole(self, conversation: Conversation) -> str:
        """Render a conversation that ends with an answer, without a generation prompt. Raises TemplateError too."""
        return self._render([conversation], False, {})[0]

    def _render(
        self, conversations: Sequence[Conversation], add_generation_prompt: bool, switches: Mapping[str, Any]
    ) -> list[str]:
        with self._lock:
            if self._fault:
                raise self._fault
            if not self._ready:
                self._write(self._setup)
                self._read(START_SECONDS, MAX_MEMORY)
                self._ready = True
            message = {
                "conversations": list(conversations),
                "add_generation_prompt": add_generation_prompt,
                "switches": dict(switches),
            }
            sent = self._write(message)
            started = time.monotonic()
            limit = min(RENDER_SECONDS, self._seconds_left)
            max_added_bytes = (
                8 * MAX_ADDED_CHARS * len(conversations)
            )  # escaped as JSON, a character takes several bytes
            reply = self._read(limit, 8 * sent + max_added_bytes)
            self._seconds_left -= time.monotonic() - started
        if isinstance(reply, str):  # the error, instead of the list of prompts
            raise TemplateError(reply)
        return list(reply)

    @property
    def process_id(self) -> int:
        """The process id of the child process, or of the sandbox that it runs in."""
        return self._child.pid

    def close(self) -> None:
        """Kill the child process."""
        self._child.kill()
        self._child.wait()

    def _write(self, message: Any) -> int:
        line = json.dumps(message).encode() + b"\n"
        assert self._child.stdin
        try:
            self._child.stdin.write(line)
            self._child.stdin.flush()
        except BrokenPipeError:
            raise self._ended("ended its process", by_itself=True) from None
        return len(line)

    def _read(self, seconds: float, max_bytes: int) -> Any:
        """Return the next message of the child process.

        Ends the process and raises TemplateError if the message is late or longer than `max_bytes`, TemplateProcessError if
        the process could not start or was killed.
        """
        assert self._child.stdout
        file = self._child.stdout.fileno()
        deadline = time.monotonic() + seconds
        received = bytearray()
        while not received.endswith(b"\n"):
            ready, _, _ = select.select([file], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise self._ended("does not end")
            piece = os.read(file, 2**20)
            if not piece:
                raise self._ended("ended its process", by_itself=True)
            received += piece
            if len(received) > max_bytes:
                raise self._ended("writes too much")
        return json.loads(received)

    def _ended(self, what: str, *, by_itself: bool = False) -> TemplateError | TemplateProcessError:
        """End the process and return the error. `what` is what the template does, `by_itself` whether its output has ended.

        A process that could not start or was killed is not an error of the template.
        """
        status = None
        if by_itself:
            with suppress(subprocess.TimeoutExpired):  # it may have closed its output without ending
                status = self._child.wait(END_SECONDS)
        self.close()
        if status in KILLED or (status is not None and not self._ready):
            return TemplateProcessError(
                "the process that renders the chat template could not start or was killed, as when memory runs out"
            )
        self._fault = TemplateError(f"the chat template {what}")
        return self._fault


def default_template(named: Any) -> str | None:
    """Return the template to use, or None if there is none.

    `named` is a template, a mapping of several by name, or the list of them that tokenizers save.
    """
    if isinstance(named, list):
        named = {t.get("name"): t.get("template") for t in named if isinstance(t, dict)}
    if isinstance(named, Mapping):
        named = named.get("default") or next(iter(named.values()), None)
    return named if isinstance(named, str) and named else None


class _GenerationTag(jinja2.ext.Extension):
    """Render the content of `{% generation %}`, a tag that marks the model's own text for training, unchanged."""

    tags = {"generation"}  # noqa: RUF012 - jinja2 declares it like this

    def parse(self, parser: jinja2.parser.Parser) -> list[jinja2.nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _PlainNamespace(Namespace):
    """A namespace that rejects names with a leading underscore, because they may reach Python internals."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, *values = args  # as Jinja does it, so that a template may use the name `self`
        given = dict(*values, **kwargs)
        for name in given:
            _check_name(name)
        Namespace.__init__(self, given)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


class _PlainDict:
    """Behave like `dict` in a template without giving access to the type."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, keys: Any, value: Any = None) -> dict[Any, Any]:
        return dict.fromkeys(keys, value)


def _check_name(name: Any) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError(f"a namespace does not accept the name {name!r}")


def environment() -> ImmutableSandboxedEnvironment:
    """Return a Jinja environment with the functions and filters that chat templates expect."""

    def raise_exception(message: str) -> None:
        raise jinja2.exceptions.TemplateError(message)

    def tojson(
        value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
    ) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def strftime_now(form: str) -> str:
        return FIXED_DATE.strftime(form)

    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_GenerationTag, "jinja2.ext.loopcontrols"]
    )
    env.filters["tojson"] = tojson
    env.globals |= {"raise_exception": raise_exception, "strftime_now": strftime_now}
    env.globals |= {"dict": _PlainDict(), "namespace": _PlainNamespace}
    return env


def main() -> int:
    """Render the conversations that arrive on stdin."""
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # it writes to pipes only
    ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    setup = json.loads(sys.stdin.readline())
    template, fault = None, ""
    _reply("ready")
    for line in sys.stdin:
        batch = json.loads(line)
        max_chars = len(line) + MAX_ADDED_CHARS
        # Compile within the time limit of the first batch, because Jinja evaluates constants while it compiles.
        if template is None and not fault:
            try:
                template = environment().from_string(setup["template"])
            except Exception as error:
                fault = _error_line(error)
        if template is None:
            _reply(fault)
            continue
        # Define the variables that the model family's own code may pass, as None.
        variables = {"tools": None, "documents": None, **setup["variables"], **batch["switches"]}
        try:
            rendered = [
                template.render(messages=messages, add_generation_prompt=batch["add_generation_prompt"], **variables)
                for messages in batch["conversations"]
            ]
            longest = max(map(len, rendered), default=0)
            _reply(rendered if longest <= max_chars else f"the chat template writes {longest:,} characters")
        except Exception as error:  # any error here is an error of the template
            _reply(_error_line(error))
    return 0


def _error_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:500]


def _reply(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

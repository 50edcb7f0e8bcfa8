"""Render chat templates in a child process with limits on time, memory and output.

A chat template is a Jinja program that anybody may have written. The submission check renders it with a test question, and
the evaluator's chat engine renders the prompts of an evaluation; both use `TemplateRenderer`, so they see the same text.

The first half of this file runs in the parent: it starts the child, sends it work and ends it if a limit is exceeded. The
second half runs in the child, `python -m submissions.hub_models.template_renderer`, and renders in Jinja's sandbox in the
same way as `render_jinja_template` in transformers (a test compares the two). They exchange JSON lines:

    parent → child   {"template": "…", "variables": {"bos_token": "<s>"}}
    child → parent   "ready"
    parent → child   {"conversations": […], "add_generation_prompt": true, "switches": {"enable_thinking": false}}
    child → parent   ["<s>user …"], a prompt for each conversation, or "TemplateError: …", a text if it failed
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
END_SECONDS = 5.0  # for the child process to end after it has closed its output
START_SECONDS = 120.0  # for the child process to import its libraries
MAX_MEMORY = 2**30  # bytes of the child process
MAX_ADDED_CHARS = 100_000  # that a template may add to a conversation
BYTES_PER_CHAR = 12  # at most: JSON writes a character beyond U+FFFF as two \uXXXX
FIXED_DATE = datetime(2026, 1, 1, tzinfo=UTC)  # for templates that print the date, so that prompts never change

Conversation = Sequence[Mapping[str, Any]]  # messages with "role" and "content"
Isolate = Callable[[Sequence[str], Mapping[str, str]], list[str]]  # (command, environment) → command in a sandbox
# Environment variables that the child process gets: what Python needs to start, and no token.
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONPATH")
KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)  # exit codes of a killed process, and of bubblewrap around one
PR_SET_NO_NEW_PRIVS = 38  # prctl(2): no program that this process starts gets more privileges


def not_isolated(command: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Return the command itself: the default of a renderer outside of a sandbox."""
    return list(command)


class TemplateRenderer:
    """Renders one chat template in a child process. Threads may share it. `close` ends the process."""

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
        # The error for which the process was ended. Every later call raises it.
        self._fault: TemplateError | None = None
        self._seconds_left = seconds
        self._setup = {"template": template, "variables": dict(variables)}

    def render(self, conversations: Sequence[Conversation], **switches: Any) -> list[str]:
        """Return the prompt for each conversation, up to where the model's answer starts.

        `switches` are further variables that the template may read. Raises TemplateError if the template fails, takes too
        long or writes too much, TemplateProcessError if the process could not start or was killed.
        """
        return self._render(conversations, switches, add_generation_prompt=True)

    def render_whole(self, conversation: Conversation) -> str:
        """Render a conversation that ends with an answer, without a generation prompt. Raises the errors of `render`."""
        return self._render([conversation], {}, add_generation_prompt=False)[0]

    def _render(
        self, conversations: Sequence[Conversation], switches: Mapping[str, Any], *, add_generation_prompt: bool
    ) -> list[str]:
        with self._lock:
            if self._fault:
                raise self._fault
            if not self._ready:
                self._write(self._setup)
                self._read(START_SECONDS, MAX_MEMORY)  # "ready", which is written before the template is compiled
                self._ready = True
            message = {
                "conversations": list(conversations),
                "add_generation_prompt": add_generation_prompt,
                "switches": dict(switches),
            }
            sent_bytes = self._write(message)
            started = time.monotonic()
            limit = min(RENDER_SECONDS, self._seconds_left)
            # The child refuses a single prompt that is too long (`_rendered_batch`). This limit is for all prompts together.
            max_chars = sent_bytes + MAX_ADDED_CHARS * len(conversations)
            reply = self._read(limit, BYTES_PER_CHAR * max_chars)
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
        """Send a message to the child process, and return its length in bytes."""
        line = json.dumps(message).encode() + b"\n"
        assert self._child.stdin
        try:
            self._child.stdin.write(line)
            self._child.stdin.flush()
        except BrokenPipeError:
            raise self._end("ended its process", by_itself=True) from None
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
        output = select.poll()  # `select.select` fails if a process has more than 1,024 open files
        output.register(file, select.POLLIN)
        while not received.endswith(b"\n"):
            seconds_left = max(0.0, deadline - time.monotonic())
            if not output.poll(math.ceil(seconds_left * 1000)):
                raise self._end("does not end")
            piece = os.read(file, 2**20)
            if not piece:
                raise self._end("ended its process", by_itself=True)
            received += piece
            if len(received) > max_bytes:
                raise self._end("writes too much")
        return json.loads(received)

    def _end(self, fault: str, *, by_itself: bool = False) -> TemplateError | TemplateProcessError:
        """End the process and return the error to raise.

        `fault` is what the template does wrong, such as "writes too much". `by_itself` is whether the process has closed its
        output. If it could not start or was killed, that is not an error of the template: the error is then a
        TemplateProcessError. This renderer has no process any more, but a new one may succeed.
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
        self._fault = TemplateError(f"the chat template {fault}")
        return self._fault


def default_template(setting: Any) -> str | None:
    """Return the template to use of a setting `chat_template`, or None if there is none.

    The setting is a template, several by name (`{"default": "…", "tool_use": "…"}`), or the list of them that tokenizers
    save (`[{"name": "default", "template": "…"}]`). Of several, it is the one that is named "default", or else the first.
    """
    template = setting
    if isinstance(template, list):
        named = [entry for entry in template if isinstance(entry, dict) and isinstance(entry.get("name"), str)]
        template = {entry["name"]: entry.get("template") for entry in named}
    if isinstance(template, Mapping):
        template = template.get("default") or next(iter(template.values()), None)
    return template if isinstance(template, str) and template else None


# What follows runs in the child process. `environment` also parses templates in the parent, without rendering them.


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
    """Behaves like `dict` in a template without giving access to the type, from which a template could reach others."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, keys: Any, value: Any = None) -> dict[Any, Any]:
        return dict.fromkeys(keys, value)


def _check_name(name: Any) -> None:
    """Raise SecurityError for a name that may reach Python's internals, such as `__class__`."""
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError(f"a namespace does not accept the name {name!r}")


def environment() -> ImmutableSandboxedEnvironment:
    """Return a sandboxed Jinja environment with the functions and filters that transformers gives to chat templates.

    Their arguments have the names that transformers gives them, because a template may use the names.
    """

    def raise_exception(message: str) -> None:
        raise jinja2.exceptions.TemplateError(message)

    def tojson(
        x: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
    ) -> str:
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def strftime_now(format: str) -> str:  # the name in transformers
        return FIXED_DATE.strftime(format)

    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_GenerationTag, "jinja2.ext.loopcontrols"]
    )
    env.filters["tojson"] = tojson
    env.globals |= {"raise_exception": raise_exception, "strftime_now": strftime_now}
    env.globals |= {"dict": _PlainDict(), "namespace": _PlainNamespace}
    return env


def main() -> int:
    """Render the conversations that arrive on stdin, until it is closed. The module's docstring has the messages."""
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # it writes to pipes only
    ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    setup = json.loads(sys.stdin.readline())
    template: jinja2.Template | None = None
    compile_error: str | None = None
    _reply("ready")
    for line in sys.stdin:
        batch = json.loads(line)
        # Compile within the time limit of the first batch, because Jinja evaluates constants while it compiles.
        if template is None and compile_error is None:
            try:
                template = environment().from_string(setup["template"])
            except Exception as error:
                compile_error = _error_line(error)
        if template is None:
            _reply(compile_error)
            continue
        try:
            _reply(_rendered_batch(template, setup["variables"], batch, max_chars=len(line) + MAX_ADDED_CHARS))
        except Exception as error:  # any error here is an error of the template
            _reply(_error_line(error))
    return 0


def _rendered_batch(
    template: jinja2.Template, special_tokens: Mapping[str, str], batch: Mapping[str, Any], max_chars: int
) -> list[str] | str:
    """Return the prompt for each conversation of a batch, or the error if one has more than `max_chars` characters."""
    # In transformers, `tools` and `documents` are always defined; without them they are None.
    variables = {"tools": None, "documents": None, **special_tokens, **batch["switches"]}
    prompts = [
        template.render(messages=messages, add_generation_prompt=batch["add_generation_prompt"], **variables)
        for messages in batch["conversations"]
    ]
    longest = max(map(len, prompts), default=0)
    return prompts if longest <= max_chars else f"the chat template writes {longest:,} characters"


def _error_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:500]


def _reply(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

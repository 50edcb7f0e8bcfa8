"""Log without secrets, as text or as one JSON object per line.

The programs call `log_safely` once at start-up; the board also logs what its libraries print. What is removed: the tokens and
keys of this installation, everything that looks like somebody else's token, passwords in addresses, and the names in private
evaluations.
"""

import io
import json
import logging
import os
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from copy import copy
from datetime import UTC, datetime
from typing import Any

from submissions.config.api_options import API_KEY
from submissions.config.settings import Settings
from submissions.texts.printable import printable

SECRET_VARIABLES = (API_KEY, "OAUTH_CLIENT_SECRET")  # secrets that are not settings
# Tokens of any user or organisation: "hf_AbCdEfGh", "api_org_aBcdef", and what follows "Bearer " or "Basic " in an
# Authorization header. Names of functions, such as hf_hub_download, have neither digits nor capitals, nor 16 small letters
# in a row after "hf_"; "bearer of the message" has no digit. There is no "\b" in front, because a token may follow the n of
# an escaped line break: "\nhf_AbCdEfGh".
TOKEN_PATTERN = re.compile(
    r"(?:hf|api)_(?=\w{0,40}[A-Z\d])\w{8,}|hf_[a-z]{16,}"
    r"|(?<=Bearer )[\w.~+/-]{8,}|(?<=Basic )[\w+/=]{6,}|(?<=bearer )(?=\S{0,80}\d)[\w.~+/-]{8,}"
)
# The credentials of a header with any scheme or none, in any case, also as a dict or a tuple shows it: "authorization: basic
# a2ltOnB3", "(b'Authorization', b'Token …')". Group 1 is what stays.
AUTHORIZATION_PATTERN = re.compile(
    r"(authorization(?:['\"]?\s*[:=]|['\"],)\s*b?['\"]?(?:[\w-]+ )?)[^\r\n'\", ]+", re.IGNORECASE
)
# "user:password" in https://user:password@example.org, and "token" in https://token@example.org.
PASSWORD_PATTERN = re.compile(
    r"""
    (?<=://)
    (?: [^/@:\s]+ : (?! \d{1,5}/ )      # a user, but not a host with its port: https://board:7860/models/a@main
        (?: (?! :// ) [^\s?#] )*        # a password, which may have "/" and "@", but no query and no other address
      | [^/@\s]+                        # a token
    )
    (?=@)
    """,
    re.VERBOSE,
)
MAX_PRINTED_CHARS = 10_000  # of a printed line that has no end yet; a longer one is logged in pieces
MIN_SECRET_CHARS = 6  # a shorter value is not a secret, and redacting it would damage ordinary words


class Redacting(logging.Formatter):
    """Formats records and their tracebacks, with known secrets and everything that looks like a token replaced.

    A record is one line of text, or one JSON object on a line with HANNUN_LOG=json. A message cannot contain a line break.
    """

    def __init__(self, format: str, settings: Settings) -> None:
        super().__init__(format)
        self._json = settings.log == "json"
        self._secrets = known_secrets(settings)

    def format(self, record: logging.LogRecord) -> str:
        if not self._json:
            one_line = copy(record)
            one_line.msg = printable(record.getMessage())
            one_line.args = ()
            return self._redacted(super().format(one_line))
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._redacted(record.getMessage()),
        }
        if record.exc_info:
            entry["traceback"] = self._redacted(self.formatException(record.exc_info))
        if record.stack_info:
            entry["stack"] = self._redacted(self.formatStack(record.stack_info))
        line = json.dumps(entry, ensure_ascii=False)
        # json.dumps keeps some line breaks, such as U+2028. Escape what printable() would, but in the form of JSON.
        return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in line)

    def formatException(self, ei: Any) -> str:
        """Indent a traceback, so that no line of an exception message looks like a log line."""
        return _indented(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:
        """Indent the stack of a call, as a traceback."""
        return _indented(super().formatStack(stack_info))

    def _redacted(self, text: str) -> str:
        return redact(text, self._secrets)


def _indented(text: str) -> str:
    return "\n".join(f"  {printable(line)}" for line in text.splitlines())


_hidden_texts: set[str] = set()


def hide_in_logs(*texts: str) -> None:
    """Replace these texts in all further lines of this process, such as the model's name in a private evaluation."""
    _hidden_texts.update(filter(None, texts))


def known_secrets(settings: Settings) -> list[str]:
    """Return the secrets of this installation, longest first: one may begin with another."""
    secrets = {*settings.secrets.values(), *(os.environ.get(name, "") for name in SECRET_VARIABLES)}
    return sorted((secret for secret in secrets if len(secret) >= MIN_SECRET_CHARS), key=len, reverse=True)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Replace known secrets, the texts of `hide_in_logs`, what looks like a token, and the password in an address.

    `"GET https://me:pw@host, Bearer abcdefgh" -> "GET https://[secret]@host, Bearer [secret]"`
    """
    for secret in secrets:
        text = text.replace(secret, "[secret]")
    # Longest first, so that nothing is left of a name that begins with another.
    for hidden in sorted(_hidden_texts, key=len, reverse=True):
        text = text.replace(hidden, "[private]")
    text = PASSWORD_PATTERN.sub("[secret]", text)
    text = AUTHORIZATION_PATTERN.sub(r"\1[secret]", text)
    return TOKEN_PATTERN.sub("[secret]", text)


def log_safely(settings: Settings, level: int = logging.INFO) -> None:
    """Log to stderr without secrets, and limit noisy libraries to warnings or errors."""
    handler = logging.StreamHandler()
    handler.setFormatter(Redacting("%(asctime)s %(name)s %(message)s", settings))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in ("httpx", "httpx2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # apscheduler warns each time a run is due while the previous one is active, which is expected here.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)


@contextmanager
def log_printed_lines() -> Iterator[None]:
    """Log each line that code prints to stdout or stderr, such as a traceback of `traceback.print_exc` or a warning.

    Printed text may have secrets, and it may have a text of a visitor with lines that look like lines of the log. Must be
    entered after `log_safely`, whose handler keeps the original stderr. In the other order the log would write to itself, and
    nothing would appear.
    """
    with redirect_stdout(_LoggedLines("stdout")), redirect_stderr(_LoggedLines("stderr")):
        yield


class _LoggedLines(io.TextIOBase):
    """A stream that logs each line as a warning. Each thread has its own unfinished line."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._log = logging.getLogger(name)
        self._thread = threading.local()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        """Log all lines that are complete now."""
        # If a line cannot be logged, `logging` prints that to stderr, which is this stream. To log it would fail again.
        if getattr(self._thread, "is_logging", False):
            return len(text)
        *lines, unfinished = f"{getattr(self._thread, 'unfinished', '')}{text}".split("\n")
        while len(unfinished) > MAX_PRINTED_CHARS:
            # Cut at a space, because half of a token does not look like one and would be logged.
            end = unfinished.rfind(" ", 0, MAX_PRINTED_CHARS) + 1 or MAX_PRINTED_CHARS
            lines.append(unfinished[:end])
            unfinished = unfinished[end:]
        self._thread.unfinished = unfinished
        self._thread.is_logging = True
        try:
            for line in filter(str.strip, lines):
                self._log.warning("%s", line)
        finally:
            self._thread.is_logging = False
        return len(text)

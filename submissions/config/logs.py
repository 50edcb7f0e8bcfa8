"""What is logged: without secrets, as text or as one JSON object a line."""

import json
import logging
import os
import re
from copy import copy
from datetime import UTC, datetime
from typing import Any

from submissions.config.api_options import API_KEY
from submissions.config.settings import Settings

VARIABLES = (API_KEY, "OAUTH_CLIENT_SECRET")  # secrets that no setting names
TOKENS = re.compile(r"(?:hf|api)_\w{8,}|(?<=Bearer )[\w.~+/-]{8,}|(?<=Basic )[\w+/=]{6,}")  # whoever's they are
SHORTEST = 6  # characters: less is no secret, and would be taken out of every word


class Redacting(logging.Formatter):
    """Formats a record, traceback and all, with every known secret and all that looks like a token left out."""

    def __init__(self, format: str, settings: Settings) -> None:
        super().__init__(format)
        self._json = settings.log == "json"
        secrets = {*settings.secrets.values(), *(os.environ.get(name, "") for name in VARIABLES)}
        self._secrets = sorted((s for s in secrets if len(s) >= SHORTEST), key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        if not self._json:
            one_line = copy(record)
            one_line.msg, one_line.args = _printable(record.getMessage()), ()
            return self._redacted(super().format(one_line))
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._redacted(record.getMessage()),
        }
        if record.exc_info:
            told["traceback"] = self._redacted(self.formatException(record.exc_info))
        return json.dumps(told, ensure_ascii=False)

    def formatException(self, ei: Any) -> str:
        """Indent a traceback, so that no line of an exception's text looks like one of the log."""
        lines = super().formatException(ei).splitlines()
        return "\n".join(f"  {_printable(line)}" for line in lines)

    def _redacted(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[secret]")
        return TOKENS.sub("[secret]", text)


def _printable(text: str) -> str:
    """Return a message with line ends and control characters escaped: a name or an answer must not forge a line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def log_safely(settings: Settings, level: int = logging.INFO) -> None:
    """Log to stderr, without secrets; what libraries say only where it is a warning."""
    handler = logging.StreamHandler()
    handler.setFormatter(Redacting("%(asctime)s %(name)s %(message)s", settings))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in ("httpx", "httpx2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    # It warns of each round that is due while one runs, which is as it should be.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)

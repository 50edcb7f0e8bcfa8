"""Make untrusted text, such as names of files or messages of a server, safe for logs and terminals."""

import sys


def printable(text: str, keep: str = "") -> str:
    """Return text with control characters replaced by their escapes, except those in `keep`: ESC becomes "\\x1b".

    A line break could forge a line of a log, and an escape sequence could hide what is on a terminal or change its title.
    """
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def print_error(message: str, code: int = 2) -> int:
    """Print the error with which a command ends, in one line on stderr, and return the exit code."""
    sys.stderr.write(f"hannun: {printable(' '.join(message.split()))}\n")
    return code

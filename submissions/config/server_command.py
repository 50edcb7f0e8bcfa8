"""Read the command that starts a model server: the setting HANNUN_SERVER and the option --spawn."""

import re
import shlex

PLACEHOLDERS = ("model", "port", "precision")


def server_words(command: str) -> list[str]:
    """Split a command that starts a model server into words. Raises ValueError if it is malformed."""
    words = shlex.split(command)
    if not words:
        raise ValueError("the command is empty")
    if re.match(r"[A-Za-z_]\w*=", words[0]):
        raise ValueError(f"no shell reads this command, so it cannot begin with {words[0]}; write env {words[0]} …")
    unknown = [name for name in re.findall(r"\{(\w*)\}", command) if name not in PLACEHOLDERS]
    if unknown:
        raise ValueError(f"may contain {{model}}, {{port}} and {{precision}} only, not {{{unknown[0]}}}")
    return words


def program_of(command: str) -> str:
    """Return the program that a server command runs, which may come after `env NAME=value`.

    Raises ValueError if the command is malformed.
    """
    words = server_words(command)
    runs_env = words[0].rpartition("/")[2] == "env"
    return next((word for word in words[runs_env:] if "=" not in word), words[0])

"""Read the command that starts a model server: the setting HANNUN_SERVER and the option --spawn.

It is a template without a shell, such as `env CUDA_VISIBLE_DEVICES=0 vllm serve {model} --port {port} --dtype {precision}`.
The settings check it at start-up, and the evaluator fills it in for each model and runs it.
"""

import re
import shlex
from itertools import takewhile
from pathlib import Path

PLACEHOLDERS = ("model", "port", "precision")
REQUIRED = ("model", "port")
MAX_COMMAND = 2000  # characters; results contain the command
_PLACEHOLDER = re.compile(r"\{(\w+)\}")  # "{model}", but not '{"a": 1}': other braces belong to the command


def server_words(command: str) -> list[str]:
    """Split a command that starts a model server into words, with its placeholders. Raises ValueError if it is malformed."""
    words = shlex.split(command)
    if not words:
        raise ValueError("the command is empty")
    if len(command) > MAX_COMMAND:
        raise ValueError(f"the command has {len(command):,} characters, more than {MAX_COMMAND:,}")
    if re.match(r"[A-Za-z_]\w*=", words[0]):  # NAME=value
        raise ValueError(f"no shell reads this command, so it cannot begin with {words[0]}; write env {words[0]} …")
    named = _PLACEHOLDER.findall(command)
    unknown = [name for name in named if name not in PLACEHOLDERS]
    if unknown:
        raise ValueError(f"may contain {{model}}, {{port}} and {{precision}} only, not {{{unknown[0]}}}")
    missing = [name for name in REQUIRED if name not in named]
    if missing:
        raise ValueError(f"must contain {{{missing[0]}}}")
    return words


def filled_words(command: str, *, model: Path, port: int, precision: str) -> list[str]:
    """Return the words of a server command with its placeholders replaced. Raises ValueError if it is malformed."""
    values = {"model": str(model), "port": str(port), "precision": precision}
    return [_PLACEHOLDER.sub(lambda found: values[found[1]], word) for word in server_words(command)]


_ENV_OPTIONS_WITH_VALUE = ("-u", "--unset", "-C", "--chdir")  # options of env(1) whose value is the next word


def program_of(command: str) -> str:
    """Return the program that a server command runs, which may come after `env` with options and variables.

    `"env -u PORT A=1 vllm serve {model} --port {port}" -> "vllm"`. Raises ValueError if the command is malformed.
    """
    first, *rest = server_words(command)
    if Path(first).name != "env":
        return first
    while rest and (rest[0].startswith("-") or "=" in rest[0]):
        takes_value = rest[0] in _ENV_OPTIONS_WITH_VALUE
        rest = rest[2:] if takes_value else rest[1:]
    return rest[0] if rest else first


def server_name(command: str) -> str:
    """Return the server's name that results record: the program that a command starts, or the package that Python runs.

    `"python3 -m sglang.launch_server {model} {port}" -> "sglang"`, `"/opt/vllm serve {model} {port}" -> "vllm"`. Raises
    ValueError if the command is malformed.
    """
    program = program_of(command)
    words = server_words(command)
    arguments = words[words.index(program) + 1 :]
    # Only options at the start count. In `python x.py -m {model}`, "-m" is an option of the script.
    leading_options = list(takewhile(lambda word: word.startswith("-"), arguments))
    runs_module = Path(program).name.startswith("python") and "-m" in leading_options
    if runs_module and (module_and_rest := arguments[leading_options.index("-m") + 1 :]):
        return module_and_rest[0].partition(".")[0]
    return Path(program).name

"""Read the command that starts a model server: the setting HANNUN_SERVER and the option --spawn.

It is a template without a shell, such as `env CUDA_VISIBLE_DEVICES=0 vllm serve {model} --port {port} --dtype {precision}`.
The settings check it at start-up, and the evaluator fills it in for each model and runs it.
"""

import re
import shlex
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
    named = [name for word in words for name in _PLACEHOLDER.findall(word)]
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
_PYTHON_OPTIONS_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")
_PYTHON_MODULE = re.compile("-[bBdEiIOPqsSuvx]*m(.*)")  # "-m sglang", "-msglang", "-um sglang"


def program_of(command: str) -> str:
    """Return the program that a server command runs, which may come after `env` with options and variables.

    `"env -u PORT A=1 vllm serve {model} --port {port}" -> "vllm"`. Raises ValueError if the command is malformed.
    """
    program, _arguments = _program_and_arguments(command)
    return program


def server_name(command: str) -> str:
    """Return the server's name that results record: the program that a command starts, or the package that Python runs.

    `"python3 -m sglang.launch_server {model} {port}" -> "sglang"`, `"/opt/vllm serve {model} {port}" -> "vllm"`. Raises
    ValueError if the command is malformed.
    """
    program, arguments = _program_and_arguments(command)
    name = Path(program).name
    module = _module_of(arguments) if name.startswith("python") else None
    return module.partition(".")[0] if module else name


def _program_and_arguments(command: str) -> tuple[str, list[str]]:
    """Return the program of a server command and the words after it."""
    first, *rest = server_words(command)
    if Path(first).name != "env":
        return first, rest
    while rest and (rest[0].startswith("-") or "=" in rest[0]):
        takes_value = rest[0] in _ENV_OPTIONS_WITH_VALUE
        rest = rest[2:] if takes_value else rest[1:]
    if not rest:  # "env A={model} B={port}" runs nothing
        return first, []
    return rest[0], rest[1:]


def _module_of(arguments: list[str]) -> str | None:
    """Return the module that Python runs with these arguments, or None if it runs a script.

    Only options at the start count. In `python x.py -m {model}`, "-m" is an option of the script.
    """
    while arguments and arguments[0].startswith("-"):
        option, *arguments = arguments
        if found := _PYTHON_MODULE.fullmatch(option):
            return found[1] or next(iter(arguments), None)
        if option in _PYTHON_OPTIONS_WITH_VALUE:
            arguments = arguments[1:]
    return None

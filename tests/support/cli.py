"""Run command lines within the test process, or `python -m tests.support.cli ENGINE …` with a test engine.

ENGINE is the location of the engine class, as module:class.
"""

import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from app import main
from evaluator.engines.registry import ENGINES


@dataclass(frozen=True)
class Done:
    """The exit status and the output of a command."""

    returncode: int
    stdout: str
    stderr: str


Cli = Callable[..., Done]


def in_process(
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    main: Callable[[list[str] | None], int] = main,
) -> Cli:
    """Return a function that runs `python -m evaluator`, or another program's `main`, without a new process."""
    for name, value in environment.items():
        if name.startswith(("HANNUN_", "HF_")):
            monkeypatch.setenv(name, value)
    # The program adds a handler for the stderr of this test, which must be removed afterwards.
    monkeypatch.setattr(logging.root, "handlers", [])

    def run(*arguments: str) -> Done:
        capsys.readouterr()
        code = main(list(arguments))
        output = capsys.readouterr()
        return Done(code, output.out, output.err)

    return run


if __name__ == "__main__":
    for name in ("chat", "extractive"):
        ENGINES[name] = ENGINES[name]._replace(location=sys.argv[1])
    sys.exit(main(sys.argv[2:]))

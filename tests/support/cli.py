"""The command lines: in this process, or as `python -m tests.support.cli ENGINE …` with another engine."""

import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from evaluator.__main__ import main
from evaluator.engines.registry import ENGINES


@dataclass(frozen=True)
class Done:
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
    """What runs `python -m evaluator` with these arguments, or another program's `main`, without a process of its own."""
    for name, value in environment.items():
        if name.startswith(("HANNUN_", "HF_")):
            monkeypatch.setenv(name, value)
    monkeypatch.setattr(logging.root, "handlers", [])  # the program logs to a stderr that ends with the test

    def run(*arguments: str) -> Done:
        capsys.readouterr()
        code = main(list(arguments))
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


if __name__ == "__main__":
    for name in ("chat", "extractive"):
        ENGINES[name] = ENGINES[name]._replace(location=sys.argv[1])
    sys.exit(main(sys.argv[2:]))

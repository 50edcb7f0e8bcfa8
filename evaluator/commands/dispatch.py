"""Calls a command, and turns what it raises into one line and an exit code: 2 for bad usage or input, 1 for the rest."""

import argparse
import sys
from importlib import import_module

from evaluator.core.errors import DataError, EvaluationError, SandboxError
from submissions.texts.errors import QueueError, RefusedError, SettingsError, StatementError, StoreError

COMMANDS = {
    "benchmarks": "evaluator.commands.benchmarks",
    "run": "evaluator.commands.run",
    "parity": "evaluator.commands.parity",
    "score": "evaluator.commands.score",
    "verify": "evaluator.commands.verify",
    "croissant": "evaluator.commands.croissant",
    "import": "evaluator.commands.import_dataset",
    "ko-fresh": "evaluator.commands.ko_fresh",
    "worker": "evaluator.commands.worker",
    "estimate": "evaluator.commands.estimate",
    "schedule": "evaluator.commands.schedule",
}


def dispatch(args: argparse.Namespace) -> int:
    """The exit code of the command."""
    try:
        return int(import_module(COMMANDS[args.command]).main(args))
    except SandboxError as error:
        return _complain(f"{error}; for a model you trust: run --sandbox none", 2)
    except (DataError, RefusedError, SettingsError, StoreError) as error:
        return _complain(str(error), 2)
    except EvaluationError as error:
        return _complain(f"{error.code}: {error}", 1 if error.code.ours else 2)
    except (OSError, QueueError, StatementError) as error:
        return _complain(str(error), 1)
    except EOFError:
        return _complain("nobody is there to ask; --yes answers yes", 2)
    except KeyboardInterrupt:
        goes_on = "; start again with the same --out to go on where it was" if args.command == "run" else ""
        return _complain(f"stopped{goes_on}", 1)


def _complain(message: str, code: int) -> int:
    print(f"evaluator: {' '.join(message.split())}", file=sys.stderr)
    return code

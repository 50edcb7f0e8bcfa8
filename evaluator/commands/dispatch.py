"""Call a command and turn its exceptions into one line on stderr and an exit code.

The exit code is 2 for wrong usage or input and for failures of the model, and 1 for other errors (docs/cli.md).
"""

import argparse
from importlib import import_module

from evaluator.core.errors import DataError, EvaluationError, SandboxError
from submissions.texts.errors import QueueError, RefusedError, SettingsError, StatementError, StoreError
from submissions.texts.printable import print_error

COMMANDS = {
    "benchmarks": "evaluator.commands.benchmarks",
    "run": "evaluator.commands.run",
    "parity": "evaluator.commands.parity",
    "score": "evaluator.commands.score",
    "verify": "evaluator.commands.verify",
    "croissant": "evaluator.commands.croissant",
    "import": "evaluator.commands.import_dataset",
    "ko-fresh": "evaluator.commands.ko_fresh",
    "errata": "evaluator.commands.errata",
    "worker": "evaluator.commands.worker",
    "doctor": "evaluator.commands.doctor",
    "estimate": "evaluator.commands.estimate",
    "schedule": "evaluator.commands.schedule",
    "selftest": "evaluator.commands.selftest",
    "strategies": "evaluator.commands.strategies",
}


def dispatch(args: argparse.Namespace) -> int:
    """Run the command that the arguments name and return its exit code."""
    try:
        return int(import_module(COMMANDS[args.command]).main(args))
    except SandboxError as error:
        return print_error(f"{error}; for a model you trust: run --sandbox none", 2)
    except (DataError, RefusedError, SettingsError, StoreError) as error:
        return print_error(str(error), 2)
    except EvaluationError as error:
        return print_error(f"{error.code}: {error}", 1 if error.code.is_infrastructure else 2)
    except (OSError, QueueError, StatementError) as error:
        return print_error(str(error), 1)
    except EOFError:
        return print_error("cannot ask for confirmation: stdin is closed; pass --yes", 2)
    except KeyboardInterrupt:
        hint = "; run again with the same --out to continue" if args.command == "run" else ""
        return print_error(f"stopped{hint}", 1)

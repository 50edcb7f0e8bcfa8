"""The program `hannun`: serve the board, evaluate models, maintain the queue and the stores.

This file is the entry point of the installed command `hannun`, of `python app.py` in a Space, and of `python -m evaluator`,
`python -m submissions` and `python -m leaderboard`, which have the same commands. Without arguments, `python app.py` serves
the board and, by default, runs the worker. Settings: docs/configuration.md.

Each package declares its command lines in `arguments.py`, which imports almost nothing, and carries them out in a module
that is imported when a command runs (`dispatch.py`; for the static edition, `leaderboard/edition/command.py`).
"""

import argparse
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from evaluator.benchmarks import BENCHMARKS  # only names are read until a command runs
from evaluator.commands import arguments as evaluator_arguments
from leaderboard.edition import arguments as edition_arguments
from submissions.commands import arguments as submissions_arguments
from submissions.config.garbage_collection import no_garbage_collection

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # not subscriptable at run time

    from submissions.config.settings import Settings

Run = Callable[[argparse.Namespace], int]  # carries out a command and returns the exit code

# Gradio reads these variables itself. Without the second one it computes statistics of all past events after every event.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", "1_000_000_000")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name (default: those of the process), and return the exit code."""
    parser = build_parser()
    args = parser.parse_args(arguments)
    if args.store and not args.uses_store:
        parser.error(f"--store is for commands of the queue and the stores; for {args.command}, set HANNUN_STORE")
    code: int = args.run(args)
    return code


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands. It imports nothing heavy, so that `--help` is fast."""
    parser = argparse.ArgumentParser(prog="hannun", description="The leaderboard for Korean vision-language models.")
    parser.add_argument("--store", help="the store's path or address (default: HANNUN_STORE)")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    serving = commands.add_parser("serve", help="serve the board, and by default run the worker")
    serving.set_defaults(run=serve, uses_store=False)
    add_management = partial(submissions_arguments.add_commands, benchmarks=BENCHMARKS)
    _add_commands(commands, add_management, _manage, uses_store=True)
    _add_commands(commands, evaluator_arguments.add_doctor, _evaluate, uses_store=True)
    _add_commands(commands, evaluator_arguments.add_commands, _evaluate)
    _add_commands(commands, edition_arguments.add_commands, _build)
    return parser


def _add_commands(
    commands: "Commands", add: "Callable[[Commands], None]", run: Run, *, uses_store: bool = False
) -> None:
    """Add the commands that `add` declares, which `run` carries out.

    With `uses_store`, all of them accept `--store`. Without it, only those do that declare it themselves, such as `worker`.
    """
    names_before = set(commands.choices)
    add(commands)
    for name, command in commands.choices.items():
        if name not in names_before:
            command.set_defaults(run=run, uses_store=uses_store or bool(command.get_default("uses_store")))


# The functions below import what they run when they are called: it takes seconds, and `--help` needs none of it.


def _build(args: argparse.Namespace) -> int:
    from leaderboard.edition.command import build_edition

    return build_edition(args)


def _evaluate(args: argparse.Namespace) -> int:
    from evaluator.commands.dispatch import dispatch

    return dispatch(args)


def _manage(args: argparse.Namespace) -> int:
    from evaluator.engines.registry import REGISTRY
    from submissions.commands.dispatch import dispatch

    return dispatch(args, REGISTRY)


def serve(_: argparse.Namespace) -> int:
    """Serve the board, and end the process without waiting for threads that wait for an unresponsive Hub."""
    code = serve_board()
    logging.shutdown()
    os._exit(code)


def serve_board() -> int:
    """Serve until the process receives a signal to stop. Return the exit code, 2 if a setting or a store cannot be used."""
    from evaluator.core.errors import SandboxError
    from submissions.config.logs import log_printed_lines, log_safely
    from submissions.config.settings import load_settings
    from submissions.texts.errors import SettingsError, StoreError
    from submissions.texts.printable import print_error

    gc.set_threshold(50_000)  # Python's default is 700. A view of the board has many objects, none of them garbage
    try:
        with no_garbage_collection():  # importing and reading the store create many objects, all of which are kept
            settings = load_settings(BENCHMARKS)
            from leaderboard.web.application import build_app
            from leaderboard.web.application import serve as serve_app

            log_safely(settings)
            app = build_app(settings)
            stop_worker = start_worker(settings)
    except SandboxError as error:
        return print_error(f"{error}; or serve without a worker: HANNUN_WORKER=off")
    except (SettingsError, StoreError) as error:
        return print_error(str(error))
    # Once uvicorn has stopped, it raises SIGTERM again, which would end the process before `finally` stops the worker. This
    # handler turns it into a KeyboardInterrupt, which uvicorn catches, so that `serve_app` returns.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with log_printed_lines():
            serve_app(app, settings)
    finally:
        stop_worker()
    return 0


def start_worker(settings: "Settings") -> Callable[[], None]:
    """Start the worker in this process unless HANNUN_WORKER=off. Return the function that stops it."""
    if settings.worker == "off":
        return lambda: None
    from evaluator.worker.loop import Worker, start_schedule

    worker = Worker(settings)
    scheduler = start_schedule(settings.worker_every, worker)

    def stop() -> None:
        worker.stop()
        scheduler.shutdown(wait=True)

    return stop


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["serve"]))

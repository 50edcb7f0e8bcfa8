"""The program `hannun`: serve the board, evaluate models, look after the queue and the stores.

Without arguments, `python app.py` serves the board and, by default, runs the worker, as in a Space. Settings: docs/configuration.md.
"""

import argparse
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from evaluator.benchmarks import BENCHMARKS  # only names are read until a command runs
from evaluator.commands import arguments as evaluating
from leaderboard.edition import arguments as publishing
from submissions.commands import arguments as managing
from submissions.config.garbage_collection import no_garbage_collection

if TYPE_CHECKING:
    from submissions.config.settings import Settings

Run = Callable[[argparse.Namespace], int]

# Gradio reads these when it is imported.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault(
    "GRADIO_ANALYTICS_CACHE_FREQUENCY", "1_000_000_000"
)  # else Gradio computes statistics of all events after each event


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
    commands.add_parser("serve", help="serve the board, and by default run the worker")
    _mark(commands, serve)
    managing.add_commands(commands, BENCHMARKS)
    _mark(commands, _manage, uses_store=True)
    evaluating.add_doctor(commands)
    _mark(commands, _evaluate, uses_store=True)
    evaluating.add_commands(commands)
    _mark(commands, _evaluate)
    publishing.add_commands(commands)
    _mark(commands, _build)
    return parser


def _mark(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", run: Run, *, uses_store: bool = False
) -> None:
    """Say what carries out the commands that nothing carries out yet, and whether --store is for them."""
    for command in commands.choices.values():
        if command.get_default("run") is None:
            command.set_defaults(run=run, uses_store=uses_store)


# The commands are imported late, because that is slow, and --help needs none of them.


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
    """Serve, and end the process."""
    code = serve_board()
    logging.shutdown()
    os._exit(code)  # do not wait for threads that wait for an unresponsive Hub


def serve_board() -> int:
    """Serve until the process is told to stop, and return the exit code."""
    from evaluator.core.errors import SandboxError
    from submissions.config.logs import log_safely
    from submissions.config.settings import load_settings
    from submissions.texts.errors import SettingsError, StoreError

    gc.set_threshold(50_000)  # a view of the board has many objects, none of which is garbage
    try:
        with no_garbage_collection():
            settings = load_settings(BENCHMARKS)
            from leaderboard.web.application import build_app
            from leaderboard.web.application import serve as serve_app

            log_safely(settings)
            app = build_app(settings)
            stop_worker = start_worker(settings)
    except SandboxError as error:
        sys.stderr.write(f"hannun: {error}; or serve without a worker: HANNUN_WORKER=off\n")
        return 2
    except (SettingsError, StoreError) as error:
        sys.stderr.write(f"hannun: {error}\n")
        return 2
    # uvicorn raises SIGTERM again after it has stopped. As an interrupt, this still lets the worker be stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
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

"""Arguments of the command line. Importing this is fast, because `--help` must not load what the commands need."""

import argparse
import re
from collections.abc import Collection
from pathlib import Path

from submissions.records.options import PRECISIONS, THINKING

DEFAULT_FOLDER = "hannun-board"  # of `init --machine`
MAX_PORT = 65_535


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]", benchmarks: Collection[str]) -> None:
    submit = commands.add_parser("submit", help="queue a model for evaluation")
    check = commands.add_parser("check", help="run the checks of a submission without queueing it")
    for command in (submit, check):
        # `submit` takes --api instead.
        nargs = "?" if command is submit else None
        command.add_argument("model", nargs=nargs, help="owner/name, on the Hub or under HANNUN_MODELS_DIR")
        command.add_argument(
            "--benchmark",
            action="extend",
            nargs="+",
            choices=list(benchmarks),
            metavar="NAME",
            required=command is submit,
            help="one or more benchmarks" + ("" if command is submit else " (default: all)"),
        )
        add_model_options(command)
    submit.add_argument(
        "--api", metavar="NAME", help="instead of MODEL: a model behind an API, by its name in HANNUN_APIS"
    )
    submit.add_argument(
        "--share", action="store_true", help="offer the result to the model's repository as a pull request"
    )
    submit.add_argument(
        "--private", action="store_true", help="keep the evaluation private until `publish` or `withdraw`"
    )
    submit.add_argument(
        "--as",
        dest="submitter",
        metavar="NAME",
        help="who submits; quotas are for visitors who signed in, not for the command line (default: this user)",
    )
    commands.add_parser("list", help="list open and recent requests")
    _add_key(commands.add_parser("show", help="show one request as JSON"))
    requeue = commands.add_parser("requeue", help="put a failed or stuck request back into the queue")
    _add_key(requeue, nargs="?")
    requeue.add_argument("--private", action="store_true", help="act on private evaluations")
    requeue.add_argument("--all", action="store_true", help="instead of a key: every quarantined request")
    _add_key(
        commands.add_parser("cancel", help="remove a pending or quarantined request, as if it was never submitted")
    )
    _add_key(commands.add_parser("submitter", help="show who submitted a request, from the private store"))
    erase = commands.add_parser("erase", help="erase a submitter's name permanently")
    erase.add_argument("name", help="the name of a person or an organisation, as signed in")
    private = commands.add_parser("private", help="list private evaluations, or write a result for its maker")
    _add_key(private, nargs="?")
    private.add_argument(
        "--out",
        type=path_argument,
        metavar="FOLDER",
        help="write KEY.json and its signed statement for the maker, as they will be public",
    )
    _add_key(commands.add_parser("publish", help="publish a private evaluation, after its maker has agreed"))
    _add_key(commands.add_parser("withdraw", help="delete a private evaluation with its answers"))
    approve = commands.add_parser(
        "approve-code", help="allow the Python files of a model's repository to run, after review"
    )
    approve.add_argument(
        "model",
        metavar="OWNER/NAME@COMMIT",
        help="the model and its commit, all 40 digits; another commit needs its own approval",
    )
    approve.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    approve.add_argument("--undo", action="store_true", help="withdraw the approval")
    opt_out = commands.add_parser("opt-out", help="exclude an owner's models, or one of them, from evaluation")
    opt_out.add_argument("name", help="owner, or owner/name")
    opt_out.add_argument("--undo", action="store_true", help="allow evaluation again")
    retire = commands.add_parser("retire", help="remove a result from the ranking; it stays public, with the reason")
    _add_key(retire)
    retire.add_argument("--reason", default="", metavar="TEXT", help="the public reason, at most 200 characters")
    retire.add_argument("--undo", action="store_true", help="give the result its rank back; the log keeps both steps")
    migrate = commands.add_parser("migrate", help="copy a store to another place and compare every file")
    migrate.add_argument("source", help="a folder, hf://datasets/OWNER/NAME or hf://buckets/OWNER/NAME")
    migrate.add_argument("target", help="a store that is empty, or that has an unfinished copy")
    backup = commands.add_parser("backup", help="copy both stores into a folder")
    backup.add_argument("folder", type=path_argument, help="a new folder, or that of an interrupted backup")
    restore = commands.add_parser("restore", help="copy a backup into empty stores")
    restore.add_argument("folder", type=path_argument, help="a folder that `backup` has made")
    _add_init(commands.add_parser("init", help="set up a board in a Space, as static files, or on a machine"))
    commands.add_parser("status", help="show stores, queue, workers and limits on one screen")
    commands.add_parser("verify-stores", help="check stored files against their hashes, and records against the index")
    commands.add_parser("tidy", help="squash and pack the history of the store, as a worker does every week")
    commands.add_parser("reindex", help="rebuild the index from the records")


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which weights of a model are read, and in which mode it answers."""
    parser.add_argument("--revision", help="branch, tag or commit (default: the newest)")
    parser.add_argument("--precision", choices=PRECISIONS, help="precision of the weights (default: the checkpoint's)")
    parser.add_argument(
        "--thinking",
        choices=THINKING,
        help="whether or how much the model is asked to reason (default: as in its template)",
    )


def _add_key(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    parser.add_argument("key", nargs=nargs, help="the request's key, 32 hex digits")


def place_argument(text: str) -> str:
    """Return a path or an address, unless it is empty: Path("") is the current folder, and a shell variable may be unset."""
    if not text:
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def path_argument(text: str) -> Path:
    """Return the path in an argument, unless it is an address: Path("hf://datasets/a/b") is a folder `hf:` in this one."""
    if "://" in place_argument(text):
        raise argparse.ArgumentTypeError(f"must be on this machine, not {text!r}")
    return Path(text)


def _add_init(init: argparse.ArgumentParser) -> None:
    init.add_argument(
        "--space",
        metavar="ORG/NAME",
        help="a Space with its files, variables and secret, a public dataset and a private bucket",
    )
    init.add_argument("--static", action="store_true", help="the Space shows files without a server, which is free")
    init.add_argument(
        "--machine",
        nargs="?",
        const=DEFAULT_FOLDER,
        metavar="FOLDER",
        help="a folder for Docker Compose: board, worker and nginx, or with --space the worker"
        f" (default: {DEFAULT_FOLDER})",
    )
    init.add_argument(
        "--host",
        metavar="NAME",
        help="public name of the machine's board: ports 80 and 443, and sign-in (default: loopback only)",
    )
    init.add_argument("--port", type=_port, metavar="PORT", help="port of the proxy (default: 8080, with --host 80)")
    init.add_argument(
        "--board-port",
        type=_port,
        metavar="PORT",
        help="loopback port of the board itself, for Prometheus (default: 7860)",
    )
    init.add_argument("--gpu", action="store_true", help="pass GPUs to the worker (default: if this machine has one)")
    init.add_argument("--no-docker", action="store_true", help="write the files although Docker does not run here")
    init.add_argument("--dry-run", action="store_true", help="print the calls and change nothing")
    init.add_argument("--yes", action="store_true", help="do not ask")


def _port(text: str) -> int:
    if not re.fullmatch(r"\d{1,5}", text, re.ASCII) or not 1 <= int(text) <= MAX_PORT:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not a port from 1 to {MAX_PORT}")
    return int(text)

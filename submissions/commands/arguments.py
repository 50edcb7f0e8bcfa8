"""The command line's arguments. Light: `--help` loads nothing that a command needs."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from submissions.records.options import PRECISIONS, THINKING


def build_parser(benchmarks: Iterable[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m submissions", description="Look after the queue of evaluations.")
    parser.add_argument("--store", help="the store's path or address (default: HANNUN_STORE)")
    commands = parser.add_subparsers(dest="command", required=True)
    submit = commands.add_parser("submit", help="queue a model for evaluation")
    check = commands.add_parser("check", help="look at all that a submission must pass, and queue nothing")
    for command in (submit, check):
        optional = "?" if command is submit else None
        command.add_argument("model", nargs=optional, help="owner/name, on the Hub or under HANNUN_MODELS_DIR")
        command.add_argument(
            "--benchmark", action="extend", nargs="+", choices=list(benchmarks), required=command is submit
        )
        command.add_argument("--revision", help="branch, tag or commit (default: the newest)")
        command.add_argument("--precision", choices=PRECISIONS, help="default: as the checkpoint says")
        command.add_argument(
            "--thinking", choices=THINKING, help="of a model that reasons or not (default: as its template has it)"
        )
    submit.add_argument("--api", metavar="NAME", help="instead of a model: one behind an API, as HANNUN_APIS names it")
    submit.add_argument("--share", action="store_true", help="offer the result to the model's repository")
    submit.add_argument("--as", dest="submitter", metavar="NAME", help="who submits (default: this user)")
    commands.add_parser("list", help="open and recent requests")
    commands.add_parser("show", help="one request, as JSON").add_argument("key")
    requeue = commands.add_parser("requeue", help="put a failed or stuck request back")
    requeue.add_argument("key", nargs="?")
    requeue.add_argument("--all", action="store_true", help="instead: every quarantined one")
    commands.add_parser("cancel", help="take a pending or quarantined request out, as if never submitted").add_argument(
        "key"
    )
    commands.add_parser("submitter", help="who submitted a request: the private store knows").add_argument("key")
    erase = commands.add_parser("erase", help="forget a submitter's name, for good")
    erase.add_argument("name", help="of a person or an organisation, as signed in")
    approve = commands.add_parser("approve-code", help="let the Python files of a model's repository run, once read")
    approve.add_argument(
        "model", metavar="OWNER/NAME@COMMIT", help="the commit in full: another one needs its own approval"
    )
    approve.add_argument("--yes", action="store_true", help="do not ask")
    approve.add_argument("--undo", action="store_true", help="withdraw the approval")
    out = commands.add_parser("opt-out", help="keep an owner's wish that its models, or one of them, not be evaluated")
    out.add_argument("name", help="owner, or owner/name")
    out.add_argument("--undo", action="store_true", help="drop that wish")
    retired = commands.add_parser("retire", help="take a result out of the ranking; it stays public, with the reason")
    retired.add_argument("key")
    retired.add_argument("--reason", default="", help="why, for everybody to read")
    retired.add_argument("--undo", action="store_true", help="give it its rank back")
    move = commands.add_parser("migrate", help="copy a store to another place, and compare every file")
    move.add_argument("source", help="a folder, hf://datasets/OWNER/NAME or hf://buckets/OWNER/NAME")
    move.add_argument("target", help="where to: a store that is empty, or holds a copy that was not finished")
    for name, purpose in (
        ("backup", "copy both stores into a folder"),
        ("restore", "copy them back, into empty stores"),
    ):
        commands.add_parser(name, help=purpose).add_argument("folder", type=Path)
    commands.add_parser("status", help="stores, queue, workers and limits on one screen")
    commands.add_parser("verify", help="compare what is stored with its hashes, records, results and index")
    commands.add_parser("tidy", help="squash the history of the store and pack it, as a worker does once a week")
    commands.add_parser("reindex", help="rebuild the index from the records")
    return parser

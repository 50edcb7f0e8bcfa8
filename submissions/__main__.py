"""`python -m submissions`: submit, list, show, requeue, cancel, reindex."""

import argparse
import getpass
import json
import sys

from submissions.catalog import BENCHMARKS
from submissions.checks import PRECISIONS, Refused, build_request, inspect_model
from submissions.index import reindexed
from submissions.messages import FAILURES
from submissions.queue import AlreadySubmitted, Queue, QueueError
from submissions.records import FailureCode
from submissions.settings import Settings, SettingsError, load_settings
from submissions.store import StoreError, transact
from submissions.stores import open_store


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m submissions", description="Look after the queue of evaluations.")
    parser.add_argument("--store", help="the store's path or address (default: HANNUN_STORE)")
    commands = parser.add_subparsers(dest="command", required=True)
    submit = commands.add_parser("submit", help="queue a model for evaluation")
    submit.add_argument("model", help="owner/name, on the Hub or under HANNUN_MODELS_DIR")
    submit.add_argument("--benchmark", action="append", required=True, choices=list(BENCHMARKS))
    submit.add_argument("--revision", help="branch, tag or commit (default: the newest)")
    submit.add_argument("--precision", choices=PRECISIONS, help="default: as the checkpoint says")
    submit.add_argument("--share", action="store_true", help="offer the result to the model's repository")
    submit.add_argument("--as", dest="submitter", default=getpass.getuser(), help="who submits")
    commands.add_parser("list", help="open and recent requests")
    for name, text in (("show", "one request, as JSON"), ("requeue", "put a failed or stuck request back")):
        commands.add_parser(name, help=text).add_argument("key")
    commands.add_parser("cancel", help="take a pending request out of the queue").add_argument("key")
    commands.add_parser("reindex", help="rebuild the index from the records")
    args = parser.parse_args(argv)
    try:
        settings = load_settings()
        queue = Queue(open_store(args.store or settings.store, settings), settings.lease, settings.max_attempts)
        if args.command == "submit":
            return _submit(queue, args, settings)
        if args.command == "list":
            _list(queue)
        elif args.command == "show":
            print(queue.get(args.key).to_bytes().decode(), end="")
        elif args.command == "requeue":
            print(f"{queue.requeue(args.key).key} is pending again")
        elif args.command == "cancel":
            queue.cancel(args.key)
            print(f"{args.key} is out of the queue")
        else:
            _reindex(queue)
    except (QueueError, SettingsError, StoreError) as error:
        return _complain(str(error))
    return 0


def _submit(queue: Queue, args: argparse.Namespace, settings: Settings) -> int:
    code = 0
    try:
        facts = inspect_model(args.model, args.revision, settings.models_dir)
    except Refused as error:
        return _complain(f"{args.model!r}: {error}")
    for benchmark in dict.fromkeys(args.benchmark):
        try:
            request = build_request(facts, benchmark, args.submitter, args.revision, args.precision, args.share)
            queue.submit(request)
            print(f"accepted {request.key} {request.model_id} {benchmark}")
        except (Refused, AlreadySubmitted) as error:
            code = _complain(f"{args.model!r} on {benchmark}: {error}")
    return code


def _list(queue: Queue) -> None:
    for row in queue.rows():
        reason = f"  {FAILURES[FailureCode(row.failure_code)].en}" if row.failure_code else ""
        print(f"{row.key}  {row.status:<11}  {row.benchmark:<11}  {row.model_id}@{row.revision[:8]}{reason}")


def _reindex(queue: Queue) -> None:
    changes, broken = transact(
        queue.store, lambda snapshot: ((r := reindexed(queue.store, snapshot))[0], "Rebuild the index", r)
    )
    print(json.dumps({"segments_changed": len(changes), "unreadable": {u.path: u.reason for u in broken}}))


def _complain(message: str) -> int:
    print(f"submissions: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())

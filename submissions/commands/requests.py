"""Commands for single requests and their submitters."""

from submissions.commands.context import Context
from submissions.commands.submit import checked_name
from submissions.queue.pseudonyms import Pseudonyms
from submissions.texts.failure_codes import FailureCode
from submissions.texts.failures import FAILURES
from submissions.texts.printable import print_error


def list_requests(context: Context) -> int:
    for row in context.queue.rows():
        reason = f"  {FAILURES[FailureCode(row.failure_code)].en}" if row.failure_code else ""
        print(f"{row.key}  {row.status:<11}  {row.benchmark:<11}  {row.model_id}@{row.revision[:8]}{reason}")
    return 0


def show(context: Context) -> int:
    print(context.queue.get(context.args.key).to_bytes().decode(), end="")
    return 0


def requeue(context: Context) -> int:
    args = context.args
    queue = context.private_queue if args.private else context.queue
    if not args.all and not args.key:
        return print_error("give the key of a request, or --all to requeue every quarantined request")
    if args.all and args.key:
        return print_error("give either the key of a request or --all")
    keys = queue.requeue_all() if args.all else [queue.requeue(args.key).key]
    for key in keys:
        print(f"{key} is pending again")
    if not keys:
        print("no request is quarantined")
    return 0


def cancel(context: Context) -> int:
    context.queue.cancel(context.args.key)
    print(f"{context.args.key} is cancelled")
    return 0


def submitter(context: Context) -> int:
    name = Pseudonyms(context.settings).name_of(context.queue.get(context.args.key).submitted_by)
    print(name or "unknown: the name was erased")
    return 0


def erase(context: Context) -> int:
    name = checked_name(context.args.name)
    if (pseudonym := Pseudonyms(context.settings).erase(name, context.queue.store.now())) is None:
        return print_error(f"{name!r} has submitted nothing under that name")
    print(f"{name} is erased; the requests of {pseudonym} remain, and no record says whose they were")
    return 0

"""The commands of `python -m submissions`."""

import argparse
import getpass
import json
import re
import sys
from collections.abc import Callable

from submissions.catalog import BENCHMARKS
from submissions.checks.code_approval import approval_of
from submissions.checks.request import build_request
from submissions.checks.submit import Submission, SubmissionService
from submissions.errors import QueueError, RefusedError, SettingsError, StoreError
from submissions.failure_codes import FailureCode
from submissions.messages import CHECKS, FAILURES, REFUSALS
from submissions.models.model_facts import facts_of_server
from submissions.operator_commands import COMMANDS as OPERATOR_COMMANDS
from submissions.operator_commands import run
from submissions.queue.pseudonyms import Pseudonyms
from submissions.queue.queue import Queue
from submissions.queue.quota import Submitter
from submissions.records import MODEL_ID, OWNER
from submissions.retirement import reinstate, retire
from submissions.settings import Settings, load_settings
from submissions.store.index import rebuild_index
from submissions.store.open import check_there, open_store
from submissions.store.shards import move_flat_records

NEED_NO_STORE = ("submit", "check", "approve-code", "opt-out", "migrate", "restore")


def dispatch(args: argparse.Namespace) -> int:
    """Run the command; its exit code."""
    try:
        settings = load_settings().with_store(args.store)
        if args.command not in NEED_NO_STORE:
            check_there(settings.store)
        if args.command in OPERATOR_COMMANDS:
            return run(args, settings)
        queue = Queue(open_store(settings.store, settings), settings.lease, settings.max_attempts)
        return _COMMANDS[args.command](queue, args, settings)
    except (QueueError, RefusedError, SettingsError, StoreError) as error:
        return _complain(str(error))
    except EOFError:
        return _complain("nobody is there to ask; --yes answers yes")


def _submission(args: argparse.Namespace) -> Submission:
    benchmarks = tuple(dict.fromkeys(args.benchmark or BENCHMARKS))
    return Submission(
        args.model, benchmarks, args.revision, args.precision, args.thinking, getattr(args, "share", False)
    )


def _check(queue: Queue, args: argparse.Namespace, settings: Settings) -> int:
    """Exit code 2 where a check refuses. The words are the page's."""
    report = SubmissionService(queue, settings).check(_submission(args))
    for check in report.checks:
        mark = "-" if check.skipped else "✗" if check.refusal else "✓"
        where = f" [{check.benchmark}]" if check.benchmark else ""
        print(f"{mark} {CHECKS[check.name].en}{where}{f': {check.detail}' if check.detail else ''}")
        if check.refusal:
            print(f"    {REFUSALS[check.refusal].en}")
    return 2 if any(check.refusal for check in report.checks) else 0


def _submitter(args: argparse.Namespace) -> str:
    """Raises SettingsError where nobody is named and this user has no name."""
    try:
        return _checked_name(args.submitter or getpass.getuser())
    except (KeyError, OSError):  # a container's user, say
        raise SettingsError("this user has no name here: say who submits with --as NAME") from None


def _checked_name(name: str) -> str:
    if not name.isprintable() or len(name) > 200:
        raise SettingsError("a name is at most 200 characters that can be printed")
    return name


def _submit(queue: Queue, args: argparse.Namespace, settings: Settings) -> int:
    """Exit code 2 where one of the benchmarks was refused."""
    if args.api:
        return _submit_api(queue, args, settings)
    if not args.model:
        return _complain("name a model, or --api and one that HANNUN_APIS has")
    code = 0
    submission = _submission(args)
    outcomes, report = SubmissionService(queue, settings).submit(
        submission, Submitter(_submitter(args), authenticated=False)
    )
    for outcome in outcomes:
        # What holds for the model is said for each benchmark it was submitted to.
        for benchmark in [outcome.benchmark] if outcome.benchmark else submission.benchmarks:
            if outcome.code == "accepted" and report:
                print(f"accepted {outcome.key} {report.model_id} {benchmark}")
            elif outcome.code == "refused":
                reasons = " ".join(str(RefusedError(c.refusal, c.detail)) for c in outcome.refusals if c.refusal)
                known = f" (request {outcome.key})" if outcome.key else ""
                code = _complain(f"{args.model!r} on {benchmark}: {reasons}{known}")
            else:
                code = _complain(f"{args.model!r} on {benchmark}: the store is out of reach; try again later")
    return code


def _submit_api(queue: Queue, args: argparse.Namespace, settings: Settings) -> int:
    """Queue a model behind an API. Only an operator can: the worker asks it with the operator's key and money."""
    if (known := settings.apis.get(args.api)) is None:
        return _complain(f"HANNUN_APIS does not name {args.api!r}; it has {', '.join(settings.apis) or 'nothing'}")
    code = 0
    facts = facts_of_server(known.model_id, f"{known.base_url} {known.model}", args.api, known.efforts)
    for benchmark in args.benchmark:
        try:
            submitter = Pseudonyms(settings).find_or_make(_submitter(args))
            request = build_request(facts, benchmark, submitter, thinking=args.thinking)
            queue.submit(request)
            print(f"accepted {request.key} {request.model_id} {benchmark}")
        except (QueueError, RefusedError) as error:
            code = _complain(f"{args.api} on {benchmark}: {error}")
    return code


def _approve_code(queue: Queue, args: argparse.Namespace, settings: Settings) -> int:
    """Print every file that would run, its size and hash, and keep the operator's word that it may."""
    model_id, _, revision = args.model.partition("@")
    if not re.fullmatch(MODEL_ID, model_id) or not re.fullmatch("[0-9a-f]{40}", revision):
        return _complain(f"{args.model!r} is not OWNER/NAME@COMMIT with the 40 digits of a commit")
    if args.undo:
        queue.withdraw_approval(model_id, revision)
        print(f"the code of {args.model} does not run any more")
        return 0
    approval, sizes = approval_of(model_id, revision, settings.models_dir, queue.store.now())
    for name, digest in approval.files.items():
        print(f"{digest}  {sizes[name]:>9,}  {name}")
    print(f"{len(approval.files)} files of {model_id} at {revision} would run, in the sandbox, without a network.")
    if not args.yes and input("Have you read them, and may they run? [y/N] ").strip().lower() not in ("y", "yes"):
        print("nothing approved")
        return 2
    queue.approve_code(approval)
    print(f"approved {args.model}")
    return 0


def _opt_out(queue: Queue, args: argparse.Namespace, settings: Settings) -> int:
    if not re.fullmatch(f"{OWNER}(/{OWNER})?", args.name):
        raise QueueError(f"{args.name!r} is neither an owner nor owner/name")
    if args.undo:
        queue.opt_in(args.name)
        print(f"{args.name} may be evaluated again")
    else:
        taken = queue.opt_out(args.name, queue.store.now())
        print(f"{args.name} is not evaluated any more; {len(taken)} pending requests are out of the queue")
    return 0


def _retire(queue: Queue, args: argparse.Namespace, settings: Settings) -> int:
    if args.undo:
        reinstate(queue.store, args.key, queue.store.now())
        print(f"{args.key} has its rank again")
    elif not args.reason.strip():
        return _complain("say why, in words that everybody may read: --reason TEXT")
    else:
        retire(queue.store, args.key, args.reason.strip(), queue.store.now())
        print(f"{args.key} has no rank any more; the result stays public, with the reason")
    return 0


def _requeue(queue: Queue, args: argparse.Namespace, settings: Settings) -> int:
    if not args.all and not args.key:
        return _complain("name a request, or --all for every quarantined one")
    for key in queue.requeue_all() if args.all else [queue.requeue(args.key).key]:
        print(f"{key} is pending again")
    return 0


def _cancel(queue: Queue, args: argparse.Namespace, settings: Settings) -> int:
    queue.cancel(args.key)
    print(f"{args.key} is out of the queue")
    return 0


def _show(queue: Queue, args: argparse.Namespace, settings: Settings) -> int:
    print(queue.get(args.key).to_bytes().decode(), end="")
    return 0


def _show_submitter(queue: Queue, args: argparse.Namespace, settings: Settings) -> int:
    name = Pseudonyms(settings).name_of(queue.get(args.key).submitted_by)
    print(name or "nobody knows: the name was erased")
    return 0


def _erase(queue: Queue, args: argparse.Namespace, settings: Settings) -> int:
    name = _checked_name(args.name)
    if (pseudonym := Pseudonyms(settings).erase(name, queue.store.now())) is None:
        return _complain(f"{name!r} has submitted nothing under that name")
    print(f"{name} is erased; requests of {pseudonym} stay, and nothing tells whose they were")
    return 0


def _list(queue: Queue, args: argparse.Namespace, settings: Settings) -> int:
    for row in queue.rows():
        reason = f"  {FAILURES[FailureCode(row.failure_code)].en}" if row.failure_code else ""
        print(f"{row.key}  {row.status:<11}  {row.benchmark:<11}  {row.model_id}@{row.revision[:8]}{reason}")
    return 0


def _reindex(queue: Queue, args: argparse.Namespace, settings: Settings) -> int:
    moved = move_flat_records(queue.store)
    changed, broken = rebuild_index(queue.store)
    unreadable = {u.path: u.reason for u in broken}
    print(json.dumps({"segments_changed": changed, "moved": moved, "unreadable": unreadable}))
    return 0


def _complain(message: str) -> int:
    print(f"submissions: {message}", file=sys.stderr)
    return 2


_COMMANDS: dict[str, Callable[[Queue, argparse.Namespace, Settings], int]] = {
    "submit": _submit,
    "check": _check,
    "list": _list,
    "show": _show,
    "submitter": _show_submitter,
    "erase": _erase,
    "requeue": _requeue,
    "retire": _retire,
    "cancel": _cancel,
    "approve-code": _approve_code,
    "opt-out": _opt_out,
    "reindex": _reindex,
}

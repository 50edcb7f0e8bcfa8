"""Commands for the operator's decisions: code approval, opt-outs and retirement."""

import re

from submissions.commands.context import Context
from submissions.operator.code_approval import approve_code, draft_approval, withdraw_approval
from submissions.operator.opt_out import opt_in, opt_out
from submissions.operator.private_evaluations import withdraw_opted_out
from submissions.operator.retirement import reinstate, retire
from submissions.records.base import MODEL_ID, OWNER
from submissions.records.hub_names import is_hub_id, is_hub_owner
from submissions.store.open import has_private_queue
from submissions.texts.printable import print_error, printable


def approve(context: Context) -> int:
    """Print hash and size of every file that would run, and record the approval if it is confirmed, or else return 2.

    With --undo, withdraw an earlier approval.
    """
    args = context.args
    store = context.queue.store
    model_id, _, revision = args.model.partition("@")
    # An earlier approval can be withdrawn even if the Hub does not allow such a name any more.
    may_have_approval = args.undo and re.fullmatch(MODEL_ID, model_id)
    if not (may_have_approval or is_hub_id(model_id)) or not re.fullmatch("[0-9a-f]{40}", revision):
        return print_error(f"{args.model!r} is not OWNER/NAME@COMMIT with the 40 digits of a commit")
    if args.undo:
        withdraw_approval(store, model_id, revision)
        print(f"the code of {args.model} is no longer approved")
        return 0
    approval, sizes = draft_approval(model_id, revision, context.settings.models_dir, store.now())
    for name, digest in approval.files.items():
        print(f"{digest}  {sizes[name]:>9,}  {printable(name)}")
    print(
        f"{len(approval.files)} files of {approval.model_id} at {revision} would run, in the sandbox, without a network."
    )
    question = "Have you read these files, and should they be allowed to run? [y/N] "
    if not args.yes and input(question).strip().lower() not in ("y", "yes"):
        print("nothing approved")
        return 2
    approve_code(store, approval)
    print(f"approved {approval.model_id}@{revision}")
    return 0


def opt_out_owner(context: Context) -> int:
    """Exclude an owner's models from evaluation, or one model; with --undo, allow them again."""
    args = context.args
    queue = context.queue
    # An earlier opt-out can be undone even if the Hub does not allow such a name any more.
    may_have_opt_out = args.undo and re.fullmatch(f"{OWNER}(/{OWNER})?", args.name)
    if not (may_have_opt_out or is_hub_owner(args.name) or is_hub_id(args.name)):
        return print_error(f"{args.name!r} is neither an owner nor OWNER/NAME")
    if args.undo:
        opt_in(queue, args.name)
        print(f"{args.name} may be evaluated again")
    else:
        cancelled = opt_out(queue, args.name, queue.store.now())
        if has_private_queue(context.settings):
            cancelled += withdraw_opted_out(
                context.private_queue, queue.store, context.private, context.settings, args.name
            )
        print(f"{args.name} is not evaluated any more; {len(cancelled)} pending requests are cancelled")
    return 0


def retire_result(context: Context) -> int:
    """Take a result out of the ranking for a public reason; with --undo, rank it again."""
    args = context.args
    store = context.queue.store
    if args.undo:
        reinstate(store, args.key, store.now())
        print(f"{args.key} is ranked again")
    elif not args.reason.strip():
        return print_error("give a reason, which will be public: --reason TEXT")
    else:
        retire(store, args.key, args.reason.strip(), store.now())
        print(f"{args.key} is not ranked any more; the result remains public, with the reason")
    return 0

"""Run the command that the arguments name."""

import argparse
import os
import sys
from collections.abc import Callable

from submissions.commands import decisions, private, requests, stores, submit
from submissions.commands.context import Context
from submissions.commands.init import init
from submissions.config.settings import load_settings
from submissions.records.registry import Registry
from submissions.store.open import check_there
from submissions.texts.errors import QueueError, RefusedError, SettingsError, StoreError
from submissions.texts.printable import print_error

COMMANDS: dict[str, Callable[[Context], int]] = {
    "submit": submit.submit,
    "check": submit.check,
    "list": requests.list_requests,
    "show": requests.show,
    "requeue": requests.requeue,
    "cancel": requests.cancel,
    "submitter": requests.submitter,
    "erase": requests.erase,
    "private": private.private,
    "publish": private.publish,
    "withdraw": private.withdraw,
    "approve-code": decisions.approve,
    "opt-out": decisions.opt_out_owner,
    "retire": decisions.retire_result,
    "migrate": stores.migrate_store,
    "backup": stores.make_backup,
    "restore": stores.restore_backup,
    "status": stores.status,
    "verify-stores": stores.verify_stores,
    "tidy": stores.tidy_store,
    "reindex": stores.reindex,
}
# Commands that may create the store, which opening it does. For others, a store that is not there is an error: most likely
# its address is mistyped.
MAY_CREATE_STORE = ("submit", "check", "approve-code", "opt-out", "migrate", "restore")


def dispatch(args: argparse.Namespace, registry: Registry) -> int:
    """Run a command and return its exit code."""
    try:
        if args.command == "init":
            return init(args)
        settings = load_settings(registry.benchmarks).with_store(args.store)
        if args.command not in MAY_CREATE_STORE:
            check_there(settings.store)
        return COMMANDS[args.command](Context(args, settings, registry))
    except (QueueError, RefusedError, SettingsError, StoreError) as error:
        return print_error(str(error))
    except BrokenPipeError:  # the reader of stdout has ended, as in `hannun list | head`
        # Otherwise Python would fail again when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except EOFError:
        return print_error("this command asks a question, and there is no terminal to answer it; pass --yes")

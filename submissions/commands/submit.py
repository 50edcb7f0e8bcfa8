"""The commands `check` and `submit`.

Requests are public, so they name their submitter by a pseudonym, which is made when the first request is accepted.
"""

import getpass
from collections.abc import Iterable

from submissions.checks.data_terms import check_receivers
from submissions.checks.option_checks import require_runnable
from submissions.checks.request import build_request
from submissions.checks.submission import Submission, named_model
from submissions.checks.submit import SubmissionService
from submissions.commands.context import Context
from submissions.hub_models.model_facts import facts_of_server
from submissions.queue.pseudonyms import Pseudonyms
from submissions.queue.quota import Submitter
from submissions.records.check import Check
from submissions.records.request import EvalRequest
from submissions.texts.check_names import CHECKS
from submissions.texts.errors import QueueError, RefusedError, SettingsError, StoreError
from submissions.texts.printable import print_error, printable
from submissions.texts.refusals import REFUSALS


def check(context: Context) -> int:
    """Print the outcome of every check. Return 2 if one failed."""
    report = _service(context).check(_submission(context))
    for one in report.checks:
        if one.skipped:
            mark = "-"
        elif one.refusal:
            mark = "✗"
        else:
            mark = "✓"
        benchmark = f" [{one.benchmark}]" if one.benchmark else ""
        detail = f": {one.detail}" if one.detail else ""
        print(printable(f"{mark} {CHECKS[one.name].en}{benchmark}{detail}"))
        if one.refusal:
            print(f"    {REFUSALS[one.refusal].en}")
    return 2 if any(one.refusal for one in report.checks) else 0


def submit(context: Context) -> int:
    """Queue a model. Return 2 if the submission to a benchmark failed."""
    args = context.args
    if args.api:
        if args.model or args.revision or args.precision or args.share:
            return print_error("--api names the model, so leave out MODEL, --revision, --precision and --share")
        return _submit_api(context)
    if not args.model:
        return print_error("name a model, or --api and a name that HANNUN_APIS has")
    if args.private:
        return _submit_private(context)
    submission = _submission(context)
    outcomes, report = _service(context).submit(submission, Submitter(_submitter(context), authenticated=False))
    code = 0
    for outcome in outcomes:
        # An outcome without a benchmark is of the whole submission.
        concerned = [outcome.benchmark] if outcome.benchmark else submission.benchmarks
        for benchmark in concerned:
            if outcome.code == "accepted" and report:  # an accepted model has one
                print(f"accepted {outcome.key} {report.model_id} {benchmark}")
            elif outcome.code == "refused":
                known = f" (request {outcome.key})" if outcome.key else ""
                code = print_error(f"{args.model!r} on {benchmark}: {_reasons(outcome.refusals)}{known}")
            else:  # "store_unavailable"; "no_benchmark" cannot be, because argparse has checked the names
                code = print_error(f"{args.model!r} on {benchmark}: the store is out of reach; try again later")
    return code


def _submit_private(context: Context) -> int:
    """Queue a model for private evaluations. The checks are those of a public submission."""
    args = context.args
    if args.share:
        return print_error("--share offers a public result, so leave it out")
    queue = context.private_queue
    submission = _submission(context)
    report = _service(context).check(submission)
    requests: list[EvalRequest] = []
    if report.requests:  # else nobody needs a pseudonym
        submitter = Pseudonyms(context.settings).find_or_make(_submitter(context))
        requests = [request.evolve(submitted_by=submitter) for request in report.requests.values()]
    # The commit repeats some checks, so a request that passed the first time may be refused now.
    late_refusals = dict(zip(report.requests, queue.submit_all(requests), strict=True))
    code = 0
    for benchmark in submission.benchmarks:
        if benchmark not in late_refusals:
            code = print_error(f"{args.model!r} on {benchmark}: {_reasons(report.refusals(benchmark))}")
        elif late_refusal := late_refusals[benchmark]:
            code = print_error(f"{args.model!r} on {benchmark}: {_reasons([late_refusal])}")
        else:
            print(f"accepted {report.requests[benchmark].key} {report.model_id} {benchmark} (private)")
    return code


def _reasons(refusals: Iterable[Check]) -> str:
    """Return the texts of failed checks in one line."""
    return " ".join(str(RefusedError(check.refusal, check.detail)) for check in refusals if check.refusal)


def _submit_api(context: Context) -> int:
    """Queue a model behind an API. Only operators can do this, because the worker uses the operator's key and pays."""
    args = context.args
    apis = context.settings.apis
    if (api := apis.get(args.api)) is None:
        return print_error(f"HANNUN_APIS does not name {args.api!r}; it has {', '.join(apis) or 'nothing'}")
    # The weights behind an API are unknown. Its address and the model's name there serve as the revision.
    server = f"{api.options.base_url} {api.options.model}"
    facts = facts_of_server(api.model_id, server, args.api, api.efforts)
    code = 0
    for benchmark in dict.fromkeys(args.benchmark):
        try:
            require_runnable(facts, benchmark, context.registry, args.thinking)
            if context.registry.benchmarks[benchmark].data_stays:
                addresses = [api.options.base_url, *api.options.replicas]
                check_receivers(benchmark, addresses, context.settings)
            # Not before the loop, so that a submitter whose requests are all refused gets no pseudonym.
            submitter = Pseudonyms(context.settings).find_or_make(_submitter(context))
            request = build_request(facts, benchmark, context.registry, submitter, thinking=args.thinking)
            queue = context.private_queue if args.private else context.queue
            queue.submit(request)
            kind = " (private)" if args.private else ""
            print(f"accepted {request.key} {request.model_id} {benchmark}{kind}")
        except (QueueError, RefusedError, SettingsError, StoreError) as error:
            code = print_error(f"{args.api} on {benchmark}: {error}")
    return code


def _service(context: Context) -> SubmissionService:
    return SubmissionService(context.queue, context.settings, context.registry)


def _submission(context: Context) -> Submission:
    args = context.args
    benchmarks = tuple(dict.fromkeys(args.benchmark or context.registry.benchmarks))  # `check` may name none, for all
    model_id, revision = named_model(args.model)
    share = getattr(args, "share", False)  # `check` has no --share
    return Submission(model_id, benchmarks, args.revision or revision, args.precision, args.thinking, share)


def _submitter(context: Context) -> str:
    """Return the submitter: `--as`, or the name of this user. Raises SettingsError if there is neither."""
    try:
        return checked_name(context.args.submitter or getpass.getuser())
    except (KeyError, OSError):  # in some containers the user has no name
        raise SettingsError("this user has no name: pass the submitter with --as NAME") from None


def checked_name(name: str) -> str:
    """Return the name unchanged. Raises SettingsError if it is not printable or longer than 200 characters."""
    if not name.isprintable() or len(name) > 200:
        raise SettingsError("a name may have at most 200 characters, all printable")
    return name

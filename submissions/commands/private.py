"""Commands for private evaluations: list them, write a result for its maker, publish or withdraw one.

The maker is the person or organisation that made the model. A result becomes public only after the maker has agreed.
"""

from pathlib import Path

from submissions.commands.context import Context
from submissions.operator.private_evaluations import finished_evaluation, publish_private, withdraw_private
from submissions.records.errata import Erratum, errata_in
from submissions.store.open import has_private_queue
from submissions.texts.errors import QueueError
from submissions.texts.failure_codes import FailureCode
from submissions.texts.failures import FAILURES
from submissions.texts.printable import printable


def private(context: Context) -> int:
    """List private evaluations, or write the result of one for its maker."""
    args = context.args
    _require_private_queue(context)
    queue = context.private_queue
    if not args.key:
        for row in queue.rows():
            reason = f"  {FAILURES[FailureCode(row.failure_code)].en}" if row.failure_code else ""
            print(printable(f"{row.key}  {row.status:<11}  {row.benchmark:<11}  {row.model_id}{reason}"))
        return 0
    finished = finished_evaluation(queue, args.key)
    result = finished.result
    if args.out is None:
        score = result.results[result.benchmark].get(result.headline)
        print(printable(f"{result.config.model_name} on {result.benchmark}: {result.headline} {score}"))
        return 0
    written = [_write(args.out / f"{args.key}.json", finished.record)]
    if finished.statement:
        written.append(_write(args.out / f"{args.key}.intoto.json", finished.statement))
    print("\n".join(map(str, written)))
    if not finished.statement:
        print("note: not signed, because the worker had no HANNUN_SIGNING_KEY")
    return 0


def publish(context: Context) -> int:
    """Publish the result of a private evaluation after its maker has agreed."""
    _require_private_queue(context)
    result = publish_private(context.private_queue, context.queue, context.private, context.args.key)
    print(printable(f"{result.config.model_name} on {result.benchmark} is public"))
    # Errata are corrected or withdrawn items of a test set. A result of version "3+2" was scored with the first two of them.
    folder = Erratum.folder_of(result.benchmark, result.dataset.split)
    errata_of_set = sum(path.startswith(folder) for path in context.queue.store.snapshot().files)
    if errata_of_set > errata_in(result.versions[result.benchmark]):
        print(f"note: the set has errata since: run python -m evaluator errata rescore {result.benchmark}")
    return 0


def withdraw(context: Context) -> int:
    """Delete a private evaluation with its answers.

    It is still counted, so that nobody can evaluate a model many times and show the best run as the only one.
    """
    key = context.args.key
    _require_private_queue(context)
    withdraw_private(context.private_queue, context.queue.store, context.private, context.settings, key)
    print(
        f"{key} is deleted; once its model has a public row, that still counts it among the model's private evaluations"
    )
    return 0


def _require_private_queue(context: Context) -> None:
    """Raise QueueError if nothing was ever submitted for a private evaluation."""
    if not has_private_queue(context.settings):
        raise QueueError("there are no private evaluations")


def _write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path

"""Count the private evaluations of a model, so that nobody can publish only the best of many.

The private store has a file for each model, named by a hash of its ID, with a hash of each evaluation. A count becomes public
with the next public row of the model on the same test set. Evaluations that were withdrawn count too, and so does each
repetition of one.
"""

import json
from collections import Counter
from hashlib import sha256

from submissions.records.operator import PrivateAttempts
from submissions.records.request import EvalRequest
from submissions.records.result import EvalResult
from submissions.store.base import Changes, Snapshot, Store, transact
from submissions.store.index import board_reader
from submissions.store.private import PrivateStore


def record_attempt(private: PrivateStore, request: EvalRequest, result: EvalResult) -> None:
    """Record that a private evaluation has a result. Raises StoreError."""
    attempts = _attempts(private, request.model_id)
    attempts[_run_hash(request.key, result.date)] = [request.benchmark, result.dataset.split]
    private.write(_path(request.model_id), json.dumps(attempts).encode())


def publish_attempts(public: Store, private: PrivateStore, model_id: str) -> None:
    """Write how many private evaluations a model had on the test sets on which it has a public row. Raises StoreError."""
    attempts = _attempts(private, model_id)
    if not attempts:
        return

    def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
        all_rows, _ = board_reader(public).read(snapshot)
        rows = [row for row in all_rows if row.model == model_id]
        shown_sets = {(row.benchmark, row.split) for row in rows if row.kind == "verified"}
        # A private evaluation that was published has the same hash as its row, and is no longer counted as private.
        public_runs = {_run_hash(row.key, row.date) for row in rows}
        # Sorted by test set. Otherwise the order of the counts in the public record would be that of the evaluations.
        counts: Counter[str] = Counter()
        for run, (benchmark, split) in sorted(attempts.items(), key=lambda attempt: attempt[1]):
            if run not in public_runs and (benchmark, split) in shown_sets:
                counts[f"{benchmark}/{split}"] += 1
        record = PrivateAttempts(model_id=model_id, counts=counts)
        if not record.counts and record.path not in snapshot.files:
            return {}, "", None  # nothing to publish, and no earlier number to replace
        return {record.path: record.to_bytes()}, f"Count private evaluations of {model_id}", None

    transact(public, decide)


def _attempts(private: PrivateStore, model_id: str) -> dict[str, list[str]]:
    """Return the benchmark and the split of each attempt, by the hash of its run."""
    try:
        found: dict[str, list[str]] = json.loads(private.read(_path(model_id)))
    except (KeyError, ValueError):
        return {}
    return found


def _path(model_id: str) -> str:
    return f"attempts/{_hash(model_id.lower())}.json"


def _run_hash(key: str, date: float | None) -> str:
    """Return the hash of one run of a request, which has several if it is withdrawn and submitted again."""
    return _hash(f"{key} {date}")


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:32]

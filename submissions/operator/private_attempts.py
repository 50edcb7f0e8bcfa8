"""Count the private evaluations of a model, so that nobody can publish only the best of many.

The private store has hashes of their keys by a hash of the model's name. A count becomes public once the model has a public
row on the same test set. Evaluations that were withdrawn count too.
"""

import json
from collections import Counter
from hashlib import sha256

from submissions.records.operator import PrivateAttempts
from submissions.store.base import Changes, Snapshot, Store, transact
from submissions.store.index import board_reader
from submissions.store.private import PrivateStore


def count_attempt(private: PrivateStore, model_id: str, benchmark: str, split: str, key: str) -> None:
    """Record that a private evaluation has a result. Raises StoreError."""
    attempts = _attempts(private, model_id)
    attempts[_hash(key)] = [benchmark, split]
    private.write(_path(model_id), json.dumps(attempts).encode())


def publish_attempts(public: Store, private: PrivateStore, model_id: str) -> None:
    """Write how many private evaluations a model had on the test sets on which it has a public row. Raises StoreError."""
    attempts = _attempts(private, model_id)
    if not attempts:
        return

    def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
        rows = [row for row in board_reader(public).read(snapshot)[0] if row.model == model_id]
        shown = {(row.benchmark, row.split) for row in rows if row.kind == "verified"}
        keys = {_hash(row.key) for row in rows}
        counts = Counter((name, split) for key, (name, split) in attempts.items() if key not in keys)
        record = PrivateAttempts(
            model_id=model_id,
            counts={f"{name}/{split}": n for (name, split), n in sorted(counts.items()) if (name, split) in shown},
        )
        content = record.to_bytes()
        known = public.read(record.path, snapshot.head) if record.path in snapshot.files else None
        if content == known or not (record.counts or known):
            return {}, "", None
        return {record.path: content}, f"Count private evaluations of {model_id}", None

    transact(public, decide)


def _attempts(private: PrivateStore, model_id: str) -> dict[str, list[str]]:
    """Return benchmark and split by the hash of the key."""
    try:
        found: dict[str, list[str]] = json.loads(private.read(_path(model_id)))
    except (KeyError, ValueError):
        return {}
    return found


def _path(model_id: str) -> str:
    return f"attempts/{_hash(model_id.lower())}.json"


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:32]

"""Results that are taken out of the ranking: for a reason that everybody can read, and nothing is deleted."""

from datetime import datetime

from submissions.errors import QueueError
from submissions.records import Retirement
from submissions.store.base import Changes, Snapshot, Store, transact
from submissions.store.index import board_reader


def retire(store: Store, key: str, reason: str, now: datetime) -> None:
    """Raises QueueError where there is no such result, or it is retired already."""

    def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
        if all(row.key != key for row in board_reader(store).read(snapshot)[0]):
            raise QueueError(f"there is no result {key}")
        if (path := Retirement.path_of(key)) in snapshot.files:
            raise QueueError(f"{key} is retired already")
        return {path: Retirement(key=key, reason=reason, since=now).to_bytes()}, f"Retire {key}", None

    transact(store, decide)


def reinstate(store: Store, key: str) -> None:
    """Undo it. Raises QueueError where it is not retired."""

    def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
        if (path := Retirement.path_of(key)) not in snapshot.files:
            raise QueueError(f"{key} is not retired")
        return {path: None}, f"Reinstate {key}", None

    transact(store, decide)

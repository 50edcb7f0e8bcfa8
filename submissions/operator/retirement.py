"""Retire results from the ranking. The reason is public, and nothing is deleted."""

from datetime import datetime

from pydantic import ValidationError

from submissions.records.base import first_error
from submissions.records.operator import Retirement
from submissions.store.base import Changes, Snapshot, Store, transact
from submissions.store.index import board_reader
from submissions.texts.errors import QueueError


def retire(store: Store, key: str, reason: str, now: datetime) -> None:
    """Retire a result. Raises QueueError if it does not exist, is retired already, or the reason cannot be shown."""
    try:
        retirement = Retirement(key=key, reason=reason, since=now)
    except ValidationError as error:
        raise QueueError(f"{key} cannot be retired: {first_error(error)}") from None

    def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
        if all(row.key != key for row in board_reader(store).read(snapshot)[0]):
            raise QueueError(f"there is no result {key}")
        if is_retired(store, key, snapshot):
            raise QueueError(f"{key} is retired already")
        return {Retirement.path_of(key): retirement.to_bytes()}, f"Retire {key}", None

    transact(store, decide)


def reinstate(store: Store, key: str, now: datetime) -> None:
    """Rank a retired result again, and keep the record of its retirement. Raises QueueError if it is not retired."""

    def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
        retirement = _current_retirement(store, key, snapshot)
        if retirement is None:
            raise QueueError(f"{key} is not retired")
        return {Retirement.path_of(key): retirement.evolve(until=now).to_bytes()}, f"Reinstate {key}", None

    transact(store, decide)


def is_retired(store: Store, key: str, snapshot: Snapshot) -> bool:
    """Return whether a result is retired now. Raises StoreError."""
    return _current_retirement(store, key, snapshot) is not None


def _current_retirement(store: Store, key: str, snapshot: Snapshot) -> Retirement | None:
    """Return the retirement of a result, or None if there is none or it has ended."""
    path = Retirement.path_of(key)
    if path not in snapshot.files:
        return None
    retirement = Retirement.from_json(store.read(path, snapshot.head))
    return retirement if retirement.until is None else None

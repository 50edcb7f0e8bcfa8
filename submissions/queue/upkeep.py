"""What keeps stores small: once a week, by whichever worker is first."""

import json
from datetime import datetime, timedelta

from submissions.store.base import Store, transact
from submissions.store.index import compacted
from submissions.store.private import PrivateStore

EVERY = timedelta(days=7)
_DONE = "tidied.json"


def tidy_if_due(store: Store, private: PrivateStore, now: datetime) -> bool:
    """`tidy` the store; whether it was due.

    The private store says when it was done last, and is told first, so that other workers leave it. A worker that dies
    meanwhile costs a week's delay.
    """
    if (done := _last(private)) and now - done < EVERY:
        return False
    private.write(_DONE, json.dumps({"at": now.isoformat()}).encode())
    tidy(store)
    return True


def tidy(store: Store) -> None:
    """Put past months of the index together, forget the history of the store, pack it. Raises StoreError."""
    transact(store, lambda snapshot: (compacted(store, snapshot), "Put past months of the index together", None))
    store.tidy()


def _last(private: PrivateStore) -> datetime | None:
    try:
        return datetime.fromisoformat(json.loads(private.read(_DONE))["at"])
    except (KeyError, ValueError, TypeError):
        return None

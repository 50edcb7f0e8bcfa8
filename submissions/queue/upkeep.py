"""The upkeep that keeps stores small, once a week, by whichever worker is first."""

from datetime import datetime, timedelta

from submissions.records.worker import Upkeep
from submissions.store.base import Store, transact
from submissions.store.index import compacted
from submissions.store.private import PrivateStore

EVERY = timedelta(days=7)
AGAIN_AFTER = timedelta(days=1)  # one that failed
UPKEEP = "tidied.json"


def tidy_if_due(store: Store, private: PrivateStore, now: datetime) -> bool:
    """Tidy the store if the last upkeep is a week old, or failed a day ago. Return whether it was due.

    With a new private store the first one is due in a week. Raises StoreError.
    """
    last = private.read_record(UPKEEP, Upkeep)
    if last is None:
        private.write(UPKEEP, Upkeep(at=now).to_bytes())
        return False
    if now - last.at < (EVERY if last.done else AGAIN_AFTER):
        return False
    tidy_now(store, private, now)
    return True


def tidy_now(store: Store, private: PrivateStore, now: datetime) -> None:
    """Tidy the store. The time is written first, so that other workers skip theirs. Raises StoreError."""
    private.write(UPKEEP, Upkeep(at=now, done=False).to_bytes())
    tidy(store)
    private.write(UPKEEP, Upkeep(at=now).to_bytes())


def tidy(store: Store) -> None:
    """Merge past months of the index, squash the history of the store, pack it. Raises StoreError."""
    transact(store, lambda snapshot: (compacted(store, snapshot), "Put past months of the index together", None))
    store.tidy()

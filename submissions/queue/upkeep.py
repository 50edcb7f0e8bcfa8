"""Keep the store small with a weekly upkeep, which is run by the first worker that finds it due."""

from datetime import datetime, timedelta

from submissions.records.worker import Upkeep
from submissions.store.base import Store, transact
from submissions.store.index import compacted
from submissions.store.private import PrivateStore

UPKEEP_INTERVAL = timedelta(days=7)
RETRY_AFTER = timedelta(days=1)  # after an upkeep that failed
UPKEEP = "tidied.json"  # in the private store: when the last upkeep was, and whether it is done


def tidy_if_due(store: Store, private: PrivateStore, now: datetime) -> bool:
    """Tidy the store if the last upkeep was a week ago, or failed and was a day ago. Return whether it was due.

    In a new private store, the first upkeep is due after a week. Raises StoreError if the upkeep fails.
    """
    last = private.read_record(UPKEEP, Upkeep)
    if last is None:
        private.write(UPKEEP, Upkeep(at=now).to_bytes())
        return False
    if now - last.at < (UPKEEP_INTERVAL if last.done else RETRY_AFTER):
        return False
    tidy_now(store, private, now)
    return True


def tidy_now(store: Store, private: PrivateStore, now: datetime) -> None:
    """Tidy the store. Raises StoreError if that fails.

    The time is recorded first, so that other workers do not start an upkeep too.
    """
    private.write(UPKEEP, Upkeep(at=now, done=False).to_bytes())
    tidy(store)
    private.write(UPKEEP, Upkeep(at=now).to_bytes())


def tidy(store: Store) -> None:
    """Merge past months of the index, squash the history of the store, and pack it. Raises StoreError if that fails."""
    transact(store, lambda snapshot: (compacted(store, snapshot), "Put past months of the index together", None))
    store.tidy()

"""Open the public queue of an installation, or that of its private evaluations."""

from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.store.open import open_private_queue_store, open_store


def open_queue(settings: Settings, *, is_private: bool = False) -> Queue:
    """Open a queue. Raises StoreError if its store cannot be opened, SettingsError if there are no private evaluations."""
    store = open_private_queue_store(settings) if is_private else open_store(settings.store, settings)
    return Queue(store, settings.lease, settings.max_attempts, Heartbeats(settings), is_private=is_private)

"""Open the public queue of an installation, or that of its private evaluations."""

from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.queue.queue import Queue
from submissions.store.open import open_private_queue_store, open_store


def open_queue(settings: Settings, *, is_private: bool = False) -> Queue:
    """Open a queue. Raises StoreError if its store cannot be opened, SettingsError if there are no private evaluations."""
    public = open_store(settings.store, settings)
    heartbeats = Heartbeats(settings)
    if not is_private:
        return Queue(public, settings.lease, settings.max_attempts, heartbeats)
    private = open_private_queue_store(settings)
    return Queue(private, settings.lease, settings.max_attempts, heartbeats, public=public)

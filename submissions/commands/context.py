"""The context that is passed to every command."""

from argparse import Namespace
from dataclasses import dataclass
from functools import cached_property

from submissions.config.settings import Settings
from submissions.queue.open import open_queue
from submissions.queue.queue import Queue
from submissions.records.registry import Registry
from submissions.store.open import open_private_store, open_store
from submissions.store.private import PrivateStore


@dataclass(frozen=True)
class Context:
    args: Namespace
    settings: Settings
    registry: Registry

    @cached_property
    def queue(self) -> Queue:
        """The queue of the public store. Raises StoreError if the store cannot be opened."""
        store = open_store(self.settings.store, self.settings)
        return Queue(store, self.settings.lease, self.settings.max_attempts)

    @cached_property
    def private_queue(self) -> Queue:
        """The queue of private evaluations. Raises SettingsError if there is none, StoreError if it cannot be opened."""
        return open_queue(self.settings, is_private=True)

    @cached_property
    def private(self) -> PrivateStore:
        """The private store: names, answers and heartbeats. Raises StoreError if it cannot be opened or is public."""
        return open_private_store(self.settings)

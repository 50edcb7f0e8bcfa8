"""Leases of claimed requests: how they are made and extended, and when they have expired."""

import secrets
from datetime import datetime, timedelta

from submissions.queue.heartbeats import Heartbeats
from submissions.records.request import EvalRequest, Lease, Progress
from submissions.texts.errors import LostLeaseError

SKEW = timedelta(minutes=2)  # allowance for different clocks before a lease counts as expired


def new_lease(worker: str, now: datetime, duration: timedelta) -> Lease:
    """Return the lease of a request that a worker claims now. Only a run with this nonce may publish."""
    return Lease(worker=worker, nonce=secrets.token_hex(16), heartbeat_at=now, expires_at=now + duration)


def extended_lease(lease: Lease, now: datetime, duration: timedelta, progress: Progress | None) -> Lease:
    """Return the lease with a later expiry, as each heartbeat writes it."""
    return lease.evolve(heartbeat_at=now, expires_at=now + duration, progress=progress)


def has_expired(request: EvalRequest, heartbeats: Heartbeats | None, now: datetime) -> bool:
    """Return whether the lease of a running request has expired.

    The request has the expiry that was set when it was claimed. Each heartbeat has a later one, but is a file of its own, which
    is read only when the first has passed.
    """
    lease = request.lease
    if lease is None or now <= lease.expires_at + SKEW:
        return False
    beat = heartbeats.last(request.key, lease) if heartbeats else None
    return beat is None or now > beat.expires_at + SKEW


def require_held(request: EvalRequest, current: EvalRequest | None) -> None:
    """Raise LostLeaseError unless `current`, the running request in the store, has the lease of `request`."""
    if request.lease is None or current is None or current.lease is None:
        raise LostLeaseError(f"request {request.key} is no longer running")
    if (current.lease.nonce, current.attempt) != (request.lease.nonce, request.attempt):
        raise LostLeaseError(f"request {request.key} is held by {current.lease.worker} now")

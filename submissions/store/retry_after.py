"""Choose how long to wait before a request is repeated."""

import math

from tenacity import RetryCallState, wait_random_exponential

LONGEST_WAIT = 60.0  # seconds between two attempts, unless the server asks for more


def wait_retry_after(state: RetryCallState) -> float:
    """Return the seconds to wait: the server's Retry-After, or else exponential backoff with full jitter."""
    error = state.outcome.exception() if state.outcome else None
    headers = getattr(getattr(error, "response", None), "headers", {})
    try:
        seconds = float(headers["retry-after"])
    except (KeyError, ValueError):
        seconds = math.nan
    if math.isfinite(seconds):
        return max(0.0, seconds)
    return wait_random_exponential(multiplier=0.5, max=LONGEST_WAIT)(state)

"""How long to wait before a server is asked again."""

import math

from tenacity import RetryCallState, wait_random_exponential

LONGEST_WAIT = 60.0  # seconds between two tries, unless the server asks for more


def wait_retry_after(state: RetryCallState) -> float:
    """Seconds until the next try: what the server's Retry-After asks for, else exponential with full jitter."""
    error = state.outcome.exception() if state.outcome else None
    headers = getattr(getattr(error, "response", None), "headers", {})
    try:
        seconds = float(headers["retry-after"])
    except (KeyError, ValueError):
        seconds = math.nan
    if math.isfinite(seconds):
        return max(0.0, seconds)
    return wait_random_exponential(multiplier=0.5, max=LONGEST_WAIT)(state)

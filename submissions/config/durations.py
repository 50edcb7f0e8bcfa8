"""Parse durations from settings and the command line."""

import re
from datetime import timedelta

_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}


def parse_duration(text: str) -> timedelta:
    """Parse `90s`, `10m`, `6h`, `7d` or a number of seconds. Raises ValueError for anything else."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", text.strip())
    if not match:
        raise ValueError(f"{text!r} is not a duration: write 90s, 10m, 6h or 7d")
    return timedelta(seconds=float(match[1]) * _SECONDS[match[2]])

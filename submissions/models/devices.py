"""What this machine has to run models on, found out without torch."""

import os
import subprocess
from functools import cache

QUERY = ("nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits")


@cache
def device_memory() -> int:
    """Bytes of all GPUs together, or of the machine where it has none."""
    try:
        done = subprocess.run(QUERY, capture_output=True, text=True, timeout=10)
        mebibytes = [int(line) for line in done.stdout.split()] if done.returncode == 0 else []
    except (OSError, ValueError, subprocess.TimeoutExpired):
        mebibytes = []
    return sum(mebibytes) * 2**20 or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

"""Which GPUs a model fits, by the peak memory that was measured while it answered one question at a time.

The overview and the tables can be filtered by it: `?memory=24`.
"""

from typing import Literal, get_args

GpuMemory = Literal["24", "48", "80"]  # of GPUs that many people have, in GB as their makers count (2^30 bytes)
SPARE_GB = 1.0  # for the driver, and for longer questions


def cards_that_fit(gpu_memory_gb: float | None) -> tuple[GpuMemory, ...]:
    """Return the GPUs that are large enough for a measured peak: 30.0 -> ("48", "80"). Return none if it was not measured."""
    if gpu_memory_gb is None:
        return ()
    return tuple(memory for memory in get_args(GpuMemory) if gpu_memory_gb + SPARE_GB <= float(memory))

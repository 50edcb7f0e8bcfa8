"""Define the kinds of tasks: each has what its benchmarks share, and a benchmark declares the rest."""

"""From a task to its result: `task`, `evaluate`, `score_answers`, `build_result` with `rounding`; also estimates.

Go there to change what a result contains.
"""

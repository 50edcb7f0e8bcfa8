"""A revealed quarter: its dataset, every answer, scores computed again, item statistics.

Go there to change what `ko-fresh reveal` and `verify` do.
"""

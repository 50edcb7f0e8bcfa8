"""Task, evaluation, scores, the result record, estimates.

Go there to change what a result contains.
"""

"""Intervals of one model (`intervals`), tests of two (`paired`), Holm, power: pure functions.

Go there to change how sure a score is.
"""

"""Intervals, paired tests, Holm, power: pure functions.

Go there to change how sure a score is.
"""

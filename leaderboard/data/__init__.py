"""Rows, ranking, search, columns, comparison; no HTML.

Go there to change what the board computes.
"""

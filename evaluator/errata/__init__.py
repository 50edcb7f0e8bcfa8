"""Corrections of a test set, stored answers scored again.

Go there to change what an erratum changes.
"""

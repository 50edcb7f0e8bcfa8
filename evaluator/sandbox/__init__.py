"""Bubblewrap, limits, system call filter.

Go there to change what a model's process may do (`layout`: see).
"""

"""Requests, results and index rows as pydantic models.

Go there to change what is stored or published.
"""

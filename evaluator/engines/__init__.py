"""One file an engine, and what they share.

Go there to change how a model is loaded and asked.
"""

"""`Item`, `Prompt`, `Answer`, `Score`, exceptions.

Go there to change what passes between steps.
"""

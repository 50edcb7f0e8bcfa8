"""`python -m submissions`.

Go there to change a command or option.
"""

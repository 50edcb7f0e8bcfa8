"""The commands of `hannun` that evaluate.

Go there to change a command or option.
"""

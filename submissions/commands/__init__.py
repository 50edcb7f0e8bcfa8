"""The commands of `hannun` for the queue and the stores.

Go there to change a command or option.
"""

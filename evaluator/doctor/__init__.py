"""One file for each group of checks of an installation.

Go there to change what `doctor` finds.
"""

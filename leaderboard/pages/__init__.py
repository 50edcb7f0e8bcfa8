"""One file a page: which rows fill which template, and which page is at which address.

Go there to change what a page shows.
"""

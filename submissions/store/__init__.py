"""Git and Hub stores, index, private files, backup.

Go there to change how records are kept (`transact` in `base` repeats a commit that lost a race).
"""

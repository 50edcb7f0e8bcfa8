"""Git and Hub stores, index, private files, backup.

Go there to change how records are kept.
"""

"""The pages as files, and their upload to a static Space.

Go there to change the static edition.
"""

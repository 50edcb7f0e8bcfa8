"""A board in a Space, as files, or on a machine with Docker.

Go there to change what `init` creates.
"""

"""All checks of a submission, then the request.

Go there to change what is accepted.
"""

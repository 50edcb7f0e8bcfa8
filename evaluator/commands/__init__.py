"""`python -m evaluator`.

Go there to change a command or option.
"""

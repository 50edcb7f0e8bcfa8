"""Opt-outs, code approval, retirement, status.

Go there to change decisions of the operator.
"""

"""Task, evaluation, scores, the result record (`build_result`), estimates.

Go there to change what a result contains.
"""

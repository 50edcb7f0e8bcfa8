"""Templates, figures, texts.

Go there to change what a page looks like.
"""

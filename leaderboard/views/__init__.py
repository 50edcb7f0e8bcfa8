"""Templates, figures, preview pictures (`cards`), texts.

Go there to change what a page, a feed or a picture looks like.
"""

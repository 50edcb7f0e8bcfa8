"""The pages of the board, built once for each language."""

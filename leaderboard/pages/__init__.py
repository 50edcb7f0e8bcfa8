"""The pages of the board, which are built once per language."""

"""Rules that answer ko-fresh from the printed values of a figure, for `make demo` and as a baseline."""

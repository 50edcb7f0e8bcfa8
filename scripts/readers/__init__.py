"""A rule-based reader of ko-fresh for `make demo`. Its rules know how the figures are laid out."""

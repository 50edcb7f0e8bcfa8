"""A reader of ko-fresh for `make demo`: rules that know how its figures are laid out."""

"""`python -m evaluator`: the program `hannun` (app.py), for example to evaluate models."""

import sys

from app import main

if __name__ == "__main__":
    sys.exit(main())

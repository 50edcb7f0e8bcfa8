"""`python -m leaderboard`: the program `hannun` (app.py), for example to write the board as files."""

import sys

from app import main

if __name__ == "__main__":
    sys.exit(main())

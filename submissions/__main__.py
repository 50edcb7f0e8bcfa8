"""`python -m submissions`: the program `hannun` (app.py), for example to look after the queue and the stores."""

import sys

from app import main

if __name__ == "__main__":
    sys.exit(main())

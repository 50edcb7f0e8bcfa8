"""`python -m evaluator croissant`: print the Croissant JSON-LD of a folder of items, for its dataset card."""

import argparse
import json
from datetime import UTC, datetime

from evaluator.datasets.croissant import croissant


def main(args: argparse.Namespace) -> int:
    description = croissant(args.benchmark, args.folder, args.license, args.url, datetime.now(UTC).date())
    print(json.dumps(description, ensure_ascii=False, indent=2))
    return 0

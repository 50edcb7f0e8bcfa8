"""`python -m evaluator croissant`: JSON-LD that describes a folder of items, for its dataset card."""

import argparse
import json
from datetime import UTC, datetime

from evaluator.datasets.croissant import croissant


def main(args: argparse.Namespace) -> int:
    described = croissant(args.benchmark, args.folder, args.license, args.url, datetime.now(UTC).date())
    print(json.dumps(described, ensure_ascii=False, indent=2))
    return 0

"""`python -m evaluator score`: answers that are at hand already."""

import argparse
import json

from evaluator.run.score_files import score_files


def main(args: argparse.Namespace) -> int:
    scored = score_files(args.benchmark, args.items, args.answers, args.per_item, raw=args.strip_reasoning)
    print(json.dumps(scored, ensure_ascii=False))
    return 0

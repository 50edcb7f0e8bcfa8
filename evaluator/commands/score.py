"""`python -m evaluator score`: answers that are at hand already."""

import argparse
import gc
import json

from evaluator.results.score_files import score_files


def main(args: argparse.Namespace) -> int:
    gc.disable()  # scores hold no cycles, and a collector that walks all of them again and again takes a tenth of the time
    scored = score_files(args.benchmark, args.items, args.answers, args.per_item, raw=args.strip_reasoning)
    print(json.dumps(scored, ensure_ascii=False))
    return 0

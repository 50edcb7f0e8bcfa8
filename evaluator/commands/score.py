"""`python -m evaluator score`: score existing answers."""

import argparse
import gc
import json
import sys

from evaluator.results.score_files import score_files


def main(args: argparse.Namespace) -> int:
    gc.disable()  # scores have no reference cycles, and garbage collection would take a tenth of the time
    scored = score_files(args.benchmark, args.items, args.answers, args.per_item, raw=args.strip_reasoning, note=_note)
    print(json.dumps(scored, ensure_ascii=False))
    return 0


def _note(line: str) -> None:
    print(line, file=sys.stderr)

"""`python -m evaluator`: benchmarks, run, parity, score, import, worker, estimate, schedule."""

import sys

from evaluator.commands.arguments import build_parser


def main(argv: list[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    from evaluator.commands.dispatch import dispatch  # after the parser, which needs none of it to print its help

    return dispatch(args)


if __name__ == "__main__":
    sys.exit(main())

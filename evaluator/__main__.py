"""`python -m evaluator`: benchmarks, run, parity, score, import, worker, estimate, schedule, selftest, strategies."""

import sys

from evaluator.commands.arguments import build_parser


def main(argv: list[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    from evaluator.commands.dispatch import dispatch  # late, because it is slow and --help needs none of it

    return dispatch(args)


if __name__ == "__main__":
    sys.exit(main())

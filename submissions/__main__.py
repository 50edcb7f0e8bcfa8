"""`python -m submissions`: look after the queue and the stores."""

import sys

from evaluator.benchmarks import BENCHMARKS  # only names are read until a command runs
from submissions.commands.arguments import build_parser


def main(argv: list[str] | None = None) -> int:
    args = build_parser(BENCHMARKS).parse_args(argv)
    if args.command == "doctor":  # it also examines what evaluates models
        from evaluator.commands.doctor import main as doctor

        return doctor(args)
    from evaluator.engines.registry import REGISTRY
    from submissions.commands.dispatch import dispatch  # late, because it is slow and --help needs none of it

    return dispatch(args, REGISTRY)


if __name__ == "__main__":
    sys.exit(main())

"""`python -m submissions`: check, submit, list, show, requeue, cancel, approve-code, opt-out, reindex."""

import sys

from submissions.arguments import build_parser


def main(argv: list[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    from submissions.commands import dispatch  # after the parser, which needs none of it to print its help

    return dispatch(args)


if __name__ == "__main__":
    sys.exit(main())

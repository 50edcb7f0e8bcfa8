"""The arguments of the command `build` (`command.py`). Importing this is fast, so that `--help` is too."""

import argparse

from submissions.commands.arguments import place_argument
from submissions.config.addresses import SPACES


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to those of `hannun`."""
    build = commands.add_parser("build", help="write the pages as files; only what changed is written again")
    build.add_argument(
        "out", type=place_argument, metavar="OUT", help=f"a folder, or {SPACES}ORG/NAME for a static Space"
    )
    build.add_argument(
        "--address",
        type=_address,
        default="",
        metavar="URL",
        help="public address of the files, for search engines and the feed (default: that of the Space)",
    )
    build.add_argument(
        "--live",
        type=_address,
        default="",
        metavar="URL",
        help="address of the live board, to which the pages link for submitting",
    )


def _address(text: str) -> str:
    """Return a base address without a slash at its end; empty for none."""
    if text and not text.startswith(("https://", "http://")):
        raise argparse.ArgumentTypeError(f"must start with https:// or http://, not {text[:50]!r}")
    return text.rstrip("/")

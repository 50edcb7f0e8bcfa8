"""`python -m leaderboard build OUT`: write the board as files, for a static Space or any file host (docs/deploy.md)."""

import argparse
import sys
from pathlib import Path

from evaluator.benchmarks import BENCHMARKS
from submissions.config.settings import SPACES, load_settings
from submissions.texts.errors import SettingsError, StoreError


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m leaderboard")
    steps = parser.add_subparsers(dest="step", required=True)
    build = steps.add_parser("build", help="write the pages as files; only what changed is written again")
    build.add_argument("out", metavar="OUT", help=f"a folder, or {SPACES}ORG/NAME for a static Space")
    build.add_argument("--address", default="", help="public address of the files, for search engines and the feed")
    build.add_argument("--live", default="", help="address of the live board, to which the pages link for submitting")
    given = parser.parse_args(arguments)
    for name in ("address", "live"):
        value = getattr(given, name)
        if value and not value.startswith(("https://", "http://")):
            parser.error(f"--{name} must start with https://, not {value[:50]!r}")
    try:
        return _build(given.out, (given.address or _space_address(given.out)).rstrip("/"), given.live.rstrip("/"))
    except (SettingsError, StoreError, OSError) as error:
        sys.stderr.write(f"leaderboard: {error}\n")
        return 2


def _build(out: str, address: str, live: str) -> int:
    from leaderboard.data.live_board import LiveBoard
    from leaderboard.edition.build import Edition, build
    from leaderboard.edition.space import publish_to_space, space_folder
    from submissions.queue.heartbeats import Heartbeats
    from submissions.store.open import open_store

    settings = load_settings(BENCHMARKS)
    store = open_store(settings.store, settings)
    board = LiveBoard(store, Heartbeats(settings), links=settings.links)
    board.refresh()  # a large store takes longer than a visitor is made to wait
    if board.stale_since:
        raise StoreError("the store is out of reach; nothing was written")
    space = out.removeprefix(SPACES) if out.startswith(SPACES) else None
    folder = space_folder(settings.work_dir, space) if space else Path(out)
    built = build(board, folder, Edition(address, live), _progress if sys.stderr.isatty() else None)
    print(f"{len(built.written)} of {built.total} files written, {len(built.removed)} removed: {folder}")
    if space:
        print(publish_to_space(folder, space, settings))
    return 0


def _space_address(out: str) -> str:
    """Return the address at which a static Space is served, or nothing for a folder."""
    name = out.removeprefix(SPACES).replace("/", "-").replace("_", "-").replace(".", "-").lower()
    return f"https://{name}.static.hf.space" if out.startswith(SPACES) else ""


def _progress(done: int, total: int) -> None:
    sys.stderr.write(f"\r{done} / {total} files" + ("\n" if done == total else ""))


if __name__ == "__main__":
    sys.exit(main())

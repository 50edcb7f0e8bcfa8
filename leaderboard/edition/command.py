"""The command `build`: write the board as files, for a static Space or any file host (docs/deploy-by-hand.md).

Its arguments are defined in `arguments.py`.
"""

import argparse
import re
import sys
from pathlib import Path

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.live_board import LiveBoard
from leaderboard.edition.build import Edition, build
from leaderboard.edition.space import publish_to_space, space_folder
from submissions.config.addresses import SPACES
from submissions.config.settings import load_settings
from submissions.queue.heartbeats import Heartbeats
from submissions.records.hub_names import hub_id_at
from submissions.store.open import open_store
from submissions.texts.errors import SettingsError, StoreError
from submissions.texts.printable import print_error


def build_edition(args: argparse.Namespace) -> int:
    """Run the command, and return its exit status."""
    try:
        space = _space_of(args.out)
        return _build(args.out, space, args.address or _space_address(space), args.live)
    except (SettingsError, StoreError, OSError) as error:
        return print_error(str(error))


def _build(out: str, space: str | None, address: str, live: str) -> int:
    """Build the edition in the folder `out`, or build it for a Space and upload it.

    `address` is where the files will be served, and `live` the address of the live board that they link to. Either may be "".
    Raises SettingsError, StoreError or OSError if that is not possible.
    """
    settings = load_settings(BENCHMARKS)
    store = open_store(settings.store, settings)
    # Without the pages of revealed sets (`settings.opened_books`): they need the parameter `set`, which a file cannot read.
    board = LiveBoard(store, Heartbeats(settings), links=settings.links)
    board.refresh()  # reading a large store may take longer than the seconds that LiveBoard waits for at the start
    if board.stale_since:
        raise StoreError("the store is out of reach; nothing was written")
    folder = space_folder(settings.work_dir, space) if space else Path(out)
    is_shown = sys.stderr.isatty()
    try:
        built = build(board, folder, Edition(address, live), _show_progress if is_shown else None)
    finally:
        if is_shown:
            sys.stderr.write("\n")  # ends the line of `_show_progress`
    print(f"{len(built.written)} of {built.total} files written, {len(built.removed)} removed: {folder}")
    if space:
        print(publish_to_space(folder, space, settings))
    return 0


def _space_of(out: str) -> str | None:
    """Return the Space that `out` names, or None for a folder. Raises SettingsError for any other address."""
    space = hub_id_at(out, SPACES)
    if space is None and "://" in out:
        raise SettingsError(f"{out} is neither a folder nor {SPACES}ORG/NAME")
    return space


def _space_address(space: str | None) -> str:
    """Return the address at which a static Space is served, or an empty text for a folder.

    The Space "Org/my_board" is served at https://org-my-board.static.hf.space.
    """
    if not space:
        return ""
    subdomain = re.sub("[/_.]", "-", space).lower()
    return f"https://{subdomain}.static.hf.space"


def _show_progress(done: int, total: int) -> None:
    """Show the progress in one line, which each call writes again."""
    sys.stderr.write(f"\r{done} / {total} files")

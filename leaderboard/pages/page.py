"""What all pages have in common: how they are written, and the version by which open pages are refreshed.

Each module beside this one defines a `Page`. `site_map.py` lists which page is at which address, and
`leaderboard/web/page_routes.py` and the static edition call its `write`, which reads rows from the board and fills a
template.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote, urlencode

from leaderboard.data.live_board import LiveBoard
from leaderboard.views.location import Location
from leaderboard.views.render import render
from submissions.config.addresses import DATASETS
from submissions.store.base import blob_id

# What a page shows: "board" changes with the results, "queue" also with requests and workers.
Refreshed = Literal["board", "queue"]


@dataclass(frozen=True)
class Page:
    """A kind of page."""

    # board, location and version → HTML, or None if there is no such page
    write: Callable[[LiveBoard, Location, str], str | None]
    params: tuple[str, ...] = ()  # parameters of the address that it understands; others are dropped
    refreshed_by: Refreshed = "board"  # the one of `versions` with which the page changes


def versions(board: LiveBoard) -> dict[Refreshed, str]:
    """Return the versions of what the pages show: {"board": "3f1c…", "queue": "5d20…"}.

    A page contains its version, and its script loads it again when `/version` has another one. `stale_since` is part of it,
    because every page shows since when the store cannot be reached.
    """
    stale = board.stale_since
    return {
        "board": blob_id(f"{board.version}{stale}".encode())[:16],
        "queue": blob_id(f"{board.queue_version}{stale}".encode())[:16],
    }


def report_form(board: LiveBoard, title: str, body: str) -> str | None:
    """Return the address of a form, filled with a title and a text, by which a visitor reports something to the operator.

    It is a new discussion of the results' dataset. If the store is not on the Hub, it is a mail to the operator, or the
    operator's page of HANNUN_CONTACT. None if there is none of these.
    """
    if board.store_url.startswith(DATASETS):
        dataset = board.store_url.removeprefix(DATASETS).partition("@")[0]  # without the revision
        query = urlencode({"title": title, "description": body})
        return f"https://huggingface.co/datasets/{dataset}/discussions/new?{query}"
    contact = board.links.get("contact")
    if contact and contact.startswith("mailto:"):
        mailbox = contact.partition("?")[0]  # without a subject of its own
        return f"{mailbox}?{urlencode({'subject': title, 'body': body}, quote_via=quote)}"
    return contact


def render_page(board: LiveBoard, here: Location, version: str, template: str, **values: Any) -> str:
    """Render a page with what the header, the notices and the footer of `base.html` need.

    `version` is "" for a page that is not refreshed. `values` are those of the template, with `title` and `description`.
    """
    stale = board.stale_since
    was_reached = board.last_reached is not None
    return render(
        template,
        here.language,
        here=here,
        version=version,
        stale_since=stale if was_reached else None,  # before the first answer of the store, it is 1970
        never_reached=bool(stale and not was_reached),
        links=board.links,
        **values,
    )

"""What all pages have in common: the header, the version that live pages are refreshed by, and the address."""

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
Live = Literal["board", "queue"]


@dataclass(frozen=True)
class Page:
    """A kind of page. `write` returns its HTML, or None if there is nothing at that address."""

    write: Callable[[LiveBoard, Location, str], str | None]  # board, location, version
    params: tuple[str, ...] = ()  # that it understands; others are dropped
    live: Live = "board"


def versions(board: LiveBoard) -> dict[Live, str]:
    """Return the versions of what the pages show. An open page is refreshed when its version changes."""
    stale = board.stale_since
    return {
        "board": blob_id(f"{board.version}{stale}".encode())[:16],
        "queue": blob_id(f"{board.queue_version}{stale}".encode())[:16],
    }


def report_form(board: LiveBoard, title: str, body: str) -> str | None:
    """Return the address of a form with a title and a text: a discussion of the results' dataset or, if the store is not on
    the Hub, a mail to the operator or the page where the operator is reached. None if there is none of these.
    """
    if board.store_url.startswith(DATASETS):
        dataset = board.store_url.removeprefix(DATASETS).partition("@")[0]
        query = urlencode({"title": title, "description": body})
        return f"https://huggingface.co/datasets/{dataset}/discussions/new?{query}"
    contact = board.links.get("contact")
    if contact and contact.startswith("mailto:"):
        return f"{contact}?{urlencode({'subject': title, 'body': body}, quote_via=quote)}"
    return contact


def render_page(board: LiveBoard, here: Location, version: str, template: str, **values: Any) -> str:
    """Render a page. `values` contain `title` and `description`."""
    stale = board.stale_since
    return render(
        template,
        here.language,
        here=here,
        version=version,
        stale_since=stale if board.reached else None,
        never_reached=bool(stale and not board.reached),
        links=board.links,
        **values,
    )

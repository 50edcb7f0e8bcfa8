"""Routes of the state of the board (`/version`), the queue, requests, and Atom feeds."""

from fastapi import APIRouter, HTTPException, Request, Response

from leaderboard.data.live_board import LiveBoard
from leaderboard.data.requests import queue_json, request_json
from leaderboard.pages.feed import feed, feed_of_request
from leaderboard.pages.page import versions
from leaderboard.web.page_routes import language_named, location_of
from leaderboard.web.responses import JSON, revalidated, revalidated_content, tag_at_origin, to_json

ATOM = "application/atom+xml; charset=utf-8"


def request_routes(board: LiveBoard) -> APIRouter:
    router = APIRouter()

    @router.get("/version")
    def board_version() -> Response:
        # Open pages request this to learn that they have to be refreshed.
        counts = board.fresh_view().counts  # first, because it refreshes what is read below
        current = versions(board)
        since = board.stale_since
        out_of_reach_since = since.isoformat() if since else None
        if since and not board.last_reached:  # then `since` is 1970
            out_of_reach_since = "never"  # the store has never been reached since the board started
        state = {
            "board": current["board"],
            "queue": current["queue"],
            "counts": counts,
            "out_of_reach_since": out_of_reach_since,
        }
        return Response(to_json(state), media_type=JSON, headers={"Cache-Control": "no-store"})

    @router.get("/queue.json")
    def queue(request: Request) -> Response:
        content = to_json(queue_json(board))
        return revalidated_content(request, content, JSON)

    @router.get("/requests/{key}.json")
    def one_request(request: Request, key: str) -> Response:
        found = request_json(board, key)
        if found is None:
            raise HTTPException(404, "no such request; /queue.json has the newest")
        content = to_json(found)
        return revalidated_content(request, content, JSON)

    @router.get("/feed.xml")
    def newest(
        request: Request, lang: str = "ko", benchmark: str = "", model: str = "", organisation: str = ""
    ) -> Response:
        view = board.fresh_view()
        here = location_of(request, language_named(lang), "")
        # As in `feed`, an organisation is the owner in a model's name or its maker: "SkERT-Large (Single model)" has no owner,
        # but a maker, "Skelter Labs".
        owners = {name.partition("/")[0] for name in view.rows_by_model}
        makers = {row.organisation for row in view.models}
        filters = (benchmark, view.boards), (model, view.rows_by_model), (organisation, owners | makers)
        if any(chosen and chosen not in names for chosen, names in filters):
            raise HTTPException(404, "no results of that benchmark, model or organisation")
        tag = tag_at_origin(view.version, here)
        return revalidated(request, tag, ATOM, lambda: feed(view, here, benchmark, model, organisation))

    @router.get("/requests/{key}.xml")
    def request_feed(request: Request, key: str, lang: str = "ko") -> Response:
        row = board.fresh_view().request(key)
        if row is None:
            raise HTTPException(404, "no such request; /queue.json has the newest")
        content = feed_of_request(row, location_of(request, language_named(lang), f"requests/{key}"))
        return revalidated_content(request, content, ATOM)

    return router

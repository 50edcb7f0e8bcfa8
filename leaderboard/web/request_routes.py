"""The state of the board, requests and feeds."""

from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response

from leaderboard.data.live_board import LiveBoard
from leaderboard.data.requests import queue_json, request_json
from leaderboard.pages.feed import feed, feed_of_request
from leaderboard.pages.page import versions
from leaderboard.web.page_routes import language_named, location_of
from leaderboard.web.responses import JSON, located, revalidated, revalidated_content, to_json

ATOM = "application/atom+xml; charset=utf-8"


def request_routes(board: LiveBoard) -> APIRouter:
    router = APIRouter()

    @router.get("/version")
    def version() -> Response:
        counts = board.fresh_view().counts
        since = board.stale_since
        state: dict[str, Any] = {str(live): known for live, known in versions(board).items()} | {"counts": counts}
        if since and board.reached:
            state["out_of_reach_since"] = since.isoformat()
        elif since:
            state["out_of_reach_since"] = "never"
        else:
            state["out_of_reach_since"] = None
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
        owners = {name.partition("/")[0] for name in view.rows_by_model} | {m.organisation for m in view.models}
        known = (benchmark, view.boards), (model, view.rows_by_model), (organisation, owners)
        if any(given and given not in names for given, names in known):
            raise HTTPException(404, "no results of that benchmark, model or organisation")
        tag = located(view.version, here)
        return revalidated(request, tag, ATOM, lambda: feed(view, here, benchmark, model, organisation))

    @router.get("/requests/{key}.xml")
    def request_feed(request: Request, key: str, lang: str = "ko") -> Response:
        row = board.fresh_view().request(key)
        if row is None:
            raise HTTPException(404, "no such request; /queue.json has the newest")
        content = feed_of_request(row, location_of(request, language_named(lang), f"requests/{key}"))
        return revalidated_content(request, content, ATOM)

    return router

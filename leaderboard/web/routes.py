"""HTTP routes for programs: tables, charts, results, requests, the feed, and a table to embed."""

import heapq
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, get_args
from uuid import UUID

from fastapi import APIRouter, HTTPException, Request, Response

from leaderboard.data.chart_data import COLUMNS, Kind, chart_data, charts_of
from leaderboard.data.export import FORMATS, rows_to_csv
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.query import Query, select
from leaderboard.data.record import record_json
from leaderboard.data.requests import queue_json, request_json
from leaderboard.formats import RESULT_FORMATS
from leaderboard.views.render import render
from leaderboard.views.texts import Language
from submissions.records.result import EvalResult
from submissions.store.base import blob_id

FEED_ROWS = 50  # newest results in the feed
STATEMENT = "intoto"  # the format in a result's URL that returns its signed statement
EMBED_ROWS, MAX_EMBED_ROWS = 10, 999  # rows of an embedded table: default and maximum


def routes(board: LiveBoard, style: str) -> APIRouter:
    router = APIRouter()

    @router.get("/version")
    def version() -> Response:
        counts, since = board.fresh_view().counts, board.stale_since
        state = {
            **{"board": board.version, "queue": board.queue_version, "counts": counts},
            "out_of_reach_since": since.isoformat() if since and board.reached else "never" if since else None,
        }
        return Response(_json(state), media_type="application/json", headers={"Cache-Control": "no-store"})

    @router.get("/results/{name}.json")
    def result(request: Request, name: str) -> Response:
        key, _, file_format = name.partition(".")
        content = board.result_json(key)
        if content is None or file_format not in ("", STATEMENT, *RESULT_FORMATS):
            raise HTTPException(404, f"no such result; formats are {', '.join((STATEMENT, *RESULT_FORMATS))}")
        if file_format == STATEMENT:
            if (content := board.statement(key)) is None:
                raise HTTPException(404, "this result is not signed")
        elif file_format:
            content = _json(RESULT_FORMATS[file_format](EvalResult.model_validate_json(content)))
        return _conditional(request, blob_id(content), "application/json", lambda: content, f"{name}.json")

    @router.get("/boards/{name}.{kind}")
    def table(request: Request, name: str, kind: str) -> Response:
        view = board.fresh_view()
        if name not in view.boards or kind not in FORMATS:
            raise HTTPException(404, f"no such table; available: {', '.join(view.boards)} as {', '.join(FORMATS)}")
        media_type, write = FORMATS[kind]
        wanted = Query.of_address(request.query_params)
        return _conditional(
            request,
            view.version,
            media_type,
            lambda: write(select(view.boards[name], wanted), name),
            f"hannun-{name}.{kind}",
        )

    @router.get("/charts/{name}/{kind}.csv")
    def chart(request: Request, name: str, kind: str) -> Response:
        view = board.fresh_view()
        if name not in view.boards:
            raise HTTPException(404, f"no such benchmark; available: {', '.join(view.boards)}")
        if kind not in get_args(Kind) or kind not in charts_of(name):
            raise HTTPException(404, f"no such chart; available: {', '.join(charts_of(name))}")

        wanted = Query.of_address(request.query_params)

        def write() -> bytes:
            return rows_to_csv(chart_data(kind, select(view.boards[name], wanted)), COLUMNS[kind])

        return _conditional(request, view.version, "text/csv; charset=utf-8", write, f"hannun-{name}-{kind}.csv")

    @router.get("/queue.json")
    def queue(request: Request) -> Response:
        content = _json(queue_json(board))
        return _conditional(request, blob_id(content), "application/json", lambda: content)

    @router.get("/record.json")
    def record(request: Request) -> Response:
        view = board.fresh_view()

        def write() -> bytes:
            return _json(record_json(view.boards, view.retired, view.commitments))

        return _conditional(request, view.version, "application/json", write, "hannun-record.json")

    @router.get("/requests/{key}.json")
    def one_request(request: Request, key: str) -> Response:
        found = request_json(board, key)
        if found is None:
            raise HTTPException(404, "no such request; /queue.json has the newest")
        content = _json(found)
        return _conditional(request, blob_id(content), "application/json", lambda: content)

    @router.get("/feed.xml")
    def feed(request: Request, lang: str = "ko") -> Response:
        view = board.fresh_view()

        def write() -> bytes:
            dated = (r for rows in view.boards.values() for r in rows if r.row.date and r.row.score is not None)
            rows = heapq.nsmallest(FEED_ROWS, dated, key=lambda r: (-(r.row.date or 0.0), r.row.key))
            return render(
                "feed.xml",
                _language(lang),
                rows=rows,
                base=str(request.base_url),
                moments={r.row.key: datetime.fromtimestamp(r.row.date or 0.0, UTC).isoformat() for r in rows},
                ids={r.row.key: UUID(hex=r.row.key).urn for r in rows},
            ).encode()

        return _conditional(request, view.version, "application/atom+xml; charset=utf-8", write)

    @router.get("/embed/{name}")
    def embed(request: Request, name: str, lang: str = "ko", n: str = "") -> Response:
        view = board.fresh_view()
        if name not in view.boards:
            raise HTTPException(404, f"no such table; available: {', '.join(view.boards)}")
        shown = min(int(n), MAX_EMBED_ROWS) if n.isascii() and n.isdigit() and len(n) < 10 else EMBED_ROWS
        content = render(
            "embed.html",
            _language(lang),
            rows=[r for r in view.boards[name] if r.rank][:shown],
            name=name,
            style=style,
        ).encode()
        return _conditional(request, blob_id(content), "text/html; charset=utf-8", lambda: content)

    return router


def _conditional(
    request: Request, tag: str, media_type: str, write: Callable[[], bytes], name: str | None = None
) -> Response:
    """Return the content with an ETag, or 304 if the client has it already. Clients must revalidate each time.

    `name` is the file name of a download.
    """
    headers = {"ETag": f'"{tag}"', "Cache-Control": "no-cache"}
    if f'"{tag}"' in request.headers.get("If-None-Match", ""):
        return Response(status_code=304, headers=headers)
    if name:
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return Response(write(), media_type=media_type, headers=headers)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def _language(name: str) -> Language:
    return "en" if name == "en" else "ko"

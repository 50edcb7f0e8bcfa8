"""Tables and charts, as files and in other pages."""

from fastapi import APIRouter, HTTPException, Request, Response

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.chart_data import COLUMNS, OVERVIEW, Data, Kind, chart_data, charts_of, overview_data
from leaderboard.data.export import FORMATS, rows_to_csv
from leaderboard.data.finder import Finder, find_models
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.query import Query
from leaderboard.data.ranking import without_superseded_claims
from leaderboard.views.figures import figure_json
from leaderboard.views.render import render
from leaderboard.web.kept_contents import KeptContents
from leaderboard.web.page_routes import language_named, location_of
from leaderboard.web.responses import (
    HTML,
    JSON,
    revalidated,
    revalidated_content,
)

EMBED_ROWS, MAX_EMBED_ROWS = 10, 999  # rows of an embedded table: default and maximum


def table_routes(board: LiveBoard) -> APIRouter:
    router = APIRouter()
    kept = KeptContents()

    @router.get("/boards/{name}.{kind}")
    def table(request: Request, name: str, kind: str) -> Response:
        view = board.fresh_view()
        if name not in view.boards or kind not in FORMATS:
            raise HTTPException(404, f"no such table; available: {', '.join(view.boards)} as {', '.join(FORMATS)}")
        media_type, write = FORMATS[kind]
        wanted = Query.from_params(request.query_params)

        def content() -> bytes:
            return write(view.select(name, wanted), name)

        if wanted == Query():  # others are too many to keep
            content = kept.once(f"{name}.{kind}", view.version, content)
        return revalidated(request, view.version, media_type, content, f"hannun-{name}.{kind}")

    @router.get("/charts/{name}/{kind}.{form}")
    def chart(request: Request, name: str, kind: str, form: str, lang: str = "ko", axis: str = "") -> Response:
        view = board.fresh_view()
        if name == "overview":
            kinds = [OVERVIEW]
        elif name in view.boards:
            kinds = charts_of(name)
        else:
            kinds = []
        if not kinds:
            raise HTTPException(404, f"no such benchmark; available: {', '.join(('overview', *view.boards))}")
        if kind not in kinds:
            raise HTTPException(404, f"no such chart; available: {', '.join(kinds)}")
        known: Kind = next(one for one in kinds if one == kind)

        def data() -> Data:
            if known == OVERVIEW:
                return overview_data(find_models(view, Finder.from_params(request.query_params)))
            rows = view.select(name, Query.from_params(request.query_params))
            return chart_data(known, rows, axis if known == "parts" else "")

        if form == "json":  # a Plotly figure, drawn by the page
            language = language_named(lang)
            tag = f"{view.version}-{language}"
            return revalidated(request, tag, JSON, lambda: figure_json(known, data(), BENCHMARKS.get(name), language))
        if form != "csv":
            raise HTTPException(404, "a chart is available as csv, and as json for Plotly")
        file_name = f"hannun-{name}-{kind}.csv"
        return revalidated(
            request, view.version, "text/csv; charset=utf-8", lambda: rows_to_csv(data(), COLUMNS[known]), file_name
        )

    @router.get("/embed/{name}")
    def embed(request: Request, name: str, lang: str = "ko", n: str = "") -> Response:
        view = board.fresh_view()
        here = location_of(request, language_named(lang), "")
        if name not in view.boards:
            raise HTTPException(404, f"no such table; available: {', '.join(view.boards)}")
        shown = min(int(n), MAX_EMBED_ROWS) if n.isascii() and n.isdigit() and len(n) < 10 else EMBED_ROWS
        rows = [r for r in without_superseded_claims(view.boards[name]) if r.rank][:shown]
        content = render(
            "embed.html", here.language, here=here, rows=rows, name=name, benchmark=BENCHMARKS[name]
        ).encode()
        return revalidated_content(request, content, HTML)

    return router

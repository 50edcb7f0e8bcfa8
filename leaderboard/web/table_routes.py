"""Routes of tables and charts as files, and of tables to embed in pages of other sites.

/boards/ko-vqa.csv?q=qwen     a benchmark's table, with the search and filters of its page
/charts/ko-vqa/size.json      the Plotly figure that the page draws; as .csv its data
/embed/ko-vqa?n=5             a page with the first rows, for a frame
"""

from dataclasses import replace

from fastapi import APIRouter, HTTPException, Request, Response

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.chart_data import COLUMNS, OVERVIEW, Data, Kind, chart_data, charts_of, overview_data
from leaderboard.data.columns import RANK
from leaderboard.data.export import FORMATS, rows_to_csv
from leaderboard.data.finder import Finder, find_models
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.query import Query
from leaderboard.data.ranking import without_reported_if_measured
from leaderboard.views.figures import figure_json
from leaderboard.views.render import render
from leaderboard.web.content_cache import ContentCache
from leaderboard.web.page_routes import language_named, location_of
from leaderboard.web.responses import (
    HTML,
    JSON,
    revalidated,
    revalidated_content,
)

EMBED_ROWS = 10  # rows of an embedded table, unless its address has `n`
MAX_EMBED_ROWS = 999


def table_routes(board: LiveBoard) -> APIRouter:
    router = APIRouter()
    cache = ContentCache()

    @router.get("/boards/{name}.{file_format}")
    def table(request: Request, name: str, file_format: str) -> Response:
        view = board.fresh_view()
        if name not in view.boards or file_format not in FORMATS:
            raise HTTPException(404, f"no such table; available: {', '.join(view.boards)} as {', '.join(FORMATS)}")
        media_type, write = FORMATS[file_format]
        query = Query.from_params(request.query_params)

        def write_selected() -> bytes:
            return write(view.select(name, query), name)

        write_content = write_selected
        if query == Query():  # the whole table; there are too many searches to keep them all
            write_content = cache.writer(f"{name}.{file_format}", view.version, write_selected)
        return revalidated(request, view.version, media_type, write_content, f"hannun-{name}.{file_format}")

    @router.get("/charts/{name}/{kind}.{file_format}")
    def chart(request: Request, name: str, kind: str, file_format: str, lang: str = "ko", axis: str = "") -> Response:
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
        chart_kind: Kind = next(known for known in kinds if known == kind)  # the same text, as the type Kind

        def data() -> Data:
            if chart_kind == OVERVIEW:
                return overview_data(find_models(view, Finder.from_params(request.query_params)))
            query = Query.from_params(request.query_params)
            rows = view.select(name, replace(query, sort=RANK))  # charts show the best, however a table is sorted
            axis_of_parts = axis if chart_kind == "parts" else ""  # the data of other charts have no field `axis`
            return chart_data(chart_kind, rows, axis_of_parts, view.boards[name])

        if file_format == "json":  # a Plotly figure, drawn by the page
            language = language_named(lang)
            tag = f"{view.version}-{language}"
            benchmark = BENCHMARKS.get(name)  # None for the overview
            return revalidated(request, tag, JSON, lambda: figure_json(chart_kind, data(), benchmark, language))
        if file_format != "csv":
            raise HTTPException(404, "a chart is available as csv, and as json for Plotly")
        file_name = f"hannun-{name}-{kind}.csv"
        return revalidated(
            request,
            view.version,
            "text/csv; charset=utf-8",
            lambda: rows_to_csv(data(), COLUMNS[chart_kind]),
            file_name,
        )

    @router.get("/embed/{name}")
    def embed(request: Request, name: str, lang: str = "ko", n: str = "") -> Response:
        view = board.fresh_view()
        here = location_of(request, language_named(lang), "")
        if name not in view.boards:
            raise HTTPException(404, f"no such table; available: {', '.join(view.boards)}")
        is_number = n.isascii() and n.isdigit() and len(n) < 10
        shown = min(int(n), MAX_EMBED_ROWS) if is_number else EMBED_ROWS
        rows = [ranked for ranked in without_reported_if_measured(view.boards[name]) if ranked.rank][:shown]
        content = render(
            "embed.html", here.language, here=here, rows=rows, name=name, benchmark=BENCHMARKS[name]
        ).encode()
        return revalidated_content(request, content, HTML)

    return router

"""Routes for programs: tables, charts, results, requests, the feed, and a table to embed in other pages."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from mimetypes import guess_type
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response

from evaluator.benchmarks import BENCHMARKS
from evaluator.formats import RESULT_FORMATS
from leaderboard.data.chart_data import COLUMNS, OVERVIEW, Data, Kind, chart_data, charts_of, overview_data
from leaderboard.data.explorer import public_file
from leaderboard.data.export import FORMATS, REGISTER_FORMATS, rows_to_csv
from leaderboard.data.finder import Finder, find_models
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.opened import opened_file
from leaderboard.data.query import Query
from leaderboard.data.ranking import standing_rows
from leaderboard.data.record import errata_json, record_json
from leaderboard.data.requests import queue_json, request_json
from leaderboard.data.unseen import COLUMNS as UNSEEN_COLUMNS
from leaderboard.data.unseen import rows as unseen_rows
from leaderboard.facts.lineage import LINEAGE
from leaderboard.facts.register import numbers, numbers_of_set
from leaderboard.facts.register_sets import BY_SLUG
from leaderboard.pages.feed import feed, feed_of_request
from leaderboard.pages.page import versions
from leaderboard.pages.share import badge, benchmark_card, comparison_card, model_card, overview_card
from leaderboard.pages.site_files import site_map
from leaderboard.views.figures import figure_json
from leaderboard.views.render import render
from leaderboard.views.texts import Language
from leaderboard.web.address import PLACEHOLDER
from leaderboard.web.page_routes import location_of
from leaderboard.web.responses import (
    HTML,
    JSON,
    located,
    revalidated,
    revalidated_content,
    to_json,
    with_origin,
)
from submissions.records.result import EvalResult

ATOM, SVG = "application/atom+xml; charset=utf-8", "image/svg+xml"
STATEMENT = "intoto"  # the format in a result's URL that returns its signed statement
EMBED_ROWS, MAX_EMBED_ROWS = 10, 999  # rows of an embedded table: default and maximum


def data_routes(board: LiveBoard) -> APIRouter:
    router = APIRouter()
    contents: dict[str, tuple[str, bytes]] = {}  # by name, with the board's version

    def kept(name: str, version: str, write: Callable[[], bytes]) -> Callable[[], bytes]:
        """Return `write`, but make the content only once for each version of the board."""

        def content() -> bytes:
            known = contents.get(name)
            if known is None or known[0] != version:
                known = contents[name] = (version, write())
            return known[1]

        return content

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
            content = to_json(RESULT_FORMATS[file_format](EvalResult.from_json(content)))
        return revalidated_content(request, content, JSON, f"{name}.json")

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
            content = kept(f"{name}.{kind}", view.version, content)
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
            language = _language(lang)
            tag = f"{view.version}-{language}"
            return revalidated(request, tag, JSON, lambda: figure_json(known, data(), BENCHMARKS.get(name), language))
        if form != "csv":
            raise HTTPException(404, "a chart is available as csv, and as json for Plotly")
        file_name = f"hannun-{name}-{kind}.csv"
        return revalidated(
            request, view.version, "text/csv; charset=utf-8", lambda: rows_to_csv(data(), COLUMNS[known]), file_name
        )

    @router.get("/queue.json")
    def queue(request: Request) -> Response:
        content = to_json(queue_json(board))
        return revalidated_content(request, content, JSON)

    @router.get("/record.json")
    def record(request: Request) -> Response:
        view = board.fresh_view()

        def write() -> bytes:
            return to_json(record_json(view.boards, view.retired, view.commitments, view.private_attempts))

        return revalidated(request, view.version, JSON, kept("record", view.version, write), "hannun-record.json")

    @router.get("/errata.json")
    def errata(request: Request) -> Response:
        view = board.fresh_view()
        return revalidated(request, view.version, JSON, lambda: to_json(errata_json(view.errata)), "hannun-errata.json")

    @router.get("/unseen.{kind}")
    def unseen(request: Request, kind: str) -> Response:
        view = board.fresh_view()
        if kind == "csv":
            write = partial(rows_to_csv, unseen_rows(view.unseen), UNSEEN_COLUMNS)
            return revalidated(request, view.version, "text/csv; charset=utf-8", write, "hannun-unseen.csv")
        if kind != "json":
            raise HTTPException(404, "this is available as csv and as json")
        return revalidated(request, view.version, JSON, lambda: to_json(unseen_rows(view.unseen)), "hannun-unseen.json")

    @router.get("/lineage.json")
    def lineage(request: Request) -> Response:
        return revalidated_content(request, LINEAGE.read_bytes(), JSON, "hannun-lineage.json")

    @router.get("/register.{kind}")
    @router.get("/register/{slug}.{kind}")
    def published_numbers(request: Request, kind: str, slug: str = "") -> Response:
        if kind not in REGISTER_FORMATS or (slug and slug not in BY_SLUG):
            raise HTTPException(404, f"no such file; sets are {', '.join(BY_SLUG)}, as {', '.join(REGISTER_FORMATS)}")
        media_type, write = REGISTER_FORMATS[kind]
        rows = numbers_of_set(BY_SLUG[slug].title) if slug else numbers()
        return revalidated_content(
            request, write(rows), media_type, f"hannun-register{'-' if slug else ''}{slug}.{kind}"
        )

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
        here = location_of(request, _language(lang), "")
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
        content = feed_of_request(row, location_of(request, _language(lang), f"requests/{key}"))
        return revalidated_content(request, content, ATOM)

    @router.get("/badge/{model:path}/{benchmark}.svg")
    def badge_of(request: Request, model: str, benchmark: str) -> Response:
        content = badge(board.fresh_view(), model, benchmark) if benchmark in BENCHMARKS else None
        if content is None:
            raise HTTPException(404, f"no such result; benchmarks are {', '.join(BENCHMARKS)}")
        return revalidated_content(request, content, SVG)

    @router.get("/cards/{name:path}.png")
    def card(request: Request, name: str, models: str = "", lang: str = "ko") -> Response:
        view = board.fresh_view()
        language = _language(lang)
        if name in view.boards:
            content: bytes | None = benchmark_card(view, name, language)
        elif name == "compare":
            content = comparison_card(view, models, language)
        else:
            content = (
                overview_card(view, language)
                if name == "overview"
                else model_card(view, name.removeprefix("models/"), language)
            )
        if content is None:
            raise HTTPException(404, "no such picture")
        return revalidated_content(request, content, "image/png")

    @router.get("/samples/{name}/{path:path}")
    def sample(request: Request, name: str, path: str) -> Response:
        content = public_file(name, path) if name in BENCHMARKS else None
        if content is None and name == "ko-fresh":
            content = opened_file(board.opened_books, path)
        if content is None:
            raise HTTPException(404, "no such picture of a public item")
        media_type = guess_type(path)[0] or "application/octet-stream"
        return revalidated_content(request, content, media_type)

    @router.get("/sitemap.xml")
    def search_engines(request: Request) -> Response:
        view = board.fresh_view()
        here = location_of(request, "ko", "")
        content = kept("sitemap", view.version, lambda: site_map(view, replace(here, origin=PLACEHOLDER)))
        tag = located(view.version, here)
        return revalidated(request, tag, "application/xml", lambda: with_origin(content(), here))

    @router.get("/embed/{name}")
    def embed(request: Request, name: str, lang: str = "ko", n: str = "") -> Response:
        view = board.fresh_view()
        here = location_of(request, _language(lang), "")
        if name not in view.boards:
            raise HTTPException(404, f"no such table; available: {', '.join(view.boards)}")
        shown = min(int(n), MAX_EMBED_ROWS) if n.isascii() and n.isdigit() and len(n) < 10 else EMBED_ROWS
        rows = [r for r in standing_rows(view.boards[name]) if r.rank][:shown]
        content = render("embed.html", here.language, here=here, rows=rows, name=name).encode()
        return revalidated_content(request, content, HTML)

    return router


def _language(name: str) -> Language:
    return "en" if name == "en" else "ko"

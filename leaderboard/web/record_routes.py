"""Routes of JSON and CSV files about results and evidence.

These are a result in several formats, the verification record, errata, ranks on unseen questions, the lineage of models, and
the register of numbers that others published. Handlers read the board's view and write the file; `data_routes.py` joins all
routers.
"""

from functools import partial

from fastapi import APIRouter, HTTPException, Request, Response

from evaluator.formats import RESULT_FORMATS
from leaderboard.data.export import REGISTER_FORMATS, rows_to_csv
from leaderboard.data.live_board import LiveBoard
from leaderboard.data.record import errata_json, record_json
from leaderboard.data.unseen import UNSEEN_COLUMNS, unseen_rows
from leaderboard.facts.lineage import LINEAGE
from leaderboard.facts.register import numbers, numbers_of_set
from leaderboard.facts.register_sets import BY_SLUG
from leaderboard.web.content_cache import ContentCache
from leaderboard.web.responses import JSON, revalidated, revalidated_content, to_json
from submissions.records.result import EvalResult

STATEMENT = "intoto"  # the format in a result's URL that returns its signed statement


def record_routes(board: LiveBoard) -> APIRouter:
    router = APIRouter()
    cache = ContentCache()

    @router.get("/results/{name}.json")
    def result(request: Request, name: str) -> Response:
        # KEY.json is the record itself, KEY.lm-eval.json one of RESULT_FORMATS, KEY.intoto.json its signed statement.
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

    @router.get("/record.json")
    def record(request: Request) -> Response:
        view = board.fresh_view()

        def write() -> bytes:
            return to_json(record_json(view.boards, view.retired, view.commitments, view.private_attempts))

        return revalidated(
            request, view.version, JSON, cache.writer("record", view.version, write), "hannun-record.json"
        )

    @router.get("/errata.json")
    def errata(request: Request) -> Response:
        view = board.fresh_view()
        return revalidated(request, view.version, JSON, lambda: to_json(errata_json(view.errata)), "hannun-errata.json")

    @router.get("/unseen.{file_format}")
    def unseen(request: Request, file_format: str) -> Response:
        view = board.fresh_view()
        if file_format == "csv":
            write = partial(rows_to_csv, unseen_rows(view.unseen), UNSEEN_COLUMNS)
            return revalidated(request, view.version, "text/csv; charset=utf-8", write, "hannun-unseen.csv")
        if file_format != "json":
            raise HTTPException(404, "this is available as csv and as json")
        return revalidated(request, view.version, JSON, lambda: to_json(unseen_rows(view.unseen)), "hannun-unseen.json")

    @router.get("/lineage.json")
    def lineage(request: Request) -> Response:
        return revalidated_content(request, LINEAGE.read_bytes(), JSON, "hannun-lineage.json")

    @router.get("/register.{file_format}")
    @router.get("/register/{slug}.{file_format}")
    def published_numbers(request: Request, file_format: str, slug: str = "") -> Response:
        if file_format not in REGISTER_FORMATS or (slug and slug not in BY_SLUG):
            raise HTTPException(404, f"no such file; sets are {', '.join(BY_SLUG)}, as {', '.join(REGISTER_FORMATS)}")
        media_type, write = REGISTER_FORMATS[file_format]
        rows = numbers_of_set(BY_SLUG[slug].title) if slug else numbers()
        file_name = f"hannun-register-{slug}.{file_format}" if slug else f"hannun-register.{file_format}"
        return revalidated_content(request, write(rows), media_type, file_name)

    return router

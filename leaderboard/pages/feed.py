"""Write Atom feeds (RFC 4287): of new results and errata, and of the state of one request."""

import heapq
from datetime import UTC, datetime
from itertools import chain
from uuid import NAMESPACE_URL, UUID, uuid5

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.ranking import RankedRow
from leaderboard.data.view import View
from leaderboard.views.location import Location
from leaderboard.views.render import render
from leaderboard.views.texts import text
from submissions.records.errata import Erratum
from submissions.records.index_rows import QueueRow

MAX_ROWS = 50  # newest results
MAX_ERRATA = 20  # newest errata


def feed(view: View, here: Location, benchmark: str = "", model: str = "", organisation: str = "") -> bytes:
    """Return a feed of the newest results: of all or, if one is given, of a benchmark, a model or an organisation's models.

    The feeds of all results and of a benchmark also have errata.
    """
    rows = _newest_results(view, benchmark, model, organisation)
    errata = [] if model or organisation else _newest_errata(view, benchmark)
    moments = {ranked.row.key: datetime.fromtimestamp(ranked.row.date or 0.0, UTC) for ranked in rows}
    times = [*moments.values(), *(erratum.since for erratum in errata)]
    newest = max(times, default=datetime.fromtimestamp(0, UTC))
    benchmark_title = BENCHMARKS[benchmark].card.title if benchmark else ""
    parts_of_title = [text("title", here.language), benchmark_title, model, organisation]
    limits = {"benchmark": benchmark, "model": model, "organisation": organisation}
    ids = {key: UUID(hex=key).urn for key in moments}
    return render(
        "feed.xml",
        here.language,
        here=here,
        title=" · ".join(filter(None, parts_of_title)),
        address=here.public_file("feed.xml", lang=here.language, **limits),
        rows=rows,
        updated=newest.isoformat(),
        moments={key: moment.isoformat() for key, moment in moments.items()},
        ids=ids,
        errata=[(erratum, uuid5(NAMESPACE_URL, erratum.path).urn) for erratum in errata],
    ).encode()


def _newest_results(view: View, benchmark: str, model: str, organisation: str) -> list[RankedRow]:
    """Return the newest results with a score, newest first. An empty benchmark, model or organisation does not limit them.

    `organisation` is the owner of a model's repository or the name of its maker.
    """
    boards = [rows for name, rows in view.boards.items() if benchmark in ("", name)]
    matching = (
        ranked
        for ranked in chain.from_iterable(boards)
        if ranked.row.date
        and ranked.row.score is not None
        and model in ("", ranked.row.model)
        and organisation in ("", ranked.row.model.partition("/")[0], ranked.row.organisation)
    )
    return heapq.nsmallest(MAX_ROWS, matching, key=lambda ranked: (-(ranked.row.date or 0.0), ranked.row.key))


def _newest_errata(view: View, benchmark: str) -> list[Erratum]:
    """Return the newest errata of a benchmark, or of all if it is empty, oldest first."""
    matching = [erratum for erratum in view.errata if benchmark in ("", erratum.benchmark)]
    return sorted(matching, key=lambda erratum: erratum.since)[-MAX_ERRATA:]


def feed_of_request(row: QueueRow, here: Location) -> bytes:
    """Return a feed with one entry, which changes when the state of a request changes."""
    title = f"{row.model_id} · {BENCHMARKS[row.benchmark].card.title} · {text(row.status, here.language)}"
    moment = row.finished_at or row.started_at or row.submitted_at
    return render(
        "request_feed.xml", here.language, here=here, row=row, title=title, moment=moment.isoformat()
    ).encode()

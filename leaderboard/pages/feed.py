"""The Atom feed of new results."""

import heapq
from datetime import UTC, datetime
from uuid import NAMESPACE_URL, UUID, uuid5

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.view import View
from leaderboard.views.location import Location
from leaderboard.views.render import render
from leaderboard.views.texts import text
from submissions.records.index_rows import QueueRow

MAX_ROWS = 50  # newest results
MAX_ERRATA = 20


def feed(view: View, here: Location, benchmark: str = "", model: str = "", organisation: str = "") -> bytes:
    """Return the newest results; of a benchmark, a model, or the models of an organisation if these are given."""
    boards = [rows for name, rows in view.boards.items() if benchmark in ("", name)]
    every = (r for rows in boards for r in rows)
    dated = (
        r
        for r in every
        if r.row.date
        and r.row.score is not None
        and model in ("", r.row.model)
        and organisation in ("", r.row.model.partition("/")[0], r.row.organisation)
    )
    rows = heapq.nsmallest(MAX_ROWS, dated, key=lambda r: (-(r.row.date or 0.0), r.row.key))
    chosen = [one for one in view.errata if benchmark in ("", one.benchmark) and not model and not organisation]
    corrected = sorted(chosen, key=lambda one: one.since)
    limits = {"benchmark": benchmark, "model": model, "organisation": organisation}
    names = [BENCHMARKS[benchmark].card.title if benchmark else "", model, organisation]
    moments = {r.row.key: datetime.fromtimestamp(r.row.date or 0.0, UTC) for r in rows}
    urns = {r.row.key: UUID(hex=r.row.key).urn for r in rows}
    newest = max([*moments.values(), *(one.since for one in corrected)], default=datetime.fromtimestamp(0, UTC))
    return render(
        "feed.xml",
        here.language,
        here=here,
        title=" · ".join(filter(None, [text("title", here.language), *names])),
        address=here.public_file("feed.xml", lang=here.language, **limits),
        rows=rows,
        updated=newest.isoformat(),
        moments={key: moment.isoformat() for key, moment in moments.items()},
        ids=urns,
        errata=[(one, uuid5(NAMESPACE_URL, one.path).urn) for one in corrected[-MAX_ERRATA:]],
    ).encode()


def feed_of_request(row: QueueRow, here: Location) -> bytes:
    """Return a feed with one entry, which changes when the state of a request changes."""
    title = f"{row.model_id} · {BENCHMARKS[row.benchmark].card.title} · {text(row.status, here.language)}"
    moment = row.finished_at or row.started_at or row.submitted_at
    return render(
        "request_feed.xml", here.language, here=here, row=row, title=title, moment=moment.isoformat()
    ).encode()

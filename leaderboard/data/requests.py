"""The public JSON of requests: `queue_json` for /queue.json, `request_json` for /requests/KEY.json."""

from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter

from leaderboard.data.live_board import LiveBoard
from leaderboard.data.view import View
from submissions.queue.wait_time import Wait, waits
from submissions.records.index_rows import QueueRow
from submissions.texts.failures import FAILURES

_ROW = TypeAdapter(QueueRow)
HIDDEN = {"blob", "submitted_by", "owner_mark"}  # fields of a request that are not published
MAX_ROWS = 1000  # per response


def queue_json(board: LiveBoard) -> list[dict[str, Any]]:
    """Return the open and recent requests, newest first, at most MAX_ROWS."""
    view = board.fresh_view()
    waiting = waits(view.queue, datetime.now(UTC))
    return [_public_request(row, view, board, waiting.get(row.key)) for row in view.queue[:MAX_ROWS]]


def request_json(board: LiveBoard, key: str) -> dict[str, Any] | None:
    """Return the request with this key, or None if there is none."""
    view = board.fresh_view()
    row = view.request(key)
    if row is None:
        return None
    return _public_request(row, view, board, waits(view.queue, datetime.now(UTC)).get(key))


def _public_request(row: QueueRow, view: View, board: LiveBoard, wait: Wait | None) -> dict[str, Any]:
    """Return a request without its hidden fields, with its progress, place in the queue, failure and result."""
    public: dict[str, Any] = _ROW.dump_python(row, mode="json", exclude=HIDDEN)
    lease = board.workers.leases.get(row.key)
    silent_since = board.workers.silent_since.get(row.key)
    public["progress"] = lease.progress.model_dump(mode="json") if lease and lease.progress else None
    public["silent_since"] = silent_since.isoformat() if silent_since else None
    public["place"] = wait.place if wait else None
    public["ready_in_minutes"] = None
    if wait and wait.ready_in is not None:
        public["ready_in_minutes"] = round(wait.ready_in.total_seconds() / 60)
    del public["failure_stage"], public["failure_code"]  # they are shown together, with a message
    public["failure"] = _failure(row)
    public["result"] = f"/results/{row.key}.json" if row.key in view.paths else None
    return public


def _failure(row: QueueRow) -> dict[str, Any] | None:
    """Return why a request has failed. None if it has not, or if a newer worker gave a code that this board does not know."""
    code = next((code for code in FAILURES if code == row.failure_code), None)
    if code is None:
        return None
    return {
        "stage": row.failure_stage,
        "code": code,
        "ours": code.is_infrastructure,  # not a failure of the model
        "message": FAILURES[code].en,
    }

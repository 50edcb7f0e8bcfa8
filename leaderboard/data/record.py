"""What a board should answer for: reproductions, attempts and retired results, as a page or a program reads them."""

from dataclasses import asdict
from typing import Any

from leaderboard.data.attempts import all_attempts
from leaderboard.data.live_board import View
from leaderboard.data.ranking import interval_of, score_of
from leaderboard.data.reproductions import Reproduction, all_reproductions
from submissions.records import Retirement
from submissions.rows import BoardRow


def retired_rows(view: View) -> list[tuple[Retirement, BoardRow]]:
    """Each retirement with its result, newest first."""
    rows = {r.row.key: r.row for ranked in view.boards.values() for r in ranked}
    known = [(one, rows[one.key]) for one in view.retired if one.key in rows]
    return sorted(known, key=lambda pair: pair[0].since, reverse=True)


def record_json(view: View) -> dict[str, list[dict[str, Any]]]:
    """Scores and differences are in points."""
    return {
        "reproductions": [_reproduction(one) for one in all_reproductions(view.boards)],
        "attempts": [asdict(one) for one in all_attempts(view.boards)],
        "commitments": [one.model_dump(mode="json") for one in view.commitments],
        "retired": [
            {
                **{"key": row.key, "model": row.model, "benchmark": row.benchmark, "score": score_of(row)},
                **{"reason": one.reason, "since": one.since.isoformat()},
            }
            for one, row in retired_rows(view)
        ],
    }


def _reproduction(one: Reproduction) -> dict[str, Any]:
    return {
        **{"model": one.measured.model, "benchmark": one.measured.benchmark, "split": one.measured.split},
        **{"published_as": one.reported.published_as, "reported": score_of(one.reported)},
        **{"measured": score_of(one.measured), "interval": interval_of(one.measured)},
        **{"difference": round(one.difference, 4), "verdict": one.verdict},
        **{"reported_result": one.reported.key, "measured_result": one.measured.key, **measured_with(one.measured)},
    }


def measured_with(row: BoardRow) -> dict[str, str | None]:
    """What may explain a difference: how the measured model was run."""
    return {
        **{"precision": row.precision, "server": row.server, "thinking": row.thinking, "decoding": row.decoding},
        **{"hardware": row.hardware, "revision": row.revision},
    }

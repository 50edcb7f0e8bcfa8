"""What a board should answer for: reproductions, attempts and retired results, as a page or a program reads them."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.attempts import all_attempts
from leaderboard.data.ranking import Boards
from leaderboard.data.reproductions import Reproduction, all_reproductions
from submissions.records.index_rows import BoardRow
from submissions.records.operator import Commitment, Retirement

REVEALED = "evaluated after the seed was revealed"


def after_reveal(rows: Iterable[BoardRow], commitments: Iterable[Commitment]) -> dict[str, str]:
    """Results on a drawn set that anybody could have trained on, by key; each with the reason that it has no rank."""
    revealed = {one.quarter: one.revealed_at.timestamp() for one in commitments if one.revealed_at}
    return {
        row.key: REVEALED
        for row in rows
        if row.split in revealed and BENCHMARKS[row.benchmark].drawn and (row.date or 0.0) > revealed[row.split]
    }


def retired_rows(boards: Boards, retired: Iterable[Retirement]) -> list[tuple[Retirement, BoardRow]]:
    """Each retirement with its result, newest first; those that were undone too."""
    rows = {r.row.key: r.row for ranked in boards.values() for r in ranked}
    known = [(one, rows[one.key]) for one in retired if one.key in rows]
    return sorted(known, key=lambda pair: pair[0].since, reverse=True)


def record_json(
    boards: Boards, retired: Iterable[Retirement], commitments: Iterable[Commitment]
) -> dict[str, list[dict[str, Any]]]:
    """Scores and differences are in points."""
    return {
        "reproductions": [_reproduction(one) for one in all_reproductions(boards)],
        "attempts": [asdict(one) for one in all_attempts(boards)],
        "commitments": [one.model_dump(mode="json") for one in commitments],
        "retired": [
            {
                **{"key": row.key, "model": row.model, "benchmark": row.benchmark, "score": row.score},
                **{"reason": one.reason, "since": one.since.isoformat()},
                "until": one.until.isoformat() if one.until else None,
            }
            for one, row in retired_rows(boards, retired)
        ],
    }


def _reproduction(one: Reproduction) -> dict[str, Any]:
    return {
        **{"model": one.measured.model, "benchmark": one.measured.benchmark, "split": one.measured.split},
        **{"published_as": one.reported.published_as, "reported": one.reported.score},
        **{"metric": one.metric, "measured": one.measured.metrics.get(one.metric)},
        "interval": one.measured.intervals.get(one.metric),
        **{"difference": round(one.difference, 4), "verdict": one.verdict},
        **{"reported_result": one.reported.key, "measured_result": one.measured.key, **measured_with(one.measured)},
    }


def measured_with(row: BoardRow) -> dict[str, str | None]:
    """What may explain a difference: how the measured model was run."""
    return {
        **{"precision": row.precision, "server": row.server, "thinking": row.thinking, "decoding": row.decoding},
        **{"hardware": row.hardware, "revision": row.revision},
    }

"""The board's public record: reproductions, attempts, seed commitments and retired results."""

from collections.abc import Iterable
from dataclasses import asdict
from itertools import starmap
from typing import Any

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.attempts import PrivateCounts, all_attempts
from leaderboard.data.ranking import Boards
from leaderboard.data.reproductions import Reproduction, all_reproductions
from submissions.records.errata import Erratum
from submissions.records.index_rows import BoardRow
from submissions.records.operator import Commitment, Retirement

REVEALED = "evaluated after the seed was revealed"


def evaluated_after_reveal(rows: Iterable[BoardRow], commitments: Iterable[Commitment]) -> dict[str, str]:
    """Return the reason of retirement, by key, of results measured after the seed of their drawn set was revealed.

    Anybody could have trained on the set by then.
    """
    revealed = {one.quarter: one.revealed_at.timestamp() for one in commitments if one.revealed_at}
    return {
        row.key: REVEALED
        for row in rows
        if row.split in revealed and BENCHMARKS[row.benchmark].drawn and (row.date or 0.0) > revealed[row.split]
    }


def retired_rows(boards: Boards, retired: Iterable[Retirement]) -> list[tuple[Retirement, BoardRow]]:
    """Return each retirement, including revoked ones, with its result, newest first."""
    rows = {r.row.key: r.row for ranked in boards.values() for r in ranked}
    known = [(one, rows[one.key]) for one in retired if one.key in rows]
    return sorted(known, key=lambda pair: pair[0].since, reverse=True)


def errata_json(errata: Iterable[Erratum]) -> list[dict[str, Any]]:
    """Return the errata as JSON. Scores are in percent."""
    return [one.model_dump(mode="json") for one in errata]


def record_json(
    boards: Boards, retired: Iterable[Retirement], commitments: Iterable[Commitment], private: PrivateCounts
) -> dict[str, list[dict[str, Any]]]:
    """Return the record as JSON. Scores are in percent, differences in points."""
    return {
        "reproductions": list(map(_reproduction, all_reproductions(boards))),
        "attempts": [asdict(one) for one in all_attempts(boards, private)],
        "commitments": [one.model_dump(mode="json") for one in commitments],
        "retired": list(starmap(_retirement, retired_rows(boards, retired))),
    }


def _retirement(one: Retirement, row: BoardRow) -> dict[str, Any]:
    return {
        "key": row.key,
        "model": row.model,
        "benchmark": row.benchmark,
        "score": row.score,
        "reason": one.reason,
        "since": one.since.isoformat(),
        "until": one.until.isoformat() if one.until else None,
    }


def _reproduction(one: Reproduction) -> dict[str, Any]:
    return {
        "model": one.measured.model,
        "benchmark": one.measured.benchmark,
        "split": one.measured.split,
        "published_as": one.reported.published_as,
        "reported": one.reported.score,
        "metric": one.metric,
        "measured": one.measured.metrics.get(one.metric),
        "interval": one.measured.intervals.get(one.metric),
        "difference": round(one.difference, 4),
        "verdict": one.verdict,
        "reported_result": one.reported.key,
        "measured_result": one.measured.key,
        **measured_with(one.measured),
    }


def measured_with(row: BoardRow) -> dict[str, str | None]:
    """Return how the measured model was run, which may explain a difference."""
    return {
        "precision": row.precision,
        "server": row.server,
        "thinking": row.thinking,
        "decoding": row.decoding,
        "hardware": row.hardware,
        "revision": row.revision,
    }

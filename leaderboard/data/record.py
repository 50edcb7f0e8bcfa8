"""The board's public record, which the page /record and the file record.json show: what speaks for or against its results.

It has reproductions, attempts, seed commitments and retired results. Errata have a file of their own, errata.json.
"""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from evaluator.benchmarks import BENCHMARKS
from leaderboard.data.attempts import PrivateCounts, all_attempts
from leaderboard.data.ranking import Boards
from leaderboard.data.reproductions import Reproduction, all_reproductions
from submissions.records.errata import Erratum
from submissions.records.index_rows import BoardRow
from submissions.records.operator import Commitment, Retirement

REVEALED = "evaluated after the seed was revealed"  # shown as the reason


def evaluated_after_reveal(rows: Iterable[BoardRow], commitments: Iterable[Commitment]) -> list[Retirement]:
    """Return a retirement for each result that was measured after the seed of its drawn set was revealed.

    Anybody could have trained on the set by then. The split of a drawn set is its quarter, such as "2026Q1".
    """
    revealed_at = {commitment.quarter: commitment.revealed_at for commitment in commitments if commitment.revealed_at}
    retirements: list[Retirement] = []
    for row in rows:
        is_revealed = BENCHMARKS[row.benchmark].drawn and row.split in revealed_at
        if is_revealed and (row.date or 0.0) > revealed_at[row.split].timestamp():
            retirements.append(Retirement(key=row.key, reason=REVEALED, since=revealed_at[row.split]))
    return retirements


def retired_rows(boards: Boards, retired: Iterable[Retirement]) -> list[tuple[Retirement, BoardRow]]:
    """Return each retirement, including revoked ones, with its result, newest first."""
    rows = {r.row.key: r.row for ranked in boards.values() for r in ranked}
    pairs = [(retirement, rows[retirement.key]) for retirement in retired if retirement.key in rows]
    return sorted(pairs, key=lambda pair: pair[0].since, reverse=True)


def errata_json(errata: Iterable[Erratum]) -> list[dict[str, Any]]:
    """Return the errata as JSON. Scores are in percent."""
    return [erratum.model_dump(mode="json") for erratum in errata]


def record_json(
    boards: Boards, retired: Iterable[Retirement], commitments: Iterable[Commitment], private: PrivateCounts
) -> dict[str, list[dict[str, Any]]]:
    """Return the record as JSON. Scores are in percent, differences in points."""
    return {
        "reproductions": list(map(_reproduction_json, all_reproductions(boards))),
        "attempts": list(map(asdict, all_attempts(boards, private))),
        "commitments": [commitment.model_dump(mode="json") for commitment in commitments],
        "retired": [_retirement_json(retirement, row) for retirement, row in retired_rows(boards, retired)],
    }


def _retirement_json(retirement: Retirement, row: BoardRow) -> dict[str, Any]:
    return {
        "key": row.key,
        "model": row.model,
        "benchmark": row.benchmark,
        "score": row.score,
        "reason": retirement.reason,
        "since": retirement.since.isoformat(),
        "until": retirement.until.isoformat() if retirement.until else None,
    }


def _reproduction_json(reproduction: Reproduction) -> dict[str, Any]:
    reported = reproduction.reported
    measured = reproduction.measured
    metric = reproduction.metric
    return {
        "model": measured.model,
        "benchmark": measured.benchmark,
        "split": measured.split,
        "published_as": reported.published_as,
        "reported": reported.score,
        "metric": metric,
        "measured": measured.metrics.get(metric),
        "interval": measured.intervals.get(metric),
        "difference": round(reproduction.difference, 4),
        "verdict": reproduction.verdict,
        "reported_result": reported.key,
        "measured_result": measured.key,
        **_run_conditions(measured),
    }


def _run_conditions(row: BoardRow) -> dict[str, str | None]:
    """Return how the measured model was run, which may explain a difference."""
    return {
        "precision": row.precision,
        "server": row.server,
        "thinking": row.thinking,
        "decoding": row.decoding,
        "hardware": row.hardware,
        "revision": row.revision,
    }

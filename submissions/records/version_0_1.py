"""Convert results in the form of version 0.1.0, which the stores of that version keep.

They have no `headline`, standard errors are among the scores, and the scores of a part are fields beside its count. Stored
results are never rewritten, because their statements are signed.
"""

from typing import Any

HEADLINES = {"korquad-2": "f1", "ko-ocrag": "average"}  # of the other benchmarks: em
STANDARD_ERROR = "_stderr"


def from_0_1(record: Any) -> Any:
    """Return a result in the present form. What has not the form of 0.1.0 is returned unchanged."""
    if not isinstance(record, dict) or "headline" in record or not isinstance(record.get("results"), dict):
        return record
    benchmark = next(iter(record["results"]), "")
    scores = record["results"].get(benchmark)
    if not isinstance(scores, dict):
        return record
    headline = HEADLINES.get(benchmark, "em")
    return {
        **record,
        "headline": headline,
        "results": {benchmark: {name: score for name, score in scores.items() if not name.endswith(STANDARD_ERROR)}},
        "standard_errors": _standard_errors(scores),
        "breakdown": _breakdown(record.get("breakdown", {}), headline),
    }


def _standard_errors(scores: dict[str, Any]) -> dict[str, Any]:
    named = {name: score for name, score in scores.items() if name.endswith(STANDARD_ERROR)}
    return {name.removesuffix(STANDARD_ERROR): error for name, error in named.items() if error is not None}


def _breakdown(breakdown: Any, headline: str) -> Any:
    try:
        return {
            axis: {name: _part(part, headline) for name, part in parts.items()} for axis, parts in breakdown.items()
        }
    except AttributeError:  # not mappings
        return breakdown


def _part(part: dict[str, Any], headline: str) -> dict[str, Any]:
    """Return the count and the scores of a part. Its `score` was the headline where that was neither EM nor F1."""
    scores = {name: part.get(name) for name in ("em", "f1")}
    if part.get("score") is not None:
        scores[headline] = part["score"]
    return {"n": part.get("n"), "scores": {name: score for name, score in scores.items() if score is not None}}

"""Convert results in the form of version 0.1.0, which the stores of that version keep.

They have no `headline`, standard errors are among the scores, and the scores of a bucket are fields beside its count:

    "results": {"ko-vqa": {"em": 50.0, "em_stderr": 1.2}}, "breakdown": {"kind": {"chart": {"n": 9, "em": 40.0}}}

`EvalResult` calls `from_0_1` whenever it reads a record. Stored results are never rewritten, because their statements are
signed.
"""

from typing import Any

HEADLINES = {"korquad-2": "f1", "ko-ocrag": "average"}  # of the other benchmarks: em
STANDARD_ERROR = "_stderr"


def from_0_1(record: Any) -> Any:
    """Return a result in the present form. Anything that does not have the form of 0.1.0 is returned unchanged."""
    if not isinstance(record, dict) or "headline" in record or not isinstance(record.get("results"), dict):
        return record
    if len(record["results"]) != 1:
        return record
    ((benchmark, scores),) = record["results"].items()
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
    """Return the standard errors by metric: {"em": 50.0, "em_stderr": 1.2} -> {"em": 1.2}."""
    named = {name: score for name, score in scores.items() if name.endswith(STANDARD_ERROR)}
    return {name.removesuffix(STANDARD_ERROR): error for name, error in named.items() if error is not None}


def _breakdown(breakdown: Any, headline: str) -> Any:
    try:
        return {
            axis: {name: _bucket(bucket, headline) for name, bucket in buckets.items()}
            for axis, buckets in breakdown.items()
        }
    except AttributeError:  # not mappings
        return breakdown


def _bucket(bucket: dict[str, Any], headline: str) -> dict[str, Any]:
    """Return the count and the scores of a bucket. Its `score` is the headline if that is neither EM nor F1, else None."""
    scores = {name: bucket.get(name) for name in ("em", "f1")}
    if bucket.get("score") is not None:
        scores[headline] = bucket["score"]
    return {"n": bucket.get("n"), "scores": {name: score for name, score in scores.items() if score is not None}}

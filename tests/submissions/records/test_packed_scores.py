"""Test that packed mappings behave like dicts and survive being written and read."""

import pytest
from pydantic import TypeAdapter, ValidationError

from submissions.records.packed_scores import Intervals, PackedIntervals, PackedScores, Scores

SCORES = {"em": 61.5, "f1": 70.25}
INTERVALS = {"em": (55.0, 67.5), "f1": (60.0, 80.0)}


def test_packed_scores_are_a_mapping() -> None:
    packed = PackedScores(SCORES)
    assert dict(packed) == SCORES and packed == SCORES and len(packed) == 2
    assert packed["f1"] == 70.25 and packed.get("em") == 61.5
    assert packed.get("wer") is None and packed.get("wer", 1.0) == 1.0 and "wer" not in packed
    with pytest.raises(KeyError):
        packed["wer"]
    assert packed != PackedScores({"em": 61.5, "f1": 0.0}) and hash(packed) == hash(PackedScores(SCORES))
    turned = PackedScores(dict(reversed(SCORES.items())))
    assert turned == packed and hash(turned) == hash(packed)


def test_packed_intervals_are_a_mapping() -> None:
    packed = PackedIntervals(INTERVALS)
    assert dict(packed) == INTERVALS and packed == INTERVALS
    assert packed["f1"] == (60.0, 80.0) and packed.get("wer") is None
    with pytest.raises(KeyError):
        packed["wer"]


def test_packed_mappings_are_written_as_objects_and_validated() -> None:
    scores: TypeAdapter[Scores] = TypeAdapter(Scores)
    intervals: TypeAdapter[Intervals] = TypeAdapter(Intervals)
    assert scores.dump_json(scores.validate_json('{"em": 61.5}')) == b'{"em":61.5}'
    assert intervals.validate_json(intervals.dump_json(PackedIntervals(INTERVALS))) == INTERVALS
    for wrong in ('{"em": "high"}', '{"em": null}', "[1]"):
        with pytest.raises(ValidationError):
            scores.validate_json(wrong)
    with pytest.raises(ValidationError):
        intervals.validate_json('{"em": [1.0]}')

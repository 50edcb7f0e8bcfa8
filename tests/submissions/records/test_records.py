"""Test the records of requests and results, the texts of their codes, and durations."""

import json
from datetime import UTC, datetime

import pytest
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils._validators import validate_repo_id
from pydantic import ValidationError

from scripts.support.records import Make, result_of
from submissions.config.durations import parse_duration
from submissions.config.settings import Settings
from submissions.records.hub_names import is_hub_id, is_hub_owner
from submissions.records.request import EvalRequest, request_key
from submissions.records.result import EvalResult
from submissions.texts.failure_codes import FailureCode
from submissions.texts.failures import FAILURES
from submissions.texts.refusals import REFUSALS, RefusalCode


def test_request_key_depends_on_submission() -> None:
    key = request_key("a/b", "0" * 40, "float32", "ko-vqa", "1")
    assert len(key) == 32
    assert key == request_key("a/b", "0" * 40, "float32", "ko-vqa", "1")
    assert key != request_key("a/b", "0" * 40, "bfloat16", "ko-vqa", "1")


@pytest.mark.parametrize(
    "model_id",
    ["a", "a/b/c", "a/b\n", "한글/모델", "a/ b", "../b", "a/..", ".a/b", "a/b?", "а/b", "a/b\x00", "a/" + "b" * 97, ""],
)
def test_request_rejects_malformed_model_id(make_request: Make, model_id: str) -> None:
    with pytest.raises(ValidationError, match="model_id"):
        make_request(model_id=model_id)


@pytest.mark.parametrize(
    "name",
    ["a--b/c", "a/b--c", "a/b..c", "a/b.git", "a/b.", "a-/b", "a/-b", "a/b\n", "b/" + "c" * 97, "a/b/c", "a/", ""],
)
def test_hub_id_is_refused_if_huggingface_hub_refuses_it(name: str) -> None:
    with pytest.raises(HFValidationError):
        validate_repo_id(name)
    assert not is_hub_id(name)


@pytest.mark.parametrize(
    "name", ["a/b", "A-b_c.d/E-f_g.h", "a/b_", "0/1", "a/b.gi", "a.git/b", "a/" + "b" * 96, "a/b-.c", "a/b.-c"]
)
def test_hub_id_is_accepted_if_huggingface_hub_accepts_it(name: str) -> None:
    validate_repo_id(name)
    assert is_hub_id(name) and all(is_hub_owner(part) for part in name.split("/"))


def test_stored_record_with_a_name_that_is_refused_now_can_be_read(make_request: Make) -> None:
    request = make_request(model_id="a--b/c..d")
    assert type(request).from_json(request.to_bytes()) == request


@pytest.mark.parametrize(
    "field",
    [{"surprise": 1}, {"status": "lost"}, {"revision": "main"}, {"submitted_at": datetime(2026, 1, 1)}],  # noqa: DTZ001
)
def test_request_rejects_invalid_field(make_request: Make, field: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        make_request(**field)


def test_result_has_lm_eval_keys(make_request: Make) -> None:
    result = json.loads(result_of(make_request()).to_bytes())
    assert {"config", "results", "versions", "n-samples", "date", "git_hash", "total_evaluation_time_seconds"} <= set(
        result
    )
    assert result["config"]["model_name"] and result["results"]["korquad-2"]["em"] == 50.0


def test_codes_have_texts_in_both_languages() -> None:
    assert set(FAILURES) == set(FailureCode)
    assert set(REFUSALS) == set(RefusalCode)
    assert all(words.ko and words.en for words in [*FAILURES.values(), *REFUSALS.values()])


def test_request_converts_times_to_utc(make_request: Make) -> None:
    request = make_request(submitted_at="2026-01-01T09:00:00+09:00")
    assert request.submitted_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert b"2026-01-01T00:00:00Z" in request.to_bytes()


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("10m", 600), ("1.5h", 5400)])
def test_parse_duration_returns_seconds(text: str, seconds: int) -> None:
    assert parse_duration(text).total_seconds() == seconds


@pytest.mark.parametrize("text", ["ten", "10w", "-1", "1m30s"])
def test_settings_reject_invalid_duration(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANNUN_LEASE", text)
    with pytest.raises(ValidationError, match="lease"):
        Settings()


def test_record_drops_fields_of_other_version_at_every_depth(make_request: Make) -> None:
    result = result_of(make_request())
    fields = json.loads(result.to_bytes())
    for place in (fields, fields["config"], fields["dataset"], fields["provenance"]):
        place["of_a_newer_version"] = {"nested": [1]}
    assert EvalResult.from_json(json.dumps(fields).encode()) == result
    with pytest.raises(ValueError, match="request_key"):
        EvalResult.from_json(json.dumps({**fields, "request_key": "x"}).encode())


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff", "not valid JSON"),
        (b"\xef\xbb\xbf{}", "not valid JSON"),
        (b"[]", "record: "),
        (b'{"key": 1, "key": 2}', "a key appears twice"),
        (b'{"attempt": NaN}', "NaN is not a number"),
        (b"[" * 100_000, "not valid JSON"),
    ],
)
def test_record_rejects_what_is_not_a_json_object(content: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        EvalRequest.from_json(content)


def test_result_of_0_1_0_keeps_scores_of_composite_headline(make_request: Make) -> None:
    fields = json.loads(result_of(make_request()).to_bytes())
    del fields["headline"], fields["standard_errors"]
    fields["results"] = {"ko-ocrag": {"average": 71.5, "em": 0.0, "f1": None, "em_stderr": None}}
    fields["versions"] = {"ko-ocrag": "1"}
    fields["breakdown"] = {"document": {"report": {"n": 3, "em": 0.0, "f1": None, "score": 70.0}}}
    result = EvalResult.from_json(json.dumps(fields).encode())
    assert result.headline == "average" and result.standard_errors == {}
    assert result.results["ko-ocrag"] == {"average": 71.5, "em": 0.0, "f1": None}
    assert result.breakdown["document"]["report"].scores == {"average": 70.0, "em": 0.0}


@pytest.mark.parametrize("results", [None, [], {}, {"ko-vqa": None}, {"ko-vqa": 3}])
def test_result_without_headline_and_scores_is_invalid(make_request: Make, results: object) -> None:
    fields = json.loads(result_of(make_request()).to_bytes())
    del fields["headline"]
    fields |= {"results": results, "breakdown": {"kind": 3}}
    with pytest.raises(ValueError, match=r"\w"):
        EvalResult.from_json(json.dumps(fields).encode())

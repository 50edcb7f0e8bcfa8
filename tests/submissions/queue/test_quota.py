"""Test how many evaluations a person, or an organisation for its own models, may submit."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from scripts.support.records import NOW, Make, claimed, request_numbered, result_of
from submissions.config.settings import Settings
from submissions.operator.opt_out import opt_out
from submissions.queue.queue import Queue
from submissions.queue.quota import Quota, Submitter
from submissions.records.index_rows import QueueRow, queue_row
from submissions.records.options import Thinking
from submissions.records.request import EvalRequest, Failure, Stage
from submissions.store.base import Store
from submissions.texts.errors import QueueError, RefusedError
from submissions.texts.failure_codes import FailureCode

WEEK = Quota({}, timedelta(days=7))
MEMBER = "f" * 16  # the mark of requests whose submitter belongs to the owner, in place of a keyed hash


def _is_from_member(request: QueueRow | EvalRequest) -> bool:
    return request.owner_mark == MEMBER


@pytest.fixture
def queue(store: Store) -> Queue:
    return Queue(store, max_attempts=1)


def test_submit_rejects_second_submission_within_window(queue: Queue, make_request: Make) -> None:
    queue.submit(make_request(), WEEK)
    with pytest.raises(RefusedError, match="2026-01-09 03:04 UTC"):
        queue.submit(make_request(submitted_at=NOW + timedelta(days=6)), WEEK)
    queue.submit(make_request(benchmark="ko-vqa"), WEEK)
    queue.submit(make_request(submitted_by="another"), WEEK)
    queue.submit(make_request(submitted_at=NOW + timedelta(days=7)), WEEK)
    queue.submit(make_request())  # submitted by the operator, without a quota
    assert len(queue.rows()) == 5


def test_submit_counts_thinking_modes_once(queue: Queue, make_request: Make) -> None:
    request = make_request(thinking="on")
    queue.submit(request, WEEK)
    other = request.evolve(thinking="off", key="f" * 32)
    queue.submit(other, WEEK)
    with pytest.raises(RefusedError):
        queue.submit(make_request(thinking="on"), WEEK)


Submitted = tuple[float, int, Thinking | None]  # the day, the number of the model, and the mode


@pytest.mark.parametrize(
    ("limit", "submitted", "asked", "left", "free_on"),
    [
        (2, [(0, 1, "on"), (1, 1, "off")], (2, 2, None), 1, None),
        (3, [(0, 1, "low"), (1, 1, "medium"), (2, 1, "high")], (3, 2, None), 2, None),
        (1, [(0, 1, "on"), (6, 1, "off")], (6.5, 2, None), 0, 7),  # counted from the first mode
        (1, [(0, 1, "on"), (6, 1, "off")], (7, 2, None), 1, None),
        (1, [(0, 1, "on")], (6, 1, "off"), 1, None),
        (1, [(0, 1, "on"), (8, 1, "off")], (9, 2, None), 0, 15),  # too late for the first submission
        (1, [(0, 1, "on"), (8, 1, "off")], (9, 1, "low"), 1, None),
        (1, [(0, 1, "on"), (3, 1, "on")], (4, 2, None), 0, 10),  # the same mode again, of another base model
        (2, [(0, 1, "on"), (1, 2, "on"), (2, 1, "off")], (3, 3, None), 0, 7),
        (2, [(0, 1, "on"), (1, 2, "on"), (2, 1, "off")], (3, 2, "off"), 1, None),
    ],
)
def test_quota_counts_modes_with_first_of_model(
    limit: int, submitted: list[Submitted], asked: Submitted, left: int, free_on: float | None
) -> None:
    quota = Quota({"korquad-2": limit}, timedelta(days=7))

    def request(day: float, model: int, mode: Thinking | None) -> EvalRequest:
        return request_numbered(model, thinking=mode, submitted_at=NOW + timedelta(days=day))

    rows = [queue_row(request(*one), "") for one in submitted]
    free_at = None if free_on is None else NOW + timedelta(days=free_on)
    assert quota.left(rows, request(*asked)) == left
    assert quota.free_at(rows, request(*asked)) == free_at


def test_quota_counts_modes_on_set_that_can_be_guessed(queue: Queue, make_request: Make) -> None:
    quota = replace(WEEK, guessable=frozenset({"ko-vdc"}))
    request = make_request(thinking="on", benchmark="ko-vdc")
    queue.submit(request, quota)
    with pytest.raises(RefusedError):
        queue.submit(request.evolve(thinking="off", key="f" * 32), quota)


def test_quota_limits_each_benchmark(queue: Queue, make_request: Make) -> None:
    quota = Quota({"ko-vqa": 2}, timedelta(days=7))
    for benchmark, limit in (("ko-vqa", 2), ("korquad-2", 1)):
        for used in range(limit):
            request = make_request(benchmark=benchmark)
            assert quota.left(queue.rows(), request) == limit - used
            queue.submit(request, quota)
        assert quota.left(queue.rows(), make_request(benchmark=benchmark)) == 0
        with pytest.raises(RefusedError):
            queue.submit(make_request(benchmark=benchmark), quota)


@pytest.mark.parametrize("code", [FailureCode.WORKER_LOST, FailureCode.DISK_FULL, FailureCode.NAN_LOGITS])
def test_submit_counts_failed_request_until_cancelled(queue: Queue, make_request: Make, code: FailureCode) -> None:
    queue.submit(make_request(), WEEK)
    running = claimed(queue)
    queue.fail(running, Failure(stage=Stage.INFER, code=code), NOW)
    with pytest.raises(RefusedError):
        queue.submit(make_request(), WEEK)
    if code.is_infrastructure:
        queue.cancel(running.key)
        queue.submit(make_request(), WEEK)
    else:
        with pytest.raises(QueueError):
            queue.cancel(running.key)


def test_submit_ignores_cancelled_request(queue: Queue, make_request: Make) -> None:
    first = make_request()
    queue.submit(first, WEEK)
    queue.cancel(first.key)
    queue.submit(make_request(), WEEK)
    running = claimed(queue)
    queue.publish(running, result_of(running), NOW)
    with pytest.raises(RefusedError):
        queue.submit(make_request(), WEEK)


def test_submit_shares_quota_within_organisation(queue: Queue, make_request: Make) -> None:
    """Check that members share a quota for the organisation's models and that strangers use their own."""
    kim = Submitter("kim", frozenset({"lab"}))
    lee = Submitter("lee", frozenset({"lab", "club"}))
    stranger = Submitter("stranger")

    def submit(who: Submitter, model: str) -> None:
        request = make_request(model_id=model, submitted_by=who.name)
        mark = MEMBER if who.organisation(model) else "0" * 16
        queue.submit(request.evolve(owner_mark=mark), replace(WEEK, is_from_member=_is_from_member))

    submit(stranger, "lab/one")
    submit(kim, "lab/two")
    with pytest.raises(RefusedError):
        submit(lee, "lab/three")
    submit(lee, "other/model")


def test_quota_of_member_and_of_organisation_are_counted_apart() -> None:
    """Check that nobody gains or loses submissions, if members submit modes of one model."""

    def of_lab(member: str, day: float, model: int, mode: Thinking | None) -> EvalRequest:
        at = NOW + timedelta(days=day)
        request = request_numbered(model, model_id=f"lab/{model}", submitted_by=member, thinking=mode, submitted_at=at)
        return request.evolve(owner_mark=MEMBER)

    once = replace(WEEK, is_from_member=_is_from_member)
    rows = [queue_row(of_lab("kim", 0, 1, "on"), "")]
    assert once.free_at(rows, of_lab("lee", 6, 1, "off")) is None
    rows.append(queue_row(of_lab("lee", 6, 1, "off"), ""))
    assert once.free_at(rows, of_lab("kim", 7, 2, None)) is None
    assert once.free_at(rows, of_lab("lee", 7, 2, None)) == NOW + timedelta(days=13)  # lee's own first was on day 6

    twice = replace(once, limits={"korquad-2": 2})
    lees_own = queue_row(request_numbered(3, submitted_by="lee"), "")
    assert twice.left([queue_row(of_lab("kim", 0, 1, None), ""), lees_own], of_lab("lee", 1, 2, None)) == 1


def test_organisation_requires_authentication() -> None:
    assert Submitter("lab", authenticated=False).organisation("lab/x") is None
    assert Submitter("lab").organisation("lab/x") == "lab"
    assert Submitter("kim").organisation("lab/x") is None


def test_submit_enforces_quota_concurrently(store: Store, make_request: Make) -> None:
    requests = [make_request() for _ in range(24)]

    def submit(request: EvalRequest) -> bool:
        try:
            Queue(store).submit(request, WEEK)
            return True
        except RefusedError:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(submit, requests)) == 1


def test_submit_rejects_opted_out_owner(queue: Queue, make_request: Make) -> None:
    opt_out(queue, "owner", NOW)
    with pytest.raises(RefusedError, match="Owner"):
        queue.submit(make_request(model_id="Owner/Model"))


def test_settings_validate_quota(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANNUN_QUOTA", '{"ko-vqa": 3}')
    monkeypatch.setenv("HANNUN_QUOTA_WINDOW", "14d")
    settings = Settings()
    assert (settings.quota, settings.quota_window) == ({"ko-vqa": 3}, timedelta(days=14))
    for name, value in (("HANNUN_QUOTA", '{"ko-vqa": 0}'), ("HANNUN_QUOTA_WINDOW", "60d"), ("HANNUN_AUTH", "maybe")):
        with monkeypatch.context() as patch, pytest.raises(ValueError):
            patch.setenv(name, value)
            Settings()


def test_settings_require_sign_in_on_space(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings().auth == "off"
    monkeypatch.setenv("SPACE_ID", "org/space")
    assert Settings().auth == "oauth"
    monkeypatch.setenv("HANNUN_AUTH", "off")
    assert Settings().auth == "off"

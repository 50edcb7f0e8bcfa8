"""How many evaluations one person, or an organisation for its own models, may have."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256

import pytest

from submissions.config.settings import Settings
from submissions.operator.opt_out import opt_out
from submissions.queue.queue import Queue
from submissions.queue.quota import Quota, Submitter
from submissions.records.request import EvalRequest, Failure, Stage
from submissions.store.base import Store
from submissions.texts.errors import QueueError, RefusedError
from submissions.texts.failure_codes import FailureCode
from tests.support.records import NOW, result_of

Make = Callable[..., EvalRequest]
WEEK = Quota({}, timedelta(days=7))


@pytest.fixture
def queue(store: Store) -> Queue:
    return Queue(store, max_attempts=1)


def test_one_evaluation_of_a_benchmark_in_seven_days(queue: Queue, make_request: Make) -> None:
    queue.submit(make_request(), WEEK)
    with pytest.raises(RefusedError, match="2026-01-09 03:04 UTC"):
        queue.submit(make_request(submitted_at=NOW + timedelta(days=6)), WEEK)
    queue.submit(make_request(benchmark="ko-vqa"), WEEK)
    queue.submit(make_request(submitted_by="another"), WEEK)
    queue.submit(make_request(submitted_at=NOW + timedelta(days=7)), WEEK)
    queue.submit(make_request())  # the operator's
    assert len(queue.rows()) == 5


def test_both_modes_of_a_model_are_one_submission(queue: Queue, make_request: Make) -> None:
    request = make_request(thinking="on")
    queue.submit(request, WEEK)
    other = request.evolve(thinking="off", key="f" * 32)
    queue.submit(other, WEEK)
    with pytest.raises(RefusedError):
        queue.submit(make_request(thinking="on"), WEEK)


def test_limits_are_by_benchmark(queue: Queue, make_request: Make) -> None:
    quota = Quota({"ko-vqa": 2}, timedelta(days=7))
    for benchmark, most in (("ko-vqa", 2), ("korquad-2", 1)):
        for used in range(most):
            request = make_request(benchmark=benchmark)
            assert quota.left(queue.rows(), request) == most - used
            queue.submit(request, quota)
        assert quota.left(queue.rows(), make_request(benchmark=benchmark)) == 0
        with pytest.raises(RefusedError):
            queue.submit(make_request(benchmark=benchmark), quota)


@pytest.mark.parametrize("code", [FailureCode.WORKER_LOST, FailureCode.DISK_FULL, FailureCode.NAN_LOGITS])
def test_what_failed_counts_until_the_operator_gives_it_back(
    queue: Queue, make_request: Make, code: FailureCode
) -> None:
    queue.submit(make_request(), WEEK)
    running = queue.claim("w", NOW)
    assert running
    queue.fail(running, Failure(stage=Stage.INFER, code=code), NOW)
    with pytest.raises(RefusedError):
        queue.submit(make_request(), WEEK)
    if code.ours:
        queue.cancel(running.key)
        queue.submit(make_request(), WEEK)
    else:
        with pytest.raises(QueueError):
            queue.cancel(running.key)


def test_what_was_scored_or_waits_counts_and_what_was_cancelled_does_not(queue: Queue, make_request: Make) -> None:
    first = make_request()
    queue.submit(first, WEEK)
    queue.cancel(first.key)
    queue.submit(make_request(), WEEK)
    running = queue.claim("w", NOW)
    assert running
    queue.publish(running, result_of(running), NOW)
    with pytest.raises(RefusedError):
        queue.submit(make_request(), WEEK)


def test_an_organisation_shares_the_quota_for_its_own_models(queue: Queue, make_request: Make) -> None:
    """And strangers who submit its models spend their own."""
    kim, lee, stranger = (
        Submitter("kim", frozenset({"lab"})),
        Submitter("lee", frozenset({"lab", "club"})),
        Submitter("stranger"),
    )

    def mark(owner: str, key: str) -> str:
        return sha256(f"{owner} {key}".encode()).hexdigest()

    def submit(who: Submitter, model: str) -> None:
        request = make_request(model_id=model, submitted_by=who.name)
        owner = who.organisation(model)
        own = mark(owner, request.key) if owner else "0" * 16
        queue.submit(request.evolve(organisation=own), replace(WEEK, mark=mark))

    submit(stranger, "lab/one")
    submit(kim, "lab/two")
    with pytest.raises(RefusedError):
        submit(lee, "lab/three")
    submit(lee, "other/model")


def test_nobody_belongs_to_an_organisation_by_saying_so() -> None:
    assert Submitter("lab", authenticated=False).organisation("lab/x") is None
    assert Submitter("lab").organisation("lab/x") == "lab"
    assert Submitter("kim").organisation("lab/x") is None


def test_of_many_at_once_no_more_than_the_quota_come_through(store: Store, make_request: Make) -> None:
    requests = [make_request() for _ in range(24)]

    def submit(request: EvalRequest) -> bool:
        try:
            Queue(store).submit(request, WEEK)
            return True
        except RefusedError:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(submit, requests)) == 1


def test_who_opted_out_is_decided_in_the_commit_too(queue: Queue, make_request: Make) -> None:
    opt_out(queue, "owner", NOW)
    with pytest.raises(RefusedError, match="Owner"):
        queue.submit(make_request(model_id="Owner/Model"))


def test_a_quota_can_be_set_and_a_bad_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANNUN_QUOTA", '{"ko-vqa": 3}')
    monkeypatch.setenv("HANNUN_QUOTA_WINDOW", "14d")
    settings = Settings()
    assert (settings.quota, settings.quota_window) == ({"ko-vqa": 3}, timedelta(days=14))
    for name, value in (("HANNUN_QUOTA", '{"ko-vqa": 0}'), ("HANNUN_QUOTA_WINDOW", "60d"), ("HANNUN_AUTH", "maybe")):
        with monkeypatch.context() as own, pytest.raises(ValueError):
            own.setenv(name, value)
            Settings()


def test_on_a_space_visitors_sign_in(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings().auth == "off"
    monkeypatch.setenv("SPACE_ID", "org/space")
    assert Settings().auth == "oauth"
    monkeypatch.setenv("HANNUN_AUTH", "off")
    assert Settings().auth == "off"

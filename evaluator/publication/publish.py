"""Publish an evaluation: details and item scores go to the private store, the result to the public one.

The worker calls `publish` when all answers are scored, and `offer` afterwards.
"""

import logging
import threading
from collections.abc import Sequence

from httpx2 import HTTPError
from tenacity import (
    RetryCallState,
    Retrying,
    before_sleep_log,
    retry_if_exception_type,
    sleep_using_event,
    stop_after_attempt,
    wait_random_exponential,
)

from evaluator.core.data_types import Item
from evaluator.datasets.leak_check import check_public
from evaluator.publication.hub_results import offer_result
from evaluator.publication.item_scores import ItemScores
from evaluator.publication.private_records import save_details, save_item_scores
from evaluator.publication.public_answers import public_answers
from evaluator.publication.published_pairs import with_pairs
from evaluator.results.evaluate import Evaluation
from evaluator.results.task import Task
from submissions.config.settings import Settings
from submissions.operator.private_attempts import publish_attempts, record_attempt
from submissions.queue.queue import Queue
from submissions.records.request import EvalRequest
from submissions.records.result import EvalResult
from submissions.records.signed_statement import sign
from submissions.store.base import Store
from submissions.store.private import PrivateStore
from submissions.texts.errors import StoreError

log = logging.getLogger(__name__)

COUNT_TRIES = 10  # to publish the number of private evaluations; no request has to wait for that
PUBLISH_PAUSE = 5.0  # maximum seconds before the second attempt, doubled after each attempt


def publish(
    evaluation: Evaluation,
    task: Task,
    items: Sequence[Item],
    queue: Queue,
    public: Store,
    private: PrivateStore,
    settings: Settings,
    interrupted: threading.Event,
) -> None:
    """Save details and scores, then publish the result of a claimed request.

    The result goes to the store of `queue`: for a public request that is `public`, the public store; for a private one the
    store of the private queue. A private evaluation is compared with no other result and only counted. The number of a
    model's private evaluations is published once it has a public row, so that nobody can publish only the best of many.

    Because the answers took hours of GPU time, store errors are retried until `interrupted` is set: when the worker stops or
    the deadline passes. Meanwhile the operator can replace a token, which is read again.

    Raises LeakError if the result contains a test item, LostLeaseError if another worker holds the request, and StoreError
    if the store still fails when `interrupted` is set.
    """
    request = task.request
    check_public([evaluation.result.to_bytes(), request.to_bytes()], items, task.source.path)
    scores = ItemScores.of(task.benchmark, items, evaluation.details, request.submitted_by)
    secret = settings.details_key.get_secret_value().encode() if settings.details_key else None

    def publish_once() -> None:
        result = evaluation.result
        save_details(private, request.key, evaluation.details, secret)
        if scores:
            save_item_scores(private, request.key, scores)
            if not queue.is_private:
                result = with_pairs(result, scores, public, private)
        statement = sign(result, settings.signing_key.get_secret_value()) if settings.signing_key else None
        answers = public_answers(task.benchmark, task.source, evaluation.details, blind=task.blind)
        if queue.is_private:
            record_attempt(private, request, result)  # by a hash of this run, so repeated calls count once
        queue.publish(request, result, queue.store.now(), statement, answers)

    def is_interrupted(_: RetryCallState) -> bool:
        return interrupted.is_set()

    retrying = Retrying(
        retry=retry_if_exception_type(StoreError),
        wait=wait_random_exponential(multiplier=PUBLISH_PAUSE, max=300),
        stop=is_interrupted,
        sleep=sleep_using_event(interrupted),
        before_sleep=before_sleep_log(log, logging.WARNING),
        reraise=True,
    )
    # This can be repeated: the last step, `queue.publish`, ends the request, and the steps before it overwrite what they wrote.
    retrying(publish_once)
    log.info("published %s", request.key)
    if queue.is_private:
        return
    try:
        retrying_counts = retrying.copy(stop=stop_after_attempt(COUNT_TRIES))
        retrying_counts(publish_attempts, public, private, request.model_id)
    except StoreError as error:  # the next public row of the model publishes them
        log.warning("private attempts of %s: %s", request.model_id, error)


def offer(request: EvalRequest, result: EvalResult, settings: Settings) -> None:
    """Offer a published result to the model's repository, if its owner asked for that. Failures are logged."""
    try:
        if address := offer_result(request, result, settings):
            log.info("offered %s: %s", request.key, address)
    except (HTTPError, StoreError) as error:
        log.warning("offering %s: %s", request.key, error)

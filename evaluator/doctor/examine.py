"""Run all checks of `hannun doctor`, and store the outcome, which the board shows its operator."""

import logging
import platform
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from evaluator.doctor import board, machine, models, stores
from evaluator.doctor.findings import Check, Finding, Options, fault
from submissions.config.logs import known_secrets, redact
from submissions.config.settings import Settings
from submissions.queue.heartbeats import Heartbeats
from submissions.records.worker import Diagnosis
from submissions.store.deadline import Deadline
from submissions.texts.errors import StoreError

log = logging.getLogger(__name__)
# Time limits of one check.
CHECK_SECONDS = 300.0  # a test set may be large
EVALUATION_SECONDS = 900.0

# In the order in which they run and are printed: what others depend on comes first.
CHECKS: tuple[Check, ...] = (
    stores.check_settings,
    stores.check_ephemeral,
    stores.check_hub,
    stores.check_store,
    stores.check_private_store,
    stores.check_data_token,
    stores.check_download_token,
    machine.check_disk,
    machine.check_memory,
    machine.check_sandbox,
    machine.check_gpu,
    machine.check_versions,
    models.check_data,
    models.check_apis,
    board.check_auth,
    board.check_proxy,
    models.check_evaluation,
)


def examine(settings: Settings, options: Options) -> Iterator[Finding]:
    """Yield the findings of all checks, without secrets.

    A check that raises an exception or takes too long is a fault, and the others go on.
    """
    secrets = known_secrets(settings)
    for finding in _findings(settings, options):
        yield replace(finding, said=redact(finding.said, secrets), remedy=redact(finding.remedy, secrets))


def _findings(settings: Settings, options: Options) -> Iterator[Finding]:
    deadline = Deadline()
    for check in CHECKS:
        name = check.__name__.removeprefix("check_").replace("_", " ")  # check_private_store -> "private store"
        seconds = EVALUATION_SECONDS if check is models.check_evaluation else CHECK_SECONDS
        found: list[Finding] = []
        try:
            deadline.run(partial(_collect, check, settings, options, found), seconds)
        except TimeoutError as error:
            found.append(fault(name, str(error), "check what this asks: the network, proxy and DNS, or a program"))
        except Exception as error:
            log.debug("%s", check.__name__, exc_info=error)
            found.append(fault(name, f"{type(error).__name__}: {error}", "report this as an issue of this project"))
        yield from tuple(found)  # a copy: after a time-out the check's thread may still append to the list


def _collect(check: Check, settings: Settings, options: Options, found: list[Finding]) -> None:
    """Append the findings of a check one by one, so that those before a failure are kept."""
    for finding in check(settings, options):
        found.append(finding)


def store_diagnosis(
    settings: Settings, findings: list[Finding], now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> None:
    """Store a line for each fault in the private store, if it can be written. Lines have 300 characters at most."""
    faults = [f"{finding.check}: {finding.said}"[:300] for finding in findings if finding.state == "fault"]
    try:
        Heartbeats(settings).report_diagnosis(Diagnosis(at=now(), host=platform.node()[:100], faults=faults))
    except StoreError as error:
        log.debug("the diagnosis was not stored: %s", error)

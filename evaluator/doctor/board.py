"""Check how visitors reach the board: sign-in, and the proxy in front of it."""

import os
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx2
from httpx2 import HTTPError

from evaluator.doctor.findings import Finding, Options, fault, ok, skipped
from submissions.checks.data_terms import is_this_machine
from submissions.config.settings import Settings
from submissions.config.sign_in import SIGN_IN_PATH, check_sign_in
from submissions.texts.errors import SettingsError

REQUEST_SECONDS = 15.0
GATEWAY_ERRORS = (502, 503, 504)  # HTTP status codes of a proxy that cannot reach the board behind it


def check_auth(settings: Settings, options: Options) -> Iterator[Finding]:
    """Check that visitors of a public board must sign in before they submit."""
    if settings.auth == "oauth":
        try:
            check_sign_in()
        except SettingsError as error:
            yield fault("sign-in", str(error), "set them, or HANNUN_AUTH=off for a board that only you can reach")
        else:
            yield ok("sign-in", "visitors sign in with Hugging Face")
        return
    address = _public_address(settings, options)
    if not address or is_this_machine(address):
        yield ok("sign-in", "off: everybody who reaches the board may submit")
    else:
        # It is off here, but the board may run elsewhere with other settings, so the board itself is asked.
        yield _sign_in_of(address)


def check_proxy(settings: Settings, options: Options) -> Iterator[Finding]:
    """Ask for pages through the public address: the board must be reached, and its metrics must not be."""
    address = _public_address(settings, options)
    if address is None:
        return
    try:
        health = httpx2.get(f"{address}/healthz", timeout=REQUEST_SECONDS, follow_redirects=True)
        metrics = httpx2.get(f"{address}/metrics", timeout=REQUEST_SECONDS, follow_redirects=True)
    except HTTPError as error:
        remedy = "start the proxy, or correct the certificate or the host name that the error names"
        yield fault("proxy", f"{address} does not answer: {error or type(error).__name__}", remedy)
        return
    if health.status_code in GATEWAY_ERRORS:
        yield fault(
            "proxy", f"the proxy at {address} does not reach the board ({health.status_code})", "start the board"
        )
        return
    if health.status_code != 200 or health.text.strip() != "ok":
        remedy = "let the proxy pass every path on to the board's port (docs/deploy.md)"
        yield fault("proxy", f"{address}/healthz answers {health.status_code}, not the board's ok", remedy)
        return
    yield ok("proxy", f"{address} leads to the board")
    if metrics.status_code == 200:
        yield fault(
            "proxy", f"{address}/metrics can be read by everybody", "deny /metrics in the proxy (docs/deploy.md)"
        )
    # Without FORWARDED_ALLOW_IPS the proxy's address counts as the visitor's, except on a Space (docs/configuration.md). Only
    # the doctor's own environment can be read, so compose.yaml sets the variable for the worker's container too, in which
    # the doctor runs.
    if not os.environ.get("FORWARDED_ALLOW_IPS") and "SPACE_ID" not in os.environ:
        remedy = "set FORWARDED_ALLOW_IPS to the proxy's address in the board's environment"
        yield fault("proxy", "all visitors seem to have one address and share its rate limits", remedy)


def _public_address(settings: Settings, options: Options) -> str | None:
    """Return the address of the board that the operator names, without a slash at its end, or None."""
    address = options.address or settings.live_address
    return address.rstrip("/") if address else None


def _sign_in_of(address: str) -> Finding:
    """Ask a board for its sign-in. A board with OAuth redirects to another host, that of the provider."""
    try:
        # The address may be redirected itself, for example from http to https.
        health = httpx2.get(f"{address}/healthz", timeout=REQUEST_SECONDS, follow_redirects=True)
        board = str(health.url).removesuffix("/healthz")
        answer = httpx2.get(f"{board}{SIGN_IN_PATH}", timeout=REQUEST_SECONDS)
    except HTTPError:
        return skipped("sign-in", f"{address} does not answer")
    if answer.is_server_error or health.is_error:
        status = answer.status_code if answer.is_server_error else health.status_code
        return skipped("sign-in", f"{address} answers {status}, so neither the board nor its provider can be asked")
    host = urlsplit(answer.headers.get("location", "")).hostname
    if answer.is_redirect and host not in (None, health.url.host):
        return ok("sign-in", f"{address} asks visitors to sign in")
    remedy = "set HANNUN_AUTH=oauth (docs/deploy.md)"
    return fault("sign-in", "HANNUN_AUTH=off on a board that others can reach", remedy)

"""Keep a test set in its country if its terms demand it."""

from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from submissions.config.settings import Settings
from submissions.texts.errors import SettingsError


def check_receivers(benchmark: str, addresses: Iterable[str | None], settings: Settings) -> None:
    """Check the machines that will receive questions and pictures of a benchmark whose data must stay in the country.

    Nobody knows in which country a machine is, so only this machine is accepted (an address of None: no server at all).
    Raises SettingsError for any other, unless HANNUN_DATA_ABROAD names the benchmark.
    """
    if benchmark in settings.data_abroad:
        return
    for address in addresses:
        if address and not is_this_machine(address):
            raise SettingsError(
                f"the terms of {benchmark}'s data keep it in the country, and {_host(address)} may be abroad: use a "
                f"server on this machine, or, with the owner's permission, set HANNUN_DATA_ABROAD='[\"{benchmark}\"]'"
            )


def is_this_machine(address: str) -> bool:
    """Return whether a URL names a loopback address."""
    host = _host(address)
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _host(address: str) -> str:
    try:
        return urlsplit(address if "://" in address else f"//{address}").hostname or address
    except ValueError:
        return address

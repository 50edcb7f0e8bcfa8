"""Define the address and the limits of an OpenAI-compatible server, for settings, jobs and engines."""

import os
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

API_KEY = "HANNUN_API_KEY"  # default name of the variable that holds a server's key


def key_fault(variable: str) -> str | None:
    """Return why an environment variable gives no key that can be sent, or None if it does.

    The default variable may be unset, for a server that needs no key. One that the operator named may not.
    """
    key = os.environ.get(variable, "")
    if not key and variable != API_KEY:
        return f"the variable {variable} is not set"
    if not key.isascii():
        return f"the variable {variable} has characters that no key has: a header must be ASCII"
    return None


@dataclass(frozen=True, config=ConfigDict(extra="forbid", use_attribute_docstrings=True))
class ApiOptions:
    """An OpenAI-compatible server and its limits. The docstrings of the fields are also in docs/configuration.md.

    A new field may also belong into `API_FIELDS` (`setting_values.py`), `NON_SEMANTIC_API_OPTIONS` (`engines/options.py`) and
    the options of the command `run`.
    """

    base_url: str | None = None
    """Address of the OpenAI-compatible API."""
    replicas: tuple[str, ...] = ()
    """Addresses of further servers with the same model, which share the questions."""
    model: str | None = None
    """The model's name on the server."""  # default: the model's folder, if `spawn` is set
    spawn: str | None = None
    """Command that starts the server, with `{model}` and `{port}`."""
    page_chars: Annotated[int, Field(ge=1)] | None = None
    """Longer pages are read in windows of this many characters."""
    image_links: bool = False
    """Whether public images are named by their links instead of being sent."""
    key: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")] = API_KEY
    """The environment variable that holds the API key."""  # only the default variable may be unset
    reasons: bool = False
    """Whether the model writes reasoning, for which it then has a budget."""
    timeout: float = 1800.0
    """Seconds for one whole request."""
    max_requests: int | None = None
    """Budget of requests."""
    max_tokens: int | None = None
    """Budget of tokens, in and out together."""
    max_cost: Annotated[float, Field(gt=0)] | None = None
    """Budget of one evaluation in US dollars, which requires `prices`; no request is sent that could exceed it."""
    prices: tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]] = (0.0, 0.0)
    """Two numbers: price of a million tokens in US dollars, in and out."""

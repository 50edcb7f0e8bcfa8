"""Define the address and the limits of an OpenAI-compatible server, for settings, jobs and engines."""

from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

API_KEY = "HANNUN_API_KEY"  # default name of the variable that holds a server's key


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class ApiOptions:
    """An OpenAI-compatible server and its limits. Prices are in US dollars per million input and output tokens."""

    base_url: str | None = None
    replicas: tuple[str, ...] = ()  # further servers with the same model
    model: str | None = None  # name on the server; default: the model's folder, if `spawn` is set
    spawn: str | None = None  # command that starts the server; contains {model} and {port}
    page_chars: Annotated[int, Field(ge=1)] | None = None  # longer pages are split into windows
    image_links: bool = False  # send the links of public images instead of the images
    key: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")] = API_KEY  # only the default variable may be unset
    reasons: bool = False  # whether it writes reasoning; if so, it gets a token budget for it
    timeout: float = 1800.0  # seconds for one whole request
    max_requests: int | None = None
    max_tokens: int | None = None
    max_cost: Annotated[float, Field(gt=0)] | None = None  # per evaluation
    prices: tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]] = (0.0, 0.0)

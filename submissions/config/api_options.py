"""Where an OpenAI-compatible server is, and what asking it may cost. Settings, jobs and engines share this type."""

from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

API_KEY = "HANNUN_API_KEY"  # the variable with a server's key, unless another one is named


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class ApiOptions:
    """A server and its limits. Prices are in US dollars for a million tokens, in and out."""

    base_url: str | None = None
    replicas: tuple[str, ...] = ()  # further servers with the same model
    model: str | None = None  # its name there; the model's folder if the server is started here
    spawn: str | None = None  # command that starts it, with {model} and {port}
    page_chars: Annotated[int, Field(ge=1)] | None = None  # longer pages are read in windows
    image_links: bool = False  # name public images by their links instead of sending them
    key: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")] = API_KEY  # only the default variable may be unset
    reasons: bool = False  # whether it writes reasoning, for which it then has a budget
    timeout: float = 1800.0  # seconds for one request, whole
    max_requests: int | None = None
    max_tokens: int | None = None
    max_cost: Annotated[float, Field(gt=0)] | None = None  # of one evaluation
    prices: tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]] = (0.0, 0.0)

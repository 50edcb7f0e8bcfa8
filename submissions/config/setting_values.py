"""Define the settings that are JSON objects: HANNUN_APIS, HANNUN_COMMANDS, HANNUN_JOBS and HANNUN_EMBEDDINGS.

The text below a field is its description in docs/configuration.md, whose tables `make docs` writes.
"""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from submissions.config.api_options import API_KEY, ApiOptions
from submissions.records.base import MODEL_ID, Sha
from submissions.records.hub_names import is_hub_id
from submissions.records.options import Effort

# Fields of an entry of HANNUN_APIS that become its ApiOptions. Its other fields are `model_id` and `efforts`. The
# options that are not here, such as `spawn` and `max_requests`, are for HANNUN_SERVER and `python -m evaluator run`.
API_FIELDS = ("base_url", "replicas", "model", "key", "prices", "max_cost", "page_chars", "reasons")
API_REQUIRED = ("model_id", "base_url", "model")
IMAGE = r"[a-z0-9][a-z0-9._/:-]*@sha256:[0-9a-f]{64}"  # a Docker image by digest, because a tag may move
CONFIG = ConfigDict(extra="forbid", use_attribute_docstrings=True)


def _hub_id(text: str) -> str:
    """Return the text. Raises ValueError if it is not the ID of a repository on the Hub."""
    if not is_hub_id(text):
        raise ValueError(f"{text!r} is not OWNER/NAME")
    return text


class ApiModel(BaseModel):
    """A model behind an OpenAI-compatible API: a value of HANNUN_APIS.

    The operator writes the options of its server into the same JSON object:
    `{"model_id": "openai/gpt-5", "base_url": "https://…/v1", "model": "gpt-5", "max_cost": 20, "prices": [1.25, 10]}`.
    """

    model_config = CONFIG

    model_id: Annotated[str, Field(pattern=f"^{MODEL_ID}$")]
    """The name of its row, `owner/name`."""
    efforts: list[Effort] = []
    """Reasoning efforts that it supports: `["low", "medium", "high"]`, with `submit --api NAME --thinking low`."""
    options: ApiOptions

    @model_validator(mode="before")
    @classmethod
    def _gather_options(cls, value: Any) -> Any:
        """Move the fields of a HANNUN_APIS entry that describe its server into `options`.

        A value whose `options` are built already, by code, is returned unchanged. Raises ValueError for unknown or missing
        fields.
        """
        if not isinstance(value, dict) or isinstance(value.get("options"), ApiOptions):
            return value
        if unknown := sorted(value.keys() - {"model_id", "efforts", *API_FIELDS}):
            raise ValueError(
                f"unknown field {unknown[0]!r}; available: {', '.join(('model_id', 'efforts', *API_FIELDS))}"
            )
        if missing := [name for name in API_REQUIRED if not value.get(name)]:
            raise ValueError(f"{missing[0]} is missing")
        if value.get("max_cost") is not None and not value.get("prices"):
            raise ValueError("max_cost needs prices")
        options = {name: value[name] for name in API_FIELDS if value.get(name) is not None}
        return {name: value[name] for name in ("model_id", "efforts") if name in value} | {"options": options}


class LaunchCommands(BaseModel):
    """Commands that start, query and cancel a job on a cluster, for HANNUN_LAUNCHER=command.

    `evaluator/worker/launchers/command.py` checks their placeholders and runs them.
    """

    model_config = CONFIG

    start: Annotated[str, Field(min_length=1)]
    """Starts a job and prints its name as the last word; it must not keep its output open while the job runs.
    `{command}` is what the job runs, `{arguments}` the same without its program; `{gpus}`, `{memory_gb}` and
    `{minutes}` are the resources it needs; `{name}` is a unique name."""
    state: Annotated[str, Field(min_length=1)]
    """Prints the state of `{job}`, and nothing once the job no longer exists. A failure means that the state is unknown
    for now."""
    cancel: Annotated[str, Field(min_length=1)]
    """Ends `{job}`, by SIGTERM if possible."""


class HubJobs(BaseModel):
    """Jobs on the Hub, one for each evaluation, for HANNUN_LAUNCHER=hf-jobs."""

    model_config = CONFIG

    image: Annotated[str, Field(pattern=f"^{IMAGE}$")]
    """Docker image by its digest, `python:3.11@sha256:…`."""
    space: Annotated[str, AfterValidator(_hub_id)]
    """The Space whose code is run, `OWNER/NAME`."""
    commit: Sha
    """Commit of that code, all 40 digits."""
    namespace: str | None = None
    """Who pays. Default: the token's user."""
    flavor: str | None = None
    """Hardware. Default: the cheapest that holds the model."""
    max_price: Annotated[float, Field(gt=0)]
    """US dollars that one job may cost; its time limit follows from it."""


class EmbeddingServer(BaseModel):
    """An OpenAI-compatible embeddings server."""

    model_config = CONFIG

    base_url: str
    """Address of the OpenAI-compatible server."""
    model: str
    """The embedding model's name on the server."""
    key: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")] = API_KEY
    """The environment variable that holds its key."""

"""Settings, from environment variables named HANNUN_* (docs/configuration.md has them in one table)."""

import logging
import os
from collections.abc import Collection
from datetime import timedelta
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict
from pydantic_settings import SettingsError as UnreadableError

from submissions.config.api_options import API_KEY, ApiOptions
from submissions.config.durations import parse_duration
from submissions.records.base import MAX_PIXELS, MODEL_ID, ModelId, Sha
from submissions.records.options import MAX_REASONING_TOKENS, Effort
from submissions.texts.errors import SettingsError

log = logging.getLogger(__name__)

# Settings that mean nothing on another machine; what stands in the file of the token is sent.
OF_THIS_MACHINE = ("HANNUN_HOST", "HANNUN_PORT", "HANNUN_WORK_DIR", "HANNUN_LAUNCHER", "HANNUN_HUB_TOKEN_FILE")
# Fields of HANNUN_APIS beside the name of the row and its efforts.
API_FIELDS = ("base_url", "replicas", "model", "key", "prices", "max_cost", "page_chars", "reasons")
IMAGE = r"[a-z0-9][a-z0-9._/:-]*@sha256:[0-9a-f]{64}"  # of Docker, by its digest: a tag is another image tomorrow
MIN_SEED_CHARS = 32
BY_BENCHMARK = ("data", "data_abroad", "eval_datasets", "quota", "shards")  # settings whose keys are benchmarks
# A Space says where to listen in Gradio's own variables.
GRADIO = {"HANNUN_HOST": "GRADIO_SERVER_NAME", "HANNUN_PORT": "GRADIO_SERVER_PORT"}


def _duration(value: Any) -> Any:
    return value if isinstance(value, timedelta) else parse_duration(str(value))


Duration = Annotated[timedelta, BeforeValidator(_duration)]


class ApiModel(BaseModel):
    """A model behind an OpenAI-compatible API, in one JSON object with the server's options."""

    model_config = ConfigDict(extra="forbid")

    model_id: Annotated[str, Field(pattern=f"^{MODEL_ID}$")]  # the name of its row, owner/name
    efforts: list[Effort] = []  # of reasoning, that it can be asked for
    options: ApiOptions

    @model_validator(mode="before")
    @classmethod
    def _gather_options(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "options" in value:
            return value
        if unknown := sorted(value.keys() - {"model_id", "efforts", *API_FIELDS}):
            raise ValueError(
                f"unknown field {unknown[0]!r}; available: {', '.join(('model_id', 'efforts', *API_FIELDS))}"
            )
        if missing := [name for name in ("model_id", "base_url", "model") if not value.get(name)]:
            raise ValueError(f"{missing[0]} is missing")
        if value.get("max_cost") is not None and not value.get("prices"):
            raise ValueError("max_cost needs prices")
        options = {name: value[name] for name in API_FIELDS if value.get(name) is not None}
        return {name: value[name] for name in ("model_id", "efforts") if name in value} | {"options": options}


class LaunchCommands(BaseModel):
    """Commands by which jobs are started, looked at and ended; evaluator/worker/launchers/command.py says what stands in them."""

    model_config = ConfigDict(extra="forbid")

    start: Annotated[str, Field(min_length=1)]
    state: Annotated[str, Field(min_length=1)]
    cancel: Annotated[str, Field(min_length=1)]


class HubJobs(BaseModel):
    """Jobs on the Hub, one for each evaluation."""

    model_config = ConfigDict(extra="forbid")

    image: Annotated[str, Field(pattern=f"^{IMAGE}$")]
    space: ModelId  # whose code is run
    commit: Sha  # of that code
    namespace: str | None = None  # who pays; None: the token's user
    flavor: str | None = None  # None: the cheapest that holds the model
    max_price: Annotated[float, Field(gt=0)]  # US dollars, of one job


class EmbeddingServer(BaseModel):
    """An OpenAI-compatible server of embeddings."""

    model_config = ConfigDict(extra="forbid")

    base_url: str
    model: str
    key: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")] = API_KEY  # the variable its key is in


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="HANNUN_", env_ignore_empty=True, extra="ignore", populate_by_name=True
    )

    store: str = ".hannun/store.git"
    private_store: str = ".hannun/private"
    work_dir: Path = Path(".hannun/work")
    models_dir: Path | None = None
    data: dict[str, str] = {}  # benchmark → path or hf://datasets/…; the sample set where none is named
    data_abroad: list[str] = []  # benchmarks whose data may be on the Hub though their terms keep it in the country
    data_token: SecretStr | None = None  # reads private test sets; not the token that models are fetched with
    hub_token: SecretStr | None = None  # reads and writes Hub stores; models are fetched without it
    hub_token_file: Path | None = None  # holds it instead, and is read before each request
    eval_datasets: dict[str, str] = {}  # benchmark → public dataset under which its scores stand on model pages
    worker: Literal["on", "off"] = "on"
    worker_every: Duration = timedelta(seconds=10)
    lease: Duration = timedelta(minutes=30)
    heartbeat: Duration = timedelta(seconds=30)
    deadline: Duration = timedelta(hours=6)  # for one evaluation
    max_fetch: Duration = timedelta(hours=2)  # for a model's files to arrive
    max_model_bytes: int = Field(default=200_000_000_000, ge=1)
    max_cache_bytes: int = Field(default=500_000_000_000, ge=0)  # of fetched models and kept answers, the newest
    max_attempts: int = Field(default=3, ge=1)
    launcher: Literal["local", "ray", "hf-jobs", "command"] = "local"  # who runs a claimed evaluation
    commands: LaunchCommands | None = None  # of the launcher "command"
    jobs: HubJobs | None = None  # of the launcher "hf-jobs"
    ray_resources: dict[str, Annotated[float, Field(gt=0)]] = {}  # that a task takes besides GPUs and memory
    slots: int | None = Field(default=None, ge=1)  # jobs at once, where a launcher starts jobs
    shards: dict[str, Annotated[int, Field(ge=1, le=64)]] = {}  # benchmark → processes that share its questions
    price_per_hour: float | None = Field(default=None, ge=0)  # of the machine that evaluates, in US dollars
    gpu_memory: Annotated[int, Field(ge=1)] | None = None  # bytes of one GPU where jobs run; None: they have none
    auth: Literal["off", "oauth"] = Field(default_factory=lambda: "oauth" if "SPACE_ID" in os.environ else "off")
    quota: dict[
        str, Annotated[int, Field(ge=1)]
    ] = {}  # benchmark → evaluations within the window; 1 where none is named
    quota_window: Duration = Field(default=timedelta(days=7), le=timedelta(days=31))  # as long as the index remembers
    limit: int | None = Field(default=None, ge=1)
    max_pixels: int = Field(default=MAX_PIXELS, ge=784)
    alone: int = Field(default=100, ge=0)  # questions asked again one at a time
    max_score_changes: float = Field(default=0.02, ge=0, le=1)
    max_reasoning_tokens: int = Field(default=MAX_REASONING_TOKENS, ge=0)  # of an answer, before its own
    device_memory: Annotated[int, Field(ge=1)] | None = None  # bytes of the worker's devices together
    server: str | None = None  # command that starts a model server, with {model} and {port}
    apis: dict[str, ApiModel] = {}  # models behind an API that the operator may queue, by name
    embeddings: EmbeddingServer | None = None  # for benchmarks that score by the similarity of texts
    # Of ko-fresh's set: its hash is public, so that nobody may be able to guess it. One is made once where none is named.
    fresh_seed: SecretStr | None = None
    fresh_n: int = Field(default=2000, ge=8, le=100_000, multiple_of=2)  # questions of it
    signing_key: SecretStr | None = None  # PEM of an Ed25519 key: results are published with a signed statement
    details_key: SecretStr | None = None  # keys the item ids in the private details
    log: Literal["text", "json"] = "text"
    host: str = Field(default="127.0.0.1", validation_alias=AliasChoices("HANNUN_HOST", GRADIO["HANNUN_HOST"]))
    port: int = Field(default=7860, ge=1, le=65535, validation_alias=AliasChoices("HANNUN_PORT", GRADIO["HANNUN_PORT"]))

    @field_validator("fresh_seed")
    @classmethod
    def _not_guessable(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value) < MIN_SEED_CHARS:
            raise ValueError(f"a seed has at least {MIN_SEED_CHARS} characters, this one has {len(value)}")
        return value

    @field_validator("hub_token_file")
    @classmethod
    def _has_token(cls, value: Path | None) -> Path | None:
        """At the start; afterwards the file may be away for a moment, while the token is replaced."""
        if value and not _first_line(value):
            raise ValueError(f"{value} cannot be read, or its first line is empty")
        return value

    @field_validator("signing_key")
    @classmethod
    def _signs(cls, value: SecretStr | None) -> SecretStr | None:
        """Before an evaluation is made that could not be published."""
        if value:
            from submissions.records.statement import private_key  # takes a while to import, and few have a key

            private_key(value.get_secret_value())
        return value

    @model_validator(mode="after")
    def _stores_apart(self) -> Self:
        """Answers by item would give the test sets away."""
        if _same(self.store, self.private_store):
            raise ValueError("HANNUN_STORE and HANNUN_PRIVATE_STORE must be two stores: the private one holds answers")
        return self

    def with_store(self, store: str | None) -> Self:
        """With the public store named on a command line. Raises SettingsError where that is the private one."""
        if store and _same(store, self.private_store):
            raise SettingsError(f"{store} is the private store: it holds answers and names; name another one")
        return self.model_copy(update={"store": store}) if store else self

    @property
    def secrets(self) -> dict[str, str]:
        """What must not be shown, by the variable it stands in: secret settings, and keys that settings name."""
        own = {f"HANNUN_{n.upper()}": v.get_secret_value() for n, v in self if isinstance(v, SecretStr)}
        own |= {"HANNUN_HUB_TOKEN": token} if (token := self.hub_token_value) else {}
        return own | {name: os.environ[name] for name in sorted({"HF_TOKEN", *self._keys}) if name in os.environ}

    @property
    def _keys(self) -> set[str]:
        """The variables that settings name as those of keys."""
        return {api.options.key for api in self.apis.values()} | ({self.embeddings.key} if self.embeddings else set())

    @property
    def unknown_variables(self) -> dict[str, str | None]:
        """Variables that look like settings and are none, misspelt most likely, each with the one that may be meant."""
        known = {*(f"HANNUN_{name.upper()}" for name in type(self).model_fields), API_KEY, *self._keys}
        unknown = [name for name in os.environ if name.startswith("HANNUN_") and name not in known]
        return {name: next(iter(get_close_matches(name, known, 1)), None) for name in sorted(unknown)}

    def variables(self, without: Collection[str]) -> dict[str, str]:
        """The variables of this environment that settings stand in, but for the secret ones and those named."""
        names = {f"HANNUN_{name.upper()}" for name in type(self).model_fields} - {*self.secrets, *without}
        return {name: os.environ[name] for name in sorted(names) if name in os.environ}

    @property
    def hub_token_value(self) -> str | None:
        """The token as it is now."""
        if self.hub_token_file:
            return _first_line(self.hub_token_file)
        return self.hub_token.get_secret_value() if self.hub_token else None


def _first_line(file: Path) -> str | None:
    """Of a file with a secret; None where it cannot be read, in the moment of its being replaced say."""
    try:
        return file.read_text(encoding="utf-8").partition("\n")[0].strip() or None
    except OSError:
        return None


def _same(one: str, other: str) -> bool:
    """Whether two addresses are of one store, however they are written."""

    def plain(url: str) -> str:
        return url.rstrip("/").lower() if url.startswith("hf:") else str(Path(url.removeprefix("file://")).resolve())

    return plain(one) == plain(other)


def load_settings(benchmarks: Collection[str] | None = None) -> Settings:
    """Return the settings of this environment. Raises SettingsError.

    If `benchmarks` are given, settings that name any other benchmark are an error.
    """
    try:
        settings = Settings()
    except ValidationError as error:
        raise SettingsError(_fault(error)) from None
    except UnreadableError as error:
        name = str(error).partition('field "')[2].partition('"')[0].upper()
        raise SettingsError(f"setting HANNUN_{name}: no JSON: {error.__cause__}") from None
    for name in BY_BENCHMARK if benchmarks is not None else ():
        if unknown := [key for key in getattr(settings, name) if key not in (benchmarks or ())]:
            known = ", ".join(benchmarks or ())
            raise SettingsError(f"setting HANNUN_{name.upper()}: unknown benchmark {unknown[0]!r}; available: {known}")
    for name, meant in settings.unknown_variables.items():
        _warn(f"{name} is no setting" + (f"; is {meant} meant?" if meant else ""))
    return settings


def _fault(error: ValidationError) -> str:
    """The first thing that is wrong: variable, the field in its JSON, and what is said of it."""
    first = error.errors()[0]
    said = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return said
    variable, *inner = map(str, first["loc"])
    name = f"HANNUN_{variable.upper().removeprefix('HANNUN_')}"
    field = f"{'.'.join(inner)}: " if inner else ""
    return f"setting {name if name in os.environ else GRADIO.get(name, name)}: {field}{said}"


@cache
def _warn(message: str) -> None:
    """Once, however often the settings are read."""
    log.warning(message)

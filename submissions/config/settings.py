"""Read settings from environment variables named HANNUN_*. docs/configuration.md lists them in a table."""

import logging
import os
import re
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
from submissions.config.server_command import server_words
from submissions.records.base import MAX_PIXELS, MODEL_ID, ModelId, Sha
from submissions.records.options import MAX_REASONING_TOKENS, Effort
from submissions.texts.errors import SettingsError

log = logging.getLogger(__name__)

# Settings that are not passed on to a job on another machine, because they describe this one. The job gets the token in
# HANNUN_HUB_TOKEN instead of the path of its file.
HOST_ONLY_SETTINGS = ("HANNUN_HOST", "HANNUN_PORT", "HANNUN_WORK_DIR", "HANNUN_LAUNCHER", "HANNUN_HUB_TOKEN_FILE")
# Fields of HANNUN_APIS that become ApiOptions: all but the name on the board and the efforts.
API_FIELDS = ("base_url", "replicas", "model", "key", "prices", "max_cost", "page_chars", "reasons")
IMAGE = r"[a-z0-9][a-z0-9._/:-]*@sha256:[0-9a-f]{64}"  # a Docker image by digest, because a tag may move
MIN_SEED_CHARS = 32
KEYED_BY_BENCHMARK = ("data", "data_abroad", "eval_datasets", "quota", "shards")  # settings whose keys are benchmarks
# A Space sets the host and port in Gradio's own variables.
GRADIO = {"HANNUN_HOST": "GRADIO_SERVER_NAME", "HANNUN_PORT": "GRADIO_SERVER_PORT"}


def _duration(value: Any) -> Any:
    return value if isinstance(value, timedelta) else parse_duration(str(value))


def _of_space(path: str) -> str | None:
    """Return the address of a page of the Space that this process runs in, or None outside of a Space."""
    space = os.environ.get("SPACE_ID")
    return f"https://huggingface.co/spaces/{space}/{path}" if space else None


Duration = Annotated[timedelta, BeforeValidator(_duration)]


class ApiModel(BaseModel):
    """A model behind an OpenAI-compatible API, with the options of its server in the same JSON object."""

    model_config = ConfigDict(extra="forbid")

    model_id: Annotated[str, Field(pattern=f"^{MODEL_ID}$")]  # name on the board, owner/name
    efforts: list[Effort] = []  # reasoning efforts that a request may ask for
    options: ApiOptions

    @model_validator(mode="before")
    @classmethod
    def _gather_options(cls, value: Any) -> Any:
        """Move the fields of a HANNUN_APIS entry that describe its server into `options`.

        Raises ValueError for unknown or missing fields.
        """
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
    """Commands that start, query and cancel a job. evaluator/worker/launchers/command.py documents their format."""

    model_config = ConfigDict(extra="forbid")

    start: Annotated[str, Field(min_length=1)]
    state: Annotated[str, Field(min_length=1)]
    cancel: Annotated[str, Field(min_length=1)]


class HubJobs(BaseModel):
    """Jobs on the Hub, one for each evaluation."""

    model_config = ConfigDict(extra="forbid")

    image: Annotated[str, Field(pattern=f"^{IMAGE}$")]
    space: ModelId  # the Space whose code is run
    commit: Sha  # of the Space
    namespace: str | None = None  # the account that pays; None: the user of the token
    flavor: str | None = None  # None: the cheapest that fits the model
    max_price: Annotated[float, Field(gt=0)]  # US dollars per job


class EmbeddingServer(BaseModel):
    """An OpenAI-compatible embeddings server."""

    model_config = ConfigDict(extra="forbid")

    base_url: str
    model: str
    key: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")] = API_KEY  # the variable that holds its key


class Settings(BaseSettings):
    """The settings of an installation."""

    model_config = SettingsConfigDict(
        env_prefix="HANNUN_", env_ignore_empty=True, extra="ignore", populate_by_name=True
    )

    store: str = ".hannun/store.git"
    private_store: str = ".hannun/private"
    private_queue: str | None = None  # store of private evaluations; None: a folder beside a local private store
    ephemeral_store: Literal["refuse", "allow"] = "refuse"  # on a Space: stores on the disk that a restart empties
    work_dir: Path = Path(".hannun/work")
    models_dir: Path | None = None
    data: dict[str, str] = {}  # benchmark → path or hf://datasets/…; default: the sample set
    data_abroad: list[str] = []  # benchmarks whose test set may be on the Hub although its terms forbid that
    data_token: SecretStr | None = None  # reads private test sets; never used to download models
    hub_token: SecretStr | None = None  # reads and writes Hub stores; never used to download models
    hub_token_file: Path | None = None  # a file that holds hub_token instead; read again before each request
    eval_datasets: dict[str, str] = {}  # benchmark → public Hub dataset under which model pages list the scores
    worker: Literal["on", "off"] = "on"
    worker_every: Duration = timedelta(seconds=10)
    lease: Duration = timedelta(minutes=30)
    heartbeat: Duration = timedelta(seconds=30)
    deadline: Duration = timedelta(hours=6)  # for one evaluation
    max_fetch: Duration = timedelta(hours=2)  # limit for downloading a model
    max_model_bytes: int = Field(default=200_000_000_000, ge=1)
    max_cache_bytes: int = Field(default=500_000_000_000, ge=0)  # models and answers; the newest are kept
    max_attempts: int = Field(default=3, ge=1)
    launcher: Literal["local", "ray", "hf-jobs", "command"] = "local"  # what runs a claimed evaluation
    commands: LaunchCommands | None = None  # for the launcher "command"
    jobs: HubJobs | None = None  # for the launcher "hf-jobs"
    ray_resources: dict[str, Annotated[float, Field(gt=0)]] = {}  # resources of a task besides GPUs and memory
    slots: int | None = Field(default=None, ge=1)  # parallel evaluations; not for the launcher "local"
    shards: dict[str, Annotated[int, Field(ge=1, le=64)]] = {}  # benchmark → processes that share its questions
    price_per_hour: float | None = Field(default=None, ge=0)  # US dollars, of the machine that runs evaluations
    gpu_memory: Annotated[int, Field(ge=1)] | None = None  # bytes of each GPU that jobs may use; None: jobs get no GPU
    auth: Literal["off", "oauth"] = Field(default_factory=lambda: "oauth" if "SPACE_ID" in os.environ else "off")
    quota: dict[str, Annotated[int, Field(ge=1)]] = {}  # benchmark → evaluations within quota_window; default: 1
    # At most 31 days: the index keeps closed requests no longer (KEEP_CLOSED_FOR in submissions/store/index.py).
    quota_window: Duration = Field(default=timedelta(days=7), le=timedelta(days=31))
    limit: int | None = Field(default=None, ge=1)  # evaluate only the first N questions of a set
    max_pixels: int = Field(default=MAX_PIXELS, ge=784)  # of an image; larger ones are scaled down
    latency_samples: int = Field(default=100, ge=0)  # also used to check batch invariance
    # Share of the latency samples whose score may depend on batching before the batches are made smaller.
    max_score_changes: float = Field(default=0.02, ge=0, le=1)
    max_reasoning_tokens: int = Field(default=MAX_REASONING_TOKENS, ge=0)  # per answer, not counting the answer itself
    device_memory: Annotated[int, Field(ge=1)] | None = None  # bytes of all devices of the worker; for the checks
    server: str | None = None  # command that starts a model server; contains {model} and {port}
    apis: dict[str, ApiModel] = {}  # name → model behind an API that the operator may queue
    embeddings: EmbeddingServer | None = None  # for benchmarks that score the similarity of texts
    # Seed of the ko-fresh test set. Its hash is public, so it must not be guessable. Generated once if not set.
    fresh_seed: SecretStr | None = None
    # Address of a drand server, such as https://api.drand.sh. If set, the seed also depends on a future round.
    fresh_beacon: Annotated[str, Field(pattern=r"^https?://")] | None = None
    fresh_n: int = Field(default=2000, ge=8, le=100_000, multiple_of=2)  # questions in the ko-fresh test set
    opened_books: Path | None = None  # a folder with the datasets of revealed quarters, which the board shows
    signing_key: SecretStr | None = None  # PEM of an Ed25519 key; if set, results are published with a signed statement
    details_key: SecretStr | None = None  # HMAC key of the item ids in the private details
    static: str | None = None  # folder or hf://spaces/ORG/NAME that the worker writes the board to as files
    static_address: Annotated[str, Field(pattern=r"^https?://")] | None = None  # where those files are served
    live_address: Annotated[str, Field(pattern=r"^https?://")] | None = None  # of the board that takes submissions
    # Where the pages' footers lead. On a Space, its own files and discussions.
    source_code: Annotated[str, Field(pattern=r"^https://")] | None = Field(
        default_factory=lambda: _of_space("tree/main")
    )
    contact: Annotated[str, Field(pattern=r"^(https://|mailto:)")] | None = Field(
        default_factory=lambda: _of_space("discussions")
    )
    log: Literal["text", "json"] = "text"
    host: str = Field(default="127.0.0.1", validation_alias=AliasChoices("HANNUN_HOST", GRADIO["HANNUN_HOST"]))
    port: int = Field(default=7860, ge=1, le=65535, validation_alias=AliasChoices("HANNUN_PORT", GRADIO["HANNUN_PORT"]))

    @field_validator("fresh_seed")
    @classmethod
    def _check_seed_length(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value) < MIN_SEED_CHARS:
            raise ValueError(f"a seed has at least {MIN_SEED_CHARS} characters, this one has {len(value)}")
        return value

    @field_validator("hub_token", "data_token")
    @classmethod
    def _check_token(cls, value: SecretStr | None) -> SecretStr | None:
        """Remove a line break at the end, and reject one inside: libraries quote such a header in their errors."""
        if value is None:
            return None
        token = value.get_secret_value().strip()
        if not token.isprintable():
            raise ValueError("has characters that no token has")
        return SecretStr(token)

    @field_validator("server")
    @classmethod
    def _check_server(cls, value: str | None) -> str | None:
        if value is not None:
            server_words(value)
        return value

    @field_validator("hub_token_file")
    @classmethod
    def _check_token_file(cls, value: Path | None) -> Path | None:
        """Check the token file at start-up. Later it may be missing briefly while the token is being replaced."""
        token = _first_line(value) if value else None
        if value and not token:
            raise ValueError(f"{value} cannot be read, or its first line is empty")
        if token and not token.isprintable():
            raise ValueError(f"the first line of {value} has characters that no token has")
        return value

    @field_validator("signing_key")
    @classmethod
    def _check_signing_key(cls, value: SecretStr | None) -> SecretStr | None:
        """Check the key at start-up, before an evaluation is run that could not be published."""
        if value:
            from submissions.records.signed_statement import (
                private_key,  # slow to import, and needed by few installations
            )

            private_key(value.get_secret_value())
        return value

    @model_validator(mode="after")
    def _check_stores_differ(self) -> Self:
        """Reject one store for both: the private store holds answers per item, which would leak the test sets."""
        if _same(self.store, self.private_store):
            raise ValueError("HANNUN_STORE and HANNUN_PRIVATE_STORE must be two stores: the private one holds answers")
        if self.private_queue and any(_same(self.private_queue, url) for url in (self.store, self.private_store)):
            raise ValueError("HANNUN_PRIVATE_QUEUE must be a store of its own")
        stores = {
            "HANNUN_STORE": self.store,
            "HANNUN_PRIVATE_STORE": self.private_store,
            "HANNUN_PRIVATE_QUEUE": self.private_queue or "",
        }
        for name, url in stores.items():
            if url != url.strip():
                raise ValueError(f"{name} begins or ends with a space")
        return self

    def with_store(self, store: str | None) -> Self:
        """Return settings with another public store. Raises SettingsError if `store` is the private store."""
        if store and _same(store, self.private_store):
            raise SettingsError(f"{store} is the private store: it holds answers and names; name another one")
        return self.model_copy(update={"store": store}) if store else self

    @property
    def links(self) -> dict[str, str]:
        """Return the addresses that the footers of all pages lead to, by name."""
        given = {"source_code": self.source_code, "contact": self.contact}
        return {name: address for name, address in given.items() if address}

    @property
    def secrets(self) -> dict[str, str]:
        """Return all secrets by the name of their variable: secret settings, and API keys that settings refer to."""
        settings = {f"HANNUN_{n.upper()}": v.get_secret_value() for n, v in self if isinstance(v, SecretStr)}
        if token := self.hub_token_value:
            settings["HANNUN_HUB_TOKEN"] = token
        return settings | {name: os.environ[name] for name in sorted({"HF_TOKEN", *self._keys}) if name in os.environ}

    @property
    def _keys(self) -> set[str]:
        """Return the names of the variables that hold API keys."""
        return {api.options.key for api in self.apis.values()} | ({self.embeddings.key} if self.embeddings else set())

    @property
    def unknown_variables(self) -> dict[str, str | None]:
        """Return the HANNUN_* variables that are not settings, each with the setting of the most similar name or None."""
        known = {*(f"HANNUN_{name.upper()}" for name in type(self).model_fields), API_KEY, *self._keys}
        unknown = [name for name in os.environ if name.startswith("HANNUN_") and name not in known]
        return {name: next(iter(get_close_matches(name, known, 1)), None) for name in sorted(unknown)}

    def variables(self, without: Collection[str]) -> dict[str, str]:
        """Return the environment variables that hold settings, except secret ones and those in `without`."""
        names = {f"HANNUN_{name.upper()}" for name in type(self).model_fields} - {*self.secrets, *without}
        return {name: os.environ[name] for name in sorted(names) if name in os.environ}

    @property
    def hub_token_value(self) -> str | None:
        """Return the current Hub token, or None if there is none."""
        if self.hub_token_file:
            return _first_line(self.hub_token_file)
        return self.hub_token.get_secret_value() if self.hub_token else None


def is_token(text: str) -> bool:
    """Return whether a text may be a token: printable ASCII without spaces."""
    return bool(re.fullmatch("[!-~]+", text))


def _first_line(file: Path) -> str | None:
    """Return the first line of a file with a secret.

    Return None if the line is empty or the file cannot be read, for example while it is being replaced.
    """
    try:
        return file.read_text(encoding="utf-8").partition("\n")[0].strip() or None
    except OSError:
        return None


def _same(one: str, other: str) -> bool:
    """Return whether two addresses name the same store, even if they are written differently."""

    def plain(url: str) -> str:
        return url.rstrip("/").lower() if url.startswith("hf:") else str(Path(url.removeprefix("file://")).resolve())

    return plain(one) == plain(other)


def load_settings(benchmarks: Collection[str] | None = None) -> Settings:
    """Return the settings of this environment. Raises SettingsError if one of them is invalid.

    If `benchmarks` is given, a setting that names any other benchmark is also invalid.
    """
    try:
        settings = Settings()
    except ValidationError as error:
        raise SettingsError(_first_error(error)) from None
    except UnreadableError as error:
        name = str(error).partition('field "')[2].partition('"')[0].upper()
        raise SettingsError(f"setting HANNUN_{name}: not valid JSON: {error.__cause__}") from None
    for name in KEYED_BY_BENCHMARK if benchmarks is not None else ():
        if unknown := [key for key in getattr(settings, name) if key not in (benchmarks or ())]:
            known = ", ".join(benchmarks or ())
            raise SettingsError(f"setting HANNUN_{name.upper()}: unknown benchmark {unknown[0]!r}; available: {known}")
    for name, similar in settings.unknown_variables.items():
        _warn(f"unknown setting {name}" + (f"; did you mean {similar}?" if similar else ""))
    return settings


def _first_error(error: ValidationError) -> str:
    """Describe the first invalid setting by its variable, the field within its JSON, and the reason."""
    first = error.errors()[0]
    reason = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return reason
    # `options` is not a field that the operator writes: `ApiModel` gathers the fields of HANNUN_APIS into it.
    variable, *inner = (str(part) for part in first["loc"] if part != "options")
    name = f"HANNUN_{variable.upper().removeprefix('HANNUN_')}"
    field = f"{'.'.join(inner)}: " if inner else ""
    return f"setting {name if name in os.environ else GRADIO.get(name, name)}: {field}{reason}"


@cache
def _warn(message: str) -> None:
    """Log a warning once, even if the settings are read several times."""
    log.warning(message)

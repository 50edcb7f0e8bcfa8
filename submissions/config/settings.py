"""Read settings from environment variables named HANNUN_*.

The field `worker_every` is the variable HANNUN_WORKER_EVERY. The text below a field is its description in
docs/configuration.md, whose tables `make docs` writes, one for each of the four classes. The programs call `load_settings`
once and pass the `Settings` on. Settings that are JSON objects are defined in `submissions/config/setting_values.py`.
"""

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

from submissions.config.addresses import is_remote, overlap
from submissions.config.api_options import API_KEY
from submissions.config.durations import parse_duration
from submissions.config.server_command import server_words
from submissions.config.setting_values import ApiModel, EmbeddingServer, HubJobs, LaunchCommands
from submissions.records.base import MAX_PIXELS
from submissions.records.options import MAX_REASONING_TOKENS
from submissions.texts.errors import SettingsError

log = logging.getLogger(__name__)

# Settings that are not passed on to a job on another machine, because they describe this one. The job gets the token in
# HANNUN_HUB_TOKEN instead of the path of its file.
HOST_ONLY_SETTINGS = ("HANNUN_HOST", "HANNUN_PORT", "HANNUN_WORK_DIR", "HANNUN_LAUNCHER", "HANNUN_HUB_TOKEN_FILE")
MIN_SEED_CHARS = 32  # of HANNUN_FRESH_SEED: 128 bits as hexadecimal digits
KEYED_BY_BENCHMARK = ("data", "data_abroad", "eval_datasets", "quota", "shards")  # settings whose keys are benchmarks
# Setting → the variable of Gradio that is used if it is not set: a Space sets the host and port in these.
GRADIO_VARIABLES = {"HANNUN_HOST": "GRADIO_SERVER_NAME", "HANNUN_PORT": "GRADIO_SERVER_PORT"}


def _duration(value: Any) -> Any:
    """Parse a text such as "6h"; a timedelta is returned unchanged. Raises ValueError for other values."""
    return value if isinstance(value, timedelta) else parse_duration(str(value))


def _space_address(path: str) -> str | None:
    """Return the address of a page of the Space that this process runs in, or None outside of a Space.

    `"discussions" -> "https://huggingface.co/spaces/my-org/board/discussions"`
    """
    space = os.environ.get("SPACE_ID")
    return f"https://huggingface.co/spaces/{space}/{path}" if space else None


Duration = Annotated[timedelta, BeforeValidator(_duration)]


class StoreSettings(BaseModel):
    """Stores and data"""

    model_config = ConfigDict(use_attribute_docstrings=True)

    store: str = ".hannun/store.git"
    """Requests, results and indexes: a path or `file://` address of a bare git repository, created if it is missing, or
    `hf://datasets/OWNER/NAME`."""
    private_store: str = ".hannun/private"
    """What is private or changes often: answers by item, names of submitters, heartbeats, the answers of running
    evaluations. A folder, a private Storage Bucket `hf://buckets/OWNER/NAME`, or another address that
    [fsspec](https://filesystem-spec.readthedocs.io) supports (`s3://…` needs the package `s3fs`). A public bucket and
    the public store are refused."""
    private_queue: str | None = None
    """Requests and results of private evaluations: a folder, or a private dataset `hf://datasets/OWNER/NAME`. Default:
    a folder beside a local private store. Where the private store is a bucket, it has to be set."""
    ephemeral_store: Literal["refuse", "allow"] = "refuse"
    """`allow`: the board starts with `SPACE_ID` set although a store is on the root file system, which a Space loses at
    each restart. For machines of your own that set `SPACE_ID` for sign-in."""
    work_dir: Path = Path(".hannun/work")
    """Running jobs, downloaded models and datasets, cached answers, mirrors of Hub stores. After a restart a job
    continues from here."""
    models_dir: Path | None = None
    """Folder with models as `owner/name` folders. An ID found there is used from there; every other ID is looked up on
    the Hub."""
    data: dict[str, str] = {}
    """Benchmark → `PATH[#SPLIT]` or `hf://datasets/OWNER/NAME[@REVISION][#SPLIT]`, e.g. `{"ko-vqa": "/data/ko-vqa"}`.
    The split is `test` unless named. A benchmark that is not named uses its sample set."""
    data_abroad: list[str] = []
    """Benchmarks whose test sets may leave this machine although their terms keep them in the country (`["ko-vqa"]`).
    Without it `hf://` data of KO-VQA and KO-VDC is refused, and so are APIs, embedding servers and Jobs on other
    machines for them."""
    data_token: SecretStr | None = None
    """Reads private Hub datasets named in `HANNUN_DATA` or `--data`. Models are never fetched with it."""
    hub_token: SecretStr | None = None
    """Reads and writes stores on the Hub, starts Jobs, opens pull requests with results. Models are never fetched with
    it."""
    hub_token_file: Path | None = None
    """A file whose first line is that token, instead of `HANNUN_HUB_TOKEN`. It is read before each request to a store,
    so a token can be replaced while board and worker run."""
    eval_datasets: dict[str, str] = {}
    """Benchmark → public dataset under which results are offered to the repositories of models whose submitters
    agreed."""
    details_key: SecretStr | None = None
    """Keys the item ids in the private details (HMAC-SHA256). Default: created once, and kept in the private store."""
    signing_key: SecretStr | None = None
    """An Ed25519 key in PEM (`openssl genpkey -algorithm ed25519`): each result is published with a signed statement,
    `/results/KEY.intoto.json`. Publish the public half (`openssl pkey -pubout`) somewhere other than on the board."""
    fresh_seed: SecretStr | None = None
    """The seed that ko-fresh's set is drawn from, at least 32 characters: its hash is public, so it must not be
    guessable. Default: created once, and kept in the private store."""
    fresh_beacon: Annotated[str, Field(pattern=r"^https?://")] | None = None
    """Address of a drand server, such as `https://api.drand.sh`. If set, the seed also depends on a round that is
    published after the commitment ([ko-fresh.md](ko-fresh.md))."""
    fresh_n: int = Field(default=2000, ge=8, le=100_000, multiple_of=2)
    """Number of ko-fresh's questions, twins included; must be even. It is fixed for a quarter."""
    opened_books: Path | None = None
    """Folder with the datasets of revealed quarters of ko-fresh, one folder each, as `ko-fresh reveal` writes them. The
    board shows their items and all answers, and scores them again."""


class WorkerSettings(BaseModel):
    """Worker"""

    model_config = ConfigDict(use_attribute_docstrings=True)

    worker: Literal["on", "off"] = "on"
    """`off`: the board runs without a worker, and `python -m evaluator worker` runs elsewhere on the same store."""
    worker_every: Duration = timedelta(seconds=10)
    """How often the worker checks the queue."""
    lease: Duration = timedelta(minutes=30)
    """How long a claim lasts without a heartbeat."""
    heartbeat: Duration = timedelta(seconds=30)
    """How often a running evaluation writes a heartbeat, which has its progress, and copies its answers so far to the
    private store. A heartbeat is also written when a stage begins."""
    deadline: Duration = timedelta(hours=6)
    """An evaluation that takes longer fails."""
    max_fetch: Duration = timedelta(hours=2)
    """Time limit for downloading a model's files."""
    max_model_bytes: int = Field(default=200_000_000_000, ge=1)
    """Largest total size of a model's files."""
    max_cache_bytes: int = Field(default=500_000_000_000, ge=0)
    """How much of fetched models and cached answers stays on the evaluator's disk; what was used longest ago is removed
    first."""
    max_attempts: int = Field(default=3, ge=1)
    """Attempts at a request that fails for an infrastructure reason."""
    price_per_hour: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Price of the evaluating machine in US dollars per hour; results then include their cost."""
    launcher: Literal["local", "hf-jobs", "command"] = "local"
    """What runs a claimed evaluation ([scale.md](scale.md))."""
    commands: LaunchCommands | None = None
    """The commands of the launcher `command`; fields below."""
    jobs: HubJobs | None = None
    """The Jobs of the launcher `hf-jobs`; fields below."""
    slots: int = Field(default=8, ge=1)
    """How many evaluations a launcher other than `local` runs at once; one in N shards is N jobs.
    `local` runs one on each GPU, or one."""
    shards: dict[str, Annotated[int, Field(ge=1, le=64)]] = {}
    """Benchmark → processes or jobs that share its questions (`{"infochartqa": 8}`)."""
    gpu_memory: Annotated[int, Field(ge=1)] | None = None
    """Bytes of memory of one GPU where jobs of commands run: the number of GPUs for a model follows from it.
    If it is not set, jobs ask for none and run on CPUs."""


class ModelSettings(BaseModel):
    """Models and answers"""

    model_config = ConfigDict(use_attribute_docstrings=True)

    limit: int | None = Field(default=None, ge=1)
    """Evaluates only the first N items (a trial: the row shows it and has no rank)."""
    max_pixels: int = Field(default=MAX_PIXELS, ge=784)
    """Larger images are scaled down to this many pixels before a model sees them. At least 784."""
    latency_samples: int = Field(default=100, ge=0)
    """Number of questions asked again one at a time, for latency and for batch invariance."""
    max_score_changes: float = Field(default=0.02, ge=0, le=1)
    """Share of those questions whose score may differ from the batched one; above it everything is asked again in
    smaller batches, finally one at a time."""
    max_reasoning_tokens: int = Field(default=MAX_REASONING_TOKENS, ge=0)
    """Tokens for a model's reasoning, besides those of its answer. Rows with another budget have no rank."""
    device_memory: Annotated[int, Field(ge=1)] | None = None
    """Total bytes of memory of the worker's devices. A model that needs more is refused by the check. Default: this
    machine's, if the worker runs here."""
    server: str | None = None
    """Command that starts a model server, with `{model}`, `{port}` and optionally `{precision}`; it then answers
    instead of the built-in chat engine ([models.md](models.md#servers))."""
    apis: dict[str, ApiModel] = {}
    """Name → a model behind an API, for `submit --api NAME`; fields below."""
    embeddings: EmbeddingServer | None = None
    """An embedding server for benchmarks that score by the similarity of texts (KO-OCRAG); fields below."""


class BoardSettings(BaseModel):
    """Board"""

    model_config = ConfigDict(use_attribute_docstrings=True)

    auth: Literal["off", "oauth"] = Field(default_factory=lambda: "oauth" if "SPACE_ID" in os.environ else "off")
    """Whether visitors sign in with Hugging Face before they submit. Default: `oauth` on a Space, else `off`. `oauth`
    outside of a Space needs the variables below."""
    quota: dict[str, Annotated[int, Field(ge=1)]] = {}
    """Benchmark → submissions that a signed-in person, and an organisation for its own models, may make within the
    window. A benchmark that is not named has 1."""  # DEFAULT_QUOTA in submissions/queue/quota.py
    # At most 31 days: the index keeps closed requests for twice that time (KEEP_CLOSED_FOR in submissions/store/index.py).
    quota_window: Duration = Field(default=timedelta(days=7), le=timedelta(days=31))
    """The window of the quota, at most `31d`."""
    static: str | None = None
    """A folder or `hf://spaces/ORG/NAME` to which the worker writes the board as files after each evaluation
    ([deploy-by-hand.md](deploy-by-hand.md#the-board-as-files))."""
    static_address: Annotated[str, Field(pattern=r"^https?://")] | None = None
    """The address at which those files are served."""
    live_address: Annotated[str, Field(pattern=r"^https?://")] | None = None
    """The address of the board that takes submissions, to which those files link."""
    source_code: Annotated[str, Field(pattern=r"^https://")] | None = Field(
        default_factory=lambda: _space_address("tree/main")
    )
    """Address (`https://…`) of the board's code, to which the footer of all pages leads. Default: on a Space, its
    files; elsewhere the footer leaves it out."""
    contact: Annotated[str, Field(pattern=r"^(https://|mailto:)")] | None = Field(
        default_factory=lambda: _space_address("discussions")
    )
    """Address (`https://…` or `mailto:…`) of the people who run the board, in the same place. Default: on a Space, its
    discussions."""
    log: Literal["text", "json"] = "text"
    """`json`: each line of the log is an object with `time`, `level`, `logger`, `message` and, after an error,
    `traceback`."""
    host: str = Field(
        default="127.0.0.1", validation_alias=AliasChoices("HANNUN_HOST", GRADIO_VARIABLES["HANNUN_HOST"])
    )
    """The address the board listens on. If it is not set, `GRADIO_SERVER_NAME` is used."""
    port: int = Field(
        default=7860, ge=1, le=65535, validation_alias=AliasChoices("HANNUN_PORT", GRADIO_VARIABLES["HANNUN_PORT"])
    )
    """The port the board listens on. If it is not set, `GRADIO_SERVER_PORT` is used."""


class Settings(BoardSettings, ModelSettings, WorkerSettings, StoreSettings, BaseSettings):
    """All settings of an installation, with the checks of values that a type cannot express."""

    model_config = SettingsConfigDict(
        env_prefix="HANNUN_", env_ignore_empty=True, extra="ignore", populate_by_name=True
    )

    @field_validator("fresh_seed")
    @classmethod
    def _check_seed_length(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value) < MIN_SEED_CHARS:
            raise ValueError(f"a seed has at least {MIN_SEED_CHARS} characters, this one has {len(value)}")
        return value

    @field_validator("hub_token", "data_token")
    @classmethod
    def _check_token(cls, value: SecretStr | None) -> SecretStr | None:
        """Remove white space around a token. Reject a token with other invalid characters: libraries quote it in errors."""
        if value is None:
            return None
        token = value.get_secret_value().strip()
        if token and not is_token(token):
            raise ValueError("has characters that no token has")
        return SecretStr(token)

    @field_validator("server")
    @classmethod
    def _check_server(cls, value: str | None) -> str | None:
        if value is not None:
            server_words(value)  # raises ValueError if the command is malformed
        return value

    @field_validator("hub_token_file")
    @classmethod
    def _check_token_file(cls, value: Path | None) -> Path | None:
        """Check the token file at start-up. Later it may be missing briefly while the token is being replaced."""
        token = _first_line(value) if value else None
        if value and not token:
            raise ValueError(f"{value} cannot be read, or its first line is empty")
        if token and not is_token(token):
            raise ValueError(f"the first line of {value} has characters that no token has")
        return value

    @field_validator("signing_key")
    @classmethod
    def _check_signing_key(cls, value: SecretStr | None) -> SecretStr | None:
        """Check the key at start-up. Otherwise it would fail when the first evaluation, after hours, is to be published."""
        if value:
            # Imported here, because this is slow and few installations need it.
            from submissions.records.signed_statement import private_key

            private_key(value.get_secret_value())
        return value

    @model_validator(mode="after")
    def _check_stores(self) -> Self:
        """Reject addresses with spaces around them, and one store for two purposes.

        The private store holds answers by item, which would leak the test sets.
        """
        if overlap(self.store, self.private_store):
            raise ValueError(
                "HANNUN_STORE and HANNUN_PRIVATE_STORE must be two stores, which do not lie one inside the other: the private "
                "one holds answers"
            )
        queue = self.private_queue_address
        if queue and (overlap(queue, self.store) or overlap(queue, self.private_store)):
            raise ValueError(f"set HANNUN_PRIVATE_QUEUE to a store of its own: private evaluations would be in {queue}")
        for name, url in self.stores.items():
            if url != url.strip():
                raise ValueError(f"{name} begins or ends with a space")
        return self

    def with_store(self, store: str | None) -> Self:
        """Return settings with another public store. Raises SettingsError if `store` is one of the private stores."""
        for private in (self.private_store, self.private_queue_address):
            if store and private and overlap(store, private):
                raise SettingsError(f"{store} is private: it holds answers and names; name another store")
        return self.model_copy(update={"store": store}) if store else self

    @property
    def stores(self) -> dict[str, str]:
        """Return the addresses of the stores that are set, by the variable that sets them."""
        stores = {
            "HANNUN_STORE": self.store,
            "HANNUN_PRIVATE_STORE": self.private_store,
            "HANNUN_PRIVATE_QUEUE": self.private_queue,
        }
        return {name: url for name, url in stores.items() if url}

    @property
    def private_queue_address(self) -> str | None:
        """Return the address of the store of private evaluations, or None if this installation has none.

        By default it is beside the private store, if that is a folder.
        """
        if self.private_queue or is_remote(self.private_store):
            return self.private_queue
        return f"{Path(self.private_store.removeprefix('file://'))}-evaluations.git"

    @property
    def links(self) -> dict[str, str]:
        """Return the addresses that the footers of all pages lead to, by name."""
        given = {"source_code": self.source_code, "contact": self.contact}
        return {name: address for name, address in given.items() if address}

    @property
    def secrets(self) -> dict[str, str]:
        """Return all secrets by the name of their variable: secret settings, API keys that settings refer to, and HF_TOKEN.

        HF_TOKEN is the variable from which huggingface_hub reads a token.
        """
        secret_fields = {name: value for name, value in self if isinstance(value, SecretStr)}
        found = {f"HANNUN_{name.upper()}": value.get_secret_value() for name, value in secret_fields.items()}
        if token := self.hub_token_value:  # the current one, which may come from a file
            found["HANNUN_HUB_TOKEN"] = token
        for name in sorted({"HF_TOKEN", *self._key_variables}):
            if name in os.environ:
                found[name] = os.environ[name]
        return found

    @property
    def _key_variables(self) -> set[str]:
        """Return the names of the variables that hold the API keys of HANNUN_APIS and HANNUN_EMBEDDINGS."""
        names = {api.options.key for api in self.apis.values()}
        if self.embeddings:
            names.add(self.embeddings.key)
        return names

    @property
    def unknown_variables(self) -> dict[str, str | None]:
        """Return the HANNUN_* variables that are not settings, each with the setting of the most similar name or None."""
        known = {*(f"HANNUN_{name.upper()}" for name in type(self).model_fields), API_KEY, *self._key_variables}
        unknown = [name for name in os.environ if name.startswith("HANNUN_") and name not in known]
        found: dict[str, str | None] = {}
        for name in sorted(unknown):
            similar = get_close_matches(name, known, n=1)
            found[name] = similar[0] if similar else None
        return found

    def variables(self, without: Collection[str]) -> dict[str, str]:
        """Return the environment variables that hold settings, except secret ones and those in `without`.

        A job on another machine gets them.
        """
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
    except (OSError, UnicodeDecodeError):
        return None


def load_settings(benchmarks: Collection[str] | None = None) -> Settings:
    """Return the settings of this environment. Raises SettingsError if one of them is invalid.

    If `benchmarks` is given, a setting that names any other benchmark is also invalid.
    """
    try:
        settings = Settings()
    except ValidationError as error:
        raise SettingsError(_first_error(error)) from None
    except UnreadableError as error:  # its text names the field: error parsing value for field "apis" from source …
        name = str(error).partition('field "')[2].partition('"')[0].upper()
        raise SettingsError(f"setting HANNUN_{name}: not valid JSON: {error.__cause__}") from None
    if benchmarks is not None:
        _check_benchmarks(settings, benchmarks)
    for name, similar in settings.unknown_variables.items():
        _warn(f"unknown setting {name}" + (f"; did you mean {similar}?" if similar else ""))
    return settings


def _check_benchmarks(settings: Settings, benchmarks: Collection[str]) -> None:
    """Raise SettingsError if a setting names a benchmark that does not exist."""
    for name in KEYED_BY_BENCHMARK:
        unknown = [key for key in getattr(settings, name) if key not in benchmarks]
        if unknown:
            known = ", ".join(benchmarks)
            raise SettingsError(f"setting HANNUN_{name.upper()}: unknown benchmark {unknown[0]!r}; available: {known}")


def _first_error(error: ValidationError) -> str:
    """Describe the first invalid setting by its variable, the field within its JSON, and the reason.

    `setting HANNUN_APIS: gpt.max_cost: Input should be greater than 0`
    """
    first = error.errors()[0]
    reason = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return reason
    # `options` is not a field that the operator writes: `ApiModel` gathers the fields of HANNUN_APIS into it.
    variable, *inner = (str(part) for part in first["loc"] if part != "options")
    # Pydantic names a field that has an alias by the alias, "HANNUN_PORT", and any other by its own name, "slots".
    name = f"HANNUN_{variable.upper().removeprefix('HANNUN_')}"
    if name not in os.environ:
        name = GRADIO_VARIABLES.get(name, name)  # the variable that the invalid value was read from
    field = f"{'.'.join(inner)}: " if inner else ""
    return f"setting {name}: {field}{reason}"


@cache
def _warn(message: str) -> None:
    """Log a warning once, even if the settings are read several times."""
    log.warning(message)

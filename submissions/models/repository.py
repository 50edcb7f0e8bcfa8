"""A model's repository before it is queued: every file but its weights, and of those the headers.

All reading is done here, once; the checks in `submissions.checks.model_checks` read nothing.
"""

import hashlib
import json
import re
from collections.abc import Callable, Container, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from httpx2 import HTTPError
from huggingface_hub import (
    HfApi,
    ModelCard,
    get_local_safetensors_metadata,
    get_session,
    hf_hub_download,
    hf_hub_url,
)
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]
from yaml import YAMLError

from submissions.errors import RefusedError
from submissions.messages import RefusalCode
from submissions.models.architectures import architectures
from submissions.models.quantization import parameters
from submissions.records import MODEL_ID

FETCHED = (
    "*.safetensors",
    "*.json",
    "*.txt",
    "*.model",
    "*.jinja",
    "*.tiktoken",
)  # weights and words: no code, no pickles
CODE = "*.py"  # fetched too where the operator has approved it
MAX_FILES = 1000
MAX_TEXT = 10_000_000  # bytes of a file that is read here; a longer one counts as unreadable
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
ADAPTER, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
# Everything that transformers takes settings from.
TEXTS = (
    "config.json",
    "generation_config.json",
    "tokenizer_config.json",
    "processor_config.json",
    "preprocessor_config.json",
    "video_preprocessor_config.json",
    "chat_template.json",
    "chat_template.jinja",
    "special_tokens_map.json",
    ADAPTER,
    INDEX,
)
ADAPTER_INDEX = "adapter_model.safetensors.index.json"
VOCABULARIES = ("tokenizer.json", "vocab.json", "added_tokens.json")
PROCESSORS = {"processor_config.json", "preprocessor_config.json"}  # one of them is there where images are taken
CONNECTIONS = 8
MAX_BRANCHES = 20  # whose history a commit is looked for in
MAX_HEADERS = 20_000_000  # bytes of all weight files' headers; 50,000 tensors take 7 MB
TIMEOUT = 30.0  # seconds


@dataclass(frozen=True)
class Header:
    """The description at the beginning of a safetensors file."""

    tensors: int
    params: int


@dataclass(frozen=True)
class ModelConfig:
    """A config.json that transformers could read."""

    values: dict[str, Any]
    model_type: str
    class_names: list[str]


@dataclass(frozen=True)
class Repository:
    """A model's files at one revision, as far as they are read."""

    model_id: str
    revision: str  # 40 hex: the commit, or the content hash of a local folder
    license: str | None
    sizes: dict[str, int]  # bytes by name, of all files
    texts: dict[str, bytes] = field(repr=False)  # those of TEXTS that are there
    headers: dict[str, Header | None]  # by weight file that a model is loaded from; None: unreadable, or not there
    base_model: str | None = None  # what its card says it was made from
    base: "Repository | None" = None  # of an adapter: what it is put on

    @cached_property
    def config(self) -> ModelConfig:
        """Raises RefusedError where it is missing or names no model type."""
        values = parsed_json("config.json", self.texts.get("config.json", b""))
        model_type = values.get("model_type")
        class_names = values.get("architectures") or []
        if not isinstance(model_type, str) or not model_type:
            raise RefusedError(RefusalCode.NO_CONFIG, "model_type")
        if not isinstance(class_names, list) or not all(isinstance(name, str) for name in class_names):
            raise RefusedError(RefusalCode.NO_CONFIG, "architectures")
        return ModelConfig(values, model_type, class_names)

    @cached_property
    def needs_code(self) -> bool:
        """Whether the model runs by the Python files of its repository only: an architecture that transformers has
        runs by its own code, whatever `auto_map` a config still has. Raises RefusedError where there is no config."""
        known = architectures()
        native = any(self.config.model_type in known[kind] for kind in ("image", "text", "extractive"))
        return "auto_map" in self.config.values and not native

    @property
    def fetched(self) -> dict[str, int]:
        """Bytes by name of what an evaluator fetches."""
        return {name: size for name, size in self.sizes.items() if any(fnmatch(name, own) for own in FETCHED)}

    @property
    def code(self) -> list[str]:
        """The names of its Python files."""
        return sorted(name for name in self.sizes if fnmatch(name, CODE))


def local_model(model_id: str, models_dir: Path | None) -> Path | None:
    """The folder of a model kept under HANNUN_MODELS_DIR, or None. The ID must already be well-formed."""
    folder = models_dir / model_id if models_dir else None
    return folder if folder and folder.is_dir() else None


def content_revision(source: Path) -> str:
    """40 hex digits over the names and contents of a folder or file: its revision where there is no commit."""
    digest = hashlib.sha256()
    for path in sorted(p for p in source.rglob("*") if p.is_file()) if source.is_dir() else [source]:
        relative = path.relative_to(source)
        if any(part.startswith(".") for part in relative.parts):
            continue
        with path.open("rb") as file:
            digest.update(f"{relative.as_posix()}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()[:40]


def code_digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of each Python file of a model, by name: what an operator approves, and what may run."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob(CODE))
    }


def open_repository(model_id: str, revision: str | None, models_dir: Path | None) -> Repository:
    """A model on the Hub, or under `models_dir` where it is there. An adapter comes with its base model.

    Raises RefusedError where it cannot be read.
    """
    return with_base(_open(model_id, revision, models_dir), models_dir)


def with_base(repository: Repository, models_dir: Path | None) -> Repository:
    """An adapter with its base model; any other as it is. Raises RefusedError where the base cannot be read."""
    if not is_adapter(repository.sizes):
        return repository
    settings = parsed_json(ADAPTER, repository.texts.get(ADAPTER, b""))
    base_id, base_revision = settings.get("base_model_name_or_path"), settings.get("revision")
    if not isinstance(base_id, str) or not re.fullmatch(MODEL_ID, base_id, re.ASCII):
        raise RefusedError(RefusalCode.NO_BASE, f"{ADAPTER}: base_model_name_or_path {str(base_id)[:100]!r}")
    try:
        base = _open(base_id, base_revision if isinstance(base_revision, str) else None, models_dir)
    except RefusedError as refused:
        if refused.code == RefusalCode.HUB_UNREACHABLE:
            raise
        raise RefusedError(RefusalCode.NO_BASE, f"{base_id}: {refused.code}") from refused
    if is_adapter(base.sizes):
        raise RefusedError(RefusalCode.NO_BASE, f"{base_id}: {ADAPTER}")
    return replace(repository, base=base)


def is_settings(name: str) -> bool:
    """Whether a file may hold settings: vocabularies and lists of tensors have names of any kind for keys."""
    return name.endswith(".json") and name.rpartition("/")[2] not in (*VOCABULARIES, INDEX, ADAPTER_INDEX)


def is_adapter(names: Container[str]) -> bool:
    """Whether a folder with these files holds an adapter alone, no model; some have the base's config beside it."""
    alone = "config.json" not in names or ADAPTER_WEIGHTS in names
    return ADAPTER in names and alone and WEIGHTS not in names and INDEX not in names


def _open(model_id: str, revision: str | None, models_dir: Path | None) -> Repository:
    if not re.fullmatch(MODEL_ID, model_id, re.ASCII):
        raise RefusedError(RefusalCode.MALFORMED_ID)
    if folder := local_model(model_id, models_dir):
        return folder_repository(model_id, folder)
    try:
        return _hub_repository(model_id, revision)
    except GatedRepoError as error:
        raise RefusedError(RefusalCode.GATED) from error
    except RevisionNotFoundError as error:
        raise RefusedError(RefusalCode.REVISION_NOT_FOUND) from error
    except RepositoryNotFoundError as error:
        raise RefusedError(RefusalCode.NOT_FOUND) from error
    except (HTTPError, OSError) as error:
        raise RefusedError(RefusalCode.HUB_UNREACHABLE) from error


def folder_repository(model_id: str, folder: Path) -> Repository:
    """A model in a local folder."""
    sizes = {p.relative_to(folder).as_posix(): p.stat().st_size for p in folder.rglob("*") if p.is_file()}
    path = folder / "README.md"
    try:
        card = ModelCard.load(path).data if path.exists() else None
    except (ValueError, YAMLError):  # a card without readable front matter names no licence
        card = None
    texts = {name: (folder / name).read_bytes() for name in _readable(sizes)}
    config = json_or_nothing("config.json", texts)

    def header(name: str) -> Header | None:
        return _header(sizes, name, lambda: get_local_safetensors_metadata(folder / name).files_metadata[name], config)

    headers = {name: header(name) for name in _weight_files(sizes, texts)}
    license, base_model = _words(card, "license"), _words(card, "base_model")
    return Repository(model_id, content_revision(folder), license, sizes, texts, headers, base_model)


def _hub_repository(model_id: str, revision: str | None) -> Repository:
    api = HfApi()
    info = api.model_info(model_id, revision=revision, files_metadata=True)
    if info.gated:
        raise RefusedError(RefusalCode.GATED)
    if info.private or info.disabled or not info.sha:
        raise RefusedError(RefusalCode.NOT_FOUND)
    sha = info.sha
    if revision is not None and not _in_a_branch(api, model_id, revision, sha):
        raise RefusedError(RefusalCode.REVISION_NOT_FOUND, "no branch, no tag, and in no branch's history")
    model_id = info.id  # as its owner writes it: a renamed model, or one in other letter case, is still the same
    if not re.fullmatch(MODEL_ID, model_id, re.ASCII):
        raise RefusedError(RefusalCode.NOT_FOUND)
    sizes = {s.rfilename: s.size or 0 for s in info.siblings or []}

    with TemporaryDirectory() as scratch, ThreadPoolExecutor(CONNECTIONS) as pool:  # nothing of it stays on the disk

        def read(name: str) -> bytes:
            return Path(hf_hub_download(model_id, name, revision=sha, cache_dir=scratch)).read_bytes()

        readable = _readable(sizes)
        texts = dict(zip(readable, pool.map(read, readable), strict=True))
        config = json_or_nothing("config.json", texts)

        def header(name: str) -> Header | None:
            parse = partial(api.parse_safetensors_file_metadata, model_id, name, revision=sha)
            return _header(sizes, name, parse, config)

        weights = _weight_files(sizes, texts)
        _check_header_lengths(model_id, [name for name in weights if name in sizes], sha, pool)
        headers = dict(zip(weights, pool.map(header, weights), strict=True))
    license, base_model = _words(info.card_data, "license"), _words(info.card_data, "base_model")
    return Repository(model_id, sha, license, sizes, texts, headers, base_model)


def _in_a_branch(api: HfApi, model_id: str, revision: str, sha: str) -> bool:
    """Whether a revision is the owner's: a branch, a tag, or a commit in a branch's history. The Hub also gives the
    commits of pull requests, which anybody may open."""
    refs = api.list_repo_refs(model_id)
    if revision in {ref.name for ref in (*refs.branches, *refs.tags)}:
        return True
    if sha in {ref.target_commit for ref in (*refs.branches, *refs.tags)}:
        return True
    branches = sorted((ref.name for ref in refs.branches), key=lambda name: name != "main")
    histories = (api.list_repo_commits(model_id, revision=name) for name in branches[:MAX_BRANCHES])
    return any(commit.commit_id == sha for history in histories for commit in history)


def _check_header_lengths(model_id: str, names: Iterable[str], sha: str, pool: ThreadPoolExecutor) -> None:
    """What describes the tensors is of kilobytes a thousand of them. Raises RefusedError before more is read."""

    def length(name: str) -> int:
        url = hf_hub_url(model_id, name, revision=sha)
        response = get_session().get(url, headers={**build_hf_headers(), "Range": "bytes=0-7"}, timeout=TIMEOUT)
        response.raise_for_status()
        return int.from_bytes(response.content[:8], "little")

    if (total := sum(pool.map(length, names))) > MAX_HEADERS:
        raise RefusedError(RefusalCode.BROKEN_WEIGHTS, f"{total:,} > {MAX_HEADERS:,} bytes of headers")


def _readable(sizes: dict[str, int]) -> list[str]:
    return [name for name in TEXTS if 0 < sizes.get(name, 0) <= MAX_TEXT]


def _weight_files(sizes: dict[str, int], texts: dict[str, bytes]) -> list[str]:
    """The files transformers loads the weights from, those that an index names and are not there included."""
    if is_adapter(sizes):
        return [ADAPTER_WEIGHTS] if ADAPTER_WEIGHTS in sizes else []
    if WEIGHTS in sizes:
        return [WEIGHTS]
    try:
        names: set[str] = set(json.loads(texts[INDEX])["weight_map"].values())
        return sorted(name for name in names if isinstance(name, str))[:MAX_FILES]
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return []


def _header(sizes: Mapping[str, int], name: str, read: Callable[[], Any], config: Mapping[str, Any]) -> Header | None:
    """Of a SafetensorsFileMetadata. Strangers write these: whatever is wrong with one, it is unreadable, and so is one that claims too much."""
    if name not in sizes:
        return None
    try:
        tensors = {key: (t.dtype, t.shape) for key, t in read().tensors.items()}
        header = Header(len(tensors), parameters(tensors, config))
    except (HTTPError, OSError):
        raise
    except Exception:
        return None
    return header if 0 <= header.params <= 8 * sizes[name] else None  # not even one bit each


def json_or_nothing(name: str, texts: Mapping[str, bytes]) -> dict[str, Any]:
    """The JSON object of a file, empty where there is none that can be read."""
    try:
        return parsed_json(name, texts.get(name, b"{}"))
    except RefusedError:
        return {}


def parsed_json(name: str, content: bytes) -> dict[str, Any]:
    """A JSON object of a repository's. Raises RefusedError where it is none."""
    try:
        parsed = json.loads(content)
        if isinstance(parsed, dict):
            return parsed
    except (ValueError, RecursionError):
        pass
    raise RefusedError(RefusalCode.NO_CONFIG, name)


def _words(card: Any, name: str) -> str | None:
    """What a card says under a name: a word, or the words of a list."""
    found = getattr(card, name, None)
    words = found if isinstance(found, list) else [found]
    return ", ".join(word.strip() for word in words if isinstance(word, str) and word.strip())[:200] or None

"""A model's repository before it is queued: every file but its weights, and of those the headers.

All reading is done here and in `open_repository`, once; the checks in `submissions.checks.model_checks` read nothing.
"""

import hashlib
import json
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import Any

from httpx2 import HTTPError
from huggingface_hub import ModelCard, get_local_safetensors_metadata
from yaml import YAMLError

from submissions.hub_models.architectures import architectures
from submissions.hub_models.quantization import parameters
from submissions.texts.errors import RefusedError
from submissions.texts.refusals import RefusalCode

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
LENGTH_BYTES = 8  # at the start of a safetensors file: the length of its header
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


def check_links(folder: Path) -> None:
    """Raise RefusedError if a link in a model's folder leads out of it.

    In a Hub cache, `models--OWNER--NAME/snapshots/REVISION`, links lead into the `blobs` beside the snapshots.
    """
    whole = folder.resolve()
    cached = whole.parent.name == "snapshots" and whole.parent.parent.name.startswith("models--")
    allowed = [whole, *([whole.parent.parent / "blobs"] if cached else [])]
    for path in folder.rglob("*"):
        if not path.is_symlink():
            continue
        try:
            inside = any(path.resolve(strict=True).is_relative_to(place) for place in allowed)
        except (OSError, RuntimeError):  # it leads nowhere, or to itself
            inside = False
        if not inside:
            raise RefusedError(RefusalCode.OUTSIDE_LINK, path.relative_to(folder).as_posix()[:100])


def code_digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of each Python file of a model, by name: what an operator approves, and what may run."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob(CODE))
    }


def is_settings(name: str) -> bool:
    """Whether a file may hold settings: vocabularies and lists of tensors have names of any kind for keys."""
    return name.endswith(".json") and name.rpartition("/")[2] not in (*VOCABULARIES, INDEX, ADAPTER_INDEX)


def is_adapter(names: Container[str]) -> bool:
    """Whether a folder with these files holds an adapter alone, no model; some have the base's config beside it."""
    alone = "config.json" not in names or ADAPTER_WEIGHTS in names
    return ADAPTER in names and alone and WEIGHTS not in names and INDEX not in names


def folder_repository(model_id: str, folder: Path) -> Repository:
    """Return a model in a local folder. Raises RefusedError for a link that leaves the folder."""
    check_links(folder)
    sizes = {p.relative_to(folder).as_posix(): p.stat().st_size for p in folder.rglob("*") if p.is_file()}
    path = folder / "README.md"
    try:
        card = ModelCard.load(path).data if path.exists() else None
    except (ValueError, YAMLError):  # a card without readable front matter names no licence
        card = None
    texts = {name: (folder / name).read_bytes() for name in readable_texts(sizes)}
    config = json_or_nothing("config.json", texts)

    def header(name: str) -> Header | None:
        def read() -> Any:
            return get_local_safetensors_metadata(folder / name).files_metadata[name]

        return read_header(sizes, name, _header_bytes(folder / name), read, config)

    headers = {name: header(name) for name in weight_files(sizes, texts)}
    license, base_model = card_words(card, "license"), card_words(card, "base_model")
    return Repository(model_id, content_revision(folder), license, sizes, texts, headers, base_model)


def readable_texts(sizes: dict[str, int]) -> list[str]:
    return [name for name in TEXTS if 0 < sizes.get(name, 0) <= MAX_TEXT]


def weight_files(sizes: dict[str, int], texts: dict[str, bytes]) -> list[str]:
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


def read_header(
    sizes: Mapping[str, int], name: str, header_bytes: int, read: Callable[[], Any], config: Mapping[str, Any]
) -> Header | None:
    """Return the header of a weight file, None if it is unreadable, claims too much or the file is cut off.

    `read` returns its SafetensorsFileMetadata. Strangers write these, so any error in it makes the file unreadable.
    """
    if name not in sizes:
        return None
    try:
        tensors = read().tensors
        header = Header(len(tensors), parameters({key: (t.dtype, t.shape) for key, t in tensors.items()}, config))
        data = max((t.data_offsets[1] for t in tensors.values()), default=0)
    except (HTTPError, OSError):
        raise
    except Exception:
        return None
    whole = sizes[name] == LENGTH_BYTES + header_bytes + data
    return header if whole and 0 <= header.params <= 8 * sizes[name] else None  # not even one bit each


def _header_bytes(path: Path) -> int:
    """Return the length of a safetensors file's header, which its first bytes name; 0 if there is no such file."""
    try:
        with path.open("rb") as file:
            return int.from_bytes(file.read(LENGTH_BYTES), "little")
    except OSError:
        return 0


def json_or_nothing(name: str, texts: Mapping[str, bytes]) -> dict[str, Any]:
    """The JSON object of a file, empty where there is none that can be read."""
    try:
        return parsed_json(name, texts.get(name, b"{}"))
    except RefusedError:
        return {}


def parsed_json(name: str, content: bytes) -> dict[str, Any]:
    """Return a JSON object of a repository. Raises RefusedError if it is not one."""
    try:
        parsed = json.loads(content)
        if isinstance(parsed, dict):
            return parsed
    except (ValueError, RecursionError):
        pass
    raise RefusedError(RefusalCode.NO_CONFIG if name == "config.json" else RefusalCode.BROKEN_JSON, name)


def card_words(card: Any, name: str) -> str | None:
    """What a card says under a name: a word, or the words of a list."""
    found = getattr(card, name, None)
    words = found if isinstance(found, list) else [found]
    return ", ".join(word.strip() for word in words if isinstance(word, str) and word.strip())[:200] or None

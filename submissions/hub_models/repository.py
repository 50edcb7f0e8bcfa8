"""Represent a model's repository: its settings files, its file sizes, and the headers of its weight files.

A repository is read once, by `folder_repository` here or, from the Hub, by `submissions/hub_models/open_repository.py`. The
checks in `submissions/checks/model_checks.py` and `facts_of` in `model_facts.py` beside this file use the result and read no
files. Files are untrusted: they may be huge, broken, or links that lead out of the folder.
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

from submissions.hub_models.architectures import is_supported
from submissions.hub_models.quantization import parameters
from submissions.texts.errors import RefusedError
from submissions.texts.refusals import RefusalCode

# Files that an evaluator downloads: weights, settings and vocabularies, but no code and no pickles.
FETCHED_PATTERNS = (
    "*.safetensors",
    "*.json",
    "*.txt",
    "*.model",
    "*.jinja",
    "*.tiktoken",
)
CODE_PATTERN = "*.py"  # downloaded too if the operator has approved the code
MAX_DOWNLOADED_FILES = 1000
MAX_SETTINGS_BYTES = 10_000_000  # a longer settings file counts as unreadable
LENGTH_BYTES = 8  # a safetensors file starts with the length of its header

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"  # of weights in several files: {"weight_map": {tensor: file}}
ADAPTER = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"
ADAPTER_INDEX = "adapter_model.safetensors.index.json"
# Small files that are read in full: all that transformers reads settings from, and the weight index.
READ_FILES = (
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
VOCABULARIES = ("tokenizer.json", "vocab.json", "added_tokens.json")
PROCESSORS = {"processor_config.json", "preprocessor_config.json"}  # a model that takes images has one of them


Shapes = Mapping[str, tuple[int, ...]]  # the shapes of tensors, by name


def _is_fetched(name: str) -> bool:
    """Return whether an evaluator downloads a file, without approval of the model's code."""
    return any(fnmatch(name, pattern) for pattern in FETCHED_PATTERNS)


@dataclass(frozen=True)
class Header:
    """The number of tensors and parameters in a safetensors file, and the tensors' shapes, from its header."""

    tensors: int
    params: int
    shapes: Shapes = field(default_factory=dict)


@dataclass(frozen=True)
class ModelConfig:
    """A config.json that names a model type."""

    values: dict[str, Any]  # the whole file, parsed
    model_type: str  # such as "qwen2_vl"
    class_names: list[str]  # such as ["Qwen2VLForConditionalGeneration"]


@dataclass(frozen=True)
class Repository:
    """A model's files at one revision, without the weights."""

    model_id: str
    revision: str  # 40 hex: the commit, or the content hash of a local folder
    license: str | None
    sizes: dict[str, int]  # bytes by name, of all files
    settings_files: dict[str, bytes] = field(repr=False)  # content by name, of the files in READ_FILES that exist
    headers: dict[str, Header | None]  # by name of the weight file; None: unreadable or missing
    base_model: str | None = None  # ID of the model that it was made from, as its card names it
    base: "Repository | None" = None  # of an adapter: the model that it is applied to, read by `with_base`
    declared_base: "Repository | None" = None  # of a full model: the model `base_model`, read by `with_declared_base`

    @cached_property
    def config(self) -> ModelConfig:
        """Return the parsed config.json. Raises RefusedError if it is missing, broken or names no model type."""
        values = parsed_json("config.json", self.settings_files.get("config.json", b""))
        model_type = values.get("model_type")
        class_names = values.get("architectures") or []
        if not isinstance(model_type, str) or not model_type:
            raise RefusedError(RefusalCode.NO_CONFIG, "model_type")
        if not isinstance(class_names, list) or not all(isinstance(name, str) for name in class_names):
            raise RefusedError(RefusalCode.NO_CONFIG, "architectures")
        return ModelConfig(values, model_type, class_names)

    @cached_property
    def needs_code(self) -> bool:
        """Return whether the model needs the Python files of its repository.

        The setting `auto_map` of a config names classes in these files. An architecture that transformers supports runs
        without them all the same. Raises RefusedError if there is no valid config.
        """
        return "auto_map" in self.config.values and not is_supported(self.config.model_type)

    @property
    def shapes(self) -> Shapes:
        """Return the shapes of all tensors by name."""
        headers = [header for header in self.headers.values() if header]
        return {name: shape for header in headers for name, shape in header.shapes.items()}

    @property
    def sizes_to_fetch(self) -> dict[str, int]:
        """Return the size in bytes of each file that an evaluator downloads, by name."""
        return {name: size for name, size in self.sizes.items() if _is_fetched(name)}

    @property
    def code_files(self) -> list[str]:
        """Return the names of the Python files."""
        return sorted(name for name in self.sizes if fnmatch(name, CODE_PATTERN))


def local_model(model_id: str, models_dir: Path | None) -> Path | None:
    """Return the folder of a model under HANNUN_MODELS_DIR, or None. `model_id` must be well-formed."""
    folder = models_dir / model_id if models_dir else None
    return folder if folder and folder.is_dir() else None


def content_revision(source: Path) -> str:
    """Return a hash of a folder or file as 40 hex digits, the length of a git commit, as its revision.

    The hash covers names and contents. Hidden files are ignored.
    """
    digest = hashlib.sha256()
    for path in visible_files(source) if source.is_dir() else [source]:
        relative = path.relative_to(source)
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"{relative.as_posix()}\0{content}\n".encode())
    return digest.hexdigest()[:40]


def visible_files(folder: Path) -> list[Path]:
    """Return the files of a folder that are not hidden, and not in a hidden folder such as `.git`, sorted by path."""
    visible = (path for path in folder.rglob("*") if not _is_hidden(path.relative_to(folder)))
    return sorted(path for path in visible if path.is_file())


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def check_links(folder: Path) -> None:
    """Raise RefusedError if a link in a model's folder leads out of it.

    In a Hub cache, `models--OWNER--NAME/snapshots/REVISION`, links may lead to the `blobs` folder beside `snapshots`.
    """
    root = folder.resolve()
    allowed = [root]
    if root.parent.name == "snapshots" and root.parent.parent.name.startswith("models--"):
        allowed.append(root.parent.parent / "blobs")
    for path in folder.rglob("*"):
        if not path.is_symlink():
            continue
        try:
            inside = any(path.resolve(strict=True).is_relative_to(allowed_folder) for allowed_folder in allowed)
        except (OSError, RuntimeError):  # a dangling link or a loop
            inside = False
        if not inside:
            raise RefusedError(RefusalCode.OUTSIDE_LINK, path.relative_to(folder).as_posix()[:100])


def code_digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each Python file of a model by name, also of hidden ones. Approvals of code are based on these."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob(CODE_PATTERN))
        if path.is_file()
    }


def may_hold_settings(name: str) -> bool:
    """Return whether a JSON file may hold settings that are searched for code.

    In vocabularies and weight indexes, keys are arbitrary words and names of tensors, which would be taken for settings.
    """
    return name.endswith(".json") and name.rpartition("/")[2] not in (*VOCABULARIES, INDEX, ADAPTER_INDEX)


def is_adapter(names: Container[str]) -> bool:
    """Return whether a folder with these files is an adapter (PEFT) without a full model.

    An adapter may include the config of its base model, and a full model may include an adapter_config.json.
    """
    has_full_weights = WEIGHTS in names or INDEX in names
    # With a config and without the adapter's weights, it is a full model whose weights have another format, such as .bin.
    is_full_model = has_full_weights or ("config.json" in names and ADAPTER_WEIGHTS not in names)
    return ADAPTER in names and not is_full_model


def folder_repository(model_id: str, folder: Path) -> Repository:
    """Read a model from a local folder. Raises RefusedError if a link leads out of the folder."""
    check_links(folder)
    sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in visible_files(folder)}
    card_path = folder / "README.md"
    try:
        card = ModelCard.load(card_path).data if card_path.exists() else None
    except (ValueError, TypeError, YAMLError, RecursionError):  # a card without readable front matter names no licence
        card = None
    settings_files = {name: (folder / name).read_bytes() for name in readable_settings_files(sizes)}
    config = json_or_empty("config.json", settings_files)

    def header(name: str) -> Header | None:
        if name not in sizes:  # an index may name any file, also one outside of the folder, which must not be opened
            return None

        def read() -> Any:
            return get_local_safetensors_metadata(folder / name).files_metadata[Path(name).name]

        return read_header(sizes, name, _header_bytes(folder / name), read, config)

    return Repository(
        model_id=model_id,
        revision=content_revision(folder),
        license=card_field_text(card, "license"),
        sizes=sizes,
        settings_files=settings_files,
        headers={name: header(name) for name in weight_files(sizes, settings_files)},
        base_model=card_field_text(card, "base_model"),
    )


def readable_settings_files(sizes: dict[str, int]) -> list[str]:
    """Return the names of the settings files that are neither empty nor too large."""
    return [name for name in READ_FILES if 0 < sizes.get(name, 0) <= MAX_SETTINGS_BYTES]


def weight_files(sizes: dict[str, int], settings_files: dict[str, bytes]) -> list[str]:
    """Return the names of the files that transformers loads weights from, including missing files named in an index.

    For weights in two files: `["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]`.
    """
    if is_adapter(sizes):
        return [ADAPTER_WEIGHTS] if ADAPTER_WEIGHTS in sizes else []
    if WEIGHTS in sizes:
        return [WEIGHTS]
    try:
        # The index is untrusted: it may name any number of files. Each one that exists costs requests to the Hub.
        names: set[str] = set(json.loads(settings_files[INDEX])["weight_map"].values())
        return sorted(name for name in names if isinstance(name, str))[:MAX_DOWNLOADED_FILES]
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return []


def read_header(
    sizes: Mapping[str, int], name: str, header_bytes: int, read: Callable[[], Any], config: Mapping[str, Any]
) -> Header | None:
    """Return the header of a weight file, or None if the header is invalid or the file is missing or cut off.

    Args:
        sizes: The size in bytes of each file of the repository.
        name: The name of the weight file.
        header_bytes: The length of its header.
        read: Returns its SafetensorsFileMetadata, from a folder or from the Hub.
        config: The model's config, which may declare a quantisation that stores several parameters in one element.

    Raises HTTPError or OSError if the file cannot be reached. Headers are untrusted, so any other error means an invalid one.
    """
    if name not in sizes:
        return None
    try:
        tensors = read().tensors
        params = parameters({key: (tensor.dtype, tensor.shape) for key, tensor in tensors.items()}, config)
        shapes = {key: tuple(tensor.shape) for key, tensor in tensors.items()}
        data_bytes = max((tensor.data_offsets[1] for tensor in tensors.values()), default=0)  # the end of the last one
        # A safetensors file is the length of the header, the header, and the data of all tensors.
        is_complete = sizes[name] == LENGTH_BYTES + header_bytes + data_bytes
        is_possible = 0 <= params <= 8 * sizes[name]  # a parameter takes at least one bit
    except (HTTPError, OSError):  # the file could not be reached, which says nothing about the header
        raise
    except Exception:
        return None
    return Header(len(tensors), params, shapes) if is_complete and is_possible else None


def _header_bytes(path: Path) -> int:
    """Return the length of a safetensors file's header."""
    with path.open("rb") as file:
        return int.from_bytes(file.read(LENGTH_BYTES), "little")


def json_or_empty(name: str, settings_files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the JSON object in a settings file, or an empty one if the file is missing or broken."""
    try:
        return parsed_json(name, settings_files.get(name, b"{}"))
    except RefusedError:
        return {}


def parsed_json(name: str, content: bytes) -> dict[str, Any]:
    """Parse a JSON object in a repository's file. Raises RefusedError if the content is not a JSON object."""
    try:
        parsed = json.loads(content)
        if isinstance(parsed, dict):
            return parsed
    except (ValueError, RecursionError):
        pass
    raise RefusedError(RefusalCode.NO_CONFIG if name == "config.json" else RefusalCode.BROKEN_JSON, name)


def card_field_text(card: Any, name: str) -> str | None:
    """Return a field of a model card as text, or None if it is empty: ["a/b", "c/d"] -> "a/b, c/d".

    `card` is the metadata of a ModelCard, or None if there is no card. The text has at most 200 characters.
    """
    value = getattr(card, name, None)
    entries = value if isinstance(value, list) else [value]
    texts = [entry.strip() for entry in entries if isinstance(entry, str)]
    return ", ".join(text for text in texts if text)[:200] or None

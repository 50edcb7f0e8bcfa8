"""What is looked at of a model before it is queued: everything but its weights, and of those the headers.

All reading is done here, once; the checks in `submissions.checks` only think about it.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from httpx2 import HTTPError
from huggingface_hub import HfApi, ModelCard, get_local_safetensors_metadata, hf_hub_download
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError
from yaml import YAMLError

from submissions.messages import REFUSALS, RefusalCode
from submissions.records import MODEL_ID

FETCHED = ("*.safetensors", "*.json", "*.txt", "*.model", "*.jinja")  # weights and words: no code, no pickles
MAX_FILES = 1000
MAX_TEXT = 10_000_000  # bytes of a file that is read here; a longer one counts as unreadable
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
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
    INDEX,
)
CONNECTIONS = 8


class Refused(Exception):
    """The submission cannot be queued; `code` says why, `found` what was there instead."""

    def __init__(self, code: RefusalCode, found: str = "") -> None:
        super().__init__(f"{REFUSALS[code].en}{f' ({found})' if found else ''}")
        self.code = code
        self.found = found


@dataclass(frozen=True)
class Header:
    """The description at the beginning of a safetensors file."""

    tensors: int
    params: int


@dataclass(frozen=True)
class Repository:
    """A model's files at one revision, as far as they are read."""

    model_id: str
    revision: str  # 40 hex: the commit, or the content hash of a local folder
    license: str | None
    sizes: dict[str, int]  # bytes by name, of all files
    texts: dict[str, bytes] = field(repr=False)  # those of TEXTS that are there
    headers: dict[str, Header | None]  # by weight file that a model is loaded from; None: unreadable

    @property
    def fetched(self) -> dict[str, int]:
        """Bytes by name of what an evaluator fetches."""
        return {name: size for name, size in self.sizes.items() if any(fnmatch(name, own) for own in FETCHED)}


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


def open_repository(model_id: str, revision: str | None, models_dir: Path | None) -> Repository:
    """A model on the Hub, or under `models_dir` where it is there. Raises Refused where it cannot be read."""
    if not re.fullmatch(MODEL_ID, model_id, re.ASCII):
        raise Refused(RefusalCode.MALFORMED_ID)
    if folder := local_model(model_id, models_dir):
        return folder_repository(model_id, folder)
    try:
        return _hub_repository(model_id, revision)
    except GatedRepoError as error:
        raise Refused(RefusalCode.GATED) from error
    except RevisionNotFoundError as error:
        raise Refused(RefusalCode.REVISION_NOT_FOUND) from error
    except RepositoryNotFoundError as error:
        raise Refused(RefusalCode.NOT_FOUND) from error
    except (HTTPError, OSError) as error:
        raise Refused(RefusalCode.HUB_UNREACHABLE) from error


def folder_repository(model_id: str, folder: Path) -> Repository:
    """A model in a local folder."""
    sizes = {p.relative_to(folder).as_posix(): p.stat().st_size for p in folder.rglob("*") if p.is_file()}
    card = folder / "README.md"
    try:
        license = ModelCard.load(card).data.license if card.exists() else None
    except (ValueError, YAMLError):  # a card without readable front matter names no licence
        license = None

    def header(name: str) -> Header | None:
        return _header(sizes[name], lambda: get_local_safetensors_metadata(folder / name).files_metadata[name])

    texts = {name: (folder / name).read_bytes() for name in _readable(sizes)}
    headers = {name: header(name) for name in _weight_files(sizes, texts)}
    return Repository(model_id, content_revision(folder), _text_or_none(license), sizes, texts, headers)


def _hub_repository(model_id: str, revision: str | None) -> Repository:
    api = HfApi()
    info = api.model_info(model_id, revision=revision, files_metadata=True)
    if info.gated:
        raise Refused(RefusalCode.GATED)
    if info.private or info.disabled or not info.sha:
        raise Refused(RefusalCode.NOT_FOUND)
    sha = info.sha
    model_id = info.id  # as its owner writes it: a renamed model, or one in other letter case, is still the same
    if not re.fullmatch(MODEL_ID, model_id, re.ASCII):
        raise Refused(RefusalCode.NOT_FOUND)
    sizes = {s.rfilename: s.size or 0 for s in info.siblings or []}

    def header(name: str) -> Header | None:
        return _header(sizes[name], lambda: api.parse_safetensors_file_metadata(model_id, name, revision=sha))

    with TemporaryDirectory() as scratch, ThreadPoolExecutor(CONNECTIONS) as pool:  # nothing of it stays on the disk

        def read(name: str) -> bytes:
            return Path(hf_hub_download(model_id, name, revision=sha, cache_dir=scratch)).read_bytes()

        readable = _readable(sizes)
        texts = dict(zip(readable, pool.map(read, readable), strict=True))
        weights = _weight_files(sizes, texts)
        headers = dict(zip(weights, pool.map(header, weights), strict=True))
    license = info.card_data.license if info.card_data else None
    return Repository(model_id, sha, _text_or_none(license), sizes, texts, headers)


def _readable(sizes: dict[str, int]) -> list[str]:
    return [name for name in TEXTS if 0 < sizes.get(name, 0) <= MAX_TEXT]


def _weight_files(sizes: dict[str, int], texts: dict[str, bytes]) -> list[str]:
    """The files transformers loads the weights from. What the index names and is not there, stands for nothing."""
    if WEIGHTS in sizes:
        return [WEIGHTS]
    try:
        names: Iterable[str] = set(json.loads(texts[INDEX])["weight_map"].values())
        return sorted(name for name in names if name in sizes)[:MAX_FILES]
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return []


def _header(size: int, read: Callable[[], Any]) -> Header | None:
    """Of a SafetensorsFileMetadata. Strangers write these: whatever is wrong with one, it is unreadable, and so is one that claims too much."""
    try:
        metadata = read()
        header = Header(len(metadata.tensors), sum(metadata.parameter_count.values()))
    except (HTTPError, OSError):
        raise
    except Exception:
        return None
    return header if 0 <= header.params <= 8 * size else None  # not even one bit each


def _text_or_none(license: object) -> str | None:
    return license[:200] if isinstance(license, str) and license.strip() else None

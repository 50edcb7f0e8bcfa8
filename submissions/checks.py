"""What is looked at before anything is queued, without downloading weights."""

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from httpx2 import HTTPError
from huggingface_hub import HfApi, ModelCard, get_local_safetensors_metadata, hf_hub_download
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    NotASafetensorsRepoError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
    SafetensorsParsingError,
)

from submissions.catalog import BENCHMARKS
from submissions.messages import REFUSALS, RefusalCode
from submissions.records import MODEL_ID, EngineName, EvalRequest, Precision, request_key

PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16", "float16")


class Refused(Exception):
    """The submission cannot be queued; `code` says why."""

    def __init__(self, code: RefusalCode) -> None:
        super().__init__(REFUSALS[code].en)
        self.code = code


@dataclass(frozen=True)
class ModelFacts:
    """What a model repository says about itself."""

    model_id: str
    revision: str  # 40 hex: the commit, or the content hash of a local folder
    model_type: str
    engine: EngineName
    takes_images: bool
    dtype: Precision
    params: int | None
    license: str | None


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


def inspect_model(model_id: str, revision: str | None, models_dir: Path | None) -> ModelFacts:
    """Facts of a model that can be evaluated, from a local folder or the Hub. Raises Refused where it cannot."""
    if not re.fullmatch(MODEL_ID, model_id):
        raise Refused(RefusalCode.MALFORMED_ID)
    folder = local_model(model_id, models_dir)
    if folder:
        return inspect_folder(model_id, folder)
    try:
        return _inspect_hub(model_id, revision)
    except GatedRepoError as error:
        raise Refused(RefusalCode.GATED) from error
    except RevisionNotFoundError as error:
        raise Refused(RefusalCode.REVISION_NOT_FOUND) from error
    except RepositoryNotFoundError as error:
        raise Refused(RefusalCode.NOT_FOUND) from error
    except (HTTPError, OSError) as error:
        raise Refused(RefusalCode.HUB_UNREACHABLE) from error


def check_fit(facts: ModelFacts, benchmark: str) -> None:
    """Raises Refused where the model cannot take the benchmark's inputs."""
    spec = BENCHMARKS[benchmark]
    if spec.inputs == "image" and facts.engine == "extractive":
        raise Refused(RefusalCode.EXTRACTIVE_ONLY)
    if spec.inputs == "image" and not facts.takes_images:
        raise Refused(RefusalCode.NO_IMAGE_INPUT)


def build_request(
    facts: ModelFacts,
    benchmark: str,
    submitted_by: str,
    requested_revision: str | None = None,
    precision: Precision | None = None,
    share: bool = False,
) -> EvalRequest:
    """A pending request for one benchmark. Raises Refused where the model does not fit it."""
    check_fit(facts, benchmark)
    precision = precision or facts.dtype
    version = BENCHMARKS[benchmark].version
    return EvalRequest(
        key=request_key(facts.model_id, facts.revision, precision, benchmark, version),
        model_id=facts.model_id,
        requested_revision=requested_revision or "main",
        revision=facts.revision,
        precision=precision,
        benchmark=benchmark,
        benchmark_version=version,
        engine=facts.engine,
        model_type=facts.model_type,
        params=facts.params,
        license=facts.license,
        submitted_by=submitted_by,
        submitted_at=datetime.now(UTC),
        share=share,
    )


def facts_of_server(model_id: str, base_url: str) -> ModelFacts:
    """What can be known of a model behind an OpenAI-compatible server: its name there, and nothing of its weights."""
    revision = hashlib.sha256(f"{base_url} {model_id}".encode()).hexdigest()[:40]
    return ModelFacts(model_id, revision, "api", "api", takes_images=True, dtype="bfloat16", params=None, license=None)


def inspect_folder(model_id: str, folder: Path) -> ModelFacts:
    """Facts of a model kept in a local folder. Raises Refused where it cannot be evaluated."""
    try:
        params = sum(get_local_safetensors_metadata(folder).parameter_count.values())
    except (NotASafetensorsRepoError, SafetensorsParsingError) as error:
        raise Refused(RefusalCode.NO_WEIGHTS) from error
    card = folder / "README.md"
    try:
        license = ModelCard.load(card).data.license if card.exists() else None
    except ValueError:  # a card without readable front matter names no licence
        license = None
    files = {p.name for p in folder.iterdir()}
    return _facts(model_id, content_revision(folder), folder / "config.json", files, params, license)


def _inspect_hub(model_id: str, revision: str | None) -> ModelFacts:
    info = HfApi().model_info(model_id, revision=revision)
    if info.gated:
        raise Refused(RefusalCode.GATED)
    if info.private or info.disabled or not info.sha:
        raise Refused(RefusalCode.NOT_FOUND)
    files = {s.rfilename for s in info.siblings or []}
    if not any(name.endswith(".safetensors") for name in files):
        raise Refused(RefusalCode.NO_WEIGHTS)
    try:
        config = Path(hf_hub_download(model_id, "config.json", revision=info.sha))
    except EntryNotFoundError as error:
        raise Refused(RefusalCode.NO_CONFIG) from error
    license = info.card_data.license if info.card_data else None
    return _facts(model_id, info.sha, config, files, info.safetensors.total if info.safetensors else None, license)


def _facts(
    model_id: str, revision: str, config_file: Path, files: set[str], params: int | None, license: Any
) -> ModelFacts:
    try:
        config = json.loads(config_file.read_text(encoding="utf-8"))
        model_type = config["model_type"]
        architectures = config.get("architectures") or []
        if not isinstance(model_type, str) or not all(isinstance(a, str) for a in architectures):
            raise TypeError("model_type and architectures must be text")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused(RefusalCode.NO_CONFIG) from error
    if "auto_map" in config:
        raise Refused(RefusalCode.CUSTOM_CODE)
    text_config = config.get("text_config")
    nested = text_config if isinstance(text_config, dict) else {}
    named = {c.get(name) for c in (config, nested) for name in ("dtype", "torch_dtype")}
    return ModelFacts(
        model_id=model_id,
        revision=revision,
        model_type=model_type[:200],
        engine="extractive" if any(a.endswith("ForQuestionAnswering") for a in architectures) else "chat",
        takes_images="vision_config" in config or "preprocessor_config.json" in files,
        dtype=next((p for p in PRECISIONS if p in named), "float32"),
        params=params,
        license=license if isinstance(license, str) else None,
    )

"""What is looked at before anything is queued. Every check is made, and each says what it found or how to mend it."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from submissions.catalog import BENCHMARKS
from submissions.messages import CheckName, RefusalCode
from submissions.records import EngineName, EvalRequest, Precision, request_key
from submissions.repository import (
    INDEX,
    MAX_FILES,
    Refused,
    Repository,
    folder_repository,
    open_repository,
)

PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16", "float16")
ARCHITECTURES = Path(__file__).parent.parent / "assets/architectures.json"  # made by scripts.make_architectures
MAX_TENSORS = 50_000
MAX_TEMPLATE = 100_000  # characters
CODE_KEYS = {"auto_map", "custom_pipelines", "custom_generate", "trust_remote_code", "kernel_config", "use_kernels"}
# Keys with an underscore reach what transformers keeps to itself. These are plain words that its versions wrote there.
HARMLESS = {
    "_name_or_path",
    "_model_name_or_path",
    "_commit_hash",
    "_from_model_config",
    "_attn_implementation_autoset",
    "_flash_attn_2_enabled",
    "_num_labels",
    "_pre_quantization_dtype",
}
CONTEXT_NAMES = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "seq_length")


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
    context: int | None = None  # tokens; None: its config does not say
    template: str | None = None  # the chat template


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: it is well, or `refusal` says why not, or what it needs could not be read."""

    name: CheckName
    refusal: RefusalCode | None = None
    found: str = ""  # the same in every language: a size, a licence, a commit
    benchmark: str | None = None  # None: it holds for all of them
    skipped: bool = False


@dataclass(frozen=True)
class Report:
    model_id: str
    facts: ModelFacts | None
    checks: tuple[Check, ...]

    def refusals(self, benchmark: str | None = None) -> list[Check]:
        """The checks that failed: the model's own, and the benchmark's."""
        return [c for c in self.checks if c.refusal and c.benchmark in (None, benchmark)]


class _Unknown(Exception):
    """What is needed for this check could not be read; another check says so."""


def check_model(model_id: str, revision: str | None, models_dir: Path | None, max_bytes: int) -> Report:
    """Every check of the model itself."""
    try:
        repository = open_repository(model_id, revision, models_dir)
    except Refused as refused:
        malformed = refused.code == RefusalCode.MALFORMED_ID
        names = [CheckName.ID] if malformed else [CheckName.ID, CheckName.PUBLIC]
        *before, failed = names
        after = [name for name in _LOOKS if name not in names]
        seen = [*(Check(n) for n in before), Check(failed, refused.code), *(Check(n, skipped=True) for n in after)]
        return Report(model_id, None, tuple(seen))
    return check_repository(repository, max_bytes)


def check_repository(repository: Repository, max_bytes: int) -> Report:
    """The same of a repository that has been read."""
    checks = tuple(_checked(name, partial(look, repository, max_bytes)) for name, look in _LOOKS.items())
    try:
        facts = _facts(repository)
    except (Refused, _Unknown):
        facts = None
    return Report(repository.model_id, facts, checks)


def check_fit(facts: ModelFacts, benchmark: str) -> Iterator[Check]:
    """Every check of whether the model can take this benchmark's questions."""
    inputs = _checked(CheckName.INPUTS, lambda: _inputs(facts, benchmark), benchmark)
    yield inputs
    if inputs.refusal:
        return
    if facts.engine == "chat":
        yield _checked(CheckName.TEMPLATE, lambda: _template(facts), benchmark)
    yield _checked(CheckName.CONTEXT, lambda: _context(facts, benchmark), benchmark)


def inspect_model(model_id: str, revision: str | None, models_dir: Path | None) -> ModelFacts:
    """Facts of a model that can be run, from a local folder or the Hub. Raises Refused where it cannot."""
    return _facts(open_repository(model_id, revision, models_dir))


def inspect_folder(model_id: str, folder: Path) -> ModelFacts:
    """Facts of a model in a local folder. Raises Refused where it cannot be run."""
    return _facts(folder_repository(model_id, folder))


def facts_of_server(model_id: str, base_url: str) -> ModelFacts:
    """What can be known of a model behind an OpenAI-compatible server: its name there, and nothing of its weights."""
    revision = hashlib.sha256(f"{base_url} {model_id}".encode()).hexdigest()[:40]
    return ModelFacts(model_id, revision, "api", "api", takes_images=True, dtype="bfloat16", params=None, license=None)


def build_request(
    facts: ModelFacts,
    benchmark: str,
    submitted_by: str,
    requested_revision: str | None = None,
    precision: Precision | None = None,
    share: bool = False,
    organisation: str | None = None,
) -> EvalRequest:
    """A pending request for one benchmark. Raises Refused where the model cannot take its questions."""
    _inputs(facts, benchmark)
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
        organisation=organisation,
        submitted_at=datetime.now(UTC),
        share=share,
    )


def _checked(name: CheckName, look: Callable[[], str], benchmark: str | None = None) -> Check:
    try:
        return Check(name, found=look(), benchmark=benchmark)
    except Refused as refused:
        return Check(name, refused.code, refused.found, benchmark)
    except _Unknown:
        return Check(name, benchmark=benchmark, skipped=True)


def _id(repository: Repository, _: int) -> str:
    return repository.model_id


def _public(repository: Repository, _: int) -> str:
    return repository.revision[:8]


def _license(repository: Repository, _: int) -> str:
    if not repository.license:
        raise Refused(RefusalCode.NO_LICENSE)
    return repository.license


def _weights(repository: Repository, _: int) -> str:
    if not repository.headers:
        raise Refused(RefusalCode.NO_WEIGHTS)
    broken = [name for name, header in repository.headers.items() if header is None]
    if broken:
        raise Refused(RefusalCode.BROKEN_WEIGHTS, broken[0])
    tensors = sum(header.tensors for header in repository.headers.values() if header)
    if tensors > MAX_TENSORS:
        raise Refused(RefusalCode.BROKEN_WEIGHTS, f"{tensors:,} > {MAX_TENSORS:,} tensors")
    return _amount(_params(repository))


def _size(repository: Repository, max_bytes: int) -> str:
    fetched = repository.fetched
    size = sum(fetched.values())
    if size > max_bytes:
        raise Refused(RefusalCode.TOO_LARGE, f"{size / 1e9:,.1f} GB > {max_bytes / 1e9:,.1f} GB")
    if len(fetched) > MAX_FILES:
        raise Refused(RefusalCode.TOO_LARGE, f"{len(fetched):,} > {MAX_FILES:,} files")
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"


def _configured(repository: Repository, _: int) -> str:
    return _facts_of_config(repository)[1][:200]


def _architecture(repository: Repository, _: int) -> str:
    facts = _known(repository)
    known = _architectures()
    kinds = ("extractive",) if facts.engine == "extractive" else ("image", "text")
    if not any(facts.model_type in known[kind] for kind in kinds):
        raise Refused(RefusalCode.UNSUPPORTED, f"transformers {known['transformers']}")
    return f"{facts.model_type}, transformers {known['transformers']}"


def _no_code(repository: Repository, _: int) -> str:
    for name, content in repository.texts.items():  # a config that is missing is another check's
        if name.endswith(".json") and name != INDEX:
            for key, value in _pairs(_parsed(name, content)):
                kernel = key.endswith("attn_implementation") and "/" in str(value)  # one that would be fetched and run
                if key in CODE_KEYS or kernel or (key.startswith("_") and key not in HARMLESS):
                    raise Refused(RefusalCode.CUSTOM_CODE, f"{name}: {key[:50]}")
    return ""


_LOOKS: dict[CheckName, Callable[[Repository, int], str]] = {
    CheckName.ID: _id,
    CheckName.PUBLIC: _public,
    CheckName.LICENSE: _license,
    CheckName.WEIGHTS: _weights,
    CheckName.SIZE: _size,
    CheckName.CONFIG: _configured,
    CheckName.ARCHITECTURE: _architecture,
    CheckName.CODE: _no_code,
}


def _inputs(facts: ModelFacts, benchmark: str) -> str:
    if BENCHMARKS[benchmark].inputs == "image" and facts.engine == "extractive":
        raise Refused(RefusalCode.EXTRACTIVE_ONLY)
    if BENCHMARKS[benchmark].inputs == "image" and not facts.takes_images:
        raise Refused(RefusalCode.NO_IMAGE_INPUT)
    return ""


def _template(facts: ModelFacts) -> str:
    if not facts.template:
        raise Refused(RefusalCode.NO_TEMPLATE)
    if len(facts.template) > MAX_TEMPLATE:
        raise Refused(RefusalCode.NO_TEMPLATE, f"{len(facts.template):,} > {MAX_TEMPLATE:,}")
    try:
        environment = ImmutableSandboxedEnvironment(extensions=["jinja2.ext.loopcontrols"])
        environment.parse(facts.template.replace("{% generation %}", "").replace("{% endgeneration %}", ""))
    except (TemplateError, RecursionError) as error:
        raise Refused(
            RefusalCode.NO_TEMPLATE, f"{type(error).__name__}, line {getattr(error, 'lineno', '?')}"
        ) from None
    return ""


def _context(facts: ModelFacts, benchmark: str) -> str:
    if facts.context is None:
        raise _Unknown
    needed = BENCHMARKS[benchmark].min_context
    if facts.context < needed:
        raise Refused(RefusalCode.SHORT_CONTEXT, f"{facts.context:,} < {needed:,}")
    return f"{facts.context:,}"


def _known(repository: Repository) -> ModelFacts:
    try:
        return _facts(repository)
    except Refused:
        raise _Unknown from None


def _facts(repository: Repository) -> ModelFacts:
    """Raises Refused where the model cannot be run at all."""
    _weights(repository, 0)
    config, model_type, architectures = _facts_of_config(repository)
    _no_code(repository, 0)
    text = config.get("text_config")
    nested = text if isinstance(text, dict) else {}
    named = [c.get(name) for c in (config, nested) for name in ("dtype", "torch_dtype")]
    lengths = [c.get(name) for c in (nested, config) for name in CONTEXT_NAMES]
    return ModelFacts(
        model_id=repository.model_id,
        revision=repository.revision,
        model_type=model_type[:200],
        engine="extractive" if any(a.endswith("ForQuestionAnswering") for a in architectures) else "chat",
        takes_images=model_type in _architectures()["image"],
        dtype=next((p for p in PRECISIONS if p in named), "float32"),
        params=_params(repository),
        license=repository.license,
        context=next((n for n in lengths if isinstance(n, int) and n > 0), None),
        template=_chat_template(repository),
    )


def _facts_of_config(repository: Repository) -> tuple[dict[str, Any], str, list[str]]:
    config = _parsed("config.json", repository.texts.get("config.json", b""))
    model_type = config.get("model_type")
    architectures = config.get("architectures") or []
    if not isinstance(model_type, str) or not model_type:
        raise Refused(RefusalCode.NO_CONFIG, "model_type")
    if not isinstance(architectures, list) or not all(isinstance(a, str) for a in architectures):
        raise Refused(RefusalCode.NO_CONFIG, "architectures")
    return config, model_type, architectures


def _chat_template(repository: Repository) -> str | None:
    if jinja := repository.texts.get("chat_template.jinja"):
        return jinja.decode(errors="replace")
    for name in ("chat_template.json", "processor_config.json", "tokenizer_config.json"):
        found = _parsed(name, repository.texts[name]).get("chat_template") if name in repository.texts else None
        if isinstance(found, list):  # several by name
            named = {t.get("name"): t.get("template") for t in found if isinstance(t, dict)}
            found = named.get("default")
        if isinstance(found, str) and found:
            return found
    return None


def _parsed(name: str, content: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(content)
        if isinstance(parsed, dict):
            return parsed
    except (ValueError, RecursionError):
        pass
    raise Refused(RefusalCode.NO_CONFIG, name)


def _pairs(value: Any) -> Iterator[tuple[str, Any]]:
    """Every key of a JSON value with what it names, at any depth."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield from part.items()
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


def _params(repository: Repository) -> int:
    return sum(header.params for header in repository.headers.values() if header)


def _amount(params: int) -> str:
    return f"{params / 1e9:.2f} B" if params >= 1e8 else f"{params / 1e6:.2f} M"


@cache
def _architectures() -> dict[str, Any]:
    return cast(dict[str, Any], json.loads(ARCHITECTURES.read_text(encoding="utf-8")))

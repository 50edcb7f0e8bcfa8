"""The checks of a model itself: what its repository says, without downloading its weights.

Every check is run, and each reports what it found or how to fix it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from submissions.checks.report import NotApplicableError, NotCheckableError, Report, run_check
from submissions.hub_models.architectures import architectures
from submissions.hub_models.code_settings import code_setting, pairs
from submissions.hub_models.config_sizes import oversized, oversized_images
from submissions.hub_models.model_facts import ModelFacts, facts_of, parameters_of
from submissions.hub_models.open_repository import check_folder_revision, open_repository, with_base
from submissions.hub_models.quantization import RUNNABLE, quantization_of
from submissions.hub_models.repository import (
    ADAPTER,
    MAX_FILES,
    MAX_TEXT,
    PROCESSORS,
    Repository,
    folder_repository,
    is_settings,
    json_or_nothing,
    parsed_json,
)
from submissions.records.check import Check
from submissions.records.registry import Registry
from submissions.texts.check_names import CheckName
from submissions.texts.errors import RefusedError
from submissions.texts.refusals import RefusalCode

MAX_TENSORS = 50_000
ADAPTERS = {"LORA"}
MAX_RANK = 4096
CHAT_CLASSES = ("ForCausalLM", "ForConditionalGeneration", "LMHeadModel")  # how names of chat models end
TOKENIZERS = {"tokenizer.json", "vocab.json", "vocab.txt", "merges.txt"}  # or a .model, a .tiktoken
BYTE_LEVEL = {"canine", "perceiver", "t5"}  # whose tokenizers may need no file

IsApproved = Callable[[str, str], bool]  # whether the operator lets the code of a model at a commit run


def _nothing_approved(model_id: str, revision: str) -> bool:
    return False


@dataclass(frozen=True)
class _Model:
    """What the checks of a model read."""

    repository: Repository
    registry: Registry
    max_bytes: int
    is_approved: IsApproved

    @property
    def whole(self) -> Repository:
        """The model itself: for an adapter, its base model."""
        return self.repository.base or self.repository

    def facts(self) -> ModelFacts:
        return facts_of(self.repository, self.registry)


def check_model(
    model_id: str,
    revision: str | None,
    models_dir: Path | None,
    registry: Registry,
    *,
    max_bytes: int,
    is_approved: IsApproved = _nothing_approved,
) -> Report:
    """Run every check of a model, which is read from `models_dir` or from the Hub."""
    try:
        repository = open_repository(model_id, revision, models_dir)
    except RefusedError as refused:
        return _unreadable(model_id, refused)
    return check_repository(repository, registry, max_bytes=max_bytes, is_approved=is_approved)


def check_repository(
    repository: Repository, registry: Registry, *, max_bytes: int, is_approved: IsApproved = _nothing_approved
) -> Report:
    """Run every check of a repository that has been read."""
    model = _Model(repository, registry, max_bytes, is_approved)
    outcomes = {name: run_check(name, lambda run=run: run(model)) for name, run in MODEL_CHECKS.items()}  # type: ignore[misc]
    checks = tuple(check for check in outcomes.values() if check)
    runnable = not any(check.refusal or check.skipped for check in checks if check.name in _REQUIRED)
    return Report(repository.model_id, model.facts() if runnable else None, checks)


def inspect_repository(repository: Repository, registry: Registry, *, trust_code: bool = False) -> ModelFacts:
    """Return the facts of a model. Raises RefusedError if it cannot be run."""
    model = _Model(repository, registry, 0, lambda *_: trust_code)
    for name in _REQUIRED:
        check = run_check(name, lambda run=MODEL_CHECKS[name]: run(model))  # type: ignore[misc]
        if check and check.refusal:
            raise RefusedError(check.refusal, check.detail)
    return model.facts()


def inspect_model(
    model_id: str, revision: str | None, models_dir: Path | None, registry: Registry, *, trust_code: bool = False
) -> ModelFacts:
    """Return the facts of a model in `models_dir` or on the Hub. Raises RefusedError if it cannot be run."""
    return inspect_repository(open_repository(model_id, revision, models_dir), registry, trust_code=trust_code)


def inspect_folder(
    model_id: str,
    folder: Path,
    registry: Registry,
    *,
    models_dir: Path | None = None,
    revision: str | None = None,
    trust_code: bool = False,
) -> ModelFacts:
    """Return the facts of a model in a folder; an adapter's base model is looked up. Raises RefusedError if it cannot
    be run."""
    repository = folder_repository(model_id, folder)
    check_folder_revision(repository, revision)
    return inspect_repository(with_base(repository, models_dir), registry, trust_code=trust_code)


def _unreadable(model_id: str, refused: RefusedError) -> Report:
    """Return the report of a model whose repository cannot be read: what passed before, and what was not reached."""
    named = {RefusalCode.MALFORMED_ID: CheckName.ID, RefusalCode.NO_BASE: CheckName.BASE}
    failed = named.get(refused.code, CheckName.PUBLIC)
    before = {CheckName.ID: [], CheckName.PUBLIC: [CheckName.ID]}.get(failed, [CheckName.ID, CheckName.PUBLIC])
    after = [name for name in MODEL_CHECKS if name not in (*before, failed, *_OPTIONAL)]
    checks = (
        *(Check(name) for name in before),
        Check(failed, refused.code, refused.detail),
        *(Check(name, skipped=True) for name in after),
    )
    return Report(model_id, None, checks)


def _id(model: _Model) -> str:
    return model.repository.model_id


def _public(model: _Model) -> str:
    return model.repository.revision[:8]


def _base(model: _Model) -> str:
    repository, base = model.repository, model.repository.base
    if base is None:
        raise NotApplicableError
    settings = parsed_json(ADAPTER, repository.texts[ADAPTER])
    kind = settings.get("peft_type")
    if kind not in ADAPTERS:
        raise RefusedError(RefusalCode.ADAPTER_KIND, str(kind)[:50])
    # How weights are made that the adapter's own then replace: some ways take a number of rounds from this.
    start = settings.get("init_lora_weights")
    if isinstance(start, str) and any(c.isdigit() for c in start):
        raise RefusedError(RefusalCode.ADAPTER_KIND, f"init_lora_weights: {start[:50]}")
    patterns = settings.get("rank_pattern")
    ranks = [settings.get("r"), *(patterns.values() if isinstance(patterns, dict) else ())]
    if any(isinstance(rank, int) and rank > MAX_RANK for rank in ranks):
        raise RefusedError(RefusalCode.ADAPTER_KIND, f"r > {MAX_RANK:,}")
    return f"{base.model_id}@{base.revision[:8]}"


def _license(model: _Model) -> str:
    found = model.repository.license or model.whole.license
    if not found:
        raise RefusedError(RefusalCode.NO_LICENSE)
    return found


def _weights(model: _Model) -> str:
    for part in (model.repository, model.repository.base):
        if part:
            _check_headers(part)
    return _amount(parameters_of(model.whole))


def _check_headers(repository: Repository) -> None:
    if not repository.headers:
        endings = {name.rpartition(".")[2] for name in repository.sizes}
        if "gguf" in endings:
            raise RefusedError(RefusalCode.GGUF_ONLY)
        pickled = {"bin", "pt", "pth", "ckpt"} & endings
        raise RefusedError(RefusalCode.PICKLE_ONLY if pickled else RefusalCode.NO_WEIGHTS)
    if absent := [name for name in repository.headers if name not in repository.sizes]:
        raise RefusedError(RefusalCode.MISSING_SHARD, f"{absent[0][:100]}, {len(absent)} / {len(repository.headers)}")
    if broken := [name for name, header in repository.headers.items() if header is None]:
        raise RefusedError(RefusalCode.BROKEN_WEIGHTS, broken[0][:100])
    tensors = sum(header.tensors for header in repository.headers.values() if header)
    if tensors > MAX_TENSORS:
        raise RefusedError(RefusalCode.BROKEN_WEIGHTS, f"{tensors:,} > {MAX_TENSORS:,} tensors")


def _size(model: _Model) -> str:
    parts = [part.fetched for part in (model.repository, model.repository.base) if part]
    size, files = sum(sum(fetched.values()) for fetched in parts), max(map(len, parts))
    if size > model.max_bytes:
        raise RefusedError(RefusalCode.TOO_LARGE, f"{size / 1e9:,.1f} GB > {model.max_bytes / 1e9:,.1f} GB")
    if files > MAX_FILES:
        raise RefusedError(RefusalCode.TOO_LARGE, f"{files:,} > {MAX_FILES:,} files")
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"


def _configured(model: _Model) -> str:
    headers = [header for header in model.whole.headers.values() if header]
    values = model.whole.config.values
    if headers and (found := oversized(values, parameters_of(model.whole))):
        raise RefusedError(RefusalCode.CONFIG_SIZES, found)
    for name in sorted(PROCESSORS & model.whole.texts.keys()):
        if found := oversized_images(json_or_nothing(name, model.whole.texts)):
            raise RefusedError(RefusalCode.CONFIG_SIZES, f"{name}: {found}")
    return model.whole.config.model_type[:200]


def _architecture(model: _Model) -> str:
    try:
        model_type, names = model.whole.config.model_type, model.whole.config.class_names
        if model.whole.needs_code:
            return model_type[:200]  # the check of its code says the rest
    except RefusedError:
        raise NotCheckableError from None
    known = architectures()
    pointing = [name for name in names if "ForQuestionAnswering" in name]
    if pointing and model_type in (*known["extractive"], *known["not_extractive"]):
        runs = known["extractive"].get(model_type)
        if runs not in pointing:
            reason = known["not_extractive"].get(model_type) or f"{pointing[0][:100]}, not {runs}"
            raise RefusedError(RefusalCode.NOT_EXTRACTIVE, f"{model_type}: {reason}")
    elif pointing or not any(model_type in known[kind] for kind in ("image", "text")):
        raise RefusedError(RefusalCode.UNSUPPORTED, f"{model_type[:100]}, transformers {known['transformers']}")
    elif names and model.registry.engine_for(names) == "chat" and not any(map(_is_chat_class, names)):
        raise RefusedError(RefusalCode.NOT_CHAT, names[0][:100])
    return f"{model_type}, transformers {known['transformers']}"


def _is_chat_class(name: str) -> bool:
    return name in architectures()["classes"] or name.endswith(CHAT_CLASSES)


def _quantization(model: _Model) -> str:
    try:
        method = quantization_of(model.whole.config.values)
    except RefusedError:
        raise NotApplicableError from None
    if method is None:
        raise NotApplicableError
    if method not in RUNNABLE:
        raise RefusedError(RefusalCode.QUANTIZATION, f"{method[:50] or '?'}; {', '.join(sorted(RUNNABLE))}")
    return method


def _tokenizer(model: _Model) -> str:
    try:
        model_type = model.whole.config.model_type
        if model.whole.needs_code:
            raise NotCheckableError  # it may have a tokenizer of its own
    except RefusedError:
        raise NotCheckableError from None
    sizes = {**model.whole.sizes, **model.repository.sizes}
    names = {name for name, size in sizes.items() if size}
    found = sorted(name for name in names if name in TOKENIZERS or name.endswith((".model", ".tiktoken")))
    if empty := sorted(name for name in sizes.keys() - names if name in TOKENIZERS and name.endswith(".json")):
        raise RefusedError(RefusalCode.NO_TOKENIZER, f"{empty[0]}: 0 bytes")
    if not found and model_type not in BYTE_LEVEL:
        raise RefusedError(RefusalCode.NO_TOKENIZER)
    if model_type in architectures()["image"] and not names & PROCESSORS:
        raise RefusedError(RefusalCode.NO_PROCESSOR)
    return found[0] if found else ""


def _code(model: _Model) -> str:
    for part in (model.repository, model.repository.base):
        if part is None:
            continue
        for name, size in part.fetched.items():
            if is_settings(name) and size > MAX_TEXT:
                raise RefusedError(RefusalCode.CODE_SETTING, f"{name[:100]}: {size:,} > {MAX_TEXT:,} bytes")
        for name, content in part.texts.items():  # a config that is missing is another check's
            if is_settings(name) and (key := code_setting(parsed_json(name, content))):
                raise RefusedError(RefusalCode.CODE_SETTING, f"{name}: {key[:50]}")
    try:
        whole = model.whole
        if not whole.needs_code:
            return ""
    except RefusedError:
        raise NotCheckableError from None
    for part in (model.repository, model.repository.base):
        for name, content in part.texts.items() if part else ():
            named = [str(value) for _, value in pairs(json_or_nothing(name, {name: content}).get("auto_map"))]
            elsewhere = next((value for value in named if "--" in value), "")
            # The approval is of the base model's files; those of an adapter never run.
            if elsewhere or (named and part is not whole):
                raise RefusedError(RefusalCode.CODE_SETTING, f"{name}: auto_map {elsewhere[:100]}".strip())
    if not whole.code:
        raise RefusedError(RefusalCode.CODE_SETTING, "config.json: auto_map")
    if not model.is_approved(whole.model_id, whole.revision):
        raise RefusedError(RefusalCode.CUSTOM_CODE, f"{len(whole.code)} × .py")
    return f"{len(whole.code)} × .py"


MODEL_CHECKS: dict[CheckName, Callable[[_Model], str]] = {
    CheckName.ID: _id,
    CheckName.PUBLIC: _public,
    CheckName.BASE: _base,
    CheckName.LICENSE: _license,
    CheckName.WEIGHTS: _weights,
    CheckName.SIZE: _size,
    CheckName.CONFIG: _configured,
    CheckName.ARCHITECTURE: _architecture,
    CheckName.QUANTIZATION: _quantization,
    CheckName.TOKENIZER: _tokenizer,
    CheckName.CODE: _code,
}
_OPTIONAL = (CheckName.BASE, CheckName.QUANTIZATION)  # not shown where there is no adapter, no quantisation
# Without these a model cannot be run at all.
_REQUIRED = (CheckName.WEIGHTS, CheckName.CONFIG, CheckName.QUANTIZATION, CheckName.CODE)


def _amount(params: int) -> str:
    return f"{params / 1e9:.2f} B" if params >= 1e8 else f"{params / 1e6:.2f} M"

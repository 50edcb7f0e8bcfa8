"""What is looked at before anything is queued. Every check is made, and each says what it found or how to mend it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from submissions.messages import CheckName, RefusalCode
from submissions.models.architectures import architectures
from submissions.models.model_facts import (
    ModelFacts,
    facts_of,
    needs_code,
    parameters_of,
    read_config,
)
from submissions.models.quantization import RUNNABLE, quantization_of
from submissions.models.repository import (
    ADAPTER,
    INDEX,
    MAX_FILES,
    Refused,
    Repository,
    folder_repository,
    open_repository,
    parsed_json,
    with_base,
)

MAX_TENSORS = 50_000
# Settings by which a repository would have code of its own, or of another repository, run.
CODE_KEYS = {"custom_pipelines", "custom_generate", "trust_remote_code", "kernel_config", "use_kernels"}
SPELLINGS = {"__float__", "__type", "__type__"}  # how transformers writes what JSON cannot say
ADAPTERS = {"LORA"}
TOKENIZERS = {"tokenizer.json", "vocab.json", "vocab.txt", "merges.txt"}  # or a .model, a .tiktoken
PROCESSORS = {"processor_config.json", "preprocessor_config.json"}
BYTE_LEVEL = {"canine", "perceiver", "t5"}  # whose tokenizers may need no file

Approved = Callable[[str, str], bool]  # whether the operator lets the code of a model at a commit run


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


class Unknown(Exception):
    """What is needed for this check could not be read; another check says so."""


class NotAsked(Exception):
    """The check is of no interest for this model."""


def _nothing_approved(model_id: str, revision: str) -> bool:
    return False


def check_model(
    model_id: str,
    revision: str | None,
    models_dir: Path | None,
    max_bytes: int,
    approved: Approved = _nothing_approved,
) -> Report:
    """Every check of the model itself."""
    try:
        repository = open_repository(model_id, revision, models_dir)
    except Refused as refused:
        named = {RefusalCode.MALFORMED_ID: CheckName.ID, RefusalCode.NO_BASE: CheckName.BASE}
        failed = named.get(refused.code, CheckName.PUBLIC)
        before = {CheckName.ID: [], CheckName.PUBLIC: [CheckName.ID]}.get(failed, [CheckName.ID, CheckName.PUBLIC])
        after = [name for name in _MODEL_CHECKS if name not in (*before, failed, *_OPTIONAL)]
        seen = [
            *(Check(name) for name in before),
            Check(failed, refused.code, refused.found),
            *(Check(name, skipped=True) for name in after),
        ]
        return Report(model_id, None, tuple(seen))
    return check_repository(repository, max_bytes, approved)


def check_repository(repository: Repository, max_bytes: int, approved: Approved = _nothing_approved) -> Report:
    """The same of a repository that has been read."""
    looks: dict[CheckName, Callable[[Repository, int], str]] = {
        **_MODEL_CHECKS,
        CheckName.CODE: partial(_code, approved=approved),
    }
    checks = [checked(name, partial(look, repository, max_bytes)) for name, look in looks.items()]
    try:
        facts = _runnable(repository, approved)
    except (Refused, Unknown):
        facts = None
    return Report(repository.model_id, facts, tuple(check for check in checks if check))


def inspect_model(
    model_id: str, revision: str | None, models_dir: Path | None, *, trust_code: bool = False
) -> ModelFacts:
    """Facts of a model that can be run, from a local folder or the Hub. Raises Refused where it cannot."""
    return _runnable(open_repository(model_id, revision, models_dir), lambda *_: trust_code)


def inspect_folder(
    model_id: str, folder: Path, models_dir: Path | None = None, *, trust_code: bool = False
) -> ModelFacts:
    """Facts of a model in a local folder; an adapter's base model is looked up. Raises Refused where it cannot be run."""
    return _runnable(with_base(folder_repository(model_id, folder), models_dir), lambda *_: trust_code)


def checked(name: CheckName, look: Callable[[], str], benchmark: str | None = None) -> Check | None:
    """None where the check does not concern this model."""
    try:
        return Check(name, found=look(), benchmark=benchmark)
    except Refused as refused:
        return Check(name, refused.code, refused.found, benchmark)
    except Unknown:
        return Check(name, benchmark=benchmark, skipped=True)
    except NotAsked:
        return None


def _id(repository: Repository, _: int) -> str:
    return repository.model_id


def _public(repository: Repository, _: int) -> str:
    return repository.revision[:8]


def _base(repository: Repository, _: int) -> str:
    if repository.base is None:
        raise NotAsked
    kind = parsed_json(ADAPTER, repository.texts[ADAPTER]).get("peft_type")
    if kind not in ADAPTERS:
        raise Refused(RefusalCode.ADAPTER_KIND, str(kind)[:50])
    return f"{repository.base.model_id}@{repository.base.revision[:8]}"


def _license(repository: Repository, _: int) -> str:
    found = repository.license or (repository.base.license if repository.base else None)
    if not found:
        raise Refused(RefusalCode.NO_LICENSE)
    return found


def _weights(repository: Repository, _: int) -> str:
    for part in (repository, repository.base):
        if part:
            _readable_weights(part)
    return _amount(parameters_of(repository.base or repository))


def _readable_weights(repository: Repository) -> None:
    if not repository.headers:
        endings = {name.rpartition(".")[2] for name in repository.sizes}
        if "gguf" in endings:
            raise Refused(RefusalCode.GGUF_ONLY)
        pickled = {"bin", "pt", "pth", "ckpt"} & endings
        raise Refused(RefusalCode.PICKLE_ONLY if pickled else RefusalCode.NO_WEIGHTS)
    if absent := [name for name in repository.headers if name not in repository.sizes]:
        raise Refused(RefusalCode.MISSING_SHARD, f"{absent[0][:100]}, {len(absent)} / {len(repository.headers)}")
    if broken := [name for name, header in repository.headers.items() if header is None]:
        raise Refused(RefusalCode.BROKEN_WEIGHTS, broken[0][:100])
    tensors = sum(header.tensors for header in repository.headers.values() if header)
    if tensors > MAX_TENSORS:
        raise Refused(RefusalCode.BROKEN_WEIGHTS, f"{tensors:,} > {MAX_TENSORS:,} tensors")


def _size(repository: Repository, max_bytes: int) -> str:
    parts = [part.fetched for part in (repository, repository.base) if part]
    size, files = sum(sum(fetched.values()) for fetched in parts), max(map(len, parts))
    if size > max_bytes:
        raise Refused(RefusalCode.TOO_LARGE, f"{size / 1e9:,.1f} GB > {max_bytes / 1e9:,.1f} GB")
    if files > MAX_FILES:
        raise Refused(RefusalCode.TOO_LARGE, f"{files:,} > {MAX_FILES:,} files")
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"


def _configured(repository: Repository, _: int) -> str:
    return read_config(repository.base or repository)[1][:200]


def _architecture(repository: Repository, _: int) -> str:
    try:
        model_type, names = read_config(repository.base or repository)[1:]
        if needs_code(repository.base or repository):
            return model_type[:200]  # the check of its code says the rest
    except Refused:
        raise Unknown from None
    known = architectures()
    pointing = [name for name in names if "ForQuestionAnswering" in name]
    if pointing and model_type in (*known["extractive"], *known["not_extractive"]):
        runs = known["extractive"].get(model_type)
        if runs not in pointing:
            reason = known["not_extractive"].get(model_type) or f"{pointing[0][:100]}, not {runs}"
            raise Refused(RefusalCode.NOT_EXTRACTIVE, f"{model_type}: {reason}")
    elif pointing or not any(model_type in known[kind] for kind in ("image", "text")):
        raise Refused(RefusalCode.UNSUPPORTED, f"{model_type[:100]}, transformers {known['transformers']}")
    return f"{model_type}, transformers {known['transformers']}"


def _quantization(repository: Repository, _: int) -> str:
    try:
        method = quantization_of(read_config(repository.base or repository)[0])
    except Refused:
        raise NotAsked from None
    if method is None:
        raise NotAsked
    if method not in RUNNABLE:
        raise Refused(RefusalCode.QUANTIZATION, f"{method[:50] or '?'}; {', '.join(sorted(RUNNABLE))}")
    return method


def _tokenizer(repository: Repository, _: int) -> str:
    try:
        model = repository.base or repository
        model_type = read_config(model)[1]
        if needs_code(model):
            raise Unknown  # it may have a tokenizer of its own
    except Refused:
        raise Unknown from None
    names = {*repository.sizes, *(repository.base.sizes if repository.base else ())}
    found = sorted(name for name in names if name in TOKENIZERS or name.endswith((".model", ".tiktoken")))
    if not found and model_type not in BYTE_LEVEL:
        raise Refused(RefusalCode.NO_TOKENIZER)
    if model_type in architectures()["image"] and not names & PROCESSORS:
        raise Refused(RefusalCode.NO_PROCESSOR)
    return found[0] if found else ""


def _code(repository: Repository, _: int, approved: Approved = _nothing_approved) -> str:
    for part in (repository, repository.base):
        for name, content in part.texts.items() if part else ():  # a config that is missing is another check's
            if name.endswith(".json") and name != INDEX:
                for key, value in _pairs(parsed_json(name, content)):
                    if _runs_code(key, value):
                        raise Refused(RefusalCode.CODE_SETTING, f"{name}: {key[:50]}")
    try:
        model = repository.base or repository
        custom = needs_code(model)
        config = read_config(model)[0]
    except Refused:
        raise Unknown from None
    if not custom:
        return ""
    named = [str(value) for _, value in _pairs(config.get("auto_map"))]
    if any("--" in value for value in named) or not model.code:
        elsewhere = next((value for value in named if "--" in value), "")
        raise Refused(RefusalCode.CODE_SETTING, f"config.json: auto_map {elsewhere[:100]}".strip())
    if not approved(model.model_id, model.revision):
        raise Refused(RefusalCode.CUSTOM_CODE, f"{len(model.code)} × .py")
    return f"{len(model.code)} × .py"


def _runs_code(key: str, value: Any) -> bool:
    """Whether a setting would have code run that is not transformers' own: that of a kernel on the Hub, say."""
    fetched = key.removesuffix("_internal").endswith("_implementation") and any(c in str(value) for c in "/:")
    return key in CODE_KEYS or fetched or (key.startswith("__") and key not in SPELLINGS)


_MODEL_CHECKS: dict[CheckName, Callable[[Repository, int], str]] = {
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


def _runnable(repository: Repository, approved: Approved = _nothing_approved) -> ModelFacts:
    """Raises Refused where the model cannot be run at all."""
    for look in (_weights, _configured, _quantization):
        try:
            look(repository, 0)
        except NotAsked:
            continue
    _code(repository, 0, approved)
    return facts_of(repository)


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


def _amount(params: int) -> str:
    return f"{params / 1e9:.2f} B" if params >= 1e8 else f"{params / 1e6:.2f} M"

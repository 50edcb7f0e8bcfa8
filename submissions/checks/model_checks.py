"""Check the model itself: its repository is inspected without downloading the weights.

All checks run, even if an earlier one fails. Each reports what it found or how to fix the problem. MODEL_CHECKS, at the end,
lists them in the order of the report.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from pathlib import Path
from threading import Lock

from submissions.checks.adapter_checks import check_adapter_settings, check_adapter_weights
from submissions.checks.report import NotApplicableError, NotCheckableError, Report, run_check
from submissions.hub_models.architectures import architectures
from submissions.hub_models.code_settings import code_setting, pairs
from submissions.hub_models.config_sizes import describe_excess_image_setting, describe_excess_size
from submissions.hub_models.model_facts import ModelFacts, facts_of, parameters_of
from submissions.hub_models.open_repository import check_folder_revision, open_repository, with_base, with_declared_base
from submissions.hub_models.quantization import RUNNABLE, quantization_of
from submissions.hub_models.repository import (
    MAX_DOWNLOADED_FILES,
    MAX_SETTINGS_BYTES,
    PROCESSORS,
    Repository,
    folder_repository,
    json_or_empty,
    may_hold_settings,
    parsed_json,
)
from submissions.records.check import Check
from submissions.records.registry import CHAT_ENGINE, Registry
from submissions.texts.check_names import CheckName
from submissions.texts.errors import RefusedError
from submissions.texts.refusals import RefusalCode

MAX_REPORTS = 200  # that are kept
MAX_TENSORS = 50_000
CHAT_CLASSES = ("ForCausalLM", "ForConditionalGeneration", "LMHeadModel")  # suffixes of chat model class names
TOKENIZERS = {"tokenizer.json", "vocab.json", "vocab.txt", "merges.txt"}  # or any *.model or *.tiktoken file
BYTE_LEVEL = {"canine", "perceiver", "t5"}  # model types whose tokenizer may need no file

IsApproved = Callable[[str, str], bool]  # (model id, commit) → whether the operator approved its code


def _approve_nothing(model_id: str, revision: str) -> bool:
    return False


@dataclass(frozen=True)
class _Model:
    """The inputs of the model checks."""

    repository: Repository
    registry: Registry
    max_bytes: int
    is_approved: IsApproved

    @property
    def full_model(self) -> Repository:
        """Return the full model: an adapter's base model, or the repository itself."""
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
    is_approved: IsApproved = _approve_nothing,
    kept: "KeptReports | None" = None,
) -> Report:
    """Read a model from `models_dir` or the Hub and run every check on it, unless `kept` has the report."""
    try:
        repository = open_repository(model_id, revision, models_dir)
    except RefusedError as refused:
        return _unreadable(model_id, refused)

    def check() -> Report:
        # This is not the base of an adapter, which `open_repository` has read, but the model that the card declares as the base.
        # The board compares the tensors of the two. Nothing else needs it, so `inspect_model` does not read it.
        compared = with_declared_base(repository, models_dir)
        return check_repository(compared, registry, max_bytes=max_bytes, is_approved=is_approved)

    return kept.get_or_make(repository, is_approved, check) if kept else check()


class KeptReports:
    """The newest reports by model and revision, so that checking the same files again costs nothing."""

    def __init__(self) -> None:
        self._reports = OrderedDict[tuple[object, ...], Report]()
        self._lock = Lock()

    def get_or_make(self, repository: Repository, is_approved: IsApproved, check: Callable[[], Report]) -> Report:
        """Return the report of a repository, which `check` makes if it is not kept."""
        full_model = repository.base or repository  # whose code would run, see `_code`
        approved = is_approved(full_model.model_id, full_model.revision)
        base = repository.base.revision if repository.base else None
        key = (repository.model_id, repository.revision, base, approved)
        with self._lock:
            if key in self._reports:
                self._reports.move_to_end(key)
                return self._reports[key]
        report = check()
        with self._lock:
            self._reports[key] = report
            if len(self._reports) > MAX_REPORTS:
                self._reports.popitem(last=False)
        return report


def check_repository(
    repository: Repository, registry: Registry, *, max_bytes: int, is_approved: IsApproved = _approve_nothing
) -> Report:
    """Run every check on a repository that was already read."""
    model = _Model(repository, registry, max_bytes, is_approved)
    outcomes = [run_check(name, partial(run, model)) for name, run in MODEL_CHECKS.items()]
    checks = tuple(check for check in outcomes if check)
    required = [check for check in checks if check.name in _REQUIRED]
    is_runnable = not any(check.refusal for check in required)
    return Report(repository.model_id, model.facts() if is_runnable else None, checks)


def inspect_repository(repository: Repository, registry: Registry, *, trust_code: bool = False) -> ModelFacts:
    """Return the facts of a model. Raises RefusedError if it cannot be run."""
    model = _Model(repository, registry, max_bytes=0, is_approved=lambda *_: trust_code)  # the size is not checked here
    for name in _REQUIRED:
        check = run_check(name, partial(MODEL_CHECKS[name], model))
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
    """Return the facts of a model in a folder.

    The base model of an adapter is looked up in `models_dir` or on the Hub. Raises RefusedError if the model cannot be run.
    """
    repository = folder_repository(model_id, folder)
    check_folder_revision(repository, revision)
    return inspect_repository(with_base(repository, models_dir), registry, trust_code=trust_code)


def _unreadable(model_id: str, refused: RefusedError) -> Report:
    """Return the report of a repository that could not be read.

    Of the checks before the one that failed, ID and PUBLIC passed, because they need no file. All others are skipped.
    """
    failed = _CHECKS_OF_READING.get(refused.code, CheckName.PUBLIC)
    earlier = list(takewhile(lambda name: name != failed, MODEL_CHECKS))
    passed = [name for name in earlier if name in (CheckName.ID, CheckName.PUBLIC)]
    skipped = [name for name in MODEL_CHECKS if name not in (*passed, failed, *_OPTIONAL)]
    checks = (
        *(Check(name) for name in passed),
        Check(failed, refused.code, refused.detail),
        *(Check(name, skipped=True) for name in skipped),
    )
    return Report(model_id, None, checks)


# The functions below that take a `_Model` are the checks that MODEL_CHECKS lists. `run_check` describes what they return and
# raise.


def _id(model: _Model) -> str:
    """Return the ID. `open_repository` has refused a malformed one, see `_unreadable`."""
    return model.repository.model_id


def _public(model: _Model) -> str:
    """Return the revision. `open_repository` has refused a repository that is not public, see `_unreadable`."""
    return model.repository.revision[:8]


def _base(model: _Model) -> str:
    """Check an adapter's kind and rank. Return its base model, which `open_repository` has read."""
    repository = model.repository
    base = repository.base
    if base is None:
        raise NotApplicableError
    check_adapter_settings(repository)
    return f"{base.model_id}@{base.revision[:8]}"


def _license(model: _Model) -> str:
    found = model.repository.license or model.full_model.license
    if not found:
        raise RefusedError(RefusalCode.NO_LICENSE)
    return found


def _weights(model: _Model) -> str:
    for part in (model.repository, model.repository.base):
        if part:
            _check_headers(part)
    if model.repository.base is not None:
        check_adapter_weights(model.repository, model.repository.base)
    return _format_params(parameters_of(model.full_model))


def _check_headers(repository: Repository) -> None:
    if not repository.headers:
        endings = {name.rpartition(".")[2] for name in repository.sizes}
        if "gguf" in endings:
            raise RefusedError(RefusalCode.GGUF_ONLY)
        pickled = {"bin", "pt", "pth", "ckpt"} & endings
        raise RefusedError(RefusalCode.PICKLE_ONLY if pickled else RefusalCode.NO_WEIGHTS)
    if missing := [name for name in repository.headers if name not in repository.sizes]:
        raise RefusedError(RefusalCode.MISSING_SHARD, f"{missing[0][:100]}, {len(missing)} / {len(repository.headers)}")
    if broken := [name for name, header in repository.headers.items() if header is None]:
        raise RefusedError(RefusalCode.BROKEN_WEIGHTS, broken[0][:100])
    tensors = sum(header.tensors for header in repository.headers.values() if header)
    if tensors > MAX_TENSORS:
        raise RefusedError(RefusalCode.BROKEN_WEIGHTS, f"{tensors:,} > {MAX_TENSORS:,} tensors")


def _size(model: _Model) -> str:
    sizes_by_part = [part.sizes_to_fetch for part in (model.repository, model.repository.base) if part]
    size = sum(sum(sizes.values()) for sizes in sizes_by_part)
    files = max(map(len, sizes_by_part))  # not the sum: each repository may have MAX_DOWNLOADED_FILES
    if size > model.max_bytes:
        raise RefusedError(RefusalCode.TOO_LARGE, f"{size / 1e9:,.1f} GB > {model.max_bytes / 1e9:,.1f} GB")
    if files > MAX_DOWNLOADED_FILES:
        raise RefusedError(RefusalCode.TOO_LARGE, f"{files:,} > {MAX_DOWNLOADED_FILES:,} files")
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"


def _config(model: _Model) -> str:
    values = model.full_model.config.values
    has_readable_weights = any(model.full_model.headers.values())  # otherwise _weights reports it
    if has_readable_weights and (found := describe_excess_size(values, parameters_of(model.full_model))):
        raise RefusedError(RefusalCode.CONFIG_SIZES, found)
    for name in sorted(PROCESSORS & model.full_model.settings_files.keys()):
        settings = json_or_empty(name, model.full_model.settings_files)
        if found := describe_excess_image_setting(settings):
            raise RefusedError(RefusalCode.CONFIG_SIZES, f"{name}: {found}")
    return model.full_model.config.model_type[:200]


def _architecture(model: _Model) -> str:
    try:
        model_type = model.full_model.config.model_type
        names = model.full_model.config.class_names
        if model.full_model.needs_code:
            return model_type[:200]  # _code checks the rest
    except RefusedError:
        raise NotCheckableError from None
    extractive_names = [name for name in names if "ForQuestionAnswering" in name]
    if extractive_names:
        _check_extractive(model_type, extractive_names)
    elif model.registry.engine_for(names) == CHAT_ENGINE:
        _check_chat(model_type, names)
    else:
        return model_type[:200]  # the engine that claims its classes need not use transformers
    return f"{model_type}, transformers {architectures()['transformers']}"


def _check_extractive(model_type: str, class_names: list[str]) -> None:
    """Raise RefusedError if transformers cannot run an extractive model, which marks the answer in a given page.

    `class_names` are those of its question-answering classes.
    """
    known = architectures()
    if model_type not in known["extractive"] and model_type not in known["not_extractive"]:
        raise _unsupported(model_type)
    runnable_class = known["extractive"].get(model_type)
    if runnable_class not in class_names:
        reason = known["not_extractive"].get(model_type) or f"{class_names[0][:100]}, not {runnable_class}"
        raise RefusedError(RefusalCode.NOT_EXTRACTIVE, f"{model_type}: {reason}")


def _check_chat(model_type: str, class_names: list[str]) -> None:
    """Raise RefusedError if transformers cannot run a model as a chat model."""
    known = architectures()
    if model_type not in known["image"] and model_type not in known["text"]:
        raise _unsupported(model_type)
    if class_names and not any(map(_is_chat_class, class_names)):
        raise RefusedError(RefusalCode.NOT_CHAT, class_names[0][:100])


def _unsupported(model_type: str) -> RefusedError:
    return RefusedError(RefusalCode.UNSUPPORTED, f"{model_type[:100]}, transformers {architectures()['transformers']}")


def _is_chat_class(name: str) -> bool:
    return name in architectures()["classes"] or name.endswith(CHAT_CLASSES)


def _quantization(model: _Model) -> str:
    try:
        method = quantization_of(model.full_model.config.values)
    except RefusedError:  # no readable config, which _config reports; this check is only for quantised models
        raise NotApplicableError from None
    if method is None:
        raise NotApplicableError
    if method not in RUNNABLE:
        raise RefusedError(RefusalCode.QUANTIZATION, f"{method[:50] or '?'}; {', '.join(sorted(RUNNABLE))}")
    return method


def _tokenizer(model: _Model) -> str:
    try:
        model_type = model.full_model.config.model_type
        if model.full_model.needs_code:
            raise NotCheckableError  # custom code may bring its own tokenizer
    except RefusedError:
        raise NotCheckableError from None
    sizes = {**model.full_model.sizes, **model.repository.sizes}
    names = {name for name, size in sizes.items() if size}
    empty_names = sizes.keys() - names
    found = sorted(name for name in names if name in TOKENIZERS or name.endswith((".model", ".tiktoken")))
    # transformers fails on an empty tokenizer.json even if other files would be enough.
    if broken := sorted(name for name in empty_names if name in TOKENIZERS and name.endswith(".json")):
        raise RefusedError(RefusalCode.NO_TOKENIZER, f"{broken[0]}: 0 bytes")
    if not found and model_type not in BYTE_LEVEL:
        raise RefusedError(RefusalCode.NO_TOKENIZER)
    if model_type in architectures()["image"] and not names & PROCESSORS:
        raise RefusedError(RefusalCode.NO_PROCESSOR)
    return found[0] if found else ""


def _code(model: _Model) -> str:
    parts = [part for part in (model.repository, model.repository.base) if part]
    full_model = model.full_model
    for part in parts:
        _check_settings(part)
    try:
        if not full_model.needs_code:
            return ""
    except RefusedError:
        raise NotCheckableError from None
    for part in parts:
        _check_auto_maps(part, may_run_code=part is full_model)
    if not full_model.code_files:  # `auto_map` names classes in files that the repository does not have
        raise RefusedError(RefusalCode.CODE_SETTING, "config.json: auto_map")
    if not model.is_approved(full_model.model_id, full_model.revision):
        raise RefusedError(RefusalCode.CUSTOM_CODE, f"{len(full_model.code_files)} × .py")
    return f"{len(full_model.code_files)} × .py"


def _check_settings(repository: Repository) -> None:
    """Raise RefusedError if a settings file would run code from outside transformers, or is too large to be searched."""
    for name, size in repository.sizes_to_fetch.items():
        if may_hold_settings(name) and size > MAX_SETTINGS_BYTES:
            raise RefusedError(RefusalCode.LONG_SETTINGS, f"{name[:100]}: {size:,} > {MAX_SETTINGS_BYTES:,} bytes")
    for name, content in repository.settings_files.items():  # a missing config is reported by _config
        if may_hold_settings(name) and (key := code_setting(parsed_json(name, content))):
            raise RefusedError(RefusalCode.CODE_SETTING, f"{name}: {key[:50]}")


def _check_auto_maps(repository: Repository, *, may_run_code: bool) -> None:
    """Raise RefusedError if an `auto_map`, which names classes in Python files, names code that cannot be approved.

    The operator approves the files of the full model only: code of an adapter never runs, and neither does code of another
    repository, which `auto_map` names as `OWNER/NAME--module.Class`.
    """
    for name, content in repository.settings_files.items():
        auto_map = json_or_empty(name, {name: content}).get("auto_map")
        classes = [str(value) for _, value in pairs(auto_map)]
        elsewhere = next((named for named in classes if "--" in named), "")
        if elsewhere or (classes and not may_run_code):
            raise RefusedError(RefusalCode.CODE_SETTING, f"{name}: auto_map {elsewhere[:100]}".strip())


MODEL_CHECKS: dict[CheckName, Callable[[_Model], str]] = {
    CheckName.ID: _id,
    CheckName.PUBLIC: _public,
    CheckName.BASE: _base,
    CheckName.LICENSE: _license,
    CheckName.WEIGHTS: _weights,
    CheckName.SIZE: _size,
    CheckName.CONFIG: _config,
    CheckName.ARCHITECTURE: _architecture,
    CheckName.QUANTIZATION: _quantization,
    CheckName.TOKENIZER: _tokenizer,
    CheckName.CODE: _code,
}
# The checks under which a report shows why a repository could not be read. For any other reason, it is PUBLIC.
_CHECKS_OF_READING = {
    RefusalCode.MALFORMED_ID: CheckName.ID,
    RefusalCode.NO_BASE: CheckName.BASE,
    RefusalCode.BROKEN_JSON: CheckName.BASE,  # adapter_config.json, which names the base
    RefusalCode.BROKEN_WEIGHTS: CheckName.WEIGHTS,
}
_OPTIONAL = (CheckName.BASE, CheckName.QUANTIZATION)  # shown only for adapters and quantised models
# A model that fails one of these cannot be run at all. `hannun run` accepts one that fails other checks, for example because
# only a server that it starts supports the architecture. If the config is unreadable, CODE may be skipped, but CONFIG fails.
_REQUIRED = (CheckName.WEIGHTS, CheckName.CONFIG, CheckName.QUANTIZATION, CheckName.CODE)


def _format_params(params: int) -> str:
    return f"{params / 1e9:.2f} B" if params >= 1e8 else f"{params / 1e6:.2f} M"

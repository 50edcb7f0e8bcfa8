"""What a model repository says about itself: what it is, how it is asked, and what it needs."""

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from submissions.hub_models.architectures import architectures
from submissions.hub_models.chat_template import TemplateRenderer, default_template
from submissions.hub_models.quantization import QUANTIZATIONS, quantization_of
from submissions.hub_models.reasoning import thinking_modes
from submissions.hub_models.repository import TEXTS, Repository, json_or_nothing, parsed_json
from submissions.records.base import AS_SERVED, MODEL_ID, Name, Precision
from submissions.records.options import PRECISIONS, Thinking
from submissions.records.registry import Registry
from submissions.texts.errors import TemplateError

MEMORY_PER_WEIGHT_BYTE = 1.25  # bytes of device memory: the weights, and a quarter for all else
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}  # of a parameter
CONTEXT_NAMES = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "seq_length")
VISION_NAMES = ("vision", "visual", "vit_")  # what configs of image models call the part that sees
MAX_TEMPLATE = 100_000  # characters
# A template for messages of plain text prints the list of an image and a question as Python writes it.
PRINTED = re.compile(r"['\"]type['\"]: *['\"]image['\"]")
QUESTION = "합계는 얼마입니까?"  # what a template is tried with


@dataclass(frozen=True)
class ModelFacts:
    model_id: str
    revision: str  # 40 hex: the commit, or the content hash of a local folder
    model_type: str
    engine: Name
    takes_images: bool
    precision: Precision
    params: int | None
    license: str | None
    context: int | None = None  # tokens; None: its config does not say
    template: str | None = None  # the chat template
    template_fault: str = ""  # why it cannot be rendered
    template_drops: str = ""  # "image" or "question": what of a prompt is not in what it renders
    thinking: Thinking | None = None  # how it reasons unless asked otherwise; None: it cannot be asked
    modes: tuple[Thinking, ...] = ()  # how it can be asked to reason
    base_model: str | None = None  # an adapter's, or what a quantised model's card names
    base_revision: str | None = None  # an adapter's
    custom_code: bool = False  # whether it needs the Python files of its repository
    weight_bytes: int | None = None  # of its files and its base model's
    api: str | None = None  # the operator's name for it, where it is behind an API


def facts_of(repository: Repository, registry: Registry) -> ModelFacts:
    """Raises RefusedError where the model cannot be run at all."""
    model = repository.base or repository
    config, model_type, custom = model.config.values, model.config.model_type, model.needs_code
    known = architectures()
    quantization = quantization_of(config)
    template = chat_template(repository)
    takes_images = any(key.startswith(VISION_NAMES) for key in config) if custom else model_type in known["image"]
    # Code of its own may put a prompt together without the template; whether it reasons is asked in words alone.
    rendered = _try_template(template, special_tokens(repository), takes_images and not custom)
    if custom:
        rendered = replace(rendered, fault="", drops="")
    weights = [model.sizes.get(name, 0) for name in model.headers]
    return ModelFacts(
        model_id=repository.model_id,
        revision=repository.revision,
        model_type=model_type[:200],
        engine=registry.engine_for(model.config.class_names),
        takes_images=takes_images,
        precision=next((name for name in QUANTIZATIONS if name == quantization), stored_precision(config)),
        params=parameters_of(model),
        license=repository.license or model.license,
        context=_context(config),
        template=template,
        template_fault=rendered.fault,
        template_drops=rendered.drops,
        thinking=rendered.thinking,
        modes=rendered.modes,
        base_model=model.model_id if repository.base else _one_id(repository.base_model),
        base_revision=model.revision if repository.base else None,
        custom_code=custom,
        weight_bytes=sum(weights),
    )


def facts_of_server(
    model_id: str, base_url: str, api: str | None = None, efforts: Collection[Thinking] = ()
) -> ModelFacts:
    """Return what is known of a model behind an OpenAI-compatible server: its name there, and nothing of its weights.

    `efforts` are those of reasoning that the server can be asked for.
    """
    revision = hashlib.sha256(f"{base_url} {model_id}".encode()).hexdigest()[:40]
    return ModelFacts(
        model_id,
        revision,
        "api",
        "api",
        takes_images=True,
        precision=AS_SERVED,
        params=None,
        license=None,
        modes=tuple(efforts),
        api=api,
    )


def stored_precision(config: Mapping[str, Any]) -> Precision:
    """The precision that a checkpoint says it is in; float32 where it says nothing."""
    text = config.get("text_config")
    nested = text if isinstance(text, dict) else {}
    named = [c.get(name) for c in (config, nested) for name in ("dtype", "torch_dtype")]
    return next((p for name in named for p in PRECISIONS if p == name), "float32")


def parameters_of(repository: Repository) -> int:
    return sum(header.params for header in repository.headers.values() if header)


def memory_needed(params: int | None, precision: Precision, weight_bytes: int | None = None) -> int | None:
    """Bytes of a device's memory: the weights in the precision they are run in, and a quarter for all else. None where
    neither the size of a weight nor that of the files is known."""
    size = BYTES.get(precision)
    weights = params * size if size and params else weight_bytes
    return None if weights is None else int(MEMORY_PER_WEIGHT_BYTE * weights)


def chat_template(repository: Repository) -> str | None:
    """The template that transformers would use: an adapter's own before its base model's, a processor's before the
    tokenizer's, and of several by name the default."""
    for texts in (repository.texts, repository.base.texts if repository.base else {}):
        if jinja := texts.get("chat_template.jinja"):
            return jinja.decode(errors="replace")
        for name in ("chat_template.json", "processor_config.json", "tokenizer_config.json"):
            if name in texts and (found := default_template(parsed_json(name, texts[name]).get("chat_template"))):
                return found
    return None


def folder_template(folder: Path) -> tuple[str | None, dict[str, str]]:
    """The chat template of a model in a folder, and the special tokens that it may name. Raises RefusedError."""
    texts = {name: (folder / name).read_bytes() for name in TEXTS if (folder / name).is_file()}
    repository = Repository("local/model", "", None, {}, texts, {})
    return chat_template(repository), special_tokens(repository)


def special_tokens(repository: Repository) -> dict[str, str]:
    """The special tokens that a template may name, as the tokenizer's files have them."""
    tokens: dict[str, str] = {}
    for texts in (repository.base.texts if repository.base else {}, repository.texts):
        for name in ("special_tokens_map.json", "tokenizer_config.json"):
            for key, value in json_or_nothing(name, texts).items():
                content = value.get("content") if isinstance(value, dict) else value
                if key.endswith("_token") and isinstance(content, str):
                    tokens[key] = content
    return tokens


@dataclass(frozen=True)
class _Rendered:
    """What a chat template does with one question, and with one image."""

    thinking: Thinking | None = None
    modes: tuple[Thinking, ...] = ()
    fault: str = ""
    drops: str = ""


def _try_template(template: str | None, tokens: Mapping[str, str], takes_images: bool) -> _Rendered:
    if not template or len(template) > MAX_TEMPLATE:
        return _Rendered()
    renderer = TemplateRenderer(template, tokens)
    words = {"type": "text", "text": QUESTION}
    asked, shown = ([{"role": "user", "content": content}] for content in ([words], [{"type": "image"}, words]))
    if not takes_images:
        asked = [{"role": "user", "content": QUESTION}]
    try:
        plain = renderer.render([asked])
        thinking, modes = thinking_modes(template, renderer, asked)
        drops = "" if QUESTION in plain[0] else "question"
        with_image = renderer.render([shown])[0] if takes_images else ""
        if takes_images and (with_image == plain[0] or PRINTED.search(with_image)):
            drops = "image"
        return _Rendered(thinking, modes, "", drops)
    except TemplateError as error:
        return _Rendered(fault=str(error)[:200])
    finally:
        renderer.close()


def _context(config: Mapping[str, Any]) -> int | None:
    text = config.get("text_config")
    parts = [text if isinstance(text, dict) else {}, config]
    return next((n for c in parts for name in CONTEXT_NAMES if isinstance(n := c.get(name), int) and n > 0), None)


def _one_id(named: str | None) -> str | None:
    """The one model that a card names; None where it names several, or nothing of the kind."""
    return named if named and re.fullmatch(MODEL_ID, named, re.ASCII) else None

"""Derive the facts that an evaluation needs from a model's repository: engine, precision, template, memory.

The checks (`submissions/checks/model_checks.py`), which run before a model is queued and for `hannun run`, call `facts_of`
with a `Repository` that was read from the Hub or a folder. `facts_of_server` gives the same facts for a model behind an API.
"""

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from submissions.hub_models.architectures import architectures, is_supported
from submissions.hub_models.quantization import QUANTIZATIONS, quantization_of
from submissions.hub_models.reasoning import thinking_modes
from submissions.hub_models.repository import READ_FILES, Repository, json_or_empty, parsed_json
from submissions.hub_models.shown_architecture import shown_architecture, with_base_tensors
from submissions.hub_models.template_renderer import Isolate, TemplateRenderer, default_template
from submissions.records.architecture import Architecture
from submissions.records.base import AS_SERVED, Name, Precision
from submissions.records.hub_names import is_hub_id
from submissions.records.options import PRECISIONS, Thinking
from submissions.records.registry import Registry
from submissions.texts.errors import TemplateError, TemplateProcessError

MAX_BYTES_PER_QUANTISED_PARAM = 1  # 8 bits
MEMORY_PER_WEIGHT_BYTE = 1.25  # bytes of device memory per byte of weights; a quarter is for everything else
BYTES_PER_PARAM = {"float32": 4, "bfloat16": 2, "float16": 2}
# The names under which architectures store their context length.
CONTEXT_NAMES = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "seq_length")
VISION_NAMES = ("vision", "visual", "vit_")  # prefixes of the vision settings in configs
MAX_MODEL_TYPE = 200  # characters of untrusted text that is shown
MAX_TEMPLATE = 100_000  # characters; a longer template is not tried, and the check refuses it
# A text-only template that is given an image and a question prints their list as a Python literal.
PRINTED_IMAGE_PART = re.compile(r"['\"]type['\"]: *['\"]image['\"]")
NEVER_WRITTEN = "\0"  # a text that no prompt contains, in place of the beginning-of-text token if there is none
TEMPLATE_SECONDS = 15.0  # for all prompts that a check renders; ordinary templates take milliseconds
TEST_QUESTION = "합계는 얼마입니까?"  # "What is the total?", the prompt that templates are tried with


@dataclass(frozen=True)
class ModelFacts:
    """What the checks, the queue and the evaluator need to know about a model."""

    model_id: str
    revision: str  # 40 hex: the commit, or the content hash of a local folder
    model_type: str
    engine: Name
    takes_images: bool
    precision: Precision
    params: int | None  # number of parameters, of an adapter's base model; None: behind an API
    license: str | None
    context: int | None = None  # tokens; None: not in the config
    template: str | None = None  # the chat template
    template_fault: str = ""  # the error if the template cannot be rendered
    template_drops: str = ""  # "image" or "question" if the template leaves it out of the prompt
    template_begins: str = ""  # what the template writes before its beginning-of-text token; a check warns of it
    thinking: Thinking | None = None  # default reasoning mode; None: it has no modes
    modes: tuple[Thinking, ...] = ()  # reasoning modes that can be asked for
    base_model: str | None = None  # of an adapter, or as named by the card of a quantised model
    base_revision: str | None = None  # of an adapter
    custom_code: bool = False  # whether it needs the Python files of its repository
    weight_bytes: int | None = None  # bytes of the weight files; for an adapter, those of its base model
    api: str | None = None  # the operator's name for a model behind an API
    shown: Architecture | None = None  # the model's parts as its config and weights show them; None: behind an API


def facts_of(repository: Repository, registry: Registry) -> ModelFacts:
    """Return the facts of a model. Raises RefusedError if its config or a template file cannot be read."""
    full_model = repository.base or repository  # an adapter has no architecture and precision of its own
    config = full_model.config.values
    model_type = full_model.config.model_type
    needs_code = full_model.needs_code
    # An unknown quantisation is refused by a check. Until then, the precision is the dtype that the config states.
    method = quantization_of(config)
    known_method = next((name for name in QUANTIZATIONS if name == method), None)  # as a literal type
    precision = known_method or stored_precision(config)
    template = chat_template(repository)
    if is_supported(model_type):
        takes_images = model_type in architectures()["image"]
    else:
        takes_images = any(key.startswith(VISION_NAMES) for key in config)
    # Custom code may build prompts without the template, so template errors do not count, and only text is tried.
    trial = _try_template(template, special_tokens(repository), takes_images and not needs_code, registry.isolate)
    if needs_code:
        trial = replace(trial, fault="", drops="")
    weight_bytes = sum(full_model.sizes.get(name, 0) for name in full_model.headers)
    parts = shown_architecture(config)
    # The card of a full model may name a base. The facts then tell how many of its tensors the model shares.
    if repository.declared_base:
        parts = with_base_tensors(parts, repository.shapes, repository.declared_base.shapes)
    base_model, base_revision = _base_of(repository)
    return ModelFacts(
        model_id=repository.model_id,
        revision=repository.revision,
        model_type=model_type[:MAX_MODEL_TYPE],
        engine=registry.engine_for(full_model.config.class_names),
        takes_images=takes_images,
        precision=precision,
        params=parameters_of(full_model),
        license=repository.license or full_model.license,
        context=_context_length(config),
        template=template,
        template_fault=trial.fault,
        template_drops=trial.drops,
        template_begins=trial.begins,
        thinking=trial.thinking,
        modes=trial.modes,
        base_model=base_model,
        base_revision=base_revision,
        custom_code=needs_code,
        weight_bytes=weight_bytes,
        shown=parts,
    )


def facts_of_server(
    model_id: str, server: str, api: str | None = None, efforts: Collection[Thinking] = ()
) -> ModelFacts:
    """Return the facts of a model behind an OpenAI-compatible server, whose weights are unknown.

    `server` is its address, which may be followed by the model's name on the server. A server names no commit, so the revision
    is a hash of `server` and `model_id`. `api` is the operator's name for it in HANNUN_APIS. `efforts` are the reasoning
    efforts that a request may ask for.
    """
    revision = hashlib.sha256(f"{server} {model_id}".encode()).hexdigest()[:40]
    return ModelFacts(
        model_id,
        revision,
        model_type="api",
        engine="api",
        takes_images=True,
        precision=AS_SERVED,
        params=None,
        license=None,
        modes=tuple(efforts),
        api=api,
    )


def stored_precision(config: Mapping[str, Any]) -> Precision:
    """Return the precision that a config or its `text_config` states, or float32, PyTorch's default, if it states none."""
    text = config.get("text_config")
    text_config = text if isinstance(text, dict) else {}
    for part in (config, text_config):  # in this order, as transformers with dtype="auto"
        for name in ("dtype", "torch_dtype"):
            stated = part.get(name)
            for precision in PRECISIONS:
                if precision == stated:
                    return precision
    return "float32"


def parameters_of(repository: Repository) -> int:
    """Return the number of parameters in a repository's weight files."""
    return sum(header.params for header in repository.headers.values() if header)


def memory_needed(params: int | None, precision: Precision, weight_bytes: int | None = None) -> int | None:
    """Return the device memory that a model needs in bytes: its weights in `precision`, and a quarter more for the rest.

    The weights of a quantised model take `weight_bytes`, the size of its files, or at most a byte each if that is unknown. A
    model with 8 billion parameters in bfloat16 needs 20 GB. Return None if the sizes of parameters and files are unknown.
    """
    bytes_per_param = BYTES_PER_PARAM.get(precision)
    if params and bytes_per_param:
        weight_bytes = params * bytes_per_param
    elif params and weight_bytes is None:
        weight_bytes = params * MAX_BYTES_PER_QUANTISED_PARAM
    return None if weight_bytes is None else memory_for_weights(weight_bytes)


def memory_for_weights(weight_bytes: int) -> int:
    """Return the device memory in bytes that a model with weights of this size needs."""
    return int(MEMORY_PER_WEIGHT_BYTE * weight_bytes)


def chat_template(repository: Repository) -> str | None:
    """Return the chat template that transformers would use, or None.

    An adapter's template takes precedence over that of its base model, and a processor's over that of the tokenizer. Of
    several named templates, the default is used.
    """
    for source in (repository, repository.base):
        if source is None:
            continue
        if jinja := source.settings_files.get("chat_template.jinja"):
            return jinja.decode(errors="replace")
        for name in ("chat_template.json", "processor_config.json", "tokenizer_config.json"):
            if name not in source.settings_files:
                continue
            settings = parsed_json(name, source.settings_files[name])
            if found := default_template(settings.get("chat_template")):
                return found
    return None


def folder_template(folder: Path) -> tuple[str | None, dict[str, str]]:
    """Return the chat template of a model in a folder, and the special tokens that it may use.

    Raises RefusedError if a JSON file with a template is broken.
    """
    settings_files = {name: (folder / name).read_bytes() for name in READ_FILES if (folder / name).is_file()}
    repository = Repository(
        model_id="local/model",
        revision="",
        license=None,
        sizes={},
        settings_files=settings_files,
        headers={},
    )
    return chat_template(repository), special_tokens(repository)


def special_tokens(repository: Repository) -> dict[str, str]:
    """Return the special tokens that a template may use, such as {"bos_token": "<s>"}, from the tokenizer's files.

    A token is stored as a text or as an object with the text in `content`. Those of an adapter replace those of its base
    model.
    """
    tokens: dict[str, str] = {}
    for source in (repository.base, repository):
        if source is None:
            continue
        for name in ("special_tokens_map.json", "tokenizer_config.json"):
            for key, value in json_or_empty(name, source.settings_files).items():
                content = value.get("content") if isinstance(value, dict) else value
                if key.endswith("_token") and isinstance(content, str):
                    tokens[key] = content
    return tokens


@dataclass(frozen=True)
class _TemplateTrial:
    """The outcome of rendering a chat template with TEST_QUESTION, and with an image. Without a template, it is empty.

    The fields become those of ModelFacts: `thinking` and `modes`, and the others as `template_fault` and so on.
    """

    thinking: Thinking | None = None
    modes: tuple[Thinking, ...] = ()
    fault: str = ""
    drops: str = ""
    begins: str = ""


def _try_template(
    template: str | None, tokens: Mapping[str, str], takes_images: bool, isolate: Isolate
) -> _TemplateTrial:
    """Render a template with TEST_QUESTION to find its reasoning modes, its errors and what it leaves out of the prompt.

    `tokens` are the special tokens of `special_tokens`, and `isolate` runs the renderer's process in a sandbox.
    """
    if not template or len(template) > MAX_TEMPLATE:
        return _TemplateTrial()
    renderer = TemplateRenderer(template, tokens, isolate, seconds=TEMPLATE_SECONDS)
    text_part = {"type": "text", "text": TEST_QUESTION}
    # Templates of models that take images expect a list of parts, and others a text.
    question = [{"role": "user", "content": [text_part] if takes_images else TEST_QUESTION}]
    question_with_image = [{"role": "user", "content": [{"type": "image"}, text_part]}]
    try:
        (prompt,) = renderer.render([question])
        thinking, modes = thinking_modes(template, renderer, question)
        drops = "" if TEST_QUESTION in prompt else "question"
        if takes_images:
            (prompt_with_image,) = renderer.render([question_with_image])
            if prompt_with_image == prompt or PRINTED_IMAGE_PART.search(prompt_with_image):
                drops = "image"
        before_bos, found_bos, _ = prompt.partition(tokens.get("bos_token") or NEVER_WRITTEN)
        return _TemplateTrial(thinking, modes, drops=drops, begins=before_bos if found_bos else "")
    except (TemplateError, TemplateProcessError) as error:
        return _TemplateTrial(fault=str(error)[:200])
    finally:
        renderer.close()


def _context_length(config: Mapping[str, Any]) -> int | None:
    """Return the context length in tokens that a config's `text_config` or the config itself states, or None."""
    text = config.get("text_config")
    text_config = text if isinstance(text, dict) else {}
    parts = (text_config, config)  # in this order, as the chat engine reads it from transformers' `get_text_config`
    stated = (part.get(name) for part in parts for name in CONTEXT_NAMES)
    return next((length for length in stated if type(length) is int and length > 0), None)  # True is an int too


def _base_of(repository: Repository) -> tuple[str | None, str | None]:
    """Return the ID and the commit of an adapter's base model, or the ID that the card of a full model names, and None."""
    if repository.base:
        return repository.base.model_id, repository.base.revision
    return _single_model_id(repository.base_model), None


def _single_model_id(base_model: str | None) -> str | None:
    """Return the model ID in a card's field `base_model`, or None if it names none or several: "a/b, c/d" is no ID."""
    return base_model if base_model and is_hub_id(base_model) else None

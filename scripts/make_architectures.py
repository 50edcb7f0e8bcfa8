"""`python -m scripts.make_architectures`: list the architectures that the pinned transformers can run.

The board reads the list from a file, because it does not install transformers.
"""

import inspect
import json
from collections.abc import Mapping
from typing import Any

import transformers
from transformers import CONFIG_MAPPING, TokenizersBackend
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES,
    MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES,
)
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name

from submissions.hub_models.architectures import ARCHITECTURES

# Types that transformers maps with chat models but that do not answer questions → what they do.
NOT_CHAT = {
    "musicgen": "writes sounds",
    "musicgen_melody": "writes sounds",
    "moss_transcribe_diarize": "hears speech",
    "pi0": "moves robots",
    "evolla": "reads proteins",
    "shieldgemma2": "classifies images",
    "gemma4_assistant": "drafts for another model",
    "gemma4_unified_assistant": "drafts for another model",
    "diffusion_gemma": "takes no plain generation config",
}
PUBLISHED_AS = {"Qwen2_5OmniModel"}  # class names in published configs that differ from those in transformers
TEXT_ONLY = {"mistral4"}  # mapped with image models, but takes no images
NEEDS_MORE = {
    "lxmert": "visual features",
    "lilt": "boxes",
}  # inputs that the signature of their tokenizers does not show
VISION_PREFIXES = ("vision", "visual")


def architectures() -> dict[str, Any]:
    """Return the content of the architectures file.

    "image" and "text" list the model types that chat, "classes" the names of their classes. "extractive" maps model types
    to their question-answering class, and "not_extractive" maps types whose class cannot be run to the reason.
    """
    seeing = {**MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES, **_multimodal_with_vision()}
    reading = dict(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
    pointing = {t: (str(c), _obstacle(t)) for t, c in sorted(MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES.items())}
    return {
        "transformers": transformers.__version__,
        "image": sorted(seeing.keys() - NOT_CHAT.keys() - TEXT_ONLY),
        "text": sorted((reading.keys() | TEXT_ONLY) - NOT_CHAT.keys() - _encoder_decoders()),
        "classes": sorted({*_names(seeing), *_names(reading), *PUBLISHED_AS}),
        "extractive": {t: c for t, (c, obstacle) in pointing.items() if not obstacle},
        "not_extractive": {t: obstacle for t, (_, obstacle) in pointing.items() if obstacle},
    }


def _multimodal_with_vision() -> dict[str, Any]:
    """Return the models that take images among the multimodal models that transformers maps separately."""
    apart = MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES.keys() - MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES.keys()
    return {name: MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES[name] for name in apart if _takes_images(CONFIG_MAPPING[name])}


def _encoder_decoders() -> set[str]:
    """Return types whose checkpoints have an encoder, which a causal model class would not load."""
    return {*MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES, *MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES}


def _names(mapped: Mapping[str, Any]) -> set[str]:
    """Return the class names in a mapping. Its values are one name or several."""
    return {name for own in mapped.values() for name in ([own] if isinstance(own, str) else own)}


def _takes_images(config: Any) -> bool:
    parts = getattr(config, "sub_configs", {})
    seeing = MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
    return any(
        name.startswith(VISION_PREFIXES) or getattr(part, "model_type", None) in seeing for name, part in parts.items()
    )


def _obstacle(model_type: str) -> str:
    """Return why the extractive engine cannot run a type, or "". It needs character offsets and text as the only input."""
    name = TOKENIZER_MAPPING_NAMES.get(model_type)
    kind = tokenizer_class_from_name(name) if name else TokenizersBackend
    if kind is None or not issubclass(kind, TokenizersBackend):
        return "no fast tokenizer, so no character offsets"
    also = sorted({"boxes", "xpaths"} & set(inspect.signature(kind.__call__).parameters))
    needed = NEEDS_MORE.get(model_type) or ", ".join(also)
    return f"needs {needed} besides the text" if needed else ""


if __name__ == "__main__":
    ARCHITECTURES.write_text(json.dumps(architectures(), indent=0) + "\n", encoding="utf-8")

"""`python -m scripts.make_architectures`: what the pinned transformers can run, for a board that does not install it."""

import inspect
import json
from typing import Any

import transformers
from transformers import CONFIG_MAPPING, TokenizersBackend
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES,
    MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES,
)
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name

from submissions.models.architectures import ARCHITECTURES

MUSIC = {"musicgen", "musicgen_melody"}  # mapped as causal language models; what they write are sounds
NEEDS_MORE = {"lxmert": "visual features", "lilt": "boxes"}  # that their tokenizers do not show
SIGHT = ("vision", "visual")


def architectures() -> dict[str, Any]:
    """Model types by what they are asked to do: "image" and "text" chat, "extractive" is by type the class that points
    at answers, and "not_extractive" why those classes of other types cannot be run."""
    pointing = {t: (str(c), _obstacle(t)) for t, c in sorted(MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES.items())}
    return {
        "transformers": transformers.__version__,
        "image": sorted({*MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES, *_of_several_senses()}),
        "text": sorted({*MODEL_FOR_CAUSAL_LM_MAPPING_NAMES} - MUSIC),
        "extractive": {t: c for t, (c, obstacle) in pointing.items() if not obstacle},
        "not_extractive": {t: obstacle for t, (_, obstacle) in pointing.items() if obstacle},
    }


def _of_several_senses() -> list[str]:
    """Those that see, among the models of several senses that transformers maps apart."""
    apart = MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES.keys() - MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES.keys()
    return [name for name in apart if _sees(CONFIG_MAPPING[name])]


def _sees(config: Any) -> bool:
    parts = getattr(config, "sub_configs", {})
    seeing = MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
    return any(name.startswith(SIGHT) or getattr(part, "model_type", None) in seeing for name, part in parts.items())


def _obstacle(model_type: str) -> str:
    """Why the extractive engine cannot run it: it needs a tokenizer with character offsets, and text as its only input."""
    name = TOKENIZER_MAPPING_NAMES.get(model_type)
    kind = tokenizer_class_from_name(name) if name else TokenizersBackend
    if kind is None or not issubclass(kind, TokenizersBackend):
        return "no fast tokenizer, so no character offsets"
    also = sorted({"boxes", "xpaths"} & set(inspect.signature(kind.__call__).parameters))
    needed = NEEDS_MORE.get(model_type) or ", ".join(also)
    return f"needs {needed} besides the text" if needed else ""


if __name__ == "__main__":
    ARCHITECTURES.write_text(json.dumps(architectures(), indent=0) + "\n", encoding="utf-8")

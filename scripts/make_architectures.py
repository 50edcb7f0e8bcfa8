"""`python -m scripts.make_architectures`: what the pinned transformers can run, for a board that does not install it."""

import json

import transformers
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES,
)

from submissions.checks import ARCHITECTURES


def architectures() -> dict[str, str | list[str]]:
    """Model types by what they are asked to do."""
    return {
        "transformers": transformers.__version__,
        "image": sorted(MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES),
        "text": sorted(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES),
        "extractive": sorted(MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES),
    }


if __name__ == "__main__":
    ARCHITECTURES.write_text(json.dumps(architectures(), indent=0) + "\n", encoding="utf-8")

"""`python -m scripts.architecture_imports`: check that this environment has the libraries of every supported architecture.

Prints each architecture whose processor, tokenizer, image processor or video processor cannot be imported, with the missing
library. The exit code is 1 if there is one.
"""

import sys
from typing import Any

import transformers
from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES
from transformers.models.auto.processing_auto import PROCESSOR_MAPPING_NAMES
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES
from transformers.models.auto.video_processing_auto import VIDEO_PROCESSOR_MAPPING_NAMES
from transformers.utils import requires_backends

from scripts.make_architectures import architectures

MAPPINGS = (
    PROCESSOR_MAPPING_NAMES,
    TOKENIZER_MAPPING_NAMES,
    IMAGE_PROCESSOR_MAPPING_NAMES,
    VIDEO_PROCESSOR_MAPPING_NAMES,
)


def class_names(model_type: str) -> list[str]:
    """Return the names of the processor and tokenizer classes that transformers maps to an architecture."""
    names: list[str] = []
    for mapping in MAPPINGS:
        mapped: Any = mapping.get(model_type)
        if isinstance(mapped, dict):
            kinds = list(mapped.values())
        elif isinstance(mapped, tuple):
            kinds = list(mapped)
        else:
            kinds = [mapped]
        names += [name for name in kinds if name]
    return names


def missing() -> dict[str, str]:
    """Return the architectures with a class that cannot be imported → the first sentence of the error."""
    found: dict[str, str] = {}
    known = architectures()
    for model_type in sorted({t for kind in ("image", "text", "extractive") for t in known[kind]}):
        for name in class_names(model_type):
            try:
                kind = getattr(transformers, name)
                requires_backends(kind, getattr(kind, "_backends", []))
            except (ImportError, AttributeError, RuntimeError) as error:
                found[model_type] = " ".join(str(error).split()).partition(". ")[0]
    return found


def main() -> int:
    problems = missing()
    for model_type, reason in problems.items():
        print(f"{model_type}: {reason}")
    print(f"{len(problems)} architectures cannot be used here", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

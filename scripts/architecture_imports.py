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
    """Return the names of the classes that prepare the inputs of an architecture: processors and tokenizers.

    An image processor has several classes if several libraries can do its work: {"torchvision": …, "pil": …}.
    """
    names: list[str] = []
    for mapping in MAPPINGS:
        mapped: Any = mapping.get(model_type)
        of_libraries = mapped.values() if isinstance(mapped, dict) else [mapped]
        names += [name for name in of_libraries if name]
    return names


def problem_with(class_name: str) -> str:
    """Return why a class of transformers cannot be used here, in one sentence, or "" if it can."""
    try:
        imported = getattr(transformers, class_name)
        # If its library is missing, transformers has a stand-in of the same name, which lists the libraries in `_backends`.
        requires_backends(imported, getattr(imported, "_backends", []))
    # AttributeError: there is no such class. RuntimeError: its module fails while it is imported.
    except (ImportError, AttributeError, RuntimeError) as error:
        return " ".join(str(error).split()).partition(". ")[0]
    return ""


def missing() -> dict[str, str]:
    """Return why architectures cannot be used here, by architecture. Those that can be used are left out."""
    known = architectures()
    model_types = {*known["image"], *known["text"], *known["extractive"]}
    found: dict[str, str] = {}
    for model_type in sorted(model_types):
        problems = [problem for name in class_names(model_type) if (problem := problem_with(name))]
        if problems:
            found[model_type] = "; ".join(dict.fromkeys(problems))
    return found


def main() -> int:
    problems = missing()
    for model_type, reason in problems.items():
        print(f"{model_type}: {reason}")
    print(f"{len(problems)} architectures cannot be used here", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

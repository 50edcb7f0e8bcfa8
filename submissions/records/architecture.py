"""Define the record of a model's parts: what its configuration states, and how many tensors of its declared base it has.

The types and sizes alone do not show where the weights come from.
"""

from typing import Annotated

from pydantic import Field

from submissions.records.base import Record

TypeName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,100}$")]
Size = Annotated[int, Field(ge=1, le=10**9)]


class Architecture(Record):
    """Types and sizes as `config.json` states them, and the number of tensors that agree with those of the declared base.

    A type or size that the config does not state, or states in another form, is None.
    """

    class_name: TypeName | None = None  # such as LlavaOnevisionForConditionalGeneration
    text_type: TypeName | None = None  # the model type of the language model, such as qwen3
    text_layers: Size | None = None
    text_width: Size | None = None  # hidden size
    vocabulary: Size | None = None  # tokens
    vision_type: TypeName | None = None  # the model type of the vision encoder, such as siglip_vision_model
    vision_layers: Size | None = None
    vision_width: Size | None = None  # hidden size
    # The number of tensors of the model that the card names as its base. None: the base could not be read.
    base_tensors: Annotated[int, Field(ge=1, le=10**6)] | None = None
    # How many of those the model has with the same name and shape, perhaps below a prefix. Their values may differ.
    base_tensors_found: Annotated[int, Field(ge=0, le=10**6)] | None = None
    # How many of those have the same values too. None: no worker had the files of both models.
    base_tensors_equal: Annotated[int, Field(ge=0, le=10**6)] | None = None

"""IBM's Granite for documents: tiles in rows and columns, an eye whose early layers reach into the decoder."""

from pathlib import Path

import torch
from transformers import (
    GenerationConfig,
    GraniteDoclingConfig,
    GraniteDoclingForConditionalGeneration,
    GraniteDoclingImageProcessor,
    GraniteDoclingProcessor,
)

from tests.support.zoo import family
from tests.support.zoo.gemma_parts import ids_of
from tests.support.zoo.parts import TEXT, byte_level, save

TEMPLATE = (
    "{% for message in messages %}{{ '<|start_of_role|>' + message['role'] + '<|end_of_role|>' }}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'text' %}{{ part['text'] }}{% elif part['type'] == 'image' %}<image>{% endif %}"
    "{% endfor %}{% endif %}{{ '<|end_of_text|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}<|start_of_role|>assistant<|end_of_role|>{% endif %}"
)


@family("granite_docling")
def granite_docling(folder: Path) -> None:
    torch.manual_seed(0)
    special: tuple[str, ...] = (
        "<|end_of_text|>",
        "<|pad|>",
        "<|start_of_role|>",
        "<|end_of_role|>",
        "<fake_token_around_image>",
    )
    special += ("<image>", "<global-img>")
    special += tuple(f"<row_{row}_col_{column}>" for row in range(1, 5) for column in range(1, 5))
    words = byte_level(
        special,
        bos_token="<|end_of_text|>",
        eos_token="<|end_of_text|>",
        unk_token="<|end_of_text|>",
        pad_token="<|pad|>",
        extra_special_tokens={"image_token": "<image>"},
    )
    end, pad, image = ids_of(words, "<|end_of_text|>", "<|pad|>", "<image>")
    config = GraniteDoclingConfig(
        text_config={**TEXT, "vocab_size": len(words), "embedding_multiplier": 1.0, "attention_multiplier": 0.25}
        | {"bos_token_id": end, "eos_token_id": end, "pad_token_id": pad, "initializer_range": 0.2},
        vision_config={"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 2}
        | {"image_size": 64, "patch_size": 8, "out_hidden_size": TEXT["hidden_size"], "deepstack_visual_indexes": [0]},
        image_token_id=image,
        pad_token_id=pad,
    )
    model = GraniteDoclingForConditionalGeneration(config)
    model.generation_config = GenerationConfig(bos_token_id=end, eos_token_id=end, pad_token_id=pad, use_cache=True)
    processor = GraniteDoclingProcessor(
        image_processor=GraniteDoclingImageProcessor(size={"height": 64, "width": 64}, max_patches=4),
        tokenizer=words,
        image_seq_len=4,
        chat_template=TEMPLATE,
    )
    save(folder, model, processor, end=end)

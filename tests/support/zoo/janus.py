"""DeepSeek's Janus, which reads images and paints them, as converted for transformers."""

from pathlib import Path

import torch
from transformers import (
    GenerationConfig,
    JanusConfig,
    JanusForConditionalGeneration,
    JanusImageProcessor,
    JanusProcessor,
)

from tests.support.zoo import family
from tests.support.zoo.llama_parts import as_before_5, begin, ids_of
from tests.support.zoo.parts import TEXT, byte_level, change_json, save

NAMED = {"image_token": "<image_placeholder>", "boi_token": "<begin_of_image>", "eoi_token": "<end_of_image>"}
SPECIAL = ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>", *NAMED.values())
TEMPLATE = (
    "{%- set told = namespace(text='You are a helpful language and vision assistant.') %}{%- for message in messages %}"
    "{%- if message['role'] == 'system' %}{%- set told.text = message['content'] %}{%- endif %}{%- endfor %}"
    "{{- bos_token }}{{- told.text + '\n\n' }}{%- for message in messages %}{%- if message['role'] != 'system' %}"
    "{%- if message['role'] == 'user' %}{{- '<|User|>: ' }}{%- else %}{{- '<|Assistant|>: ' }}{%- endif %}"
    "{%- for part in message['content'] %}{%- if part['type'] == 'image' %}{%- if not loop.first %}{{- '\n' }}{%- endif %}"
    "{{- '<image_placeholder>' }}{%- if not loop.last %}{{- '\n' }}{%- endif %}"
    "{%- elif part['type'] == 'text' %}{{- part['text'] }}{%- endif %}{%- endfor %}"
    "{%- if not loop.last or add_generation_prompt %}{{- '\n\n' }}{%- endif %}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|Assistant|>:' }}{%- endif %}"
)


@family("janus")
def janus(folder: Path) -> None:
    torch.manual_seed(0)
    words = byte_level(
        SPECIAL, bos_token=SPECIAL[0], eos_token=SPECIAL[1], pad_token=SPECIAL[2], extra_special_tokens=NAMED
    )
    begin(words)
    ids = ids_of(words, SPECIAL)
    config = JanusConfig(
        text_config={**TEXT, "model_type": "llama", "vocab_size": len(words), "num_key_value_heads": 4},
        vision_config={
            "hidden_size": 32,
            "mlp_ratio": 2.0,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_size": 64,
            "num_image_tokens": 16,
            "projection_dim": 64,
        },
        vq_config={
            "num_embeddings": 32,
            "latent_channels": 32,
            "base_channels": 32,
            "channel_multiplier": [1],
            "num_res_blocks": 1,
            "projection_dim": 64,
            "image_token_embed_dim": 64,
        },
        image_token_id=ids["<image_placeholder>"],
        tie_word_embeddings=False,
    )
    model = JanusForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        bos_token_id=ids[SPECIAL[0]], eos_token_id=ids[SPECIAL[1]], pad_token_id=ids[SPECIAL[2]]
    )
    processor = JanusProcessor(
        image_processor=JanusImageProcessor(size={"height": 64, "width": 64}),
        tokenizer=words,
        num_image_tokens=16,
        chat_template=TEMPLATE,
    )
    save(folder, model, processor, end=ids[SPECIAL[1]])
    as_before_5(folder, "LlamaTokenizerFast")
    change_json(folder / "generation_config.json", generation_kwargs={"boi_token_id": ids["<begin_of_image>"]})

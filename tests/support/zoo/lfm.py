"""Liquid's LFM2-VL: convolutions between the attention layers, patches of any aspect ratio, tiles for what is larger."""

from pathlib import Path

import torch
from transformers import (
    GenerationConfig,
    Lfm2VlConfig,
    Lfm2VlForConditionalGeneration,
    Lfm2VlImageProcessor,
    Lfm2VlProcessor,
)

from tests.support.zoo import family
from tests.support.zoo.gemma_parts import ids_of
from tests.support.zoo.parts import TEXT, byte_level, save

NAMED = {"image_token": "<image>", "image_start_token": "<|image_start|>", "image_end_token": "<|image_end|>"}
NAMED |= {"image_thumbnail": "<|img_thumbnail|>"}
SPECIAL: tuple[str, ...] = (
    "<|pad|>",
    "<|startoftext|>",
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    *NAMED.values(),
)
SPECIAL += tuple(f"<|img_row_{row}_col_{column}|>" for row in range(1, 5) for column in range(1, 5))
TEMPLATE = (
    "{{- bos_token -}}{% set ns = namespace(head='') %}"
    "{% if messages[0]['role'] == 'system' %}{% set ns.head = messages[0]['content'] %}{% set messages = messages[1:] %}"
    "{% endif %}{% if ns.head %}{{ '<|im_start|>system\n' + ns.head + '<|im_end|>\n' }}{% endif %}"
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' }}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for item in message['content'] %}"
    "{% if item['type'] == 'image' %}<image>{% elif item['type'] == 'text' %}{{ item['text'] }}"
    "{% else %}{{ item | tojson }}{% endif %}{% endfor %}{% endif %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


@family("lfm2_vl")
def lfm2_vl(folder: Path) -> None:
    torch.manual_seed(0)
    words = byte_level(
        SPECIAL,
        bos_token="<|startoftext|>",
        eos_token="<|im_end|>",
        pad_token="<|pad|>",
        extra_special_tokens=NAMED,
        legacy=False,
    )
    pad, bos, end, image = ids_of(words, "<|pad|>", "<|startoftext|>", "<|im_end|>", "<image>")
    config = Lfm2VlConfig(
        text_config={**TEXT, "model_type": "lfm2", "vocab_size": len(words), "layer_types": ["conv", "full_attention"]}
        | {"block_ff_dim": 128, "block_auto_adjust_ff_dim": False, "conv_L_cache": 3, "initializer_range": 0.2}
        | {"bos_token_id": bos, "eos_token_id": end, "pad_token_id": pad},
        vision_config={"model_type": "siglip2_vision_model", "hidden_size": 32, "intermediate_size": 64}
        | {"num_hidden_layers": 2, "num_attention_heads": 2, "num_patches": 64, "patch_size": 16}
        | {"vision_use_head": False},
        image_token_id=image,
        projector_hidden_size=64,
    )
    model = Lfm2VlForConditionalGeneration(config)
    model.generation_config = GenerationConfig(bos_token_id=bos, eos_token_id=end, pad_token_id=pad)
    processor = Lfm2VlProcessor(
        image_processor=Lfm2VlImageProcessor(
            min_image_tokens=4, max_image_tokens=16, max_tiles=4, tile_size=64, max_num_patches=64
        ),
        tokenizer=words,
        chat_template=TEMPLATE,
    )
    save(folder, model, processor, end=end)

"""DeepSeek-VL, with one eye and with two."""

from pathlib import Path
from typing import Any

import torch
from transformers import (
    DeepseekVLConfig,
    DeepseekVLForConditionalGeneration,
    DeepseekVLHybridConfig,
    DeepseekVLHybridForConditionalGeneration,
    DeepseekVLHybridImageProcessor,
    DeepseekVLHybridProcessor,
    DeepseekVLImageProcessor,
    DeepseekVLProcessor,
    GenerationConfig,
)

from tests.support.zoo import family
from tests.support.zoo.gemma_parts import ids_of
from tests.support.zoo.parts import TEXT, byte_level, save

# A system message of its own, names with colons for the roles, and no space after the last colon.
TEMPLATE = (
    "{% set ns = namespace(head='You are a helpful language and vision assistant. You are able to understand the "
    "visual content that the user provides, and assist the user with a variety of tasks using natural language.') %}"
    "{% for m in messages if m['role'] == 'system' %}{% set ns.head = m['content'] %}{% endfor %}"
    "{{ bos_token }}{{ ns.head + '\n\n' }}"
    "{% for m in messages if m['role'] != 'system' %}"
    "{{ 'User: ' if m['role'] == 'user' else 'Assistant: ' }}"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for item in m['content'] %}"
    "{% if item['type'] == 'image' %}<image_placeholder>{% elif item['type'] == 'text' %}{{ item['text'] }}{% endif %}"
    "{% endfor %}{% endif %}{{ '\n\n' if m['role'] == 'user' else eos_token }}{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)
SPECIAL: tuple[str, ...] = ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>", "<image_placeholder>")
SIGHT: dict[str, Any] = {
    "model_type": "siglip_vision_model",
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
}
SIGHT |= {"num_attention_heads": 2, "patch_size": 16, "vision_use_head": False}


def tokenizer() -> Any:
    return byte_level(
        SPECIAL,
        bos_token=SPECIAL[0],
        eos_token=SPECIAL[1],
        pad_token=SPECIAL[2],
        extra_special_tokens={"image_token": "<image_placeholder>"},
    )


def _text(words: Any) -> dict[str, Any]:
    bos, eos, pad = ids_of(words, *SPECIAL[:3])
    ids = {"bos_token_id": bos, "eos_token_id": eos, "pad_token_id": pad}
    return {**TEXT, "model_type": "llama", "vocab_size": len(words), **ids}


def _generation(words: Any) -> GenerationConfig:
    bos, eos, pad = ids_of(words, *SPECIAL[:3])
    return GenerationConfig(bos_token_id=bos, eos_token_id=eos, pad_token_id=pad)


@family("deepseek_vl")
def deepseek_vl(folder: Path) -> None:
    torch.manual_seed(0)
    words = tokenizer()
    image, eos = ids_of(words, SPECIAL[3], SPECIAL[1])
    config = DeepseekVLConfig(
        text_config=_text(words),
        vision_config={**SIGHT, "image_size": 96},
        image_token_id=image,
        tie_word_embeddings=False,
    )
    model = DeepseekVLForConditionalGeneration(config)
    model.generation_config = _generation(words)
    processor = DeepseekVLProcessor(
        image_processor=DeepseekVLImageProcessor(size={"height": 96, "width": 96}),
        tokenizer=words,
        chat_template=TEMPLATE,
        num_image_tokens=36,
    )
    save(folder, model, processor, end=eos)


@family("deepseek_vl_hybrid")
def deepseek_vl_hybrid(folder: Path) -> None:
    torch.manual_seed(0)
    words = tokenizer()
    image, eos = ids_of(words, SPECIAL[3], SPECIAL[1])
    config = DeepseekVLHybridConfig(
        text_config=_text(words),
        vision_config={**SIGHT, "image_size": 96},
        high_res_vision_config={"model_type": "sam_vision_model", "hidden_size": 32, "output_channels": 16}
        | {"num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 256, "global_attn_indexes": [1]}
        | {"mlp_dim": 64, "num_pos_feats": 8},
        image_token_id=image,
        tie_word_embeddings=False,
    )
    model = DeepseekVLHybridForConditionalGeneration(config)
    model.generation_config = _generation(words)
    processor = DeepseekVLHybridProcessor(
        image_processor=DeepseekVLHybridImageProcessor(
            size={"height": 96, "width": 96}, high_res_size={"height": 256, "width": 256}
        ),
        tokenizer=words,
        chat_template=TEMPLATE,
        num_image_tokens=36,
    )
    save(folder, model, processor, end=eos)

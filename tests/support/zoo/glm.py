"""Z.ai's: GLM-4.1V, which always thinks, and GLM-4.6V, which thinks unless told not to."""

from pathlib import Path
from typing import Any

import torch
from transformers import (
    GenerationConfig,
    Glm4vConfig,
    Glm4vForConditionalGeneration,
    Glm4vImageProcessor,
    Glm4vProcessor,
    Glm4vVideoProcessor,
    Glm46VConfig,
    Glm46VForConditionalGeneration,
    Glm46VImageProcessor,
    Glm46VProcessor,
    Glm46VVideoProcessor,
)

from tests.support.zoo import family
from tests.support.zoo.gemma_parts import ids_of
from tests.support.zoo.parts import TEXT, byte_level, save

SPECIAL: tuple[str, ...] = (
    "<|endoftext|>",
    "[MASK]",
    "[gMASK]",
    "[sMASK]",
    "<sop>",
    "<eop>",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
)
SPECIAL += ("<|observation|>", "<|begin_of_image|>", "<|end_of_image|>", "<|begin_of_video|>", "<|end_of_video|>")
SPECIAL += ("<|image|>", "<|video|>")
# Plain added tokens: they stay in a decoded answer.
WORDS = ("<think>", "</think>", "<answer>", "</answer>", "<|begin_of_box|>", "<|end_of_box|>", "/nothink")
CONTENT = (
    "{% macro show(content) %}{% if content is string %}{{ content }}{% else %}{% for item in content %}"
    "{% if item.type == 'image' or 'image' in item %}<|begin_of_image|><|image|><|end_of_image|>"
    "{% elif item.type == 'video' %}<|begin_of_video|><|video|><|end_of_video|>"
    "{% elif item.type == 'text' %}{{ item.text }}{% endif %}{% endfor %}{% endif %}{% endmacro %}"
)
GLM4V_TEMPLATE = (
    CONTENT + "[gMASK]<sop>{% for m in messages %}"
    "{% if m.role == 'assistant' %}{{ '<|assistant|>\n' + m.content.split('</think>')[-1] }}"
    "{% else %}{{ '<|' + m.role + '|>\n' + show(m.content) }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}"
)
GLM46V_TEMPLATE = (
    CONTENT + "{{ '[gMASK]<sop>' }}{% set quiet = enable_thinking is defined and not enable_thinking %}"
    "{% for m in messages %}{% if m.role == 'user' %}{{ '<|user|>\n' + show(m.content) }}"
    "{{ '/nothink' if quiet and not show(m.content).endswith('/nothink') else '' }}"
    "{% elif m.role == 'assistant' %}{{ '<|assistant|>\n<think></think>\n' + m.content }}"
    "{% elif m.role == 'system' %}{{ '<|system|>\n' + show(m.content) }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{{ '\n<think></think>\n' if quiet else '\n' }}{% endif %}"
)
SIZE = {"shortest_edge": 4 * 28 * 28, "longest_edge": 32 * 28 * 28}  # pixels of all frames, of which an image is two


def tokenizer() -> Any:
    words = byte_level(SPECIAL, pad_token="<|endoftext|>", eos_token="<|endoftext|>")
    words.add_tokens(list(WORDS))
    return words


def _configured(words: Any, make: Any) -> Any:
    names = ("image_token_id", "video_token_id", "image_start_token_id", "image_end_token_id")
    tokens = ("<|image|>", "<|video|>", "<|begin_of_image|>", "<|end_of_image|>")
    ends = ids_of(words, "<|endoftext|>", "<|user|>", "<|observation|>")
    return make(
        text_config={**TEXT, "model_type": "glm4v_text", "vocab_size": len(words), "eos_token_id": ends}
        | {"rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2], "partial_rotary_factor": 0.5}}
        | {"pad_token_id": ends[0]},
        vision_config={"model_type": "glm4v_vision", "depth": 2, "hidden_size": 32, "num_heads": 2, "image_size": 56}
        | {"intermediate_size": 64, "out_hidden_size": TEXT["hidden_size"]},
        video_start_token_id=ids_of(words, "<|begin_of_video|>")[0],
        video_end_token_id=ids_of(words, "<|end_of_video|>")[0],
        **dict(zip(names, ids_of(words, *tokens), strict=True)),
    )


@family("glm4v")
def glm4v(folder: Path) -> None:
    torch.manual_seed(0)
    words = tokenizer()
    ends = ids_of(words, "<|endoftext|>", "<|user|>", "<|observation|>")
    model = Glm4vForConditionalGeneration(_configured(words, Glm4vConfig))
    model.generation_config = GenerationConfig(
        do_sample=True, eos_token_id=ends, pad_token_id=ends[0], top_p=0.6, temperature=0.8, top_k=2
    )
    processor = Glm4vProcessor(
        image_processor=Glm4vImageProcessor(size=SIZE),
        tokenizer=words,
        video_processor=Glm4vVideoProcessor(),
        chat_template=GLM4V_TEMPLATE,
    )
    save(folder, model, processor, end=ends[1])


@family("glm46v")
def glm46v(folder: Path) -> None:
    torch.manual_seed(0)
    words = tokenizer()
    ends = ids_of(words, "<|endoftext|>", "<|user|>", "<|observation|>")
    model = Glm46VForConditionalGeneration(_configured(words, Glm46VConfig))
    model.generation_config = GenerationConfig(
        do_sample=True, eos_token_id=ends, pad_token_id=ends[0], top_p=0.6, temperature=0.8, top_k=2
    )
    processor = Glm46VProcessor(
        image_processor=Glm46VImageProcessor(size=SIZE),
        tokenizer=words,
        video_processor=Glm46VVideoProcessor(),
        chat_template=GLM46V_TEMPLATE,
    )
    save(folder, model, processor, end=ends[1])

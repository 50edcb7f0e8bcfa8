"""OpenBMB's MiniCPM-V 4.6: Qwen3.5's decoder behind slices of an image that are numbered and may be several."""

from pathlib import Path

import torch
from transformers import (
    GenerationConfig,
    MiniCPMV4_6Config,
    MiniCPMV4_6ForConditionalGeneration,
    MiniCPMV4_6ImageProcessor,
    MiniCPMV4_6Processor,
    MiniCPMV4_6VideoProcessor,
)

from tests.support.zoo import family
from tests.support.zoo.gemma_parts import ids_of
from tests.support.zoo.parts import TEXT, byte_level, save

NAMED = {
    "image_token": "<|image_pad|>",
    "video_token": "<|video_pad|>",
    "image_start_token": "<image>",
    "image_end_token": "</image>",
    "slice_start_token": "<slice>",
    "slice_end_token": "</slice>",
    "image_id_start_token": "<image_id>",
    "image_id_end_token": "</image_id>",
}
SPECIAL: tuple[str, ...] = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", *NAMED.values())
# Hybrid: the reply begins inside of a thought where asked for, else behind an empty one.
TEMPLATE = (
    "{% macro show(content) %}{% if content is string %}{{ content }}{% else %}{% for item in content %}"
    "{% if item.type == 'image' or 'image_url' in item %}{{ '<|image_pad|>\n' }}"
    "{% elif item.type == 'video' %}{{ '<|video_pad|>\n' }}{% elif 'text' in item %}{{ item.text }}"
    "{% else %}{{ raise_exception('Unexpected item type in content.') }}{% endif %}{% endfor %}{% endif %}{% endmacro %}"
    "{% if not messages %}{{ raise_exception('No messages provided.') }}{% endif %}"
    "{% for m in messages %}"
    "{% if m.role == 'system' and not loop.first %}{{ raise_exception('System message must be at the beginning.') }}"
    "{% endif %}{{ '<|im_start|>' + m.role + '\n' + show(m.content) | trim + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
    "{% if enable_thinking is defined and enable_thinking %}{{ '<think>\n' }}"
    "{% else %}{{ '<think>\n\n</think>\n\n' }}{% endif %}{% endif %}"
)


@family("minicpmv4_6")
def minicpmv4_6(folder: Path) -> None:
    torch.manual_seed(0)
    words = byte_level(SPECIAL, pad_token="<|endoftext|>", eos_token="<|im_end|>", extra_special_tokens=NAMED)
    words.add_tokens(["<think>", "</think>"])
    pad, end, image, video = ids_of(words, "<|endoftext|>", "<|im_end|>", "<|image_pad|>", "<|video_pad|>")
    config = MiniCPMV4_6Config(
        text_config={**TEXT, "model_type": "qwen3_5_text", "vocab_size": len(words), "head_dim": 16}
        | {"layer_types": ["linear_attention", "full_attention"], "eos_token_id": pad}
        | {"linear_key_head_dim": 8, "linear_value_head_dim": 8, "linear_num_key_heads": 2, "linear_num_value_heads": 4}
        | {"rope_parameters": {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.5}},
        vision_config={"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 2}
        | {"patch_size": 14, "image_size": 112},
        insert_layer_id=1,
        image_size=112,
        image_token_id=image,
        video_token_id=video,
    )
    model = MiniCPMV4_6ForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        do_sample=True, temperature=0.7, top_p=0.8, top_k=100, eos_token_id=[end, pad], pad_token_id=pad
    )
    processor = MiniCPMV4_6Processor(
        image_processor=MiniCPMV4_6ImageProcessor(scale_resolution=112, max_slice_nums=4),
        video_processor=MiniCPMV4_6VideoProcessor(scale_resolution=112),
        tokenizer=words,
        chat_template=TEMPLATE,
    )
    save(folder, model, processor, end=end)

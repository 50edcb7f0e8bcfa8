"""Qwen's vision-language models."""

import json
from pathlib import Path
from typing import Any

import torch
from transformers import (
    GenerationConfig,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2_5_VLProcessor,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
    Qwen2VLImageProcessor,
    Qwen2VLProcessor,
    Qwen2VLVideoProcessor,
    Qwen3_5Config,
    Qwen3_5ForConditionalGeneration,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
    Qwen3VLMoeConfig,
    Qwen3VLMoeForConditionalGeneration,
    Qwen3VLProcessor,
    Qwen3VLVideoProcessor,
)

from tests.support.zoo import family
from tests.support.zoo.llama_parts import as_before_5, ids_of
from tests.support.zoo.parts import TEXT, byte_level, change_json, save

SPECIAL: tuple[str, ...] = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
)
SPECIAL += ("<|image_pad|>", "<|video_pad|>")
BODY = (
    "<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' or 'image' in part %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% elif 'text' in part %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n"
)
ASSISTANT = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
HELPFUL = (
    "{% if loop.first and message['role'] != 'system' %}"
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}"
)
TEMPLATE = "{% for message in messages %}" + HELPFUL + BODY + "{% endfor %}" + ASSISTANT
# Qwen3's greets nobody, and counts its images where asked to.
TEMPLATE_3 = (
    "{%- set seen = namespace(images=0) %}{%- macro shown(content) %}{%- if content is string %}{{- content }}"
    "{%- else %}{%- for part in content %}{%- if part.type == 'image' or 'image' in part or 'image_url' in part %}"
    "{%- set seen.images = seen.images + 1 %}{%- if add_vision_id %}Picture {{ seen.images }}: {% endif -%}"
    "<|vision_start|><|image_pad|><|vision_end|>{%- elif 'text' in part %}{{- part.text }}{%- endif %}{%- endfor %}"
    "{%- endif %}{%- endmacro %}"
)
TEMPLATE_VL3 = (
    TEMPLATE_3 + "{%- if tools %}{{- '<|im_start|>system\\n# Tools\\n' }}{{- tools | tojson }}{{- '<|im_end|>\\n' }}"
    "{%- endif %}{%- for message in messages %}"
    "{{- '<|im_start|>' + message.role + '\\n' }}{{- shown(message.content) }}{{- '<|im_end|>\\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"
)
# Thinks unless told not to: what the answer begins with is already written.
TEMPLATE_3_5 = (
    TEMPLATE_3 + "{%- if not messages %}{{- raise_exception('There are no messages.') }}{%- endif %}"
    "{%- set asked = namespace(yes=false) %}{%- for message in messages %}{%- if message.role == 'user' %}"
    "{%- set asked.yes = true %}{%- elif message.role == 'system' and not loop.first %}"
    "{{- raise_exception('A system message may only come first.') }}{%- endif %}"
    "{{- '<|im_start|>' + message.role + '\\n' }}{{- shown(message.content) | trim }}{{- '<|im_end|>\\n' }}{%- endfor %}"
    "{%- if not asked.yes %}{{- raise_exception('Nobody asks anything.') }}{%- endif %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}"
    "{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}"
    "{%- else %}{{- '<think>\\n' }}{%- endif %}{%- endif %}"
)
VISION = {"depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "out_hidden_size": 64}
VISION_3 = {**VISION, "patch_size": 16, "num_position_embeddings": 64}
ROPE_3 = {"rope_type": "default", "mrope_interleaved": True, "mrope_section": [4, 2, 2], "rope_theta": 5e6}


def tokenizer(special: tuple[str, ...] = SPECIAL, **settings: Any) -> Any:
    return byte_level(special, pad_token="<|endoftext|>", eos_token="<|im_end|>", **settings)


def token_ids(ids: dict[str, int]) -> dict[str, int]:
    """What the configs of all of them name."""
    return {
        "image_token_id": ids["<|image_pad|>"],
        "video_token_id": ids["<|video_pad|>"],
        "vision_start_token_id": ids["<|vision_start|>"],
        "vision_end_token_id": ids["<|vision_end|>"],
    }


def generation(ids: dict[str, int], **taste: Any) -> GenerationConfig:
    return GenerationConfig(
        do_sample=True,
        bos_token_id=ids["<|endoftext|>"],
        pad_token_id=ids["<|endoftext|>"],
        eos_token_id=[ids["<|im_end|>"], ids["<|endoftext|>"]],
        **taste,
    )


def text_config(words: Any, ids: dict[str, int], **settings: Any) -> dict[str, Any]:
    own = {"vocab_size": len(words), "bos_token_id": ids["<|endoftext|>"], "eos_token_id": ids["<|im_end|>"]}
    return {**TEXT, **own, **settings}


@family("qwen2_5_vl")
def qwen2_5_vl(folder: Path) -> None:
    torch.manual_seed(0)
    words = tokenizer()
    ids = ids_of(words, SPECIAL)
    rope = {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 1e6}
    config = Qwen2_5_VLConfig(
        text_config=text_config(words, ids, rope_parameters=rope),
        vision_config={**VISION, "fullatt_block_indexes": [1], "window_size": 56},
        **token_ids(ids),
    )
    model = Qwen2_5_VLForConditionalGeneration(config)
    # As published: sampling, and a repetition penalty that greedy decoding must not inherit.
    model.generation_config = generation(ids, temperature=1e-6, repetition_penalty=1.05)
    processor = Qwen2_5_VLProcessor(
        image_processor=Qwen2VLImageProcessor(size={"shortest_edge": 56 * 56, "longest_edge": 112 * 112}),
        tokenizer=words,
        video_processor=Qwen2VLVideoProcessor(),
        chat_template=TEMPLATE,
    )
    save(folder, model, processor, end=ids["<|im_end|>"])


@family("qwen2_vl")
def qwen2_vl(folder: Path) -> None:
    torch.manual_seed(0)
    words = tokenizer()
    ids = ids_of(words, SPECIAL)
    rope = {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 1e6}
    config = Qwen2VLConfig(
        text_config=text_config(words, ids, rope_parameters=rope),
        vision_config={"depth": 2, "embed_dim": 32, "hidden_size": 64, "mlp_ratio": 2, "num_heads": 2},
        **token_ids(ids),
    )
    model = Qwen2VLForConditionalGeneration(config)
    model.generation_config = generation(ids, temperature=0.01, top_p=0.001, top_k=1)
    processor = Qwen2VLProcessor(
        image_processor=Qwen2VLImageProcessor(size={"shortest_edge": 56 * 56, "longest_edge": 112 * 112}),
        tokenizer=words,
        video_processor=Qwen2VLVideoProcessor(),
        chat_template=TEMPLATE,
    )
    save(folder, model, processor, end=ids["<|im_end|>"])
    as_before_5(folder, "Qwen2Tokenizer")
    change_json(folder / "tokenizer_config.json", chat_template=TEMPLATE)
    change_json(folder / "preprocessor_config.json", size=None, min_pixels=56 * 56, max_pixels=112 * 112)
    (folder / "video_preprocessor_config.json").unlink()
    # Published before configs were nested: the decoder's keys stand at the top.
    whole = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    flat = {**whole.pop("text_config"), **whole, "layer_types": None}
    flat |= {"rope_parameters": None, "rope_theta": 1e6, "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]}}
    flat["vision_config"] = {**flat["vision_config"], "model_type": "qwen2_vl", "in_chans": 3}
    change_json(folder / "config.json", text_config=None, **flat)


@family("qwen3_vl")
def qwen3_vl(folder: Path) -> None:
    torch.manual_seed(0)
    words = tokenizer()
    ids = ids_of(words, SPECIAL)
    config = Qwen3VLConfig(
        text_config=text_config(words, ids, head_dim=16, rope_parameters=ROPE_3),
        vision_config={**VISION_3, "deepstack_visual_indexes": [0]},
        **token_ids(ids),
    )
    model = Qwen3VLForConditionalGeneration(config)
    model.generation_config = generation(ids, temperature=0.7, top_p=0.8, top_k=20, repetition_penalty=1.0)
    _save_3(folder, model, words, ids, TEMPLATE_VL3)


@family("qwen3_vl_moe")
def qwen3_vl_moe(folder: Path) -> None:
    torch.manual_seed(0)
    words = tokenizer()
    ids = ids_of(words, SPECIAL)
    experts = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
    config = Qwen3VLMoeConfig(
        text_config=text_config(words, ids, head_dim=16, rope_parameters=ROPE_3, **experts),
        vision_config={**VISION_3, "deepstack_visual_indexes": [0]},
        **token_ids(ids),
    )
    model = Qwen3VLMoeForConditionalGeneration(config)
    model.generation_config = generation(ids, temperature=0.7, top_p=0.8, top_k=20, repetition_penalty=1.0)
    _save_3(folder, model, words, ids, TEMPLATE_VL3)


@family("qwen3_5")
def qwen3_5(folder: Path) -> None:
    torch.manual_seed(0)
    words = tokenizer()
    words.add_tokens(["<think>", "</think>"])  # ordinary tokens: they are part of what is decoded
    ids = ids_of(words, SPECIAL)
    rope = {**ROPE_3, "mrope_section": [2, 1, 1], "partial_rotary_factor": 0.25}
    linear = {"linear_key_head_dim": 16, "linear_value_head_dim": 16}
    linear |= {"linear_num_key_heads": 2, "linear_num_value_heads": 4}
    layers = {"num_hidden_layers": 4, "layer_types": ["linear_attention"] * 3 + ["full_attention"]}
    config = Qwen3_5Config(
        text_config=text_config(words, ids, head_dim=32, rope_parameters=rope, **linear, **layers),
        vision_config=VISION_3,
        **token_ids(ids),
    )
    model = Qwen3_5ForConditionalGeneration(config)
    model.generation_config = generation(ids, temperature=0.6, top_p=0.95, top_k=20)
    _save_3(folder, model, words, ids, TEMPLATE_3_5, template="chat_template.jinja")


def _save_3(
    folder: Path, model: Any, words: Any, ids: dict[str, int], chat: str, template: str = "chat_template.json"
) -> None:
    processor = Qwen3VLProcessor(
        image_processor=Qwen2VLImageProcessor(
            patch_size=16,
            size={"shortest_edge": 64 * 64, "longest_edge": 128 * 128},
            image_mean=[0.5] * 3,
            image_std=[0.5] * 3,
        ),
        tokenizer=words,
        video_processor=Qwen3VLVideoProcessor(),
        chat_template=chat,
    )
    save(folder, model, processor, end=ids["<|im_end|>"])
    as_before_5(folder, "Qwen2Tokenizer", template=template)
    change_json(folder / "preprocessor_config.json", image_processor_type="Qwen2VLImageProcessorFast")

"""Baidu's: ERNIE 4.5 VL, whose experts are split between words and images, and PaddleOCR-VL."""

from pathlib import Path
from typing import Any

import torch
from transformers import (
    Ernie4_5_VLMoeConfig,
    Ernie4_5_VLMoeForConditionalGeneration,
    Ernie4_5_VLMoeImageProcessor,
    Ernie4_5_VLMoeProcessor,
    Ernie4_5_VLMoeVideoProcessor,
    GenerationConfig,
    LlamaTokenizer,
    PaddleOCRVLConfig,
    PaddleOCRVLForConditionalGeneration,
    PaddleOCRVLImageProcessor,
    PaddleOCRVLProcessor,
)

from tests.support.zoo import family
from tests.support.zoo.gemma_parts import byte_fallback, ids_of
from tests.support.zoo.parts import TEXT, save

ERNIE = {
    "image_token": "<|IMAGE_PLACEHOLDER|>",
    "image_start_token": "<|IMAGE_START|>",
    "image_end_token": "<|IMAGE_END|>",
    "video_token": "<|VIDEO_PLACEHOLDER|>",
    "video_start_token": "<|VIDEO_START|>",
    "video_end_token": "<|VIDEO_END|>",
}
# Pictures are counted in words, and thinking is on unless switched off.
ERNIE_TEMPLATE = (
    "{% set thinking = enable_thinking if enable_thinking is defined else true %}"
    "{% set ns = namespace(images=0) %}{{ cls_token | default('<|begin_of_sentence|>') }}"
    "{% macro show(content) %}{% if content is string %}{{ content }}{% else %}{% for item in content %}"
    "{% if item.type in ['image', 'image_url'] %}{% set ns.images = ns.images + 1 %}"
    "Picture {{ ns.images }}:<|IMAGE_START|><|IMAGE_PLACEHOLDER|><|IMAGE_END|>"
    "{% elif item.type == 'text' %}{{ item.text }}{% endif %}{% endfor %}{% endif %}{% endmacro %}"
    "{% for m in messages %}{% if m.role == 'system' %}{{ m.content + '\n' }}"
    "{% elif m.role == 'user' %}{{ 'User: ' + show(m.content) + '\n' }}"
    "{% else %}{{ 'Assistant: ' + show(m.content) + '<|end_of_sentence|>' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'Assistant: \n<think>\n' if thinking else 'Assistant: \n<think>\n\n</think>\n\n' }}"
    "{% endif %}"
)
# No system role, and images go first whatever their place.
PADDLE_TEMPLATE = (
    "{% if not add_generation_prompt is defined %}{% set add_generation_prompt = true %}{% endif %}"
    "{{ cls_token if cls_token is defined else '<|begin_of_sentence|>' }}"
    "{% for message in messages %}{% if message['role'] == 'user' %}User: "
    "{% for item in message['content'] %}{% if item['type'] == 'image' %}"
    "<|IMAGE_START|><|IMAGE_PLACEHOLDER|><|IMAGE_END|>{% endif %}{% endfor %}"
    "{% for item in message['content'] %}{% if item['type'] == 'text' %}{{ item['text'] }}{% endif %}{% endfor %}"
    "{{ '\n' }}{% elif message['role'] == 'assistant' %}{{ 'Assistant:\n' }}"
    "{% for item in message['content'] %}{% if item['type'] == 'text' %}{{ item['text'] }}{% endif %}{% endfor %}"
    "{{ eos_token if eos_token is defined else '</s>' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'Assistant:\n' }}{% endif %}"
)


def tokenizer(special: tuple[str, ...], named: dict[str, str], **tokens: str) -> Any:
    """A SentencePiece BPE. The tokens that begin and end a turn bear the names of a classifier's."""
    vocabulary, merges = byte_fallback(("<unk>", "<s>", "</s>"))
    words = LlamaTokenizer(
        vocab=vocabulary,
        merges=merges,
        cls_token="<|begin_of_sentence|>",
        sep_token="<|end_of_sentence|>",
        mask_token="<mask:1>",
        extra_special_tokens=named,
        add_prefix_space=False,
        model_max_length=131072,
        **tokens,
    )
    words.add_special_tokens({"additional_special_tokens": list(special)}, replace_extra_special_tokens=False)
    return words


@family("ernie4_5_vl_moe")
def ernie4_5_vl_moe(folder: Path) -> None:
    torch.manual_seed(0)
    words = tokenizer(tuple(ERNIE.values()), ERNIE, pad_token="<unk>")
    words.add_tokens(["<think>", "</think>"])
    unk, bos, eos = ids_of(words, "<unk>", "<s>", "</s>")
    config = Ernie4_5_VLMoeConfig(
        text_config={**TEXT, "vocab_size": len(words), "mlp_layer_types": ["dense", "sparse"]}
        | {"moe_intermediate_size": [32, 16], "moe_k": 2, "moe_num_experts": 4, "moe_num_shared_experts": 1}
        | {"rope_parameters": {"rope_type": "default", "rope_theta": 5e5, "mrope_section": [3, 3, 2]}}
        | {"bos_token_id": bos, "eos_token_id": eos, "pad_token_id": unk, "initializer_range": 0.2},
        vision_config={"depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2},
        **{f"{name}_id": ids_of(words, token)[0] for name, token in ERNIE.items()},
    )
    model = Ernie4_5_VLMoeForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        do_sample=True,
        top_p=0.8,
        temperature=0.2,
        repetition_penalty=1.05,
        bos_token_id=bos,
        eos_token_id=eos,
        pad_token_id=unk,
    )
    processor = Ernie4_5_VLMoeProcessor(
        image_processor=Ernie4_5_VLMoeImageProcessor(size={"shortest_edge": 56 * 56, "longest_edge": 112 * 112}),
        tokenizer=words,
        video_processor=Ernie4_5_VLMoeVideoProcessor(draw_on_frames=False),
        chat_template=ERNIE_TEMPLATE,
    )
    save(folder, model, processor, end=eos)


@family("paddleocr_vl")
def paddleocr_vl(folder: Path) -> None:
    torch.manual_seed(0)
    words = tokenizer(
        ("<|IMAGE_START|>", "<|IMAGE_END|>", "<|IMAGE_PLACEHOLDER|>", "<|video_pad|>"),
        {"image_token": "<|IMAGE_PLACEHOLDER|>"},
        pad_token="<unk>",
    )
    unk, bos, eos, image = ids_of(words, "<unk>", "<s>", "</s>", "<|IMAGE_PLACEHOLDER|>")
    video, start, stop = ids_of(words, "<|video_pad|>", "<|IMAGE_START|>", "<|IMAGE_END|>")
    config = PaddleOCRVLConfig(
        text_config={**TEXT, "vocab_size": len(words), "head_dim": 16, "initializer_range": 0.2}
        | {"rope_parameters": {"rope_type": "default", "rope_theta": 5e5, "mrope_section": [2, 3, 3]}}
        | {"bos_token_id": bos, "eos_token_id": eos, "pad_token_id": unk},
        vision_config={"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
        | {"image_size": 112},
        image_token_id=image,
        video_token_id=video,
        vision_start_token_id=start,
        vision_end_token_id=stop,
    )
    model = PaddleOCRVLForConditionalGeneration(config)
    model.generation_config = GenerationConfig(eos_token_id=eos, pad_token_id=unk, use_cache=True)
    processor = PaddleOCRVLProcessor(
        image_processor=PaddleOCRVLImageProcessor(size={"shortest_edge": 56 * 56, "longest_edge": 112 * 112}),
        tokenizer=words,
        chat_template=PADDLE_TEMPLATE,
    )
    save(folder, model, processor, end=eos)

"""Cohere's: Aya Vision and Command A Vision, which cut an image into tiles."""

from pathlib import Path
from typing import Any

import torch
from transformers import (
    AyaVisionConfig,
    AyaVisionForConditionalGeneration,
    AyaVisionProcessor,
    Cohere2VisionConfig,
    Cohere2VisionForConditionalGeneration,
    Cohere2VisionImageProcessor,
    Cohere2VisionProcessor,
    CohereTokenizer,
    GenerationConfig,
    GotOcr2ImageProcessor,
)

from tests.support.zoo import family
from tests.support.zoo.gemma_parts import byte_pieces, ids_of
from tests.support.zoo.parts import TEXT, save

FIRST = ("<PAD>", "<UNK>", "<CLS>", "<SEP>", "<MASK_TOKEN>", "<BOS_TOKEN>", "<EOS_TOKEN>", "<EOP_TOKEN>")
TURNS: tuple[str, ...] = (
    "<|START_OF_TURN_TOKEN|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|USER_TOKEN|>",
    "<|CHATBOT_TOKEN|>",
    "<|SYSTEM_TOKEN|>",
)
TURNS += ("<|START_RESPONSE|>", "<|END_RESPONSE|>")
IMAGE: tuple[str, ...] = (
    "<image>",
    "<|START_OF_IMG|>",
    "<|END_OF_IMG|>",
    "<|IMG_PATCH|>",
    "<|IMG_LINE_BREAK|>",
    "TILE",
    "TILE_GLOBAL",
)
IMAGE += tuple(f"TILE_{number}" for number in range(1, 13))
# Every image of a message goes before its text, wherever it stood.
AYA_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "<|START_OF_TURN_TOKEN|>{{ '<|CHATBOT_TOKEN|><|START_RESPONSE|>' if message['role'] == 'assistant'"
    " else '<|SYSTEM_TOKEN|>' if message['role'] == 'system' else '<|USER_TOKEN|>' }}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for item in message['content'] | selectattr('type', 'equalto', 'image') %}<image>{% endfor %}"
    "{% for item in message['content'] | selectattr('type', 'equalto', 'text') %}{{ item['text'] }}{% endfor %}"
    "{% endif %}{{ '<|END_RESPONSE|>' if message['role'] == 'assistant' else '' }}<|END_OF_TURN_TOKEN|>{% endfor %}"
    "{% if add_generation_prompt %}<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_RESPONSE|>{% endif %}"
)
# Command A has a preamble of its own, and its template stands under three names.
COMMAND_TEMPLATE = (
    "{{ bos_token }}<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|># System Preamble\nYou are in contextual safety mode.\n"
    "<|END_OF_TURN_TOKEN|>{% for message in messages %}"
    "{% if message['role'] | lower == 'system' and not loop.first %}"
    "{{ raise_exception('Only the first message may be a system message') }}{% endif %}"
    "<|START_OF_TURN_TOKEN|>{{ '<|CHATBOT_TOKEN|><|START_RESPONSE|>' if message['role'] == 'assistant'"
    " else '<|SYSTEM_TOKEN|>' if message['role'] == 'system' else '<|USER_TOKEN|>' }}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for item in message['content'] %}"
    "{{ '<|IMG_PATCH|>' if item['type'] == 'image' else item['text'] }}{% endfor %}{% endif %}"
    "{{ '<|END_RESPONSE|>' if message['role'] == 'assistant' else '' }}<|END_OF_TURN_TOKEN|>{% endfor %}"
    "{% if add_generation_prompt %}<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_RESPONSE|>{% endif %}"
)
SIGHT: dict[str, Any] = {
    "model_type": "siglip_vision_model",
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
}
SIGHT |= {"num_attention_heads": 2, "image_size": 56, "patch_size": 14, "vision_use_head": False}


def tokenizer(**named: str) -> Any:
    vocabulary, merges = byte_pieces(FIRST + TURNS)
    words = CohereTokenizer(
        vocab=vocabulary, merges=merges, extra_special_tokens=named, add_bos_token=True, model_max_length=10**30
    )
    special = list(FIRST + TURNS + IMAGE[:5])
    words.add_special_tokens({"additional_special_tokens": special}, replace_extra_special_tokens=False)
    words.add_tokens(list(IMAGE[5:]))
    return words


def _text(words: Any) -> dict[str, Any]:
    pad, bos, end = ids_of(words, "<PAD>", "<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>")
    return {
        **TEXT,
        "model_type": "cohere2",
        "vocab_size": len(words),
        "head_dim": 16,
        "sliding_window": 32,
        "layer_types": ["sliding_attention", "full_attention"],
        "logit_scale": 0.25,
        "initializer_range": 0.2,  # with tied embeddings a smaller one makes the model repeat its last token
        "pad_token_id": pad,
        "bos_token_id": bos,
        "eos_token_id": end,
    }


def _generation(words: Any) -> GenerationConfig:
    pad, bos, end = ids_of(words, "<PAD>", "<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>")
    return GenerationConfig(bos_token_id=bos, eos_token_id=end, pad_token_id=pad, cache_implementation="hybrid")


@family("aya_vision")
def aya_vision(folder: Path) -> None:
    torch.manual_seed(0)
    words = tokenizer()
    patch, end = ids_of(words, "<|IMG_PATCH|>", "<|END_OF_TURN_TOKEN|>")
    config = AyaVisionConfig(text_config=_text(words), vision_config=SIGHT, image_token_index=patch)
    model = AyaVisionForConditionalGeneration(config)
    model.generation_config = _generation(words)
    processor = AyaVisionProcessor(
        image_processor=GotOcr2ImageProcessor(
            size={"height": 56, "width": 56}, crop_to_patches=True, min_patches=1, max_patches=4
        ),
        tokenizer=words,
        patch_size=14,
        img_size=56,
        downsample_factor=2,
        chat_template=AYA_TEMPLATE,
    )
    save(folder, model, processor, end=end)


@family("cohere2_vision")
def cohere2_vision(folder: Path) -> None:
    torch.manual_seed(0)
    named = {"boi_token": "<|START_OF_IMG|>", "eoi_token": "<|END_OF_IMG|>", "image_token": "<|IMG_PATCH|>"}
    words = tokenizer(**named, img_line_break_token="<|IMG_LINE_BREAK|>")
    patch, end = ids_of(words, "<|IMG_PATCH|>", "<|END_OF_TURN_TOKEN|>")
    config = Cohere2VisionConfig(
        text_config=_text(words), vision_config=SIGHT, image_token_id=patch, alignment_intermediate_size=64
    )
    model = Cohere2VisionForConditionalGeneration(config)
    model.generation_config = _generation(words)
    processor = Cohere2VisionProcessor(
        # Its patch size is that of the tokens: the vision tower's side, after the projector has halved it.
        image_processor=Cohere2VisionImageProcessor(size={"height": 56, "width": 56}, patch_size=2, max_patches=4),
        tokenizer=words,
        chat_template=COMMAND_TEMPLATE,
    )
    save(folder, model, processor, end=end)

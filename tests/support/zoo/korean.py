"""Vision-language models of Korean makers: LG's EXAONE 4.5 and Naver's HyperCLOVA X SEED, both of which may think first."""

from pathlib import Path
from typing import Any

import torch
from transformers import (
    Exaone4_5_Config,
    Exaone4_5_ForConditionalGeneration,
    Exaone4_5_Processor,
    GenerationConfig,
    HyperCLOVAXVisionV2Config,
    HyperCLOVAXVisionV2ForConditionalGeneration,
    HyperCLOVAXVisionV2Processor,
    Qwen2VLImageProcessor,
    Qwen2VLVideoProcessor,
)

from tests.support.zoo import family
from tests.support.zoo.gemma_parts import ids_of
from tests.support.zoo.parts import TEXT, byte_level, save

SIZE = {"shortest_edge": 56 * 56, "longest_edge": 112 * 112}
SIGHT: dict[str, Any] = {
    "depth": 2,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_heads": 2,
    "fullatt_block_indexes": [1],
}
SIGHT |= {"window_size": 56, "out_hidden_size": TEXT["hidden_size"]}
# The reply begins inside of a thought, or behind an empty one.
EXAONE_TEMPLATE = (
    "{% set thinking = enable_thinking if enable_thinking is defined else true %}"
    "{% macro show(content) %}{% if content is string %}{{ content }}{% else %}{% for item in content %}"
    "{% if item.type == 'image' %}{{ '<vision><|image_pad|></vision>\n' }}"
    "{% elif item.type == 'video' %}{{ '<vision><|video_pad|></vision>\n' }}"
    "{% elif item.type == 'text' %}{{ item.text }}{% endif %}{% endfor %}{% endif %}{% endmacro %}"
    "{% for m in messages %}{% set role = m.role if m.role in ['system', 'user', 'assistant', 'tool'] else '' %}"
    "{% if not role %}{{ raise_exception('Unknown role: ' + m.role) }}{% endif %}"
    "{{ '<|' + role + '|>\n' }}"
    "{% if role == 'assistant' %}{{ '<think>\n\n</think>\n\n' + show(m.content).split('</think>')[-1] | trim }}"
    "{% else %}{{ show(m.content) }}{% endif %}{{ '<|endofturn|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n<think>\n' + ('' if thinking else '\n</think>\n\n') }}{% endif %}"
)
# Images are announced with their particulars, and thinking is off unless asked for.
CLOVA_TEMPLATE = (
    "{% set ns = namespace(images=0) %}"
    "{% if messages[0].role != 'system' %}{{ '<|im_start|>system\n- AI의 이름은 \"CLOVA X\"이다.<|im_end|>\n' }}{% endif %}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}"
    "{% if m.content is string %}{{ m.content }}{% else %}{% for item in m.content %}"
    "{% if item.type in ['image', 'image_url'] %}"
    '{{ \'<|mime_start|>{"id": "image_%02d", "type": "image/jpeg", "filename": "%s"}<|mime_end|>\n\''
    " % (ns.images, item.filename | default('a.jpg')) }}"
    "{{ '<|image_start|><|image_pad|><|image_end|>\n' }}{% set ns.images = ns.images + 1 %}"
    "{% elif item.type == 'text' %}{{ item.text }}{% endif %}{% endfor %}{% endif %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
    "{{ '<think>\n' if thinking is defined and thinking else '<think>\n\n</think>\n\n' }}{% endif %}"
)


@family("exaone4_5")
def exaone4_5(folder: Path) -> None:
    torch.manual_seed(0)
    special: tuple[str, ...] = (
        "[PAD]",
        "[BOS]",
        "[EOS]",
        "[UNK]",
        "<|system|>",
        "<|user|>",
        "<|assistant|>",
        "<|tool|>",
    )
    special += ("<|endofturn|>", "<vision>", "</vision>", "<|image_pad|>", "<|video_pad|>")
    words = byte_level(special, pad_token="[PAD]", bos_token="[BOS]", eos_token="<|endofturn|>", unk_token="[UNK]")
    words.add_tokens(["<think>", "</think>"])
    pad, bos, end, image, video = ids_of(words, "[PAD]", "[BOS]", "<|endofturn|>", "<|image_pad|>", "<|video_pad|>")
    config = Exaone4_5_Config(
        text_config={**TEXT, "model_type": "exaone4_5_text", "vocab_size": len(words), "sliding_window": 64}
        | {"sliding_window_pattern": "LG", "layer_types": ["sliding_attention", "full_attention"]}
        | {"rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}
        | {"bos_token_id": bos, "eos_token_id": end, "pad_token_id": pad},
        vision_config={**SIGHT, "num_key_value_heads": 1},
        image_token_id=image,
        video_token_id=video,
    )
    model = Exaone4_5_ForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        do_sample=True,
        temperature=1.0,
        top_p=0.95,
        presence_penalty=1.5,
        bos_token_id=bos,
        eos_token_id=end,
        pad_token_id=pad,
    )
    processor = Exaone4_5_Processor(
        image_processor=Qwen2VLImageProcessor(size=SIZE),
        tokenizer=words,
        video_processor=Qwen2VLVideoProcessor(),
        chat_template=EXAONE_TEMPLATE,
    )
    save(folder, model, processor, end=end)


@family("hyperclovax_vision_v2")
def hyperclovax_vision_v2(folder: Path) -> None:
    torch.manual_seed(0)
    special: tuple[str, ...] = (
        "<|endoftext|>",
        "<|im_start|>",
        "<|im_end|>",
        "<|stop|>",
        "<|endofturn|>",
        "<|mime_start|>",
    )
    special += ("<|mime_end|>", "<|image_start|>", "<|image_pad|>", "<|image_end|>", "<|video_pad|>")
    words = byte_level(special, pad_token="<|endoftext|>", bos_token="<|endoftext|>", eos_token="<|im_end|>")
    words.add_tokens(["<think>", "</think>"])
    pad, end, stop, image = ids_of(words, "<|endoftext|>", "<|im_end|>", "<|stop|>", "<|image_pad|>")
    config = HyperCLOVAXVisionV2Config(
        text_config={**TEXT, "model_type": "hyperclovax", "vocab_size": len(words), "attention_multiplier": 0.25}
        | {"bos_token_id": pad, "eos_token_id": end, "pad_token_id": pad}
        | {"embedding_multiplier": 10.0, "logits_scaling": 0.25, "rope_parameters": {"rope_theta": 5e7}},
        vision_config={**SIGHT, "model_type": "qwen2_5_vl_vision"},
        image_token_id=image,
        video_token_id=ids_of(words, "<|video_pad|>")[0],
        tie_word_embeddings=False,
    )
    model = HyperCLOVAXVisionV2ForConditionalGeneration(config)
    model.generation_config = GenerationConfig(bos_token_id=pad, eos_token_id=[end, stop], pad_token_id=pad)
    processor = HyperCLOVAXVisionV2Processor(
        image_processor=Qwen2VLImageProcessor(size=SIZE),
        tokenizer=words,
        video_processor=Qwen2VLVideoProcessor(),
        chat_template=CLOVA_TEMPLATE,
    )
    save(folder, model, processor, end=end)

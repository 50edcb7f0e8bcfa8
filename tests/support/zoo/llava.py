"""The LLaVA line: 1.5, NeXT, OneVision, and VARCO-VISION, which NCSOFT made of the last."""

from pathlib import Path
from typing import Any

import torch
from transformers import (
    CLIPImageProcessor,
    GenerationConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaNextConfig,
    LlavaNextForConditionalGeneration,
    LlavaNextImageProcessor,
    LlavaNextProcessor,
    LlavaOnevisionConfig,
    LlavaOnevisionForConditionalGeneration,
    LlavaOnevisionImageProcessor,
    LlavaOnevisionProcessor,
    LlavaOnevisionVideoProcessor,
    LlavaProcessor,
)

from tests.support.zoo import family
from tests.support.zoo.llama_parts import as_before_5, ids_of, sentence_pieces
from tests.support.zoo.parts import TEXT, byte_level, change_json, save

SIDE = 42  # pixels of a tile: nine tokens
GRID = [[SIDE, 2 * SIDE], [2 * SIDE, SIDE], [2 * SIDE, 2 * SIDE]]
TOWER = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "image_size": SIDE,
    "patch_size": 14,
}
QWEN = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<image>", "<video>")
# Whatever the order of a message's parts, its images come first; a system message has no name.
TEMPLATE_1_5 = (
    "{% for message in messages %}{% if message['role'] != 'system' %}{{ message['role'].upper() + ': ' }}{% endif %}"
    "{% for part in message['content'] | selectattr('type', 'equalto', 'image') %}{{ '<image>\n' }}{% endfor %}"
    "{% for part in message['content'] | selectattr('type', 'equalto', 'text') %}"
    "{% if message['role'] != 'assistant' %}{{ part['text'] + ' ' }}"
    "{% else %}{% generation %}{{ part['text'] + ' ' }}{% endgeneration %}{% endif %}{% endfor %}"
    "{% endfor %}{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}"
)
TEMPLATE_NEXT = (
    "{% for message in messages %}{% if message['role'] == 'system' %}"
    "{{ '<<SYS>>\n' + message['content'][0]['text'] + '\n<</SYS>>\n\n' }}{% elif message['role'] == 'user' %}"
    "{{ '[INST] ' }}{% for part in message['content'] | selectattr('type', 'equalto', 'image') %}{{ '<image>\n' }}"
    "{% endfor %}{% for part in message['content'] | selectattr('type', 'equalto', 'text') %}{{ part['text'] }}"
    "{% endfor %}{{ ' [/INST]' }}{% elif message['role'] == 'assistant' %}"
    "{{ ' ' + message['content'][0]['text'] + '</s> ' }}{% else %}{{ raise_exception('Nobody else may speak!') }}"
    "{% endif %}{% endfor %}"
)
TEMPLATE_ONEVISION = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + ' ' }}"
    "{% for part in message['content'] | selectattr('type', 'equalto', 'image') %}{{ '<image>' }}{% endfor %}"
    "{% for part in message['content'] | selectattr('type', 'equalto', 'video') %}{{ '<video>' }}{% endfor %}"
    "{% for part in message['content'] | selectattr('type', 'equalto', 'text') %}"
    "{% if message['role'] != 'assistant' %}{{ '\n' + part['text'] }}"
    "{% else %}{% generation %}{{ '\n' + part['text'] }}{% endgeneration %}{% endif %}{% endfor %}"
    "{{ '<|im_end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
TEMPLATE_VARCO = (
    "{%- for message in messages -%}{{- '<|im_start|>' + message.role + '\n' -}}"
    "{%- if message.content is string -%}{{- message.content -}}{%- else -%}{%- for part in message.content -%}"
    "{%- if part.type == 'image' -%}{{- '<image>\n' -}}{%- elif part.type == 'text' -%}{{- part.text -}}{%- endif -%}"
    "{%- endfor -%}{%- endif -%}{{- '<|im_end|>\n' -}}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\n' -}}{%- endif -%}"
)


@family("llava")
def llava(folder: Path) -> None:
    torch.manual_seed(1)
    words = sentence_pieces(("<image>", "<pad>"), pad_token="<pad>", padding_side="left")
    image, pad = words.convert_tokens_to_ids(["<image>", "<pad>"])
    config = LlavaConfig(
        text_config={**TEXT, "model_type": "llama", "vocab_size": len(words), "num_key_value_heads": 4},
        vision_config={**TOWER, "model_type": "clip_vision_model", "projection_dim": 32},
        image_token_index=image,
        image_seq_length=9,
        pad_token_id=pad,
    )
    model = LlavaForConditionalGeneration(config)
    model.generation_config = GenerationConfig(bos_token_id=1, eos_token_id=2, pad_token_id=pad)
    processor = LlavaProcessor(
        image_processor=CLIPImageProcessor(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}),
        tokenizer=words,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=TEMPLATE_1_5,
    )
    save(folder, model.half(), processor)
    as_before_5(folder, "LlamaTokenizer")
    change_json(folder / "config.json", ignore_index=-100)
    # transformers 4.38 to 4.50 wrote this of every image processor.
    change_json(
        folder / "preprocessor_config.json", _valid_processor_keys=["images", "do_resize", "size", "return_tensors"]
    )


@family("llava_next")
def llava_next(folder: Path) -> None:
    torch.manual_seed(0)
    words = sentence_pieces(("<image>", "<pad>"), pad_token="<pad>", padding_side="left")
    config = LlavaNextConfig(
        text_config={**TEXT, "model_type": "mistral", "vocab_size": len(words), "sliding_window": None},
        vision_config={**TOWER, "model_type": "clip_vision_model", "projection_dim": 32},
        image_token_index=words.convert_tokens_to_ids("<image>"),
        image_grid_pinpoints=GRID,
        image_seq_length=9,
    )
    model = LlavaNextForConditionalGeneration(config)
    model.generation_config = GenerationConfig(bos_token_id=1, eos_token_id=2)
    processor = LlavaNextProcessor(
        image_processor=LlavaNextImageProcessor(
            size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}, image_grid_pinpoints=GRID
        ),
        tokenizer=words,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=TEMPLATE_NEXT,
    )
    save(folder, model, processor, end=2)
    as_before_5(folder, "LlamaTokenizer")


@family("llava_onevision")
def llava_onevision(folder: Path) -> None:
    # The smallest ties its embeddings, which only the decoder's config says.
    _onevision(folder, {"model_type": "qwen2", "tie_word_embeddings": True}, TEMPLATE_ONEVISION, "chat_template.json")
    change_json(folder / "config.json", tie_word_embeddings=False)


@family("varco_vision")
def varco_vision(folder: Path) -> None:
    _onevision(folder, {"model_type": "qwen3", "head_dim": 16}, TEMPLATE_VARCO, "chat_template.jinja")


def _onevision(folder: Path, text: dict[str, Any], chat: str, template: str) -> None:
    torch.manual_seed(0)
    words = byte_level(QWEN, pad_token="<|endoftext|>", eos_token="<|im_end|>")
    ids = ids_of(words, QWEN)
    ends = {"bos_token_id": ids["<|endoftext|>"], "eos_token_id": ids["<|im_end|>"]}
    config = LlavaOnevisionConfig(
        text_config={**TEXT, "vocab_size": len(words), **ends, **text},
        vision_config={**TOWER, "model_type": "siglip_vision_model", "vision_use_head": False},
        image_token_index=ids["<image>"],
        video_token_index=ids["<video>"],
        image_grid_pinpoints=GRID,
    )
    model = LlavaOnevisionForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        **ends,
        pad_token_id=ids["<|endoftext|>"],
        do_sample=True,
        temperature=0.7,
        top_p=0.8,
        top_k=20,
        repetition_penalty=1.1,
    )
    square = {"height": SIDE, "width": SIDE}
    processor = LlavaOnevisionProcessor(
        image_processor=LlavaOnevisionImageProcessor(size=square, image_grid_pinpoints=GRID),
        tokenizer=words,
        video_processor=LlavaOnevisionVideoProcessor(size=square),
        num_image_tokens=9,
        vision_feature_select_strategy="full",
        chat_template=chat,
    )
    save(folder, model, processor, end=ids["<|im_end|>"])
    as_before_5(folder, "Qwen2Tokenizer", template=template)

"""Mistral's models that see, with a Pixtral tower: Pixtral itself and Mistral Small 3.1."""

from pathlib import Path
from typing import Any

import torch
from transformers import (
    GenerationConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    Mistral3Config,
    Mistral3ForConditionalGeneration,
    PixtralImageProcessor,
    PixtralProcessor,
)

from tests.support.zoo import family
from tests.support.zoo.llama_parts import as_before_5, begin
from tests.support.zoo.parts import TEXT, byte_level, save

SPECIAL: tuple[str, ...] = ("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]")
SPECIAL += ("[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]")
TOWER = {
    "model_type": "pixtral",
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
# Speakers must take turns. What the system says is put into the last question.
TEMPLATE_PIXTRAL = (
    "{%- if messages[0]['role'] == 'system' %}{%- set told = messages[0]['content'] %}{%- set rest = messages[1:] %}"
    "{%- else %}{%- set rest = messages %}{%- endif %}{{- bos_token }}{%- for message in rest %}"
    "{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{- raise_exception('User and assistant must take turns.') }}{%- endif %}"
    "{%- if message['role'] == 'user' %}{{- '[INST]' }}{%- if loop.last and told is defined %}{{- told + '\n\n' }}"
    "{%- endif %}{%- if message['content'] is not string %}{%- for part in message['content'] %}"
    "{%- if part['type'] == 'text' %}{{- part['text'] }}{%- elif part['type'] == 'image' %}{{- '[IMG]' }}"
    "{%- else %}{{- raise_exception('Neither text nor image.') }}{%- endif %}{%- endfor %}"
    "{%- else %}{{- message['content'] }}{%- endif %}{{- '[/INST]' }}"
    "{%- elif message['role'] == 'assistant' %}{{- message['content'] + eos_token }}"
    "{%- else %}{{- raise_exception('Only user and assistant may speak.') }}{%- endif %}{%- endfor %}"
)
# Says what day it is.
TEMPLATE_SMALL = (
    '{%- set today = strftime_now("%Y-%m-%d") %}'
    "{%- set told = 'You are a helpful assistant. Today is ' + today + '.' %}{{- bos_token }}"
    "{%- if messages[0]['role'] == 'system' %}{%- if messages[0]['content'] is string %}"
    "{%- set told = messages[0]['content'] %}{%- else %}{%- set told = messages[0]['content'][0]['text'] %}{%- endif %}"
    "{%- set rest = messages[1:] %}{%- else %}{%- set rest = messages %}{%- endif %}"
    "{{- '[SYSTEM_PROMPT]' + told + '[/SYSTEM_PROMPT]' }}{%- for message in rest %}"
    "{%- if message['role'] == 'user' %}{%- if message['content'] is string %}"
    "{{- '[INST]' + message['content'] + '[/INST]' }}{%- else %}{{- '[INST]' }}{%- for part in message['content'] %}"
    "{%- if part['type'] == 'text' %}{{- part['text'] }}{%- elif part['type'] in ['image', 'image_url'] %}{{- '[IMG]' }}"
    "{%- else %}{{- raise_exception('Only text and images.') }}{%- endif %}{%- endfor %}{{- '[/INST]' }}{%- endif %}"
    "{%- elif message['role'] == 'assistant' %}{{- message['content'] + eos_token }}"
    "{%- else %}{{- raise_exception('Only user, system and assistant.') }}{%- endif %}{%- endfor %}"
)


@family("pixtral")
def pixtral(folder: Path) -> None:
    torch.manual_seed(0)
    words = _tokenizer()
    config = LlavaConfig(
        text_config=_text(words, "mistral"),
        vision_config={**TOWER, "image_size": 64, "patch_size": 16},
        image_token_index=words.convert_tokens_to_ids("[IMG]"),
        image_seq_length=1,
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
    )
    model = LlavaForConditionalGeneration(config)
    model.generation_config = _ends(words)
    processor = PixtralProcessor(
        image_processor=PixtralImageProcessor(size={"longest_edge": 64}),
        tokenizer=words,
        chat_template=TEMPLATE_PIXTRAL,
    )
    save(folder, model, processor, end=words.eos_token_id)
    as_before_5(folder, "PreTrainedTokenizerFast")


@family("mistral3")
def mistral3(folder: Path) -> None:
    torch.manual_seed(2)
    words = _tokenizer()
    config = Mistral3Config(
        text_config=_text(words, "mistral"),
        vision_config={**TOWER, "image_size": 112, "patch_size": 14},
        image_token_index=words.convert_tokens_to_ids("[IMG]"),
        tie_word_embeddings=False,
    )
    model = Mistral3ForConditionalGeneration(config)
    model.generation_config = _ends(words)
    processor = PixtralProcessor(
        image_processor=PixtralImageProcessor(size={"longest_edge": 112}, patch_size=14),
        tokenizer=words,
        patch_size=14,
        spatial_merge_size=2,
        chat_template=TEMPLATE_SMALL,
    )
    save(folder, model, processor, end=words.eos_token_id)
    # The name is Llama's, the tokens are bytes.
    as_before_5(folder, "LlamaTokenizerFast")


def _tokenizer() -> Any:
    words = byte_level(SPECIAL, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="<pad>")
    begin(words)
    return words


def _text(words: Any, kind: str) -> dict[str, Any]:
    return {**TEXT, "model_type": kind, "vocab_size": len(words), "head_dim": 16, "sliding_window": None}


def _ends(words: Any) -> GenerationConfig:
    return GenerationConfig(bos_token_id=words.bos_token_id, eos_token_id=words.eos_token_id)

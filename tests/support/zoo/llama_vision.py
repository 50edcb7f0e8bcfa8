"""Meta's models that see: Llama 3.2 Vision, from which Bllossom's AICA comes, and Llama 4."""

from pathlib import Path
from typing import Any

import torch
from transformers import (
    GenerationConfig,
    Llama4Config,
    Llama4ForConditionalGeneration,
    Llama4ImageProcessor,
    Llama4Processor,
    MllamaConfig,
    MllamaForConditionalGeneration,
    MllamaImageProcessor,
    MllamaProcessor,
)

from tests.support.zoo import family
from tests.support.zoo.llama_parts import as_before_5, begin, ids_of
from tests.support.zoo.parts import TEXT, byte_level, change_json, save

SPECIAL_3: tuple[str, ...] = (
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|finetune_right_pad_id|>",
    "<|start_header_id|>",
)
SPECIAL_3 += ("<|end_header_id|>", "<|eom_id|>", "<|eot_id|>", "<|python_tag|>", "<|image|>")  # the image's is the last
SPECIAL_4: tuple[str, ...] = (
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|finetune_right_pad|>",
    "<|header_start|>",
    "<|header_end|>",
)
SPECIAL_4 += ("<|eom|>", "<|eot|>", "<|image_start|>", "<|image_end|>", "<|tile_x_separator|>", "<|tile_y_separator|>")
SPECIAL_4 += ("<|image|>", "<|patch|>")
# Nothing is said before a picture, so that without a system message there is none; with both it refuses.
TEMPLATE_3 = (
    "{{- bos_token }}\n{%- if not date_string is defined %}{%- if strftime_now is defined %}"
    "{%- set date_string = strftime_now('%d %b %Y') %}{%- else %}{%- set date_string = '26 Jul 2024' %}{%- endif %}"
    "{%- endif %}\n{%- set told = '' %}{%- set told_first = messages[0]['role'] == 'system' %}"
    "{%- if told_first %}{%- set told = messages[0]['content'] | trim %}{%- set messages = messages[1:] %}{%- endif %}\n"
    "{%- set pictures = namespace(any=false) %}{%- for message in messages %}{%- if message['content'] is not string %}"
    "{%- for part in message['content'] %}{%- if part['type'] == 'image' %}{%- set pictures.any = true %}{%- endif %}"
    "{%- endfor %}{%- endif %}{%- endfor %}\n"
    "{%- if pictures.any and told_first %}{{- raise_exception('No system message goes with images.') }}{%- endif %}\n"
    "{%- if not pictures.any %}{{- '<|start_header_id|>system<|end_header_id|>\n\nToday Date: ' + date_string + '\n\n' }}"
    "{{- told + '<|eot_id|>' }}{%- endif %}\n"
    "{%- for message in messages %}{{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' }}"
    "{%- if message['content'] is string %}{{- message['content'] }}{%- else %}{%- for part in message['content'] %}"
    "{%- if part['type'] == 'image' %}{{- '<|image|>' }}{%- elif part['type'] == 'text' %}{{- part['text'] }}"
    "{%- endif %}{%- endfor %}{%- endif %}{{- '<|eot_id|>' }}{%- endfor %}\n"
    "{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{%- endif %}\n"
)
TEMPLATE_4 = (
    "{{- bos_token }}{%- for message in messages %}{{- '<|header_start|>' + message['role'] + '<|header_end|>\n\n' }}"
    "{%- if message['content'] is string %}{{- message['content'] }}{%- else %}{%- for part in message['content'] %}"
    "{%- if part['type'] == 'image' %}{{- '<|image|>' }}{%- elif part['type'] == 'text' %}{{- part['text'] | trim }}"
    "{%- endif %}{%- endfor %}{%- endif %}{{- '<|eot|>' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|header_start|>assistant<|header_end|>\n\n' }}{%- endif %}"
)


@family("mllama")
def mllama(folder: Path) -> None:
    torch.manual_seed(0)
    words = _tokenizer(SPECIAL_3, eos_token="<|eot_id|>", pad_token="<|finetune_right_pad_id|>")
    ids = ids_of(words, SPECIAL_3)
    config = MllamaConfig(
        text_config={
            **TEXT,
            "num_hidden_layers": 3,
            "cross_attention_layers": [1],
            "vocab_size": len(words) - 1,  # it reads the image's token and never writes it
            "bos_token_id": ids["<|begin_of_text|>"],
            "eos_token_id": ids["<|end_of_text|>"],
            "pad_token_id": words.pad_token_id,
        },
        vision_config={
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_global_layers": 1,
            "attention_heads": 2,
            "image_size": 56,
            "intermediate_layers_indices": [0],
            "vision_output_dim": 64,
        },
        image_token_index=ids["<|image|>"],
    )
    model = MllamaForConditionalGeneration(config)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("_gate"):  # made shut, so that no picture would be seen
                weight.fill_(1.0)
    ends = [ids["<|end_of_text|>"], ids["<|eom_id|>"], ids["<|eot_id|>"]]
    model.generation_config = _sampled(words, ends)
    processor = MllamaProcessor(
        image_processor=MllamaImageProcessor(size={"height": 56, "width": 56}),
        tokenizer=words,
        chat_template=TEMPLATE_3,
    )
    save(folder, model, processor, end=ids["<|eot_id|>"])
    as_before_5(folder, "PreTrainedTokenizerFast")
    change_json(folder / "tokenizer_config.json", chat_template=TEMPLATE_3)


@family("llama4")
def llama4(folder: Path) -> None:
    torch.manual_seed(0)
    words = _tokenizer(SPECIAL_4, eos_token="<|eot|>", pad_token="<|finetune_right_pad|>")
    ids = ids_of(words, SPECIAL_4)
    ends = [ids["<|end_of_text|>"], ids["<|eom|>"], ids["<|eot|>"]]
    config = Llama4Config(
        text_config={
            **TEXT,
            "head_dim": 16,
            "intermediate_size": 64,
            "intermediate_size_mlp": 128,
            "num_local_experts": 4,
            "no_rope_layers": [1, 0],
            "vocab_size": len(words),
            "bos_token_id": words.bos_token_id,
            "eos_token_id": ends,
            "pad_token_id": words.pad_token_id,
        },
        vision_config={
            "hidden_size": 32,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_size": 56,
            "vision_output_dim": 64,
            "projector_input_dim": 64,
            "projector_output_dim": 64,
        },
        boi_token_index=ids["<|image_start|>"],
        eoi_token_index=ids["<|image_end|>"],
        image_token_index=ids["<|patch|>"],
    )
    model = Llama4ForConditionalGeneration(config)
    model.generation_config = _sampled(words, ends)
    processor = Llama4Processor(
        image_processor=Llama4ImageProcessor(size={"height": 56, "width": 56}, max_patches=4),
        tokenizer=words,
        chat_template=TEMPLATE_4,
    )
    save(folder, model, processor, end=ids["<|eot|>"])
    as_before_5(folder, "PreTrainedTokenizer", template="chat_template.jinja")
    change_json(folder / "preprocessor_config.json", image_processor_type="Llama4ImageProcessorFast")


def _tokenizer(special: tuple[str, ...], **settings: Any) -> Any:
    words = byte_level(special, bos_token="<|begin_of_text|>", **settings)
    begin(words)
    return words


def _sampled(words: Any, ends: list[int]) -> GenerationConfig:
    return GenerationConfig(
        do_sample=True,
        temperature=0.6,
        top_p=0.9,
        bos_token_id=words.bos_token_id,
        eos_token_id=ends,
        pad_token_id=words.pad_token_id,
    )

"""OpenGVLab's InternVL3, as converted for transformers."""

from pathlib import Path

import torch
from transformers import (
    GenerationConfig,
    GotOcr2ImageProcessor,
    InternVLConfig,
    InternVLForConditionalGeneration,
    InternVLProcessor,
    InternVLVideoProcessor,
)

from tests.support.zoo import family
from tests.support.zoo.llama_parts import as_before_5, ids_of
from tests.support.zoo.parts import TEXT, byte_level, change_json, save

VISUAL = {"start_image_token": "<img>", "end_image_token": "</img>", "context_image_token": "<IMG_CONTEXT>"}
VISUAL |= {"video_token": "<video>"}
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", *VISUAL.values())
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' }}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}{{ '<IMG_CONTEXT>\n' }}{% elif part['type'] == 'video' %}{{ '<video>\n' }}"
    "{% elif part['type'] == 'text' %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}{{ '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


@family("internvl")
def internvl(folder: Path) -> None:
    torch.manual_seed(0)
    words = byte_level(SPECIAL, pad_token="<|endoftext|>", eos_token="<|im_end|>", extra_special_tokens=VISUAL)
    ids = ids_of(words, SPECIAL)
    config = InternVLConfig(
        text_config={
            **TEXT,
            "model_type": "qwen2",
            "vocab_size": len(words),
            "bos_token_id": ids["<|endoftext|>"],
            "eos_token_id": ids["<|im_end|>"],
        },
        vision_config={
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_size": 56,
            "attention_bias": True,
        },
        image_token_id=ids["<IMG_CONTEXT>"],
        image_seq_length=4,
        tie_word_embeddings=False,
    )
    model = InternVLForConditionalGeneration(config)
    model.generation_config = GenerationConfig(bos_token_id=ids["<|endoftext|>"], eos_token_id=ids["<|im_end|>"])
    processor = InternVLProcessor(
        image_processor=GotOcr2ImageProcessor(size={"height": 56, "width": 56}, max_patches=12),
        tokenizer=words,
        video_processor=InternVLVideoProcessor(size={"height": 56, "width": 56}),
        image_seq_length=4,
        chat_template=TEMPLATE,
    )
    save(folder, model, processor, end=ids["<|im_end|>"])
    as_before_5(folder, "Qwen2Tokenizer", template="chat_template.jinja")
    change_json(folder / "preprocessor_config.json", image_processor_type="GotOcr2ImageProcessorFast")
    change_json(folder / "generation_config.json", _from_model_config=True)

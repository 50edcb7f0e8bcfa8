"""Ovis 2, as converted for transformers."""

from pathlib import Path

import torch
from transformers import (
    GenerationConfig,
    Ovis2Config,
    Ovis2ForConditionalGeneration,
    Ovis2ImageProcessor,
    Ovis2Processor,
)

from tests.support.zoo import family
from tests.support.zoo.llama_parts import as_before_5, ids_of
from tests.support.zoo.parts import TEXT, byte_level, save

INDICATORS = ("<IMG_START>", "<IMG_GRID>", "<IMG_COL>", "<IMG_ROW>", "<IMG_END>")
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<image>", "<IMG_ATOM>", *INDICATORS)
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' }}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}{{ '<image>\n' }}{% elif part['type'] == 'text' %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


@family("ovis2")
def ovis2(folder: Path) -> None:
    torch.manual_seed(0)
    words = byte_level(SPECIAL, pad_token="<|endoftext|>", eos_token="<|im_end|>")
    ids = ids_of(words, SPECIAL)
    ends = {"bos_token_id": ids["<|endoftext|>"], "eos_token_id": ids["<|im_end|>"]}
    config = Ovis2Config(
        text_config={**TEXT, "model_type": "qwen2", "vocab_size": len(words), **ends},
        vision_config={
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_size": 56,
            "patch_size": 14,
            "hidden_stride": 2,
            "vocab_size": 128,
        },
        image_token_id=ids["<IMG_ATOM>"],
        visual_indicator_token_ids=[ids[token] for token in INDICATORS],
        vocab_size=len(words),
        hidden_size=TEXT["hidden_size"],
        tie_word_embeddings=False,
    )
    model = Ovis2ForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        **ends, do_sample=True, temperature=0.6, top_k=20, top_p=0.95, multimodal_max_length=None
    )
    processor = Ovis2Processor(
        image_processor=Ovis2ImageProcessor(size={"height": 56, "width": 56}, crop_to_patches=True, max_patches=9),
        tokenizer=words,
        image_seq_length=4,
        chat_template=TEMPLATE,
    )
    save(folder, model, processor, end=ids["<|im_end|>"])
    as_before_5(folder, "Qwen2Tokenizer", template="chat_template.jinja")

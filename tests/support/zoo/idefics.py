"""Hugging Face's own: Idefics 2 and 3, and SmolVLM, which came of them."""

from pathlib import Path
from typing import Any

import torch
from transformers import (
    GenerationConfig,
    Idefics2Config,
    Idefics2ForConditionalGeneration,
    Idefics2ImageProcessor,
    Idefics2Processor,
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    Idefics3ImageProcessor,
    Idefics3Processor,
    SmolVLMConfig,
    SmolVLMForConditionalGeneration,
    SmolVLMImageProcessor,
    SmolVLMProcessor,
    SmolVLMVideoProcessor,
)

from tests.support.zoo import family
from tests.support.zoo.llama_parts import as_before_5, begin, ids_of, sentence_pieces
from tests.support.zoo.parts import TEXT, byte_level, change_json, save

AROUND = ("<fake_token_around_image>", "<image>", "<end_of_utterance>")
TILES = ("<global-img>", *(f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)))
# Who speaks is a plain word; a space follows the colon unless an image does.
SPOKEN = (
    "{% for message in messages %}{{ message['role'] | capitalize }}"
    "{% if message['content'][0]['type'] == 'image' %}{{ ':' }}{% else %}{{ ': ' }}{% endif %}"
    "{% for part in message['content'] %}{% if part['type'] == 'text' %}{{ part['text'] }}"
    "{% elif part['type'] == 'image' %}{{ '<image>' }}{% endif %}{% endfor %}<end_of_utterance>\n{% endfor %}"
    "{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}"
)
TOWER = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": 56,
    "patch_size": 14,
}


@family("idefics2")
def idefics2(folder: Path) -> None:
    torch.manual_seed(0)
    words = sentence_pieces(AROUND, pad_token="<unk>", padding_side="left")
    ids = ids_of(words, AROUND)
    config = Idefics2Config(
        text_config={**TEXT, "model_type": "mistral", "vocab_size": len(words), "pad_token_id": 0},
        vision_config={**TOWER, "image_size": 84},
        perceiver_config={
            "hidden_size": 64,
            "resampler_n_latents": 4,
            "resampler_depth": 1,
            "resampler_n_heads": 2,
            "resampler_head_dim": 16,
            "num_key_value_heads": 2,
        },
        image_token_id=ids["<image>"],
    )
    model = Idefics2ForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        bos_token_id=1,
        eos_token_id=[2, ids["<end_of_utterance>"]],
        pad_token_id=0,
        bad_words_ids=[[ids["<fake_token_around_image>"]], [ids["<image>"]]],
    )
    processor = Idefics2Processor(
        image_processor=Idefics2ImageProcessor(size={"shortest_edge": 42, "longest_edge": 84}, do_image_splitting=True),
        tokenizer=words,
        image_seq_len=4,
        chat_template=SPOKEN,
    )
    save(folder, model, processor, end=ids["<end_of_utterance>"])
    as_before_5(folder, "LlamaTokenizer", template="tokenizer_config.json")


@family("idefics3")
def idefics3(folder: Path) -> None:
    torch.manual_seed(0)
    special = ("<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>", "<|finetune_right_pad_id|>", *AROUND, *TILES)
    words = byte_level(
        special, bos_token="<|begin_of_text|>", eos_token="<end_of_utterance>", pad_token="<|finetune_right_pad_id|>"
    )
    begin(words)
    ids = ids_of(words, special)
    config = Idefics3Config(
        text_config={**TEXT, "model_type": "llama", "vocab_size": len(words), "pad_token_id": words.pad_token_id},
        vision_config=TOWER,
        image_token_id=ids["<image>"],
        pad_token_id=words.pad_token_id,
    )
    model = Idefics3ForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        bos_token_id=ids["<|begin_of_text|>"],
        eos_token_id=[ids["<|end_of_text|>"], ids["<end_of_utterance>"]],
        pad_token_id=words.pad_token_id,
        bad_words_ids=[[ids["<fake_token_around_image>"]], [ids["<image>"]]],
    )
    processor = Idefics3Processor(
        image_processor=Idefics3ImageProcessor(size={"longest_edge": 112}, max_image_size={"longest_edge": 56}),
        tokenizer=words,
        image_seq_len=4,
        chat_template="<|begin_of_text|>" + SPOKEN,
    )
    save(folder, model, processor, end=ids["<end_of_utterance>"])
    as_before_5(folder, "PreTrainedTokenizerFast")


@family("smolvlm")
def smolvlm(folder: Path) -> None:
    torch.manual_seed(0)
    special = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", *AROUND, *TILES)
    named = {
        "fake_image_token": "<fake_token_around_image>",
        "image_token": "<image>",
        "end_of_utterance_token": "<end_of_utterance>",
        "global_image_token": "<global-img>",
    }
    words = byte_level(
        special,
        unk_token="<|endoftext|>",
        bos_token="<|im_start|>",
        eos_token="<end_of_utterance>",
        pad_token="<|im_end|>",
        extra_special_tokens=named,
    )
    ids = ids_of(words, special)
    ends: dict[str, Any] = {"bos_token_id": ids["<|im_start|>"], "pad_token_id": ids["<|im_end|>"]}
    config = SmolVLMConfig(
        text_config={**TEXT, "model_type": "llama", "vocab_size": len(words), **ends},
        vision_config=TOWER,
        image_token_id=ids["<image>"],
        pad_token_id=ids["<|im_end|>"],
    )
    model = SmolVLMForConditionalGeneration(config)
    model.generation_config = GenerationConfig(**ends, eos_token_id=ids["<end_of_utterance>"])
    sizes: dict[str, Any] = {"size": {"longest_edge": 112}, "max_image_size": {"longest_edge": 56}}
    processor = SmolVLMProcessor(
        image_processor=SmolVLMImageProcessor(**sizes),
        tokenizer=words,
        video_processor=SmolVLMVideoProcessor(**sizes),
        image_seq_len=4,
        chat_template="<|im_start|>" + SPOKEN,
    )
    save(folder, model, processor, end=ids["<end_of_utterance>"])
    as_before_5(folder, "GPT2Tokenizer")
    change_json(folder / "generation_config.json", _from_model_config=True)

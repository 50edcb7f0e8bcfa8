"""Qwen's models that also hear and speak: what chats is a part of the whole."""

from pathlib import Path
from typing import Any

import torch
from transformers import (
    Qwen2_5OmniConfig,
    Qwen2_5OmniForConditionalGeneration,
    Qwen2_5OmniProcessor,
    Qwen2VLImageProcessor,
    Qwen2VLVideoProcessor,
    Qwen3OmniMoeConfig,
    Qwen3OmniMoeForConditionalGeneration,
    Qwen3OmniMoeProcessor,
    WhisperFeatureExtractor,
)

from tests.support.zoo import family
from tests.support.zoo.llama_parts import as_before_5, ids_of
from tests.support.zoo.parts import TEXT, byte_level, change_json, save

NAMED = {
    "image_token": "<|IMAGE|>",
    "audio_token": "<|AUDIO|>",
    "video_token": "<|VIDEO|>",
    "vision_bos_token": "<|vision_bos|>",
    "vision_eos_token": "<|vision_eos|>",
    "audio_bos_token": "<|audio_bos|>",
    "audio_eos_token": "<|audio_eos|>",
}
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", *NAMED.values())
GREETING = (
    "{% if loop.first and message['role'] != 'system' %}"
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}"
)
BODY = (
    "<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' or 'image' in part %}<|vision_bos|><|IMAGE|><|vision_eos|>"
    "{% elif part['type'] == 'audio' or 'audio' in part %}<|audio_bos|><|AUDIO|><|audio_eos|>"
    "{% elif part['type'] == 'video' or 'video' in part %}<|vision_bos|><|VIDEO|><|vision_eos|>"
    "{% elif 'text' in part %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TEMPLATE = "{% for message in messages %}" + GREETING + BODY
# The thinking one, which speaks no more: its thoughts are begun for it.
TEMPLATE_3 = "{% for message in messages %}" + BODY.replace("assistant\n{%", "assistant\n<think>\n{%")
ROPE = {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 1e6}


@family("qwen2_5_omni")
def qwen2_5_omni(folder: Path) -> None:
    torch.manual_seed(0)
    words = byte_level(SPECIAL, pad_token="<|endoftext|>", eos_token="<|im_end|>", extra_special_tokens=NAMED)
    ids = ids_of(words, SPECIAL)
    media = {
        "audio_token_index": ids["<|AUDIO|>"],
        "image_token_index": ids["<|IMAGE|>"],
        "video_token_index": ids["<|VIDEO|>"],
        "audio_start_token_id": ids["<|audio_bos|>"],
        "audio_end_token_id": ids["<|audio_eos|>"],
        "vision_start_token_id": ids["<|vision_bos|>"],
        "vision_end_token_id": ids["<|vision_eos|>"],
    }
    thinker = {
        **media,
        "text_config": {**TEXT, "vocab_size": len(words), "rope_parameters": ROPE},
        "vision_config": {
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_heads": 2,
            "out_hidden_size": TEXT["hidden_size"],
            "fullatt_block_indexes": [1],
            "window_size": 56,
        },
        "audio_config": {
            "num_mel_bins": 16,
            "encoder_layers": 1,
            "encoder_attention_heads": 2,
            "encoder_ffn_dim": 32,
            "d_model": 32,
            "max_source_positions": 100,
            "output_dim": TEXT["hidden_size"],
        },
    }
    small = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    talker: dict[str, Any] = {
        **media,
        **small,
        "num_key_value_heads": 1,
        "head_dim": 16,
        "vocab_size": 64,
        "embedding_size": 64,
    }
    talker |= {"rope_parameters": ROPE, "tts_codec_pad_token_id": 60, "tts_codec_mask_token_id": 63}
    config = Qwen2_5OmniConfig(
        thinker_config=thinker,
        talker_config=talker,
        token2wav_config={
            "dit_config": {
                "hidden_size": 32,
                "num_hidden_layers": 1,
                "num_attention_heads": 2,
                "head_dim": 16,
                "emb_dim": 16,
                "num_embeds": 65,
                "mel_dim": 16,
                "enc_emb_dim": 16,
                "enc_dim": 16,
                "enc_channels": [16, 16, 16, 16, 16],
                "enc_attention_channels": 8,
                "enc_se_channels": 8,
            },
            "bigvgan_config": {
                "mel_dim": 16,
                "upsample_initial_channel": 16,
                "upsample_rates": [4, 4],
                "upsample_kernel_sizes": [8, 8],
                "resblock_kernel_sizes": [3],
                "resblock_dilation_sizes": [[1, 3, 5]],
            },
        },
    )
    model = Qwen2_5OmniForConditionalGeneration(config)
    processor = Qwen2_5OmniProcessor(
        image_processor=Qwen2VLImageProcessor(size={"shortest_edge": 56 * 56, "longest_edge": 112 * 112}),
        video_processor=Qwen2VLVideoProcessor(),
        feature_extractor=WhisperFeatureExtractor(feature_size=16),
        tokenizer=words,
        chat_template=TEMPLATE,
    )
    save(folder, model, processor)
    as_before_5(folder, "Qwen2Tokenizer")
    # Who writes no generation config leaves it to the tokenizer to say where answers end.
    (folder / "generation_config.json").unlink(missing_ok=True)
    (folder / "video_preprocessor_config.json").unlink()
    change_json(folder / "preprocessor_config.json", size=None, min_pixels=56 * 56, max_pixels=112 * 112)
    torch.save(
        {"Chelsie": {"bos_token": 62, "cond": torch.zeros(1, 16), "ref_mel": torch.zeros(1, 30, 16)}},
        folder / "spk_dict.pt",
    )


@family("qwen3_omni_moe")
def qwen3_omni_moe(folder: Path) -> None:
    torch.manual_seed(0)
    named = NAMED | {"image_token": "<|image_pad|>", "audio_token": "<|audio_pad|>", "video_token": "<|video_pad|>"}
    special = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", *named.values())
    words = byte_level(special, pad_token="<|endoftext|>", eos_token="<|im_end|>", extra_special_tokens=named)
    words.add_tokens(["<think>", "</think>"])
    ids = ids_of(words, special)
    config = Qwen3OmniMoeConfig(
        thinker_config={
            "image_token_id": ids["<|image_pad|>"],
            "audio_token_id": ids["<|audio_pad|>"],
            "video_token_id": ids["<|video_pad|>"],
            "audio_start_token_id": ids["<|audio_bos|>"],
            "vision_start_token_id": ids["<|vision_bos|>"],
            "vision_end_token_id": ids["<|vision_eos|>"],
            "text_config": {
                **TEXT,
                "vocab_size": len(words),
                "head_dim": 16,
                "num_experts": 4,
                "num_experts_per_tok": 2,
                "moe_intermediate_size": 32,
                "rope_parameters": ROPE | {"mrope_section": [4, 2, 2], "mrope_interleaved": True},
            },
            "vision_config": {
                "depth": 2,
                "hidden_size": 32,
                "intermediate_size": 64,
                "num_heads": 2,
                "out_hidden_size": TEXT["hidden_size"],
                "num_position_embeddings": 64,
                "deepstack_visual_indexes": [0],
            },
            "audio_config": {
                "num_mel_bins": 16,
                "encoder_layers": 1,
                "encoder_attention_heads": 2,
                "encoder_ffn_dim": 32,
                "d_model": 32,
                "max_source_positions": 100,
                "downsample_hidden_size": 8,
                "output_dim": TEXT["hidden_size"],
            },
        },
        enable_audio_output=False,
    )
    model = Qwen3OmniMoeForConditionalGeneration(config)
    processor = Qwen3OmniMoeProcessor(
        image_processor=Qwen2VLImageProcessor(
            patch_size=16, size={"shortest_edge": 64 * 64, "longest_edge": 128 * 128}
        ),
        video_processor=Qwen2VLVideoProcessor(patch_size=16),
        feature_extractor=WhisperFeatureExtractor(feature_size=16),
        tokenizer=words,
        chat_template=TEMPLATE_3.replace("|IMAGE|", "|image_pad|").replace("|AUDIO|", "|audio_pad|"),
    )
    save(folder, model, processor)
    as_before_5(folder, "Qwen2Tokenizer")
    (folder / "video_preprocessor_config.json").unlink()

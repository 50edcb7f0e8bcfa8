"""Qwen's models that see, hear and only read, and those that others build like them: images become a grid of patches."""

import json
from dataclasses import replace
from pathlib import Path

import torch

from tests.support.zoo.parts import change_json
from tests.support.zoo.row_parts import (
    CHATML_ENDS,
    EXPERTS,
    LINEAR,
    VIDEO_FILE,
    Id,
    Row,
    Size,
    decoder,
    edges,
    ends,
    grid,
    ids,
    of,
    part,
    rope,
    sight,
    text,
    tokens,
)
from tests.support.zoo.template_parts import HELPFUL, THINK_UNLESS_OFF, chatml, loop, reply, show

START, REPLY = "{{ '<|im_start|>' + m.role + '\n' }}", "<|im_start|>assistant\n"
VISION = "<|vision_start|><|image_pad|><|vision_end|>"
TEMPLATE = (
    loop(
        HELPFUL
        + START
        + show(("p['type'] == 'image' or 'image' in p", VISION), ("'text' in p", "{{ p['text'] }}"), text="")
        + "<|im_end|>\n"
    )
    + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# Qwen3 has no default system message, and numbers its images if asked to.
SHOWN_3 = show(
    (
        "p.type == 'image' or 'image' in p or 'image_url' in p",
        "{% set seen.images = seen.images + 1 %}{% if add_vision_id %}Picture {{ seen.images }}: {% endif %}" + VISION,
    ),
    ("'text' in p", "{{ p.text }}"),
    text="",
)
TEMPLATE_3 = "{% set seen = namespace(images=0) %}{% macro shown(m) %}" + SHOWN_3 + "{% endmacro %}"
TEMPLATE_VL3 = (
    TEMPLATE_3
    + "{% if tools %}{{ '<|im_start|>system\n# Tools\n' }}{{ tools | tojson }}{{ '<|im_end|>\n' }}{% endif %}"
    + loop(START + "{{ shown(m) + '<|im_end|>\n' }}")
    + reply("{{ '<|im_start|>assistant\n' }}")
)
# Thinks unless switched off: the beginning of the answer is already written.
TEMPLATE_3_5 = (
    TEMPLATE_3
    + "{% if not messages %}{{ raise_exception('There are no messages.') }}{% endif %}"
    + "{% set asked = namespace(yes=false) %}"
    + loop(
        "{% if m.role == 'user' %}{% set asked.yes = true %}{% elif m.role == 'system' and not loop.first %}"
        "{{ raise_exception('A system message may only come first.') }}{% endif %}"
        + START
        + "{{ shown(m) | trim }}{{ '<|im_end|>\n' }}"
    )
    + "{% if not asked.yes %}{{ raise_exception('Nobody asks anything.') }}{% endif %}"
    + reply("{{ '<|im_start|>assistant\n' }}" + THINK_UNLESS_OFF)
)
VISUAL = ("<|im_start|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>")
PADS = ids(image_token_id="<|image_pad|>", video_token_id="<|video_pad|>")
IDS = PADS | ids(vision_start_token_id="<|vision_start|>", vision_end_token_id="<|vision_end|>")
BASE = ids(bos_token_id="<|endoftext|>", eos_token_id="<|im_end|>")
SAMPLE = of(do_sample=True, bos_token_id=Id("<|endoftext|>"), eos_token_id=[Id("<|im_end|>"), Id("<|endoftext|>")])
ROPE_2 = rope(mrope_section=[2, 3, 3], rope_theta=1e6)
MROPE = of(mrope_interleaved=True, rope_theta=5e6)
ROPE_3 = rope(**MROPE, mrope_section=[4, 2, 2])
ROPE_3_5 = rope(**MROPE, mrope_section=[2, 1, 1], partial_rotary_factor=0.25)
SIDES = edges(64, 128)
SIDES_2 = edges(56, 112)
SIGHT_3 = grid(out_hidden_size=64, patch_size=16, num_position_embeddings=64)
STACKED = SIGHT_3 | {"deepstack_visual_indexes": [0]}
HALF = of(image_mean=[0.5] * 3, image_std=[0.5] * 3)


def flatten(folder: Path) -> None:
    """Write the config as it was published before configs were nested: the decoder's keys are at the top."""
    whole = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    flat = {**whole.pop("text_config"), **whole, "layer_types": None}
    flat |= {"rope_parameters": None, "rope_theta": 1e6, "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]}}
    flat["vision_config"] = {**flat["vision_config"], "model_type": "qwen2_vl", "in_chans": 3}
    change_json(folder / "config.json", text_config=None, **flat)


QWEN2_5 = Row(
    "qwen2_5_vl",
    tokens(*VISUAL, **CHATML_ENDS),
    TEMPLATE,
    text=decoder(**BASE, **ROPE_2),
    vision=grid(out_hidden_size=64, fullatt_block_indexes=[1], window_size=56),
    config=IDS,
    image=part("Qwen2VL", size=SIDES_2),
    # As published: sampling, and a repetition penalty that greedy decoding must not inherit.
    generation=of(**SAMPLE, temperature=1e-6, repetition_penalty=1.05),
)
QWEN3 = replace(
    QWEN2_5,
    name="qwen3_vl",
    text=decoder(**BASE, head_dim=16, **ROPE_3),
    vision=STACKED,
    template=TEMPLATE_VL3,
    image=part("Qwen2VL", patch_size=16, size=SIDES, **HALF),
    generation=of(**SAMPLE, temperature=0.7, top_p=0.8, top_k=20, repetition_penalty=1.0),
    version_4="Qwen2Tokenizer",
    changes={"preprocessor_config": of(image_processor_type="Qwen2VLImageProcessorFast")},
)
replace(
    QWEN2_5,
    name="qwen2_vl",
    vision=of(depth=2, embed_dim=32, hidden_size=64, mlp_ratio=2, num_heads=2),
    generation=of(**SAMPLE, temperature=0.01, top_p=0.001, top_k=1),
    version_4="Qwen2Tokenizer",
    changes={
        "tokenizer_config": of(chat_template=TEMPLATE),
        "preprocessor_config": of(size=None, min_pixels=56**2, max_pixels=112**2),
    },
    without=[VIDEO_FILE],
    after=flatten,
)
replace(QWEN3, name="qwen3_vl_moe", text=decoder(**BASE, head_dim=16, **ROPE_3, **EXPERTS))
replace(
    QWEN3,
    name="qwen3_5",
    text=decoder(**BASE, head_dim=32, **ROPE_3_5, **LINEAR, num_hidden_layers=4)
    | of(layer_types=["linear_attention"] * 3 + ["full_attention"]),
    vision=SIGHT_3,
    words=tokens(*VISUAL, thinks=True, **CHATML_ENDS),
    template=TEMPLATE_3_5,
    generation=of(**SAMPLE, temperature=0.6, top_p=0.95, top_k=20),
    template_file="chat_template.jinja",
)

# Models that also hear and speak: what chats is a part of the whole.
HEARD = of(vision_bos_token="<|vision_bos|>", vision_eos_token="<|vision_eos|>")
HEARD |= of(audio_bos_token="<|audio_bos|>", audio_eos_token="<|audio_eos|>")
NAMED_2_5 = of(image_token="<|IMAGE|>", audio_token="<|AUDIO|>", video_token="<|VIDEO|>") | HEARD
NAMED_3 = of(image_token="<|image_pad|>", audio_token="<|audio_pad|>", video_token="<|video_pad|>") | HEARD
MEDIA_IDS = ids(audio_token_index="<|AUDIO|>", image_token_index="<|IMAGE|>", video_token_index="<|VIDEO|>")
MEDIA_IDS |= ids(audio_start_token_id="<|audio_bos|>", audio_end_token_id="<|audio_eos|>")
MEDIA_IDS |= ids(vision_start_token_id="<|vision_bos|>", vision_end_token_id="<|vision_eos|>")
OMNI_SIGHT = grid(out_hidden_size=64, fullatt_block_indexes=[1], window_size=56)
OMNI_EAR = of(num_mel_bins=16, encoder_layers=1, encoder_attention_heads=2, encoder_ffn_dim=32, d_model=32)
OMNI_EAR |= of(max_source_positions=100, output_dim=64)


def omni_template(image: str, audio: str, video: str, first: str, answer: str) -> str:
    """Return the template of a model that hears, with the names of its three tokens."""
    cases = [
        (f"p['type'] == '{kind}' or '{kind}' in p", f"<|{sense}_bos|><|{token}|><|{sense}_eos|>")
        for kind, sense, token in (("image", "vision", image), ("audio", "audio", audio), ("video", "vision", video))
    ]
    shown = show(*cases, ("'text' in p", "{{ p['text'] }}"), text="")
    return loop(first + START + shown + "<|im_end|>\n") + reply(f"<|im_start|>assistant\n{answer}")


Row(
    "qwen2_5_omni",
    tokens("<|im_start|>", extra=NAMED_2_5, **CHATML_ENDS),
    omni_template("IMAGE", "AUDIO", "VIDEO", HELPFUL, ""),
    config=of(
        thinker_config=of(text_config=decoder(**ROPE_2), vision_config=OMNI_SIGHT, audio_config=OMNI_EAR) | MEDIA_IDS,
        talker_config=of(hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
        | of(num_key_value_heads=1, head_dim=16, vocab_size=64, embedding_size=64, **ROPE_2)
        | of(tts_codec_pad_token_id=60, tts_codec_mask_token_id=63, **MEDIA_IDS),
        token2wav_config=of(
            dit_config=of(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, head_dim=16, emb_dim=16)
            | of(num_embeds=65, mel_dim=16, enc_emb_dim=16, enc_dim=16, enc_channels=[16] * 5)
            | of(enc_attention_channels=8, enc_se_channels=8),
            bigvgan_config=of(mel_dim=16, upsample_initial_channel=16, upsample_rates=[4, 4])
            | of(upsample_kernel_sizes=[8, 8], resblock_kernel_sizes=[3], resblock_dilation_sizes=[[1, 3, 5]]),
        ),
    ),
    image=part("Qwen2VL", size=SIDES_2),
    audio=part("Whisper", feature_size=16),
    end=None,
    version_4="Qwen2Tokenizer",
    changes={"preprocessor_config": of(size=None, min_pixels=56**2, max_pixels=112**2)},
    # Without a generation config, the tokenizer decides where answers end.
    without=["generation_config.json", VIDEO_FILE],
    after=lambda folder: torch.save(
        {"Chelsie": {"bos_token": 62, "cond": torch.zeros(1, 16), "ref_mel": torch.zeros(1, 30, 16)}},
        folder / "spk_dict.pt",
    ),
)
Row(  # the thinking one, which does not speak: its thoughts are begun for it
    "qwen3_omni_moe",
    tokens("<|im_start|>", extra=NAMED_3, thinks=True, **CHATML_ENDS),
    omni_template("image_pad", "audio_pad", "VIDEO", "", "<think>\n"),
    config=of(
        thinker_config=of(
            text_config=decoder(head_dim=16, **EXPERTS)
            | rope(mrope_section=[4, 2, 2], rope_theta=1e6, mrope_interleaved=True),
            vision_config=grid(out_hidden_size=64, num_position_embeddings=64, deepstack_visual_indexes=[0]),
            audio_config=OMNI_EAR | of(downsample_hidden_size=8),
            audio_token_id=Id("<|audio_pad|>"),
            **PADS,
        )
        | ids(audio_start_token_id="<|audio_bos|>")
        | ids(vision_start_token_id="<|vision_bos|>", vision_end_token_id="<|vision_eos|>"),
        enable_audio_output=False,
    ),
    image=part("Qwen2VL", patch_size=16, size=SIDES),
    video=part("Qwen2VL", patch_size=16),
    audio=part("Whisper", feature_size=16),
    generation=None,
    end=None,
    version_4="Qwen2Tokenizer",
    without=[VIDEO_FILE],
)
Row(
    "qwen2_5_omni_thinker",
    tokens("<|im_start|>", extra=NAMED_2_5, **CHATML_ENDS),
    chatml("<|vision_bos|><|IMAGE|><|vision_eos|>"),
    text=text(**ROPE_2),
    vision=OMNI_SIGHT,
    config=of(audio_config=OMNI_EAR, **MEDIA_IDS),
    processor=part("Qwen2_5Omni"),
    video=part("Qwen2VL"),
    audio=part("Whisper"),
    image=part("Qwen2VL", size=SIDES_2),
)

# Models of others.
EXTRA = of(image_token="<|image_pad|>", video_token="<|video_pad|>")
EXTRA |= of(vision_bos_token="<|vision_start|>", vision_eos_token="<|vision_end|>")
SIGHT = grid(out_hidden_size=64, initializer_range=0.1)
QWEN_SIGHT = SIGHT | of(num_position_embeddings=64)
PATCHES = of(patch_size=16, size=SIDES)
QWEN = Row(
    "qwen3_5_moe",
    tokens("<|im_start|>", extra=EXTRA, thinks=True, **CHATML_ENDS),
    TEMPLATE_3_5,
    text=text(head_dim=32, num_hidden_layers=4, shared_expert_intermediate_size=32, **LINEAR, **EXPERTS) | ROPE_3_5,
    vision=QWEN_SIGHT,
    config=IDS,
    image=part("Qwen2VL", **PATCHES),
    generation=of(do_sample=True, temperature=0.6, top_p=0.95, top_k=20),
)
replace(
    QWEN,
    name="qwen4_exp",
    text=text(head_dim=32, num_hidden_layers=4, output_gate_type="sigmoid", **LINEAR, **EXPERTS)
    | of(shared_expert_intermediate_size=32, hc_count=2, hc_lowrank=8, ple_layer_ids=[1], **ROPE_3_5)
    | of(ngram_vocab_size_base=200, split_ngram_parts=1, heads_per_ngram=2, indexer_n_heads=2)
    | of(indexer_kv_heads=1, indexer_head_dim=16, indexer_budget=2048, indexer_compress_ratio=4),
)
replace(
    QWEN,
    name="cosmos3_omni",
    processor=part("Qwen3VL"),
    text=text(model_type="qwen3_vl_text", head_dim=16, **ROPE_3),
    vision=of(model_type="qwen3_vl_vision", **QWEN_SIGHT, deepstack_visual_indexes=[0]),
    words=tokens("<|im_start|>", extra=EXTRA, **CHATML_ENDS),
    template=TEMPLATE_VL3,
)
replace(
    QWEN,
    name="cosmos3_edge",
    text=text(head_dim=16, **rope(rope_theta=1e8, mrope_section=[4, 2, 2])),
    vision=sight(patch_size=16, num_patches=64),
    config=of(projector_hidden_size=64, **IDS),
    words=tokens("<|im_start|>", extra=EXTRA, thinks=True, **ends("<s>", "<|im_end|>", "<|im_end|>")),
    image=part(size=SIDES),
)
replace(
    QWEN,
    name="lfm3_vl",
    text=text(model_type="lfm3", head_dim=16, num_hidden_layers=3, sliding_window=64, conv_L_cache=3)
    | of(layer_types=["conv", "sliding_attention", "full_attention"]),
    vision=sight(num_hidden_layers=3, num_key_value_heads=1) | of(layer_types=["conv", "conv", "full_attention"]),
    config=of(projector_hidden_size=64, **IDS),
    words=tokens("<|im_start|>", extra=EXTRA, **ends("<|startoftext|>", "<|im_end|>", "<|pad|>")),
    template=chatml(VISION, "{{ bos_token }}"),
    generation={},
)

# Text models: plain, hybrid, and those that always think.
TURNS = loop(
    START + "{%- if m.role == 'assistant' and m.reasoning_content %}"
    "{{- '<think>\n' + m.reasoning_content.strip('\n') + '\n</think>\n\n' }}{%- endif %}"
    "{{- m.content + '<|im_end|>\n' }}"
)
OFF = "{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}"
GREETED = "{%- if messages[0].role != 'system' %}{{- '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n' }}"
ROUNDED = BASE | of(pad_token_id=None, vocab_size=Size(24))  # as published: some ids have no token
QWEN3_TEXT = Row(
    "qwen3",
    tokens("<|im_start|>", thinks=True, **CHATML_ENDS),
    TURNS + reply("{{- '<|im_start|>assistant\n' }}" + OFF),
    config=text(**ROUNDED, head_dim=16),
    generation=of(**SAMPLE, top_k=20, temperature=0.6, top_p=0.95),
    say=("Ċ", "<think>", "n", "</think>", "a"),
)
Row(
    "qwen2",
    tokens("<|im_start|>", **CHATML_ENDS),
    GREETED + "{%- endif %}" + TURNS + reply("{{- '<|im_start|>assistant\n' }}"),
    config=text(**ROUNDED, tie_word_embeddings=True, use_sliding_window=False, sliding_window=4096),
    generation=of(**SAMPLE, top_k=20, temperature=0.7, top_p=0.8, repetition_penalty=1.1),
)
replace(
    QWEN3_TEXT,
    name="qwen3_thinking",
    kind="qwen3",
    template=TURNS + reply("{{- '<|im_start|>assistant\n<think>\n' }}"),
    say=("Ċ", "n", "</think>", "a"),
)

"""Models that see, of other makers: Baidu, Moonshot, DAMO, Ai2, Stepfun, Microsoft, Meta, Tencent, Salesforce and more."""

from dataclasses import replace
from functools import partial

from transformers import BartTokenizer, GPT2Tokenizer, LlamaTokenizer

from tests.support.zoo.qwen import SIDES
from tests.support.zoo.row_parts import (
    CHATML_ENDS,
    ENDS,
    INDEXED,
    LATENT,
    ROUTED,
    SIZE,
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
    square,
    text,
    tokens,
    tower,
)
from tests.support.zoo.template_parts import ALTERNATE, by_kind, chatml, loop, reply, show, turns
from tests.support.zoo.tokenizer_parts import THOUGHTS, byte_vocabulary, finish, pieces

# Baidu's ERNIE 4.5 VL, whose experts are split between words and images, and PaddleOCR-VL.
ERNIE = of(image_token="<|IMAGE_PLACEHOLDER|>", image_start_token="<|IMAGE_START|>", image_end_token="<|IMAGE_END|>")
ERNIE |= of(video_token="<|VIDEO_PLACEHOLDER|>", video_start_token="<|VIDEO_START|>", video_end_token="<|VIDEO_END|>")
BAIDU_IMAGE = "<|IMAGE_START|><|IMAGE_PLACEHOLDER|><|IMAGE_END|>"
# Pictures are numbered in words, and thinking is on unless switched off.
ERNIE_TEMPLATE = (
    "{% set thinking = enable_thinking if enable_thinking is defined else true %}"
    "{% set ns = namespace(images=0) %}{{ cls_token | default('<|begin_of_sentence|>') }}{% macro shown(m) %}"
    + show(
        (
            "p.type in ['image', 'image_url']",
            "{% set ns.images = ns.images + 1 %}Picture {{ ns.images }}:" + BAIDU_IMAGE,
        )
    )
    + "{% endmacro %}"
    + loop(
        "{% if m.role == 'system' %}{{ m.content + '\n' }}{% elif m.role == 'user' %}{{ 'User: ' + shown(m) + '\n' }}"
        "{% else %}{{ 'Assistant: ' + shown(m) + '<|end_of_sentence|>' }}{% endif %}"
    )
    + reply("{{ 'Assistant: \n<think>\n' + ('' if thinking else '\n</think>\n\n') }}")
)
# No system role, and images go first whatever their place.
PADDLE_TEMPLATE = (
    "{% if not add_generation_prompt is defined %}{% set add_generation_prompt = true %}{% endif %}"
    "{{ cls_token if cls_token is defined else '<|begin_of_sentence|>' }}"
    + loop(
        "{% if m['role'] == 'user' %}User: "
        + by_kind(("image", BAIDU_IMAGE), ("text", "{{ p['text'] }}"))
        + "{{ '\n' }}{% elif m['role'] == 'assistant' %}{{ 'Assistant:\n' }}"
        + by_kind(("text", "{{ p['text'] }}"))
        + "{{ eos_token if eos_token is defined else '</s>' }}{% endif %}"
    )
    + reply("{{ 'Assistant:\n' }}")
)
# The tokens that begin and end a turn have the names of a classifier's.
BAIDU_WORDS = partial(
    pieces,
    LlamaTokenizer,
    ("<unk>", "<s>", "</s>"),
    replace=False,
    cls_token="<|begin_of_sentence|>",
    sep_token="<|end_of_sentence|>",
    mask_token="<mask:1>",
    pad_token="<unk>",
    add_prefix_space=False,
    model_max_length=131072,
)
Row(
    "ernie4_5_vl_moe",
    partial(BAIDU_WORDS, special=tuple(ERNIE.values()), plain=THOUGHTS, extra_special_tokens=ERNIE),
    ERNIE_TEMPLATE,
    text=text(mlp_layer_types=["dense", "sparse"], moe_intermediate_size=[32, 16], moe_k=2)
    | of(moe_num_experts=4, moe_num_shared_experts=1, initializer_range=0.2)
    | rope(rope_theta=5e5, mrope_section=[3, 3, 2]),
    vision=grid(),
    config=ids(**{f"{name}_id": token for name, token in ERNIE.items()}),
    image=part(size=edges(56, 112)),
    video=part(draw_on_frames=False),
    generation=of(do_sample=True, top_p=0.8, temperature=0.2, repetition_penalty=1.05),
)
Row(
    "paddleocr_vl",
    partial(
        BAIDU_WORDS,
        special=("<|IMAGE_START|>", "<|IMAGE_END|>", "<|IMAGE_PLACEHOLDER|>", "<|video_pad|>"),
        extra_special_tokens=of(image_token="<|IMAGE_PLACEHOLDER|>"),
    ),
    PADDLE_TEMPLATE,
    text=text(head_dim=16, initializer_range=0.2, **rope(rope_theta=5e5, mrope_section=[2, 3, 3])),
    vision=tower(image_size=112),
    config=of(
        **ids(image_token_id="<|IMAGE_PLACEHOLDER|>", video_token_id="<|video_pad|>"),
        **ids(vision_start_token_id="<|IMAGE_START|>", vision_end_token_id="<|IMAGE_END|>"),
    ),
    image=part(size=edges(56, 112)),
    generation=of(bos_token_id=None, use_cache=True),
)

# Moonshot's Kimi K2.5, DAMO's VideoLLaMA 3, Ai2's Molmo 2, Stepfun's Step 3.7, Microsoft's Phi-4-multimodal.
SHOWN_URL = show(
    ("p.type in ['image', 'image_url']", "{{ '<|media_begin|>image<|media_content|><|media_pad|><|media_end|>\n' }}"),
    text="",
    otherwise="{{ p.text }}",
)
# The reply begins inside a thought unless `thinking` is false.
KIMI_TEMPLATE = loop(
    "<|im_{{ m.role }}|>{{ m.name | default(m.role) }}<|im_middle|>" + SHOWN_URL + "<|im_end|>"
) + reply(
    "<|im_assistant|>assistant<|im_middle|>"
    "{{ '<think></think>' if thinking is defined and thinking is false else '<think>' }}"
)
VIDEOLLAMA_HEAD = (
    "{% if messages and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are VideoLLaMA3 created by Alibaba DAMO Academy.<|im_end|>\n' }}{% endif %}"
)
# No system role; images come before everything.
MOLMO_TEMPLATE = (
    loop(
        "{% if m.content is not string %}{% for p in m.content %}{% if p.type in ['image', 'image_url'] %}<|image|>"
        "{% elif p.type == 'video' %}<|video|>{% endif %}{% endfor %}{% endif %}"
    )
    + loop(ALTERNATE + "{{ '<|im_start|>' + m.role + '\n' }}" + show() + "{{ '<|im_end|>\n' }}")
    + reply("{{ '<|im_start|>assistant\n' }}")
)
STEP_TEMPLATE = (
    "{{ bos_token }}"
    + loop(
        "{{ '<|im_start|>' + m.role + '\n' }}"
        + show(("p.type == 'image' or 'image_url' in p", "<im_patch>"), text="", otherwise="{{ p.text }}")
        + "<|im_end|>\n"
    )
    + reply("{{ '<|im_start|>assistant\n<think>\n' }}")
)
# A system message may name tools.
PHI_TEMPLATE = (
    loop(
        "{{ '<|' + m['role'] + '|>' }}"
        + show(("image", "<|image|>"), ("audio", "<|audio|>"))
        + "{% if m['role'] == 'system' and 'tools' in m and m['tools'] %}"
        + "{{ '<|tool|>' + m['tools'] + '<|/tool|>' }}{% endif %}<|end|>"
    )
    + "{% if add_generation_prompt %}<|assistant|>{% else %}{{ eos_token }}{% endif %}"
)
STEP_BOS, STEP_EOS = "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"
STEP_ENDS = of(eos_token_id=[Id(STEP_EOS), Id("<|im_end|>")])
MOLMO_IMAGE: tuple[str, ...] = (
    "<im_start>",
    "<im_end>",
    "<im_patch>",
    "<im_col>",
    "<low_res_im_start>",
    "<|image|>",
    "<im_low>",
)
MOLMO_IMAGE += ("<frame_start>", "<frame_end>", "<|video|>")
PHI_ENDS = of(eos_token_id=[Id("<|endoftext|>"), Id("<|end|>")])
PHI_ROPE = of(original_max_position_embeddings=4096)
Row(
    "kimi_k25",
    tokens(
        "[EOS] <|im_user|> <|im_assistant|> <|im_system|> <|im_middle|> <|media_begin|>",
        "<|media_content|> <|media_pad|> <|media_end|> <|kimi_k25_video_placeholder|>",
        thinks=True,
        **ends("[BOS]", "<|im_end|>", "[PAD]"),
    ),
    KIMI_TEMPLATE,
    text=text(model_type="kimi_k2", n_group=1, topk_group=1, first_k_dense_replace=1, **LATENT, **ROUTED)
    | of(qk_rope_head_dim=8),
    vision=tower(pos_emb_height=8, pos_emb_width=8),
    config=of(
        projection_hidden_size=32,
        tie_word_embeddings=False,
        **ids(image_token_id="<|media_pad|>", video_token_id="<|kimi_k25_video_placeholder|>"),
        **ids(vision_start_token_id="<|media_begin|>", vision_end_token_id="<|media_end|>"),
    ),
    image=part(size={"max_height": 112, "max_width": 112}, max_patches=64),
    video=part(size={"max_height": 112, "max_width": 112}),
    generation=of(max_length=262144, bos_token_id=None, pad_token_id=None),
)
Row(
    "video_llama_3",
    tokens("<|im_start|> <|image_pad|> <|video_pad|>", **CHATML_ENDS),
    chatml("{{ '<|image_pad|>\n' }}", VIDEOLLAMA_HEAD, video="{{ '<|video_pad|>\n' }}"),
    text=decoder(model_type="qwen2", use_sliding_window=False)
    | ids(bos_token_id="<|endoftext|>", eos_token_id="<|im_end|>"),
    vision=tower(patch_size=14),
    config=ids(image_token_id="<|image_pad|>", video_token_id="<|video_pad|>"),
    image=part(size=edges(56, 112)),
    video=part(size=edges(56, 112)),
    generation=of(do_sample=True, temperature=0.7, top_p=0.8, top_k=20, repetition_penalty=1.05)
    | of(bos_token_id=Id("<|endoftext|>"), eos_token_id=[Id("<|im_end|>"), Id("<|endoftext|>")]),
)
Row(  # its tokenizer names no beginning, so the end is used; its image tokens have separate embeddings
    "molmo2",
    lambda: finish(tokens("<|im_start|>", **CHATML_ENDS)(), MOLMO_IMAGE, replace=False),
    MOLMO_TEMPLATE,
    text=decoder(vocab_size=Size(-len(MOLMO_IMAGE)), additional_vocab_size=16, head_dim=16)
    | of(initializer_range=0.1, **rope(rope_theta=1e6)),
    vision=tower(num_key_value_heads=2, head_dim=16, image_size=[56, 56], num_position_embeddings=16)
    | of(initializer_range=0.2),
    config=of(
        adapter_config=of(vision_feature_layer=[1, 0], hidden_size=32, num_attention_heads=2, head_dim=16)
        | of(num_key_value_heads=2, intermediate_size=64, text_hidden_size=64, initializer_range=0.2),
        **ids(image_start_token_id="<im_start>", image_end_token_id="<im_end>", image_patch_id="<im_patch>"),
        **ids(low_res_image_start_token_id="<low_res_im_start>"),
        **ids(frame_start_token_id="<frame_start>", frame_end_token_id="<frame_end>"),
        **ENDS | ids(bos_token_id="<|im_end|>"),
    ),
    image=part(size=square(56), max_crops=4, overlap_margins=[1, 1]),
    video=part(size=square(56)),
    generation=ids(bos_token_id="<|im_end|>"),
)
Row(
    "step3p7",
    tokens(
        "<｜▁pad▁｜> <|im_start|> <im_patch> <im_start> <im_end> <patch_start> <patch_end>",
        "<patch_newline>",
        thinks=True,
        **ends(STEP_BOS, "<|im_end|>", STEP_EOS),
    ),
    STEP_TEMPLATE,
    text=decoder(head_dim=16, sliding_window=64, layer_types=["full_attention", "sliding_attention"])
    | of(mlp_layer_types=["dense", "sparse"], moe_intermediate_size=32, n_routed_experts=4)
    | of(share_expert_dim=32, num_experts_per_tok=2, num_sliding_attention_heads=6, **ENDS)
    | STEP_ENDS,
    vision=of(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, mlp_ratio=2.0)
    | of(image_size=112, max_position_embeddings=64),
    config=of(**ids(image_token_id="<im_patch>", bos_token_id=STEP_BOS), **STEP_ENDS),
    image=part(size=square(112), patch_size=56, max_image_size=336),
    generation=of(do_sample=True, temperature=1.0, top_p=0.95, **STEP_ENDS),
)
Row(  # a vision tower, an audio encoder, and tiles with a mask
    "phi4_multimodal",
    tokens(
        "<|system|> <|user|> <|assistant|> <|end|>",
        extra=of(image_token="<|image|>", audio_token="<|audio|>"),
        unk="<|endoftext|>",
        **ends("<|endoftext|>", "<|endoftext|>", "<|endoftext|>"),
    ),
    PHI_TEMPLATE,
    config=text(max_position_embeddings=131072, tie_word_embeddings=True, **PHI_ROPE)
    | of(initializer_range=0.2, **PHI_ENDS)
    | rope(rope_type="longrope", short_factor=[1.0] * 8, long_factor=[2.0] * 8, partial_rotary_factor=1.0, **PHI_ROPE)
    | of(
        vision_config=tower(image_token_id=Id("<|image|>")),
        audio_config=of(hidden_size=32, intermediate_size=32, num_blocks=2, num_attention_heads=2)
        | of(ext_pw_out_channel=32, depthwise_separable_out_channel=32, nemo_conv_channels=8)
        | ids(audio_token_id="<|audio|>"),
    ),
    model="Phi4MultimodalForCausalLM",
    image=part(dynamic_hd=2),
    generation=PHI_ENDS,
    end="<|end|>",
)

# Models that see and write but do not chat: Florence-2, an encoder-decoder with task words, and BLIP-2. Neither has a
# chat template, as published.
CAPTION_FIRST = ("<s>", "<pad>", "</s>", "<unk>")


def _florence_words() -> BartTokenizer:
    vocabulary, merges = byte_vocabulary(CAPTION_FIRST)
    words = BartTokenizer(vocab=vocabulary, merges=merges, extra_special_tokens={"image_token": "<image>"})
    words.add_tokens([f"<loc_{n}>" for n in range(10)])
    return words


def _blip_words() -> GPT2Tokenizer:
    vocabulary, merges = byte_vocabulary(CAPTION_FIRST)
    return GPT2Tokenizer(
        vocab=vocabulary, merges=merges, bos_token="</s>", eos_token="</s>", unk_token="</s>", pad_token="<pad>"
    )


FLORENCE_START = ids(decoder_start_token_id="</s>")
Row(
    "florence2",
    _florence_words,
    text=of(model_type="bart", vocab_size=SIZE, d_model=64, encoder_layers=2, decoder_layers=2)
    | of(encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64)
    | of(max_position_embeddings=1024, **FLORENCE_START, **ENDS),
    vision=of(depths=[1, 1, 1, 1], embed_dim=[8, 16, 16, 32], num_heads=[1, 2, 2, 4])
    | of(num_groups=[1, 2, 2, 4], window_size=4, projection_dim=64),
    config=of(image_token_id=Id("<image>"), **FLORENCE_START, **ENDS),
    image=part("CLIP", size=square(128), crop_size=square(128), do_center_crop=False),
    image_seq_length=17,
    generation=of(no_repeat_ngram_size=3, num_beams=3, **FLORENCE_START)
    | ids(forced_bos_token_id="<s>", forced_eos_token_id="</s>"),
    end=None,
)
Row(
    "blip-2",
    _blip_words,
    text=of(model_type="opt", vocab_size=SIZE, hidden_size=64, ffn_dim=128, num_hidden_layers=2)
    | of(num_attention_heads=4, word_embed_proj_dim=64, init_std=0.1, max_position_embeddings=8192, **ENDS),
    vision=tower(image_size=56, initializer_range=0.02),
    config=of(
        qformer_config=tower(vocab_size=100, max_position_embeddings=64),
        num_query_tokens=4,
        image_text_hidden_size=16,
        image_token_index=Id("<image>"),
    ),
    processor=part(num_query_tokens=4),
    image=part("Blip", size=square(56)),
    end=None,
)

LLAMA_3_HEADER = "<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
MUSE_HEADER = "<|header_start|>{{ m.role }}<|header_end|>\n\n"
MUSE_TEXT = text(head_dim=16, sliding_window=64, layer_types=["sliding_attention", "full_attention"])
MUSE = of(
    vision_config=sight(pos_emb_height=8, pos_emb_width=8, max_position_embeddings=64)
    | of(layer_types=["window_attention", "full_attention"]),
    out_hidden_size=128,
    projector_hidden_size=64,
    **ids(image_token_id="<|patch|>", video_token_id="<|video|>"),
)
MUSE_GLIMMER = Row(
    "muse_glimmer",
    tokens(
        "<|header_start|> <|header_end|> <|patch|> <|image_start|> <|image_end|> <|video|>",
        "<|vid_frame_separator|> <|vid_start|> <|vid_end|> <|audio|> <|soft_audio_start|>",
        "<|soft_audio_end|>",
        **ends("<|begin_of_text|>", "<|eot|>", "<|end_of_text|>"),
    ),
    turns("<|patch|>", MUSE_HEADER, "<|eot|>", MUSE_HEADER.replace("{{ m.role }}", "assistant"), "{{ bos_token }}"),
    text=MUSE_TEXT,
    config=MUSE,
    image=part(max_image_tokens=32),
)
HUNYUAN_ROPE = of(rope_theta=10000.0, beta_fast=32, beta_slow=1, mscale=1.0, mscale_all_dim=1.0, xdrope_section=[2] * 4)
INKLING = text(head_dim=16, unpadded_vocab_size=SIZE, swa_num_attention_heads=4, swa_head_dim=16, d_rel=4)
INKLING |= of(rel_extent=64, swa_num_key_value_heads=2, sliding_window_size=64, n_layers_per_attn_res_block=1)
INKLING |= of(layer_types=["hybrid_sliding", "hybrid"], moe_intermediate_size=32, n_routed_experts=4)
CODES = ["IMGIMG" + "".join("ABCDEFGHIJ"[int(digit)] for digit in str(n)) + "Z" for n in range(16)]
Row(
    "perception_lm",
    tokens(
        "<|start_header_id|> <|end_header_id|>",
        extra=of(image_token="<|image|>", video_token="<|video|>"),
        **ends("<|begin_of_text|>", "<|eot_id|>", "<|end_of_text|>"),
    ),
    turns(
        "<|image|>",
        LLAMA_3_HEADER,
        "<|eot_id|>",
        LLAMA_3_HEADER.replace("{{ m.role }}", "assistant"),
        "{{ bos_token }}",
    ),
    text=text(model_type="llama"),
    vision=of(model_type="timm_wrapper", architecture="vit_pe_core_large_patch14_336", do_pooling=True)
    | of(global_pool="map")
    | of(
        model_args=of(embed_dim=32, depth=2, num_heads=2, img_size=[56, 56], ref_feat_shape=[4, 4])
        | of(global_pool="", use_post_transformer_norm=False)
    ),
    config=of(projector_pooling_ratio=2, **ids(image_token_id="<|image|>", video_token_id="<|video|>")),
    processor=part(patch_size=14, pooling_ratio=2),
    image=part(tile_size=56, max_num_tiles=36, size=square(56)),
)
Row(
    "hunyuan_vl",
    tokens(
        "<user_end> <newline>",
        extra=of(image_token="<image>", image_start_token="<img>", image_end_token="</img>"),
        **ends("<begin>", "<assistant_end>", "<pad>"),
    ),
    turns("<img><image></img>", "", "<{{ m.role }}_end>", "", "{{ bos_token }}"),
    text=text(head_dim=16) | rope(rope_type="xdrope", alpha=1000.0, factor=1.0, **HUNYUAN_ROPE),
    vision=sight(out_hidden_size=64, max_image_size=128, min_image_size=32),
    config=ids(image_token_id="<image>", im_start_id="<img>", im_end_id="</img>", im_newline_id="<newline>"),
    image=part(size=edges(64, 160)),
    generation=of(do_sample=True, top_k=1, top_p=1.0, temperature=0.3, repetition_penalty=1.03),
)
Row(
    "aria",
    tokens(
        "<|im_start|> <fim_prefix> <fim_suffix>", extra=of(image_token="<|img|>"), **ends("<s>", "<|im_end|>", "<pad>")
    ),
    chatml("<fim_prefix><|img|><fim_suffix>"),
    text=text(intermediate_size=32, moe_num_experts=4, moe_topk=2, moe_num_shared_experts=1),
    vision=sight(model_type="idefics3_vision", patch_size=14, image_size=980),
    config=of(projector_patch_to_query_dict={"1225": 8, "4900": 16}, image_token_index=Id("<|img|>")),
    processor=part(size_conversion={"490": 8, "980": 16}),
    image=part(),
)
replace(
    MUSE_GLIMMER,
    name="muse_spark",
    text=MUSE_TEXT | of(moe_intermediate_size=32, moe_hidden_size=32, num_local_experts=4, num_experts_per_tok=2),
    config=of(
        audio_config=of(hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1], out_hidden_size=64),
        audio_token_id=Id("<|audio|>"),
        **MUSE,
    ),
    image=part("MuseGlimmer", max_image_tokens=32),
)
Row(
    "inkling2",
    tokens(
        "<|message_user|> <|message_model|> <|content_text|> <|unused_200054|> <|unused_200053|>",
        "<|content_image|> <|content_audio_input|>",
        **ends("", "<|end_message|>", "<|pad|>"),
    ),
    turns(
        "<|content_image|><|unused_200054|>",
        "<|message_{{ m.role }}|><|content_text|>",
        "<|end_message|>",
        "<|message_model|>",
    ),
    text=INKLING | of(num_experts_per_tok=2),
    vision=sight(text_hidden_size=64, projection_hidden_dim=64, posemb_grid_size=8),
    config=of(image_token_id=Id("<|unused_200054|>")),
    image=part(),
)
Row(
    "dots3_note",
    tokens(
        "<|user|> <|assistant|> <|endofuser|> <|img|> <|imgpad|> <|endofimg|> <|video_pad|>",
        "<|audio_comp_pad|>",
        **ends("", "<|endofassistant|>", "[PAD]"),
    ),
    turns("<|img|><|imgpad|><|endofimg|>", "<|{{ m.role }}|>", "<|endof{{ m.role }}|>", "<|assistant|>"),
    text=text(num_hidden_layers=3, qk_rope_head_dim=8, head_dim=24, **LATENT, **ROUTED, **INDEXED)
    | of(layer_types=["indexed_attention"] * 2 + ["sliding_attention"], sliding_window=64)
    | of(swa_num_attention_heads=4, swa_num_key_value_heads=4, swa_q_lora_rank=16, swa_head_dim=24)
    | of(swa_kv_lora_rank=16, swa_qk_nope_head_dim=16, swa_v_head_dim=16, shared_experts_intermediate_size=32),
    vision=sight(adapter_in_dim=32, adapter_out_dim=64, moe_intermediate_size=32) | of(pyramid_num_routed=[-1, 4]),
    config=of(
        audio_config=sight(adapter_input_size=32, adapter_out_dim=64, downsample_hidden_size=8),
        **ids(image_token_id="<|imgpad|>", video_token_id="<|video_pad|>", audio_token_id="<|audio_comp_pad|>"),
    ),
    video=part("Qwen2VL"),
    image=part("Qwen2VL", size=SIDES, temporal_patch_size=1),
)
Row(
    "nemotron_h_omni",
    tokens(
        "<|im_start|> <image> <video> <img> </img> <so_embedding> <so_start> <so_end>",
        **ends("<s>", "<|im_end|>", "<unk>"),
    ),
    chatml("<image>\n"),
    text=text(model_type="nemotron_h", head_dim=16, ssm_state_size=8, mamba_num_heads=4, chunk_size=16)
    | of(layer_types=["linear_attention", "moe", "full_attention", "mlp"], num_hidden_layers=4)
    | of(mamba_head_dim=16, n_groups=2, moe_shared_expert_intermediate_size=32, **ROUTED),
    vision=of(model_type="radio", hidden_size=32, num_hidden_layers=2, mlp_ratio=2.0)
    | of(num_attention_heads=2, image_size=64, max_img_size=256, video_temporal_patch_size=2),
    config=of(
        projector_hidden_size=64, vision_hidden_size=32, **ids(image_token_id="<image>", video_token_id="<video>")
    ),
    model="NemotronH_Omni_Reasoning_V3",
    audio=part("Parakeet"),
    image=part(min_num_patches=16, max_num_patches=64),
)
Row(
    "minimax_m3_vl",
    tokens(
        "]~b] ]<]image[>[ ]<]video[>[",
        spaced=["]<]start of image[>[", "]<]end of image[>["],
        thinks=True,
        **ends("]~!b[", "[e~[", "]!p~["),
    ),
    turns("]<]image[>[", "]~b]{{ m.role }}\n", "[e~[\n", "]~b]ai\n<think>\n", "{{ bos_token }}"),
    text=text(head_dim=16, rotary_dim=8, num_local_experts=4, num_experts_per_tok=2, **INDEXED)
    | of(dense_intermediate_size=64, shared_intermediate_size=32, mlp_layer_types=["dense", "sparse"])
    | of(layer_types=["full_attention", "minimax_m3_sparse"]),
    vision=sight(image_size=112),
    config=of(projector_hidden_size=64, **ids(image_token_index="]<]image[>[", video_token_index="]<]video[>[")),
    model="MiniMaxM3SparseForConditionalGeneration",
    image=part(size=edges(56, 137)),
)
Row(
    "chameleon",
    tokens(
        *CODES,
        extra=of(image_token="<image>", boi_token="<racm3:break>", eoi_token="<eoss>"),
        sep="<reserved08706>",
        **ends("<s>", "</s>", "<pad>"),
    ),
    turns("<image>", "", "<reserved08706>", ""),
    config=text(vocabulary_map=ids(**{token: token for token in ("<image>", *CODES)}))
    | of(
        vq_config=of(embed_dim=8, num_embeddings=16, latent_channels=16, resolution=64, base_channels=32)
        | of(channel_multiplier=[1] * 5, num_res_blocks=1)
    ),
    processor=part(image_seq_length=16),
    image=part(size={"shortest_edge": 64}, crop_size=square(64)),
)

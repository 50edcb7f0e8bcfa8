"""Families with more than one sense, Google's among them, and Korean text models with experts: one row each."""

from typing import Any

from tests.support.zoo.gemma import GEMMA3_TEMPLATE, GEMMA4_TEMPLATE
from tests.support.zoo.more_families_qwen import CHATML, INDEXED, LATENT, ROUTED, SIDES
from tests.support.zoo.table_parts import SIZE, Id, Row, chatml, register, sight, square, text, turns

GEMMA = {"bos_token": "<bos>", "eos_token": "<eos>", "pad_token": "<pad>"}
GEMMA_4 = {"bos_token": "<bos>", "eos_token": "<turn|>", "pad_token": "<pad>"}
GEMMA_4_SPECIAL = ["<|turn>", "<|think|>", "<|channel>", "<channel|>", "<|video|>"]
GEMMA_4_EXTRA = {"boi_token": "<|image>", "eoi_token": "<image|>", "image_token": "<|image|>"}
GEMMA_4_EXTRA |= {"boa_token": "<|audio>", "eoa_token": "<audio|>", "audio_token": "<|audio|>"}
GEMMA_4_IDS = {"boi_token_id": Id("<|image>"), "eoi_token_id": Id("<image|>"), "image_token_id": Id("<|image|>")}
GEMMA_4_EARS = {"boa_token_id": Id("<|audio>"), "eoa_token_index": Id("<audio|>"), "audio_token_id": Id("<|audio|>")}
SLIDING: dict[str, Any] = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 32}
T5 = text(head_dim=16, query_pre_attn_scalar=16, **SLIDING)
SIGLIP = sight(model_type="siglip_vision_model", image_size=56, patch_size=14) | {"vision_use_head": False}
INKLING = text(
    unpadded_vocab_size=SIZE, head_dim=16, swa_num_attention_heads=4, swa_head_dim=16, d_rel=4, rel_extent=64
)
INKLING |= {"swa_num_key_value_heads": 2, "sliding_window_size": 64, "layer_types": ["hybrid_sliding", "hybrid"]}
INKLING |= {"moe_intermediate_size": 32, "n_routed_experts": 4, "num_experts_per_tok": 2}
INKLING_SPECIAL = [
    "<|message_user|>",
    "<|message_model|>",
    "<|content_text|>",
    "<|unused_200054|>",
    "<|unused_200053|>",
]
INKLING_SPECIAL += ["<|content_image|>", "<|content_audio_input|>"]
INKLING_TEMPLATE = turns(
    "<|content_image|><|unused_200054|>",
    "<|message_{{ m.role }}|><|content_text|>",
    "<|end_message|>",
    "<|message_model|>",
)
DOTS_SPECIAL = ["<|user|>", "<|assistant|>", "<|endofuser|>", "<|img|>", "<|imgpad|>", "<|endofimg|>", "<|video_pad|>"]
NEMOTRON_SPECIAL = ["<|im_start|>", "<image>", "<video>", "<img>", "</img>", "<so_embedding>", "<so_start>", "<so_end>"]
MINIMAX_SPECIAL = ["]~b]", "]<]image[>[", "]<]video[>[", "]<]start of image[>[", "]<]end of image[>["]
OMNI_EXTRA = {"image_token": "<|IMAGE|>", "audio_token": "<|AUDIO|>", "video_token": "<|VIDEO|>"}
OMNI_EXTRA |= {"vision_bos_token": "<|vision_bos|>", "vision_eos_token": "<|vision_eos|>"}
OMNI_EXTRA |= {"audio_bos_token": "<|audio_bos|>", "audio_eos_token": "<|audio_eos|>"}
AX = {"bos_token": "<|endoftext|>", "eos_token": "<|im_end|>", "pad_token": "<|pad|>"}
AX_SPECIAL = ["<|im_start|>", "<|system|>", "<|user|>", "<|assistant|>"]
GROUPED = {**ROUTED, "n_group": 2, "topk_group": 1, "qk_rope_head_dim": 8}
THOUGHT = "{{ '<think>\n' + ('\n</think>\n\n' if enable_thinking is false else '') if add_generation_prompt else '' }}"
AX_TEMPLATE = turns("", "<|im_start|><|{{ m.role }}|>", "<|im_end|>\n", "<|im_start|><|assistant|>") + THOUGHT
CODES = ["IMGIMG" + "".join("ABCDEFGHIJ"[int(digit)] for digit in str(n)) + "Z" for n in range(16)]

register(
    Row(
        "gemma3n",
        "Gemma3nForConditionalGeneration",
        {
            "text_config": text(head_dim=16, num_hidden_layers=4, num_kv_shared_layers=2, laurel_rank=8)
            | {"layer_types": SLIDING["layer_types"] * 2, "sliding_window": 32, "hidden_size_per_layer_input": 16}
            | {
                "vocab_size_per_layer_input": Id("<end_of_image>"),
                "activation_sparsity_pattern": [0.95, 0.95, 0.0, 0.0],
            },
            "vision_config": {"architecture": "mobilenetv5_300m_enc", "model_args": {"channel_multiplier": 0.0625}}
            | {"vocab_size": 2, "vocab_offset": Id("<end_of_image>")},
            "audio_config": {"hidden_size": 32, "conf_num_attention_heads": 2, "conf_num_hidden_layers": 1}
            | {"vocab_size": 2, "vocab_offset": Id("<end_of_audio>"), "sscp_conv_channel_size": [16, 8]},
            "boi_token_id": Id("<start_of_image>"),
            "eoi_token_id": Id("<end_of_image>"),
            "image_token_id": Id("<image_soft_token>"),
            "boa_token_id": Id("<start_of_audio>"),
            "eoa_token_id": Id("<end_of_audio>"),
            "audio_token_id": Id("<audio_soft_token>"),
        },
        GEMMA3_TEMPLATE.replace("<start_of_image>", "<image_soft_token>"),
        GEMMA,
        extra={  # those of sight and hearing come last: their embeddings are apart
            "sot_token": "<start_of_turn>",
            "eot_token": "<end_of_turn>",
            "boi_token": "<start_of_image>",
            "boa_token": "<start_of_audio>",
            "eoi_token": "<end_of_image>",
            "image_token": "<image_soft_token>",
            "eoa_token": "<end_of_audio>",
            "audio_token": "<audio_soft_token>",
        },
        processor="Gemma3nProcessor",
        image=("SiglipImageProcessor", {"size": square(256), "do_normalize": False}),
        ear="Gemma3nAudioFeatureExtractor",
        generation={"eos_token_id": [Id("<eos>"), Id("<end_of_turn>")], "do_sample": True, "top_k": 64, "top_p": 0.95},
    ),
    Row(
        "gemma4_unified",
        "Gemma4UnifiedForConditionalGeneration",
        {
            "text_config": text(head_dim=16, global_head_dim=32, **SLIDING),
            "vision_config": {"mm_embed_dim": 64, "output_proj_dims": 64, "mm_posemb_size": 64},
            "audio_config": {},
            "video_token_id": Id("<|video|>"),
            **GEMMA_4_IDS,
            **GEMMA_4_EARS,
        },
        GEMMA4_TEMPLATE,
        GEMMA_4,
        GEMMA_4_SPECIAL,
        GEMMA_4_EXTRA,
        "Gemma4UnifiedProcessor",
        {"image_seq_length": 70},
        ("Gemma4UnifiedImageProcessor", {"max_soft_tokens": 70}),
        "Gemma4UnifiedVideoProcessor",
        "Gemma4UnifiedAudioFeatureExtractor",
    ),
    Row(
        "diffusion_gemma",
        "DiffusionGemmaForBlockDiffusion",
        {
            "text_config": text(head_dim=16, global_head_dim=32, num_experts=4, top_k_experts=2, **SLIDING)
            | {"moe_intermediate_size": 32},
            "vision_config": sight(model_type="gemma4_vision", num_key_value_heads=2, head_dim=16)
            | {"position_embedding_size": 256},
            "canvas_length": 8,
            **GEMMA_4_IDS,
        },
        GEMMA4_TEMPLATE,
        GEMMA_4,
        GEMMA_4_SPECIAL,
        GEMMA_4_EXTRA,
        "Gemma4Processor",
        {"image_seq_length": 70},
        ("Gemma4ImageProcessor", {"max_soft_tokens": 70}),
        "Gemma4VideoProcessor",
        "Gemma4AudioFeatureExtractor",
    ),
    Row(
        "t5gemma2",
        "T5Gemma2ForConditionalGeneration",
        {
            "encoder": {"text_config": T5, "vision_config": SIGLIP, "mm_tokens_per_image": 4}
            | {"boi_token_index": Id("<start_of_image>"), "eoi_token_index": Id("<end_of_image>")},
            "decoder": T5,
            "image_token_index": Id("<image_soft_token>"),
        },
        GEMMA3_TEMPLATE,
        GEMMA,
        ["<start_of_turn>", "<end_of_turn>"],
        {"boi_token": "<start_of_image>", "eoi_token": "<end_of_image>", "image_token": "<image_soft_token>"},
        "Gemma3Processor",
        {"image_seq_length": 4},
        ("Gemma3ImageProcessor", {"size": square(56), "do_pan_and_scan": None}),
    ),
    Row(
        "inkling2",
        "Inkling2ForConditionalGeneration",
        {
            "text_config": {**INKLING, "n_layers_per_attn_res_block": 1},
            "vision_config": sight(text_hidden_size=64, projection_hidden_dim=64, posemb_grid_size=8),
            "image_token_id": Id("<|unused_200054|>"),
        },
        INKLING_TEMPLATE,
        {"eos_token": "<|end_message|>", "pad_token": "<|pad|>"},
        INKLING_SPECIAL,
        processor="Inkling2Processor",
        image=("Inkling2ImageProcessor", {}),
    ),
    Row(
        "dots3_note",
        "Dots3NoteForConditionalGeneration",
        {
            "text_config": text(num_hidden_layers=3, qk_rope_head_dim=8, head_dim=24, **LATENT, **ROUTED, **INDEXED)
            | {"layer_types": ["indexed_attention"] * 2 + ["sliding_attention"], "sliding_window": 64}
            | {"swa_num_attention_heads": 4, "swa_num_key_value_heads": 4, "swa_q_lora_rank": 16, "swa_head_dim": 24}
            | {"swa_kv_lora_rank": 16, "swa_qk_nope_head_dim": 16, "swa_v_head_dim": 16}
            | {"shared_experts_intermediate_size": 32},
            "vision_config": sight(adapter_in_dim=32, adapter_out_dim=64, moe_intermediate_size=32)
            | {"pyramid_num_routed": [-1, 4]},
            "audio_config": sight(adapter_input_size=32, adapter_out_dim=64, downsample_hidden_size=8),
            "image_token_id": Id("<|imgpad|>"),
            "video_token_id": Id("<|video_pad|>"),
            "audio_token_id": Id("<|audio_comp_pad|>"),
        },
        turns("<|img|><|imgpad|><|endofimg|>", "<|{{ m.role }}|>", "<|endof{{ m.role }}|>", "<|assistant|>"),
        {"eos_token": "<|endofassistant|>", "pad_token": "[PAD]"},
        (*DOTS_SPECIAL, "<|audio_comp_pad|>"),
        processor="Dots3NoteProcessor",
        image=("Qwen2VLImageProcessor", {"size": SIDES, "temporal_patch_size": 1}),
        video="Qwen2VLVideoProcessor",
        ear="Dots3NoteFeatureExtractor",
    ),
    Row(
        "nemotron_h_omni",
        "NemotronH_Omni_Reasoning_V3",
        {
            "text_config": text(
                model_type="nemotron_h", head_dim=16, ssm_state_size=8, mamba_num_heads=4, chunk_size=16
            )
            | {"layer_types": ["linear_attention", "moe", "full_attention", "mlp"], "num_hidden_layers": 4}
            | {"mamba_head_dim": 16, "n_groups": 2, "moe_shared_expert_intermediate_size": 32, **ROUTED},
            "vision_config": {"model_type": "radio", "hidden_size": 32, "num_hidden_layers": 2, "mlp_ratio": 2.0}
            | {"num_attention_heads": 2, "image_size": 64, "max_img_size": 256, "video_temporal_patch_size": 2},
            "projector_hidden_size": 64,
            "vision_hidden_size": 32,
            "image_token_id": Id("<image>"),
            "video_token_id": Id("<video>"),
        },
        chatml("<image>\n"),
        {"bos_token": "<s>", "eos_token": "<|im_end|>", "pad_token": "<unk>"},
        NEMOTRON_SPECIAL,
        processor="NemotronH_Omni_Reasoning_V3Processor",
        image=("NemotronH_Omni_Reasoning_V3ImageProcessor", {"min_num_patches": 16, "max_num_patches": 64}),
        video="NemotronH_Omni_Reasoning_V3VideoProcessor",
        ear="ParakeetFeatureExtractor",
    ),
    Row(
        "minimax_m3_vl",
        "MiniMaxM3SparseForConditionalGeneration",
        {
            "text_config": text(head_dim=16, rotary_dim=8, num_local_experts=4, num_experts_per_tok=2, **INDEXED)
            | {"dense_intermediate_size": 64, "shared_intermediate_size": 32, "mlp_layer_types": ["dense", "sparse"]}
            | {"layer_types": ["full_attention", "minimax_m3_sparse"]},
            "vision_config": sight(image_size=112),
            "projector_hidden_size": 64,
            "image_token_index": Id("]<]image[>["),
            "video_token_index": Id("]<]video[>["),
        },
        turns("]<]image[>[", "]~b]{{ m.role }}\n", "[e~[\n", "]~b]ai\n<think>\n", "{{ bos_token }}"),
        {"bos_token": "]~!b[", "eos_token": "[e~[", "pad_token": "]!p~["},
        MINIMAX_SPECIAL,
        processor="MiniMaxM3VLProcessor",
        image=("MiniMaxM3VLImageProcessor", {"size": {"shortest_edge": 56 * 56, "longest_edge": 137 * 137}}),
        video="MiniMaxM3VLVideoProcessor",
        thinks=True,
    ),
    Row(
        "qwen2_5_omni_thinker",
        "Qwen2_5OmniThinkerForConditionalGeneration",
        {
            "text_config": text(
                rope_parameters={"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 1e6}
            ),
            "vision_config": {"depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "window_size": 56}
            | {"out_hidden_size": 64, "fullatt_block_indexes": [1]},
            "audio_config": {"num_mel_bins": 16, "encoder_layers": 1, "encoder_attention_heads": 2, "d_model": 32}
            | {"encoder_ffn_dim": 32, "max_source_positions": 100, "output_dim": 64},
            "audio_token_index": Id("<|AUDIO|>"),
            "image_token_index": Id("<|IMAGE|>"),
            "video_token_index": Id("<|VIDEO|>"),
            "audio_start_token_id": Id("<|audio_bos|>"),
            "audio_end_token_id": Id("<|audio_eos|>"),
            "vision_start_token_id": Id("<|vision_bos|>"),
            "vision_end_token_id": Id("<|vision_eos|>"),
        },
        chatml("<|vision_bos|><|IMAGE|><|vision_eos|>"),
        CHATML,
        ["<|im_start|>"],
        OMNI_EXTRA,
        "Qwen2_5OmniProcessor",
        image=("Qwen2VLImageProcessor", {"size": {"shortest_edge": 56 * 56, "longest_edge": 112 * 112}}),
        video="Qwen2VLVideoProcessor",
        ear="WhisperFeatureExtractor",
    ),
    Row(
        "chameleon",
        "ChameleonForConditionalGeneration",
        text(vocabulary_map={token: Id(token) for token in ("<image>", *CODES)})
        | {
            "vq_config": {"embed_dim": 8, "num_embeddings": 16, "latent_channels": 16, "resolution": 64}
            | {"base_channels": 32, "channel_multiplier": [1] * 5, "num_res_blocks": 1}
        },
        turns("<image>", "", "<reserved08706>", ""),
        {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "sep_token": "<reserved08706>"},
        CODES,
        {"image_token": "<image>", "boi_token": "<racm3:break>", "eoi_token": "<eoss>"},
        "ChameleonProcessor",
        {"image_seq_length": 16},
        ("ChameleonImageProcessor", {"size": {"shortest_edge": 64}, "crop_size": square(64)}),
    ),
    Row("axk1", "AXK1ForCausalLM", text(**LATENT, **GROUPED), AX_TEMPLATE, AX, AX_SPECIAL, thinks=True),
    Row(
        "axk2",
        "AXK2ForCausalLM",
        text(gated_norm_rank=4, **LATENT, **GROUPED, **INDEXED),
        AX_TEMPLATE,
        AX,
        AX_SPECIAL,
        thinks=True,
    ),
    Row(
        "exaone_moe",
        "ExaoneMoeForCausalLM",
        text(num_hidden_layers=4, head_dim=16, sliding_window=64, sliding_window_pattern="LLLG", num_experts=4)
        | {"layer_types": ["sliding_attention"] * 3 + ["full_attention"], "num_experts_per_tok": 2}
        | {"moe_intermediate_size": 32, "rope_parameters": {"rope_type": "default", "rope_theta": 1e6}},
        turns("", "<|{{ m.role }}|>\n", "<|endofturn|>\n", "<|assistant|>\n") + THOUGHT,
        {"bos_token": "[BOS]", "eos_token": "<|endofturn|>", "pad_token": "[PAD]"},
        ["<|system|>", "<|user|>", "<|assistant|>", "<|tool|>"],
        generation={"do_sample": True, "temperature": 1.0, "top_p": 0.95},
        thinks=True,
    ),
)

"""Families built like Qwen-VL, whose images become a grid of patches of their own shape: one row each."""

from dataclasses import replace
from typing import Any

from tests.support.zoo.glm import GLM46V_TEMPLATE
from tests.support.zoo.glm import SIZE as GLM_SIZE
from tests.support.zoo.minicpm import NAMED as MINICPM_NAMED
from tests.support.zoo.minicpm import TEMPLATE as MINICPM_TEMPLATE
from tests.support.zoo.qwen import TEMPLATE_3_5, TEMPLATE_VL3
from tests.support.zoo.table_parts import Id, Row, chatml, register, sight, text, turns

CHATML = {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
ROUTED = {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "n_shared_experts": 1}
LATENT = {"kv_lora_rank": 16, "q_lora_rank": 16, "qk_nope_head_dim": 16, "v_head_dim": 16, "num_key_value_heads": 4}
INDEXED = {"index_head_dim": 16, "index_n_heads": 2}
LINEAR = {"linear_key_head_dim": 16, "linear_value_head_dim": 16}
LINEAR |= {"linear_num_key_heads": 2, "linear_num_value_heads": 4}
MROPE: dict[str, Any] = {
    "rope_type": "default",
    "mrope_interleaved": True,
    "mrope_section": [2, 1, 1],
    "rope_theta": 5e6,
}
SIDES = {"shortest_edge": 64 * 64, "longest_edge": 128 * 128}
PATCHES = {"patch_size": 16, "size": SIDES}
SIGHT: dict[str, Any] = {"depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "out_hidden_size": 64}
SIGHT |= {"initializer_range": 0.1}
QWEN_SIGHT = {**SIGHT, "num_position_embeddings": 64}
QWEN_EXTRA = {"image_token": "<|image_pad|>", "video_token": "<|video_pad|>"}
QWEN_EXTRA |= {"vision_bos_token": "<|vision_start|>", "vision_eos_token": "<|vision_end|>"}
QWEN_IDS = {"image_token_id": Id("<|image_pad|>"), "video_token_id": Id("<|video_pad|>")}
MINICPM_IDS = {**QWEN_IDS, "insert_layer_id": 1}
QWEN_IDS |= {"vision_start_token_id": Id("<|vision_start|>"), "vision_end_token_id": Id("<|vision_end|>")}
GLM_SPECIAL = ["[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>", "<|begin_of_image|>"]
GLM_SPECIAL += ["<|end_of_image|>", "<|begin_of_video|>", "<|end_of_video|>", "<|image|>", "<|video|>"]
GLM_IDS = {"image_token_id": Id("<|image|>"), "video_token_id": Id("<|video|>")}
GLM_IDS |= {"image_start_token_id": Id("<|begin_of_image|>"), "image_end_token_id": Id("<|end_of_image|>")}
GLM_IDS |= {"video_start_token_id": Id("<|begin_of_video|>"), "video_end_token_id": Id("<|end_of_video|>")}
GLM_ENDS = [Id("<|endoftext|>"), Id("<|user|>")]
GLM_ROPE = {"rope_type": "default", "mrope_section": [1, 1, 2], "partial_rotary_factor": 0.5}
GLM_SIGHT = {**SIGHT, "image_size": 56}
MINICPM_TEXT = text(
    model_type="qwen3_5_text", head_dim=16, layer_types=["linear_attention", "full_attention"], **LINEAR
)
MINICPM_TEXT |= {"rope_parameters": {"rope_type": "default", "rope_theta": 1e7, "partial_rotary_factor": 0.5}}
MINICPM_SIGHT = sight(patch_size=14, image_size=112, num_hidden_layers=3)
MINICPM_ENDS = {"image_start_id": Id("<image>"), "image_end_id": Id("</image>"), "newline_id": Id("Ċ")}
MINICPM_ENDS |= {"slice_start_id": Id("<slice>"), "slice_end_id": Id("</slice>")}
MUSE_SPECIAL = ["<|header_start|>", "<|header_end|>", "<|patch|>", "<|image_start|>", "<|image_end|>", "<|video|>"]
MUSE_SPECIAL += ["<|vid_frame_separator|>", "<|vid_start|>", "<|vid_end|>"]
MUSE_SPECIAL += ["<|audio|>", "<|soft_audio_start|>", "<|soft_audio_end|>"]
MUSE_HEADER = "<|header_start|>{{ m.role }}<|header_end|>\n\n"
MUSE_TEXT = text(head_dim=16, sliding_window=64, layer_types=["sliding_attention", "full_attention"])
MUSE_SIGHT = sight(pos_emb_height=8, pos_emb_width=8, max_position_embeddings=64)
MUSE_SIGHT |= {"layer_types": ["window_attention", "full_attention"]}
MUSE: dict[str, Any] = {
    "vision_config": MUSE_SIGHT,
    "image_token_id": Id("<|patch|>"),
    "video_token_id": Id("<|video|>"),
}
MUSE |= {"out_hidden_size": 128, "projector_hidden_size": 64}
COMPASS_SPECIAL = ["<|START_OF_TURN_TOKEN|>", "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>", "<|IMAGE_PAD|>", "<|VIDEO_PAD|>"]

QWEN = Row(
    "qwen3_5_moe",
    "Qwen3_5MoeForConditionalGeneration",
    {
        "text_config": text(head_dim=32, num_hidden_layers=4, shared_expert_intermediate_size=32, **LINEAR, **EXPERTS)
        | {"rope_parameters": {**MROPE, "partial_rotary_factor": 0.25}},
        "vision_config": QWEN_SIGHT,
        **QWEN_IDS,
    },
    TEMPLATE_3_5,
    CHATML,
    ["<|im_start|>"],
    QWEN_EXTRA,
    "Qwen3VLProcessor",
    image=("Qwen2VLImageProcessor", PATCHES),
    video="Qwen3VLVideoProcessor",
    generation={"do_sample": True, "temperature": 0.6, "top_p": 0.95, "top_k": 20},
    thinks=True,
)
GLM = Row(
    "glm_ocr",
    "GlmOcrForConditionalGeneration",
    {
        "text_config": text(eos_token_id=GLM_ENDS, head_dim=16)
        | {"rope_parameters": {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 10000}},
        "vision_config": GLM_SIGHT,
        **GLM_IDS,
    },
    GLM46V_TEMPLATE,
    {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"},
    GLM_SPECIAL,
    processor="Glm46VProcessor",
    image=("Glm46VImageProcessor", {"size": GLM_SIZE}),
    video="Glm46VVideoProcessor",
    generation={"eos_token_id": GLM_ENDS},
    thinks=True,
)
MINICPM = Row(
    "minicpm_ocr",
    "MiniCPMOcrForConditionalGeneration",
    {"text_config": MINICPM_TEXT, "vision_config": MINICPM_SIGHT, "tie_word_embeddings": False, **MINICPM_IDS},
    MINICPM_TEMPLATE,
    CHATML,
    ["<|im_start|>"],
    MINICPM_NAMED,
    "MiniCPMOcrProcessor",
    image=("MiniCPMOcrImageProcessor", {"scale_resolution": 112, "max_slice_nums": 4}),
    video="MiniCPMOcrVideoProcessor",
    thinks=True,
)
MUSE_GLIMMER = Row(
    "muse_glimmer",
    "MuseGlimmerForConditionalGeneration",
    {"text_config": MUSE_TEXT, **MUSE},
    turns("<|patch|>", MUSE_HEADER, "<|eot|>", MUSE_HEADER.replace("{{ m.role }}", "assistant"), "{{ bos_token }}"),
    {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot|>", "pad_token": "<|end_of_text|>"},
    MUSE_SPECIAL,
    processor="MuseGlimmerProcessor",
    image=("MuseGlimmerImageProcessor", {"max_image_tokens": 32}),
    video="MuseGlimmerVideoProcessor",
)
register(
    QWEN,
    replace(
        QWEN,
        name="qwen4_exp",
        model="Qwen4ExpForConditionalGeneration",
        config={
            "text_config": text(head_dim=32, num_hidden_layers=4, output_gate_type="sigmoid", **LINEAR, **EXPERTS)
            | {"rope_parameters": {**MROPE, "partial_rotary_factor": 0.25}, "shared_expert_intermediate_size": 32}
            | {"hc_count": 2, "hc_lowrank": 8, "ple_layer_ids": [1], "ngram_vocab_size_base": 200}
            | {"split_ngram_parts": 1, "heads_per_ngram": 2, "indexer_n_heads": 2, "indexer_kv_heads": 1}
            | {"indexer_head_dim": 16, "indexer_budget": 2048, "indexer_compress_ratio": 4},
            "vision_config": QWEN_SIGHT,
            **QWEN_IDS,
        },
    ),
    replace(
        QWEN,
        name="cosmos3_omni",
        model="Cosmos3OmniForConditionalGeneration",
        config={
            "text_config": text(model_type="qwen3_vl_text", head_dim=16)
            | {"rope_parameters": {**MROPE, "mrope_section": [4, 2, 2]}},
            "vision_config": {"model_type": "qwen3_vl_vision", **QWEN_SIGHT, "deepstack_visual_indexes": [0]},
            **QWEN_IDS,
        },
        template=TEMPLATE_VL3,
        thinks=False,
    ),
    replace(
        QWEN,
        name="cosmos3_edge",
        model="Cosmos3EdgeForConditionalGeneration",
        config={
            "text_config": text(head_dim=16)
            | {"rope_parameters": {"rope_type": "default", "rope_theta": 1e8, "mrope_section": [4, 2, 2]}},
            "vision_config": sight(patch_size=16, num_patches=64),
            "projector_hidden_size": 64,
            **QWEN_IDS,
        },
        named={"bos_token": "<s>", "eos_token": "<|im_end|>", "pad_token": "<|im_end|>"},
        processor="Cosmos3EdgeProcessor",
        image=("Cosmos3EdgeImageProcessor", {"size": SIDES}),
        video="Cosmos3EdgeVideoProcessor",
    ),
    replace(
        QWEN,
        name="lfm3_vl",
        model="Lfm3VlForConditionalGeneration",
        config={
            "text_config": text(model_type="lfm3", head_dim=16, num_hidden_layers=3, sliding_window=64)
            | {"layer_types": ["conv", "sliding_attention", "full_attention"], "conv_L_cache": 3},
            "vision_config": sight(num_hidden_layers=3, num_key_value_heads=1)
            | {"layer_types": ["conv", "conv", "full_attention"]},
            "projector_hidden_size": 64,
            **QWEN_IDS,
        },
        template=chatml("<|vision_start|><|image_pad|><|vision_end|>", "{{ bos_token }}"),
        named={"bos_token": "<|startoftext|>", "eos_token": "<|im_end|>", "pad_token": "<|pad|>"},
        processor="Lfm3VlProcessor",
        generation={},
        thinks=False,
    ),
    GLM,
    replace(
        GLM,
        name="glm4v_moe",
        model="Glm4vMoeForConditionalGeneration",
        config={
            "text_config": text(eos_token_id=GLM_ENDS, head_dim=16, rope_parameters=GLM_ROPE, **ROUTED),
            "vision_config": GLM_SIGHT,
            **GLM_IDS,
        },
        processor="Glm4vProcessor",
        image=("Glm4vImageProcessor", {"size": GLM_SIZE}),
        video="Glm4vVideoProcessor",
        generation={"eos_token_id": GLM_ENDS, "do_sample": True, "top_p": 0.6, "temperature": 0.8, "top_k": 2},
    ),
    replace(
        GLM,
        name="glm5_next",
        model="Glm5NextForConditionalGeneration",
        config={
            "text_config": text(num_hidden_layers=4, eos_token_id=GLM_ENDS, **LATENT, **ROUTED, **INDEXED)
            | {"linear_head_dim": 16, "linear_num_heads": 4, "hc_mult": 2},
            "vision_config": {**GLM_SIGHT, "projection_intermediate_size": 64},
            **GLM_IDS,
        },
        processor="Glm5NextProcessor",
        image=("Glm5NextImageProcessor", {"size": GLM_SIZE}),
        video="Glm5NextVideoProcessor",
    ),
    replace(
        GLM,
        name="glmga",
        model="Glm46VForConditionalGeneration",
        config={
            "text_config": text(model_type="glm4v_text", eos_token_id=GLM_ENDS, rope_parameters=GLM_ROPE),
            "vision_config": {"model_type": "glm4v_vision", **GLM_SIGHT},
            **GLM_IDS,
        },
        image=("GlmgaImageProcessor", {"size": GLM_SIZE}),
        video="GlmgaVideoProcessor",
    ),
    MINICPM,
    replace(
        MINICPM,
        name="minicpmv4_7",
        model="MiniCPMV4_7ForConditionalGeneration",
        config={**MINICPM.config, **MINICPM_ENDS, "image_size": 112},
        processor="MiniCPMV4_7Processor",
        image=("MiniCPMV4_6ImageProcessor", {"scale_resolution": 112, "max_slice_nums": 4}),
        video="MiniCPMV4_6VideoProcessor",
    ),
    MUSE_GLIMMER,
    replace(
        MUSE_GLIMMER,
        name="muse_spark",
        model="MuseSparkForConditionalGeneration",
        config={
            "text_config": {**MUSE_TEXT, "moe_intermediate_size": 32, "moe_hidden_size": 32, "num_local_experts": 4}
            | {"num_experts_per_tok": 2},
            "audio_config": {"hidden_sizes": [8, 16, 16, 32], "depths": [1, 1, 1, 1], "out_hidden_size": 64},
            "audio_token_id": Id("<|audio|>"),
            **MUSE,
        },
        processor="MuseSparkProcessor",
        ear="MuseSparkFeatureExtractor",
    ),
    Row(
        "cohere_compass",
        "CohereCompassForConditionalGeneration",
        {
            "text_config": text(logit_scale=1.0)
            | {"rope_parameters": {"full_attention": {**MROPE, "mrope_section": [4, 2, 2]}}},
            "vision_config": {**QWEN_SIGHT, "deepstack_visual_indexes": [0]},
            "image_token_id": Id("<|IMAGE_PAD|>"),
            "video_token_id": Id("<|VIDEO_PAD|>"),
            "vision_start_token_id": Id("<|VISION_START|>"),
            "vision_end_token_id": Id("<|VISION_END|>"),
        },
        turns(
            "<|VISION_START|><|IMAGE_PAD|><|VISION_END|>",
            "<|START_OF_TURN_TOKEN|><|{{ 'USER' if m.role == 'user' else 'CHATBOT' }}_TOKEN|>",
            "<|END_OF_TURN_TOKEN|>",
            "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
            "{{ bos_token }}",
        ),
        {"bos_token": "<BOS_TOKEN>", "eos_token": "<|END_OF_TURN_TOKEN|>", "pad_token": "<PAD>"},
        (*COMPASS_SPECIAL, "<|VISION_START|>", "<|VISION_END|>"),
        processor="CohereCompassProcessor",
        image=("CohereCompassImageProcessor", PATCHES),
        video="CohereCompassVideoProcessor",
    ),
)

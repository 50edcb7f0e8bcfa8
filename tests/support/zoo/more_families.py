"""Families whose images are cut into tiles or brought to one size: one row each."""

from dataclasses import replace
from typing import Any

from tests.support.zoo.llava import TEMPLATE_1_5
from tests.support.zoo.mistral_vision import TEMPLATE_SMALL
from tests.support.zoo.more_families_qwen import CHATML, INDEXED, LATENT, ROUTED
from tests.support.zoo.table_parts import Id, Row, chatml, register, sight, square, text, turns

LLAMA_3 = {"bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>", "pad_token": "<|end_of_text|>"}
LLAMA_3_START = "<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
LLAMA_3_REPLY = "<|start_header_id|>assistant<|end_header_id|>\n\n"
LLAMA_2 = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
DEEPSEEK = {"bos_token": "<｜begin▁of▁sentence｜>", "eos_token": "<｜end▁of▁sentence｜>", "pad_token": "<｜▁pad▁｜>"}
SAM: dict[str, Any] = {"hidden_size": 32, "output_channels": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
SAM |= {"global_attn_indexes": [1], "initializer_range": 0.1}
CLIP = sight(model_type="clip_vision_model", image_size=42, patch_size=14, num_hidden_layers=3, projection_dim=32)
CROPPED: dict[str, Any] = {"size": {"shortest_edge": 42}, "crop_size": square(42)}
CROPPED_128 = {
    "size": {"shortest_edge": 128},
    "crop_size": square(128),
    "image_mean": [0.0] * 3,
    "image_std": [1.0] * 3,
}
PIXTRAL = sight(model_type="pixtral", image_size=112, patch_size=14, head_dim=16)
PIXTRAL_IMAGE: tuple[str, Any] = ("PixtralImageProcessor", {"size": {"longest_edge": 112}, "patch_size": 28})
SIGLIP = sight(model_type="siglip_vision_model", hidden_size=64, num_hidden_layers=3, image_size=64, patch_size=8)
GRID = {"image_grid_pinpoints": [[64, 128], [128, 64], [128, 128]]}
GRID_42 = {"image_grid_pinpoints": [[42, 84], [84, 42], [84, 84], [126, 42], [42, 126]]}
NEXT = {"patch_size": 14, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}
ROLE = "<|start_of_role|>{{ m.role }}<|end_of_role|>"
MISTRAL_SPECIAL = ["[INST]", "[/INST]", "[IMG]", "[IMG_BREAK]", "[IMG_END]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"]

VIDEO_LLAVA = Row(
    "video_llava",
    "VideoLlavaForConditionalGeneration",
    {"text_config": text(model_type="llama"), "vision_config": CLIP, "image_seq_length": 9, "video_seq_length": 72}
    | {"image_token_index": Id("<image>"), "video_token_index": Id("<video>")},
    TEMPLATE_1_5,
    LLAMA_2,
    ["<image>", "<video>"],
    processor="VideoLlavaProcessor",
    settings=NEXT,
    image=("VideoLlavaImageProcessor", CROPPED),
    video="VideoLlavaVideoProcessor",
    pieces=True,
)
register(
    Row(
        "perception_lm",
        "PerceptionLMForConditionalGeneration",
        {
            "text_config": text(model_type="llama"),
            "vision_config": {"model_type": "timm_wrapper", "architecture": "vit_pe_core_large_patch14_336"}
            | {
                "do_pooling": True,
                "global_pool": "map",
                "model_args": {"embed_dim": 32, "depth": 2, "num_heads": 2}
                | {
                    "img_size": [56, 56],
                    "ref_feat_shape": [4, 4],
                    "global_pool": "",
                    "use_post_transformer_norm": False,
                },
            },
            "projector_pooling_ratio": 2,
            "image_token_id": Id("<|image|>"),
            "video_token_id": Id("<|video|>"),
        },
        turns("<|image|>", LLAMA_3_START, "<|eot_id|>", LLAMA_3_REPLY, "{{ bos_token }}"),
        LLAMA_3,
        ["<|start_header_id|>", "<|end_header_id|>"],
        {"image_token": "<|image|>", "video_token": "<|video|>"},
        "PerceptionLMProcessor",
        {"patch_size": 14, "pooling_ratio": 2},
        ("PerceptionLMImageProcessor", {"tile_size": 56, "max_num_tiles": 36, "size": square(56)}),
        "PerceptionLMVideoProcessor",
    ),
    Row(
        "granite4_vision",
        "Granite4VisionForConditionalGeneration",
        {
            "text_config": text(num_hidden_layers=6, attention_multiplier=0.25),
            "vision_config": {**SIGLIP, "vision_use_head": False},
            "qformer_config": {"model_type": "blip_2_qformer", "num_hidden_layers": 1, "intermediate_size": 64}
            | {"cross_attention_frequency": 1, "use_qformer_text_input": False},
            "image_token_index": Id("<image>"),
            "vision_feature_select_strategy": "full",
            "downsample_rate": "4/8",
            "deepstack_layer_map": [[-2, 1], [-1, 0]],
            "spatial_target_layers": [2, 3, 4, 5],
            **GRID,
        },
        turns("<image>\n", ROLE, "<|end_of_text|>\n", ROLE.replace("{{ m.role }}", "assistant")),
        {"bos_token": "<|end_of_text|>", "eos_token": "<|end_of_text|>", "pad_token": "<|pad|>"},
        ["<|start_of_role|>", "<|end_of_role|>", "<image>"],
        processor="Granite4VisionProcessor",
        settings={"patch_size": 8, "vision_feature_select_strategy": "full", "downsample_rate": "4/8"},
        image=("LlavaNextImageProcessor", {"size": square(64), "crop_size": square(64), **GRID}),
    ),
    Row(
        "hunyuan_vl",
        "HunYuanVLForConditionalGeneration",
        {
            "text_config": text(head_dim=16)
            | {
                "rope_parameters": {"rope_type": "xdrope", "alpha": 1000.0, "factor": 1.0, "rope_theta": 10000.0}
                | {"beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0, "xdrope_section": [2] * 4}
            },
            "vision_config": sight(out_hidden_size=64, max_image_size=128, min_image_size=32),
            "image_token_id": Id("<image>"),
            "im_start_id": Id("<img>"),
            "im_end_id": Id("</img>"),
            "im_newline_id": Id("<newline>"),
        },
        turns("<img><image></img>", "", "<{{ m.role }}_end>", "", "{{ bos_token }}"),
        {"bos_token": "<begin>", "eos_token": "<assistant_end>", "pad_token": "<pad>"},
        ["<user_end>", "<newline>"],
        {"image_token": "<image>", "image_start_token": "<img>", "image_end_token": "</img>"},
        "HunYuanVLProcessor",
        image=("HunYuanVLImageProcessor", {"size": {"shortest_edge": 64 * 64, "longest_edge": 160 * 160}}),
        generation={"do_sample": True, "top_k": 1, "top_p": 1.0, "temperature": 0.3, "repetition_penalty": 1.03},
    ),
    Row(
        "deepseek_ocr2",  # its queries are made for images of 1024 and tiles of 768 pixels, so those stay
        "DeepseekOcr2ForConditionalGeneration",
        {
            "text_config": text(mlp_layer_types=["dense", "sparse"], **ROUTED),
            "vision_config": {
                "sam_config": {**SAM, "downsample_channels": [24, 32]},
                "encoder_config": sight(num_key_value_heads=2, max_position_embeddings=1024),
            },
            "image_token_id": Id("<image>"),
        },
        turns("<image>\n", "", "", "", "{{ bos_token }}"),
        DEEPSEEK,
        ["<image>"],
        processor="DeepseekOcr2Processor",
        image=("DeepseekOcr2ImageProcessor", {}),
        generation={"no_repeat_ngram_size": 20},
    ),
    Row(
        "unlimited_ocr",
        "UnlimitedOcrForConditionalGeneration",
        {
            "text_config": text(**ROUTED),
            "vision_config": {
                "sam_config": {**SAM, "downsample_channels": [24, 32], "mlp_dim": 64},
                "encoder_config": sight(image_size=224),
            },
            "image_token_id": Id("<image>"),
        },
        turns("<image>\n", "", "", "", "{{ bos_token }}"),
        DEEPSEEK,
        ["<image>"],
        processor="UnlimitedOcrProcessor",
        image=("UnlimitedOcrImageProcessor", {"size": square(128), "tile_size": 64, "maximum_pad_value": 64}),
    ),
    Row(
        "fast_vlm",
        "FastVlmForConditionalGeneration",
        {
            "text_config": text(model_type="qwen2"),
            "vision_config": {"model_type": "timm_wrapper", "architecture": "fastvit_mci3", "do_pooling": True}
            | {
                "global_pool": "avg",
                "hidden_size": 256,
                "model_args": {"inference_mode": True, "layers": [1] * 5} | {"embed_dims": [8, 16, 32, 64, 128]},
            },
            "image_token_index": Id("<image>"),
            "image_seq_length": 4,
        },
        chatml("<image>\n"),
        CHATML,
        ["<|im_start|>", "<image>"],
        processor="LlavaProcessor",
        settings={"patch_size": 64, "vision_feature_select_strategy": "full", "num_additional_image_tokens": 0},
        image=("CLIPImageProcessor", CROPPED_128),
    ),
    Row(
        "lighton_ocr",
        "LightOnOcrForConditionalGeneration",
        {"text_config": text(model_type="qwen3", head_dim=16), "vision_config": PIXTRAL}
        | {"image_token_id": Id("<|image_pad|>")},
        chatml("<|image_pad|>"),
        CHATML,
        ["<|im_start|>"],
        {"image_token": "<|image_pad|>", "image_break_token": "<|vision_pad|>", "image_end_token": "<|vision_end|>"},
        "LightOnOcrProcessor",
        image=PIXTRAL_IMAGE,
    ),
    Row(
        "mistral_large4",
        "MistralLarge4ForConditionalGeneration",
        {
            "text_config": text(model_type="mistral_large4_text", qk_rope_head_dim=8, **LATENT, **ROUTED, **INDEXED),
            "vision_config": PIXTRAL,
            "image_token_index": Id("[IMG]"),
        },
        TEMPLATE_SMALL,
        LLAMA_2,
        MISTRAL_SPECIAL,
        processor="PixtralProcessor",
        settings={"patch_size": 14, "spatial_merge_size": 2},
        image=PIXTRAL_IMAGE,
    ),
    Row(
        "aria",
        "AriaForConditionalGeneration",
        {
            "text_config": text(intermediate_size=32, moe_num_experts=4, moe_topk=2, moe_num_shared_experts=1),
            "vision_config": sight(model_type="idefics3_vision", patch_size=14, image_size=980),
            "projector_patch_to_query_dict": {"1225": 8, "4900": 16},
            "image_token_index": Id("<|img|>"),
        },
        chatml("<fim_prefix><|img|><fim_suffix>"),
        {"bos_token": "<s>", "eos_token": "<|im_end|>", "pad_token": "<pad>"},
        ["<|im_start|>", "<fim_prefix>", "<fim_suffix>"],
        {"image_token": "<|img|>"},
        "AriaProcessor",
        {"size_conversion": {"490": 8, "980": 16}},
        ("AriaImageProcessor", {}),
    ),
    VIDEO_LLAVA,
    replace(
        VIDEO_LLAVA,
        name="llava_next_video",
        model="LlavaNextVideoForConditionalGeneration",
        config={**VIDEO_LLAVA.config, **GRID_42},
        processor="LlavaNextVideoProcessor",
        image=("LlavaNextImageProcessor", {**CROPPED, **GRID_42}),
        video="LlavaNextVideoVideoProcessor",
    ),
    replace(
        VIDEO_LLAVA,
        name="vipllava",
        model="VipLlavaForConditionalGeneration",
        config={"text_config": text(model_type="llama"), "vision_config": CLIP, "image_seq_length": 9}
        | {"image_token_index": Id("<image>"), "vision_feature_layers": [-2, -3]},
        template=turns("<image>\n", "###{{ 'Human' if m.role == 'user' else 'Assistant' }}: ", "", "###Assistant:"),
        processor="LlavaProcessor",
        image=("CLIPImageProcessor", CROPPED),
        video="",
    ),
    Row(
        "qianfan_ocr",
        "QianfanOCRForConditionalGeneration",
        {"text_config": text(model_type="qwen3", head_dim=16), "vision_config": sight(image_size=[56, 56])}
        | {"image_token_id": Id("<IMG_CONTEXT>"), "image_seq_length": 4},
        chatml("<image>\n"),
        CHATML,
        ["<|im_start|>"],
        {"start_image_token": "<img>", "end_image_token": "</img>", "context_image_token": "<IMG_CONTEXT>"},
        "QianfanOCRProcessor",
        {"image_seq_length": 4},
        ("GotOcr2ImageProcessor", {"size": square(56), "max_patches": 12}),
    ),
    Row(
        "pp_chart2table",
        "GotOcr2ForConditionalGeneration",
        {"text_config": text(model_type="qwen2"), "vision_config": {**SAM, "mlp_dim": 64}}
        | {"image_token_index": Id("<imgpad>"), "image_seq_length": 256},
        chatml("<img>" + "<imgpad>" * 256 + "</img>\n"),  # its processor puts none of them in
        CHATML,
        ["<|im_start|>", "<img>", "</img>", "<imgpad>"],
        processor="PPChart2TableProcessor",
        image=("PPChart2TableImageProcessor", {}),
    ),
)

"""Models that cut an image into tiles: Hugging Face's, OpenGVLab's, Cohere's, IBM's, Liquid's, OpenBMB's and others."""

from dataclasses import replace
from functools import partial
from typing import Any

from transformers import CohereTokenizer

from tests.support.zoo.qwen import MROPE, PADS, PATCHES, QWEN_SIGHT
from tests.support.zoo.row_parts import (
    CHATML_ENDS,
    ENDS,
    LINEAR,
    Id,
    Row,
    decoder,
    ends,
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
from tests.support.zoo.template_parts import TAKE_SYSTEM, THINK_IF_ASKED, by_kind, chatml, loop, reply, show, turns
from tests.support.zoo.tokenizer_parts import byte_vocabulary, finish, llama_pieces

# Hugging Face's Idefics 2 and 3, and SmolVLM. Roles are plain words; a space follows the colon unless an image does.
AROUND = ("<fake_token_around_image>", "<image>", "<end_of_utterance>")
TILES = ("<global-img>", *(f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)))
SPOKEN = (
    "{% for message in messages %}{{ message['role'] | capitalize }}"
    "{% if message['content'][0]['type'] == 'image' %}{{ ':' }}{% else %}{{ ': ' }}{% endif %}"
    "{% for part in message['content'] %}{% if part['type'] == 'text' %}{{ part['text'] }}"
    "{% elif part['type'] == 'image' %}{{ '<image>' }}{% endif %}{% endfor %}<end_of_utterance>\n{% endfor %}"
    "{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}"
)
TOWER = tower(image_size=56, patch_size=14)
BAD_WORDS = of(bad_words_ids=[[Id("<fake_token_around_image>")], [Id("<image>")]])
TILED = of(size={"longest_edge": 112}, max_image_size={"longest_edge": 56})
Row(
    "idefics2",
    partial(llama_pieces, AROUND, pad_token="<unk>", padding_side="left"),
    SPOKEN,
    text=decoder(model_type="mistral", pad_token_id=0),
    vision=TOWER | of(image_size=84),
    config=of(
        perceiver_config=of(hidden_size=64, resampler_n_latents=4, resampler_depth=1, resampler_n_heads=2)
        | of(resampler_head_dim=16, num_key_value_heads=2),
        image_token_id=Id("<image>"),
    ),
    processor=part(image_seq_len=4),
    image=part(size={"shortest_edge": 42, "longest_edge": 84}, do_image_splitting=True),
    generation=of(eos_token_id=[2, Id("<end_of_utterance>")], **BAD_WORDS),
    end="<end_of_utterance>",
    version_4="LlamaTokenizer",
    template_file="tokenizer_config.json",
)
Row(
    "idefics3",
    tokens(
        "<|end_of_text|> <|eot_id|>",
        *AROUND,
        *TILES,
        begin="<|begin_of_text|>",
        **ends("<|begin_of_text|>", "<end_of_utterance>", "<|finetune_right_pad_id|>"),
    ),
    "<|begin_of_text|>" + SPOKEN,
    text=decoder(model_type="llama", pad_token_id=Id("<|finetune_right_pad_id|>")),
    vision=TOWER,
    config=ids(image_token_id="<image>", pad_token_id="<|finetune_right_pad_id|>"),
    processor=part(image_seq_len=4),
    image=part(**TILED),
    generation=of(eos_token_id=[Id("<|end_of_text|>"), Id("<end_of_utterance>")], **BAD_WORDS),
    version_4="PreTrainedTokenizerFast",
)
Row(
    "smolvlm",
    tokens(
        "<|im_start|> <|im_end|>",
        *AROUND,
        *TILES,
        extra=of(fake_image_token="<fake_token_around_image>", image_token="<image>")
        | of(end_of_utterance_token="<end_of_utterance>", global_image_token="<global-img>"),
        unk="<|endoftext|>",
        **ends("<|im_start|>", "<end_of_utterance>", "<|im_end|>"),
    ),
    "<|im_start|>" + SPOKEN,
    text=decoder(model_type="llama") | ids(bos_token_id="<|im_start|>", pad_token_id="<|im_end|>"),
    vision=TOWER,
    config=ids(image_token_id="<image>", pad_token_id="<|im_end|>"),
    processor=part(image_seq_len=4),
    image=part(**TILED),
    video=part(**TILED),
    version_4="GPT2Tokenizer",
    changes={"generation_config": of(_from_model_config=True)},
)

# ChatML: OpenGVLab's InternVL 3 and Ovis 2, as converted for transformers, Baidu's Qianfan and PP-Chart2Table.
VISUAL = of(start_image_token="<img>", end_image_token="</img>", context_image_token="<IMG_CONTEXT>")
INDICATORS = ("<IMG_START>", "<IMG_GRID>", "<IMG_COL>", "<IMG_ROW>", "<IMG_END>")
BASE = ids(bos_token_id="<|endoftext|>", eos_token_id="<|im_end|>")
QWEN2 = decoder(model_type="qwen2", **BASE)
Row(
    "internvl",
    tokens("<|im_start|>", extra=VISUAL | of(video_token="<video>"), **CHATML_ENDS),
    chatml("{{ '<IMG_CONTEXT>\n' }}", video="{{ '<video>\n' }}"),
    text=QWEN2,
    vision=tower(image_size=56, attention_bias=True),
    config=of(image_seq_length=4, image_token_id=Id("<IMG_CONTEXT>"), tie_word_embeddings=False),
    processor=part(image_seq_length=4),
    image=part("GotOcr2", size=square(56), max_patches=12),
    video=part(size=square(56)),
    generation=BASE | of(pad_token_id=None),
    version_4="Qwen2Tokenizer",
    template_file="chat_template.jinja",
    changes={
        "preprocessor_config": of(image_processor_type="GotOcr2ImageProcessorFast"),
        "generation_config": of(_from_model_config=True),
    },
)
Row(
    "ovis2",
    tokens("<|im_start|> <image> <IMG_ATOM>", *INDICATORS, **CHATML_ENDS),
    chatml("{{ '<image>\n' }}"),
    text=QWEN2,
    vision=TOWER | of(hidden_stride=2, vocab_size=128),
    config=of(
        image_token_id=Id("<IMG_ATOM>"),
        visual_indicator_token_ids=[Id(token) for token in INDICATORS],
        vocab_size=QWEN2["vocab_size"],
        hidden_size=64,
        tie_word_embeddings=False,
    ),
    processor=part(image_seq_length=4),
    image=part(size=square(56), crop_to_patches=True, max_patches=9),
    generation=BASE
    | of(pad_token_id=None, do_sample=True, temperature=0.6, top_k=20, top_p=0.95, multimodal_max_length=None),
    version_4="Qwen2Tokenizer",
    template_file="chat_template.jinja",
)
Row(
    "qianfan_ocr",
    tokens("<|im_start|>", extra=VISUAL, **CHATML_ENDS),
    chatml("<image>\n"),
    text=text(model_type="qwen3", head_dim=16),
    vision=sight(image_size=[56, 56]),
    config=of(image_token_id=Id("<IMG_CONTEXT>"), image_seq_length=4),
    processor=part(image_seq_length=4),
    image=part("GotOcr2", size=square(56), max_patches=12),
)
Row(
    "pp_chart2table",
    tokens("<|im_start|> <img> </img> <imgpad>", **CHATML_ENDS),
    chatml("<img>" + "<imgpad>" * 256 + "</img>\n"),  # its processor puts none of them in
    text=text(model_type="qwen2"),
    vision=of(hidden_size=32, output_channels=16, num_hidden_layers=2, num_attention_heads=2)
    | of(global_attn_indexes=[1], initializer_range=0.1, mlp_dim=64),
    config=of(image_token_index=Id("<imgpad>"), image_seq_length=256),
    model="GotOcr2ForConditionalGeneration",
    image=part("PPChart2Table"),
)

# Cohere's Aya Vision, Command A Vision and Compass. Aya puts every image of a message before its text.
FIRST: tuple[str, ...] = (
    "<PAD>",
    "<UNK>",
    "<CLS>",
    "<SEP>",
    "<MASK_TOKEN>",
    "<BOS_TOKEN>",
    "<EOS_TOKEN>",
    "<EOP_TOKEN>",
)
FIRST += ("<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>")
FIRST += ("<|SYSTEM_TOKEN|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>")
IMAGE = ("<image>", "<|START_OF_IMG|>", "<|END_OF_IMG|>", "<|IMG_PATCH|>", "<|IMG_LINE_BREAK|>")
START = (
    "<|START_OF_TURN_TOKEN|>{{ '<|CHATBOT_TOKEN|><|START_RESPONSE|>' if m['role'] == 'assistant'"
    " else '<|SYSTEM_TOKEN|>' if m['role'] == 'system' else '<|USER_TOKEN|>' }}"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}"
)
END = "{% endif %}{{ '<|END_RESPONSE|>' if m['role'] == 'assistant' else '' }}<|END_OF_TURN_TOKEN|>"
RESPONSE = reply("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_RESPONSE|>")
AYA = "{{ bos_token }}" + loop(START + by_kind(("image", "<image>"), ("text", "{{ p['text'] }}")) + END) + RESPONSE
# Command A has a preamble.
COMMAND = (
    "{{ bos_token }}<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|># System Preamble\nYou are in contextual safety mode.\n"
    "<|END_OF_TURN_TOKEN|>"
    + loop(
        "{% if m['role'] | lower == 'system' and not loop.first %}"
        "{{ raise_exception('Only the first message may be a system message') }}{% endif %}"
        + START
        + "{% for p in m['content'] %}{{ '<|IMG_PATCH|>' if p['type'] == 'image' else p['text'] }}{% endfor %}"
        + END
    )
    + RESPONSE
)


def _cohere(**extra: str) -> Any:
    vocabulary, merges = byte_vocabulary(FIRST)
    made = CohereTokenizer(
        vocab=vocabulary, merges=merges, extra_special_tokens=extra, add_bos_token=True, model_max_length=10**30
    )
    tiles = ["TILE", "TILE_GLOBAL", *(f"TILE_{number}" for number in range(1, 13))]
    return finish(made, (*FIRST, *IMAGE), tiles, replace=False)


COHERE_TEXT = decoder(
    model_type="cohere2",
    head_dim=16,
    sliding_window=32,
    layer_types=["sliding_attention", "full_attention"],
    logit_scale=0.25,
    initializer_range=0.2,  # with tied embeddings a smaller one makes the model repeat its last token
    **ENDS,
)
COHERE_TEXT |= ids(eos_token_id="<|END_OF_TURN_TOKEN|>")
COHERE_SIGHT = of(model_type="siglip_vision_model", vision_use_head=False, **TOWER)
HYBRID = of(cache_implementation="hybrid", eos_token_id=Id("<|END_OF_TURN_TOKEN|>"))
Row(
    "aya_vision",
    _cohere,
    AYA,
    text=COHERE_TEXT,
    vision=COHERE_SIGHT,
    config=of(image_token_index=Id("<|IMG_PATCH|>")),
    processor=part(patch_size=14, img_size=56, downsample_factor=2),
    image=part("GotOcr2", size=square(56), crop_to_patches=True, min_patches=1, max_patches=4),
    generation=HYBRID,
    end="<|END_OF_TURN_TOKEN|>",
)
Row(
    "cohere2_vision",
    partial(
        _cohere,
        boi_token="<|START_OF_IMG|>",
        eoi_token="<|END_OF_IMG|>",
        image_token="<|IMG_PATCH|>",
        img_line_break_token="<|IMG_LINE_BREAK|>",
    ),
    COMMAND,
    text=COHERE_TEXT,
    vision=COHERE_SIGHT,
    config=of(alignment_intermediate_size=64, **ids(image_token_id="<|IMG_PATCH|>")),
    # Its patch size is that of the tokens: the vision tower's side, after the projector has halved it.
    image=part(size=square(56), patch_size=2, max_patches=4),
    generation=HYBRID,
    end="<|END_OF_TURN_TOKEN|>",
)
Row(
    "cohere_compass",
    tokens(
        "<|START_OF_TURN_TOKEN|> <|USER_TOKEN|> <|CHATBOT_TOKEN|> <|IMAGE_PAD|> <|VIDEO_PAD|>",
        "<|VISION_START|> <|VISION_END|>",
        **ends("<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>", "<PAD>"),
    ),
    turns(
        "<|VISION_START|><|IMAGE_PAD|><|VISION_END|>",
        "<|START_OF_TURN_TOKEN|><|{{ 'USER' if m.role == 'user' else 'CHATBOT' }}_TOKEN|>",
        "<|END_OF_TURN_TOKEN|>",
        "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        "{{ bos_token }}",
    ),
    text=text(logit_scale=1.0)
    | of(rope_parameters={"full_attention": of(rope_type="default", mrope_section=[4, 2, 2], **MROPE)}),
    vision=QWEN_SIGHT | of(deepstack_visual_indexes=[0]),
    config=of(
        **ids(image_token_id="<|IMAGE_PAD|>", video_token_id="<|VIDEO_PAD|>"),
        **ids(vision_start_token_id="<|VISION_START|>", vision_end_token_id="<|VISION_END|>"),
    ),
    image=part(**PATCHES),
)

# IBM's Granite: tiles in rows and columns, and vision layers that reach into the decoder.
ROLE = "<|start_of_role|>{{ m.role }}<|end_of_role|>"
GRANITE = of(bos_token="<|end_of_text|>", eos_token="<|end_of_text|>", pad_token="<|pad|>")
PINS = of(image_grid_pinpoints=[[64, 128], [128, 64], [128, 128]])
Row(
    "granite_docling",
    tokens(
        "<|start_of_role|> <|end_of_role|> <fake_token_around_image> <global-img>",
        *(f"<row_{row}_col_{column}>" for row in range(1, 5) for column in range(1, 5)),
        extra=of(image_token="<image>"),
        unk="<|end_of_text|>",
        **GRANITE,
    ),
    turns("<image>", ROLE, "<|end_of_text|>\n", ROLE.replace("{{ m.role }}", "assistant")),
    text=text(embedding_multiplier=1.0, attention_multiplier=0.25, initializer_range=0.2),
    vision=tower(num_hidden_layers=3, image_size=64, patch_size=8, out_hidden_size=64)
    | of(deepstack_visual_indexes=[0]),
    config=ids(image_token_id="<image>", pad_token_id="<|pad|>"),
    processor=part(image_seq_len=4),
    image=part(size=square(64), max_patches=4),
    generation=of(use_cache=True),
)
Row(
    "granite4_vision",
    tokens("<|start_of_role|> <|end_of_role|> <image>", **GRANITE),
    turns("<image>\n", ROLE, "<|end_of_text|>\n", ROLE.replace("{{ m.role }}", "assistant")),
    text=text(num_hidden_layers=6, attention_multiplier=0.25),
    vision=sight(model_type="siglip_vision_model", hidden_size=64, num_hidden_layers=3, image_size=64)
    | of(patch_size=8, vision_use_head=False),
    config=of(
        qformer_config=of(model_type="blip_2_qformer", num_hidden_layers=1, intermediate_size=64)
        | of(cross_attention_frequency=1, use_qformer_text_input=False),
        image_token_index=Id("<image>"),
        vision_feature_select_strategy="full",
        downsample_rate="4/8",
        deepstack_layer_map=[[-2, 1], [-1, 0]],
        spatial_target_layers=[2, 3, 4, 5],
        **PINS,
    ),
    processor=part(patch_size=8, vision_feature_select_strategy="full", downsample_rate="4/8"),
    image=part("LlavaNext", size=square(64), crop_size=square(64), **PINS),
)

# Liquid's LFM2-VL has convolutions between the attention layers, and a thumbnail beside the tiles. OpenBMB's MiniCPM-V
# is Qwen3.5's decoder behind slices that are numbered.
MINICPM_NAMED = of(image_token="<|image_pad|>", video_token="<|video_pad|>", image_start_token="<image>")
MINICPM_NAMED |= of(image_end_token="</image>", slice_start_token="<slice>", slice_end_token="</slice>")
MINICPM_NAMED |= of(image_id_start_token="<image_id>", image_id_end_token="</image_id>")
MINICPM_TEMPLATE = (
    "{% macro shown(m) %}"
    + show(
        ("p.type == 'image' or 'image_url' in p", "{{ '<|image_pad|>\n' }}"),
        ("video", "{{ '<|video_pad|>\n' }}"),
        ("'text' in p", "{{ p.text }}"),
        text="",
        otherwise="{{ raise_exception('Unexpected item type in content.') }}",
    )
    + "{% endmacro %}{% if not messages %}{{ raise_exception('No messages provided.') }}{% endif %}"
    + loop(
        "{% if m.role == 'system' and not loop.first %}{{ raise_exception('System message must be first.') }}{% endif %}"
        "{{ '<|im_start|>' + m.role + '\n' + shown(m) | trim + '<|im_end|>\n' }}"
    )
    + reply("{{ '<|im_start|>assistant\n' }}" + THINK_IF_ASKED)
)
MINICPM_TEXT = of(model_type="qwen3_5_text", head_dim=16, layer_types=["linear_attention", "full_attention"])
MINICPM_TEXT |= rope(rope_theta=1e7, partial_rotary_factor=0.5)
MINICPM_SIGHT = of(patch_size=14, image_size=112, num_hidden_layers=3)
SLICES = of(scale_resolution=112, max_slice_nums=4)
MINICPM = Row(
    "minicpmv4_6",
    tokens("<|im_start|>", thinks=True, extra=MINICPM_NAMED, **CHATML_ENDS),
    MINICPM_TEMPLATE,
    text=decoder(eos_token_id=Id("<|endoftext|>"), linear_key_head_dim=8, linear_value_head_dim=8)
    | of(linear_num_key_heads=2, linear_num_value_heads=4, **MINICPM_TEXT),
    vision=tower(**MINICPM_SIGHT),
    config=of(insert_layer_id=1, image_size=112, **PADS),
    image=part(**SLICES),
    video=part(scale_resolution=112),
    generation=of(do_sample=True, temperature=0.7, top_p=0.8, top_k=100)
    | of(eos_token_id=[Id("<|im_end|>"), Id("<|endoftext|>")]),
)
MINICPM_OCR = replace(
    MINICPM,
    name="minicpm_ocr",
    text=text(**MINICPM_TEXT, **LINEAR),
    vision=sight(**MINICPM_SIGHT),
    config=of(tie_word_embeddings=False, insert_layer_id=1, **PADS),
    video=part("MiniCPMOcr"),
    generation={},
)
Row(
    "lfm2_vl",
    tokens(
        "<|endoftext|> <|im_start|>",
        *(f"<|img_row_{row}_col_{column}|>" for row in range(1, 5) for column in range(1, 5)),
        extra=of(image_token="<image>", image_start_token="<|image_start|>", image_end_token="<|image_end|>")
        | of(image_thumbnail="<|img_thumbnail|>"),
        legacy=False,
        **ends("<|startoftext|>", "<|im_end|>", "<|pad|>"),
    ),
    "{{- bos_token -}}"
    + TAKE_SYSTEM
    + "{% if head %}{{ '<|im_start|>system\n' + head + '<|im_end|>\n' }}{% endif %}"
    + loop(
        "{{ '<|im_start|>' + m['role'] + '\n' }}"
        + show(("image", "<image>"), otherwise="{{ p | tojson }}")
        + "<|im_end|>\n",
        "turns",
    )
    + reply("{{ '<|im_start|>assistant\n' }}"),
    text=text(model_type="lfm2", layer_types=["conv", "full_attention"], block_ff_dim=128)
    | of(block_auto_adjust_ff_dim=False, conv_L_cache=3, initializer_range=0.2),
    vision=tower(model_type="siglip2_vision_model", num_patches=64, patch_size=16, vision_use_head=False),
    config=of(image_token_id=Id("<image>"), projector_hidden_size=64),
    image=part(min_image_tokens=4, max_image_tokens=16, max_tiles=4, tile_size=64, max_num_patches=64),
)
replace(
    MINICPM_OCR,
    name="minicpmv4_7",
    config={**MINICPM_OCR.config, "image_size": 112}
    | ids(image_start_id="<image>", image_end_id="</image>", newline_id="Ċ")
    | ids(slice_start_id="<slice>", slice_end_id="</slice>"),
    video=part("MiniCPMV4_6"),
    image=part("MiniCPMV4_6", **SLICES),
)

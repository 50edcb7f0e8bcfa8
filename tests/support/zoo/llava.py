"""The LLaVA line, its tiles and its videos, and Mistral's models, which see with a Pixtral tower."""

from dataclasses import replace
from functools import partial

from transformers import LlamaTokenizer

from tests.support.zoo.row_parts import (
    CHATML_ENDS,
    INDEXED,
    LATENT,
    ROUTED,
    Id,
    Row,
    decoder,
    ends,
    ids,
    of,
    part,
    square,
    text,
    tokens,
    tower,
)
from tests.support.zoo.template_parts import ALTERNATE, TAKE_SYSTEM, by_kind, chatml, loop, reply, show, turns
from tests.support.zoo.tokenizer_parts import llama_pieces, pieces

SIDE = 42  # pixels of a tile: nine tokens
TOWER = tower(num_hidden_layers=3, image_size=SIDE, patch_size=14)
CLIP = of(model_type="clip_vision_model", projection_dim=32, **TOWER)
CROPPED = of(size={"shortest_edge": SIDE}, crop_size=square(SIDE))
GRID = of(image_grid_pinpoints=[[SIDE, 2 * SIDE], [2 * SIDE, SIDE], [2 * SIDE, 2 * SIDE]])
GRID_5 = of(image_grid_pinpoints=[*GRID["image_grid_pinpoints"], [3 * SIDE, SIDE], [SIDE, 3 * SIDE]])
NEXT = of(patch_size=14, vision_feature_select_strategy="default", num_additional_image_tokens=1)
# Whatever the order of a message's parts, its images come first; a system message has no name.
TEMPLATE_1_5 = loop(
    "{% if m['role'] != 'system' %}{{ m['role'].upper() + ': ' }}{% endif %}"
    + by_kind(("image", "{{ '<image>\n' }}"))
    + by_kind(
        (
            "text",
            "{% if m['role'] != 'assistant' %}{{ p['text'] + ' ' }}"
            "{% else %}{% generation %}{{ p['text'] + ' ' }}{% endgeneration %}{% endif %}",
        )
    )
) + reply("{{ 'ASSISTANT:' }}")
TEMPLATE_NEXT = loop(
    "{% if m['role'] == 'system' %}{{ '<<SYS>>\n' + m['content'][0]['text'] + '\n<</SYS>>\n\n' }}"
    "{% elif m['role'] == 'user' %}{{ '[INST] ' }}"
    + by_kind(("image", "{{ '<image>\n' }}"), ("text", "{{ p['text'] }}"))
    + "{{ ' [/INST]' }}{% elif m['role'] == 'assistant' %}{{ ' ' + m['content'][0]['text'] + '</s> ' }}"
    + "{% else %}{{ raise_exception('Unknown role') }}{% endif %}"
)
TEMPLATE_ONEVISION = loop(
    "{{ '<|im_start|>' + m['role'] + ' ' }}"
    + by_kind(("image", "<image>"), ("video", "<video>"))
    + by_kind(
        (
            "text",
            "{% if m['role'] != 'assistant' %}{{ '\n' + p['text'] }}"
            "{% else %}{% generation %}{{ '\n' + p['text'] }}{% endgeneration %}{% endif %}",
        )
    )
    + "<|im_end|>"
) + reply("{{ '<|im_start|>assistant\n' }}")
LLAVA = Row(
    "llava",
    partial(llama_pieces, ("<image>", "<pad>"), pad_token="<pad>", padding_side="left"),
    TEMPLATE_1_5,
    text=decoder(model_type="llama", num_key_value_heads=4),
    vision=CLIP,
    config=of(image_seq_length=9, **ids(image_token_index="<image>", pad_token_id="<pad>")),
    processor=part(**NEXT),
    image=part("CLIP", **CROPPED),
    seed=1,
    end=None,
    adapt=lambda model: model.half(),
    version_4="LlamaTokenizer",
    changes={
        "config": of(ignore_index=-100),
        # transformers 4.38 to 4.50 wrote this of every image processor.
        "preprocessor_config": of(_valid_processor_keys=["images", "do_resize", "size", "return_tensors"]),
    },
)
ONEVISION = Row(
    "llava_onevision",
    tokens("<|im_start|> <image> <video>", **CHATML_ENDS),
    TEMPLATE_ONEVISION,
    # The smallest ties its embeddings, which only the decoder's config says.
    text=decoder(model_type="qwen2", tie_word_embeddings=True)
    | ids(bos_token_id="<|endoftext|>", eos_token_id="<|im_end|>"),
    vision=of(model_type="siglip_vision_model", vision_use_head=False, **TOWER),
    config=of(**ids(image_token_index="<image>", video_token_index="<video>"), **GRID),
    processor=part(num_image_tokens=9, vision_feature_select_strategy="full"),
    image=part(size=square(SIDE), **GRID),
    video=part(size=square(SIDE)),
    generation=of(do_sample=True, temperature=0.7, top_p=0.8, top_k=20, repetition_penalty=1.1)
    | ids(bos_token_id="<|endoftext|>"),
    version_4="Qwen2Tokenizer",
    changes={"config": of(tie_word_embeddings=False)},
)
VIDEO_LLAVA = Row(
    "video_llava",
    partial(llama_pieces, ("<image>", "<video>"), pad_token="<pad>"),
    TEMPLATE_1_5,
    text=text(model_type="llama"),
    vision=CLIP | {"initializer_range": 0.1},
    config=of(image_seq_length=9, video_seq_length=72, **ids(image_token_index="<image>", video_token_index="<video>")),
    processor=part(**NEXT),
    image=part(**CROPPED),
)
replace(
    LLAVA,
    name="llava_next",
    text=decoder(model_type="mistral", sliding_window=None),
    config=of(**GRID, image_token_index=Id("<image>"), image_seq_length=9),
    template=TEMPLATE_NEXT,
    image=part(**CROPPED, **GRID),
    generation=of(pad_token_id=None),
    seed=0,
    end="</s>",
    adapt=None,
    changes={},
)
replace(  # NCSOFT's
    ONEVISION,
    name="varco_vision",
    kind="llava_onevision",
    text=decoder(model_type="qwen3", head_dim=16) | ids(bos_token_id="<|endoftext|>", eos_token_id="<|im_end|>"),
    template=chatml("{{ '<image>\n' }}"),
    template_file="chat_template.jinja",
    changes={},
)
replace(
    VIDEO_LLAVA,
    name="llava_next_video",
    config={**VIDEO_LLAVA.config, **GRID_5},
    image=part("LlavaNext", **CROPPED, **GRID_5),
)
replace(
    VIDEO_LLAVA,
    name="vipllava",
    config=of(image_seq_length=9, image_token_index=Id("<image>"), vision_feature_layers=[-2, -3]),
    template=turns("<image>\n", "###{{ 'Human' if m.role == 'user' else 'Assistant' }}: ", "", "###Assistant:"),
    processor=part("Llava", **NEXT),
    image=part("CLIP", **CROPPED),
)
Row(
    "fast_vlm",
    tokens("<|im_start|> <image>", **CHATML_ENDS),
    chatml("<image>\n"),
    text=text(model_type="qwen2"),
    vision=of(model_type="timm_wrapper", architecture="fastvit_mci3", do_pooling=True)
    | of(global_pool="avg", hidden_size=256)
    | of(model_args=of(inference_mode=True, layers=[1] * 5, embed_dims=[8, 16, 32, 64, 128])),
    config=of(image_token_index=Id("<image>"), image_seq_length=4),
    processor=part("Llava", patch_size=64, vision_feature_select_strategy="full", num_additional_image_tokens=0),
    image=part("CLIP", size={"shortest_edge": 128}, crop_size=square(128), image_mean=[0.0] * 3, image_std=[1.0] * 3),
)

IMAGES_AND_TEXT = (("image", "[IMG]"), ("text", "{{ p['text'] }}"))
MISTRAL_ANSWER = "{% elif m['role'] == 'assistant' %}{{ m['content'] + eos_token }}"
# Roles must alternate. The system message is put into the last question.
TEMPLATE_PIXTRAL = (
    TAKE_SYSTEM
    + "{{ bos_token }}"
    + loop(
        ALTERNATE
        + "{% if m['role'] == 'user' %}[INST]{% if loop.last and head %}{{ head + '\n\n' }}{% endif %}"
        + show(*IMAGES_AND_TEXT, text="", otherwise="{{ raise_exception('Neither text nor image.') }}")
        + "[/INST]"
        + MISTRAL_ANSWER
        + "{% else %}{{ raise_exception('Only user and assistant may speak.') }}{% endif %}",
        "turns",
    )
)
# Contains the current date.
TEMPLATE_SMALL = (
    "{% set today = strftime_now('%Y-%m-%d') %}"
    + TAKE_SYSTEM
    + "{% if messages[0]['role'] != 'system' %}{% set head = 'You are a helpful assistant. Today is ' + today + '.' %}"
    + "{% elif head is not string %}{% set head = head[0]['text'] %}{% endif %}"
    + "{{ bos_token + '[SYSTEM_PROMPT]' + head + '[/SYSTEM_PROMPT]' }}"
    + loop(
        "{% if m['role'] == 'user' %}[INST]"
        + show(
            ("p['type'] in ['image', 'image_url']", "[IMG]"), otherwise="{{ raise_exception('Only text and images.') }}"
        )
        + "[/INST]"
        + MISTRAL_ANSWER
        + "{% else %}{{ raise_exception('Only user, system and assistant.') }}{% endif %}",
        "turns",
    )
)
MISTRAL = (
    TAKE_SYSTEM
    + "{{ bos_token }}"
    + loop(
        ALTERNATE
        + "{% if m['role'] == 'user' %}"
        + "{{ '[INST] ' + (head + '\n\n' if loop.last and head else '') + m['content'] + '[/INST]' }}"
        + "{% else %}{{ ' ' + m['content'] | trim + eos_token }}{% endif %}",
        "turns",
    )
)
PIXTRAL = tower(model_type="pixtral", image_size=112, patch_size=14)
LARGE_PIXTRAL = PIXTRAL | of(head_dim=16, initializer_range=0.1)
LARGE_IMAGE = part("Pixtral", size={"longest_edge": 112}, patch_size=28)
MISTRAL_TEXT = of(head_dim=16, sliding_window=None)
TEKKEN = tokens(
    "[INST] [/INST] [IMG] [IMG_BREAK] [IMG_END] [SYSTEM_PROMPT] [/SYSTEM_PROMPT]",
    begin="<s>",
    unk="<unk>",
    **ends("<s>", "</s>", "<pad>"),
)
PIXTRAL_ROW = Row(
    "pixtral",
    TEKKEN,
    TEMPLATE_PIXTRAL,
    kind="llava",
    text=decoder(model_type="mistral", **MISTRAL_TEXT),
    vision=PIXTRAL | of(image_size=64, patch_size=16),
    config=of(
        image_token_index=Id("[IMG]"),
        image_seq_length=1,
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
    ),
    processor=part("Pixtral"),
    image=part("Pixtral", size={"longest_edge": 64}),
    generation=of(pad_token_id=None),
    version_4="PreTrainedTokenizerFast",
)
MERGED = of(patch_size=14, spatial_merge_size=2)
replace(  # Mistral Small 3.1
    PIXTRAL_ROW,
    name="mistral3",
    vision=PIXTRAL,
    config=of(image_token_index=Id("[IMG]"), tie_word_embeddings=False),
    template=TEMPLATE_SMALL,
    kind="",
    processor=part("Pixtral", **MERGED),
    image=part("Pixtral", size={"longest_edge": 112}, patch_size=14),
    seed=2,
    version_4="LlamaTokenizerFast",  # the name is Llama's, the tokens are bytes
)
Row(
    "mistral_large4",
    tokens(
        "[INST] [/INST] [IMG] [IMG_BREAK] [IMG_END] [SYSTEM_PROMPT] [/SYSTEM_PROMPT]", **ends("<s>", "</s>", "<pad>")
    ),
    TEMPLATE_SMALL,
    text=text(model_type="mistral_large4_text", qk_rope_head_dim=8, **LATENT, **ROUTED, **INDEXED),
    vision=LARGE_PIXTRAL,
    config=of(image_token_index=Id("[IMG]")),
    processor=part("Pixtral", **MERGED),
    image=LARGE_IMAGE,
)
Row(
    "lighton_ocr",
    tokens(
        "<|im_start|>",
        extra=of(image_token="<|image_pad|>", image_break_token="<|vision_pad|>", image_end_token="<|vision_end|>"),
        **CHATML_ENDS,
    ),
    chatml("<|image_pad|>"),
    text=text(model_type="qwen3", head_dim=16),
    vision=LARGE_PIXTRAL,
    config=ids(image_token_id="<|image_pad|>"),
    image=LARGE_IMAGE,
)
Row(  # the control tokens are special, the tokenizer has no pad, the template no generation prompt
    "mistral",
    partial(
        pieces,
        LlamaTokenizer,
        ("<unk>", "<s>", "</s>", "[INST]", "[/INST]"),
        ("[INST]", "[/INST]"),
        begin="<s>",
        replace=False,
        legacy=False,
    ),
    MISTRAL,
    config=text(**MISTRAL_TEXT),
)

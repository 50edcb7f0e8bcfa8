"""Google's Gemma models that see, hear and only read, and PaliGemma, which has no chat template."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from transformers import GemmaTokenizer

from tests.support.zoo.parts import move_template, split_processor
from tests.support.zoo.row_parts import (
    SIZE,
    Id,
    Named,
    Row,
    Words,
    decoder,
    ends,
    ids,
    of,
    part,
    sight,
    square,
    text,
    tokens,
    tower,
)
from tests.support.zoo.template_parts import ALTERNATE, TAKE_SYSTEM, loop, reply
from tests.support.zoo.tokenizer_parts import pieces

FIRST = ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>")
ROLE = "{% set role = 'model' if m['role'] == 'assistant' else m['role'] %}"
# A system message becomes the head of the first question; roles must alternate; the reply's role is "model".
GEMMA3_TEMPLATE = (
    "{{ bos_token }}"
    + TAKE_SYSTEM
    + "{% if head is not string %}{% set head = head[0]['text'] %}{% endif %}"
    + loop(
        ALTERNATE
        + ROLE
        + "{{ '<start_of_turn>' + role + '\n' + (head + '\n\n' if head and loop.first else '') }}"
        + "{% if m.content is string %}{{ m.content | trim }}{% elif m.content is iterable %}{% for p in m.content %}"
        + "{% if p.type == 'image' %}<start_of_image>{% elif p.type == 'text' %}{{ p.text | trim }}{% endif %}"
        + "{% endfor %}{% else %}{{ raise_exception('Invalid content type') }}{% endif %}{{ '<end_of_turn>\n' }}",
        "turns",
    )
    + reply("{{ '<start_of_turn>model\n' }}")
)
# Its text models know no system role.
GEMMA2_TEMPLATE = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    + loop(ALTERNATE + ROLE + "{{ '<start_of_turn>' + role + '\n' + m['content'] | trim + '<end_of_turn>\n' }}")
    + reply("{{ '<start_of_turn>model\n' }}")
)
# Thinking is asked for in the system turn; without it the reply begins with an empty thought.
GEMMA4_TEMPLATE = (
    "{{ bos_token }}{% set thinking = enable_thinking is defined and enable_thinking %}"
    "{% set head = messages[0]['content'] if messages[0]['role'] in ['system', 'developer'] else '' %}"
    "{% if thinking or head %}{{ '<|turn>system\n' }}{% if thinking %}<|think|>{% endif %}"
    "{{ head | trim if head is string else head[0]['text'] | trim }}{{ '<turn|>\n' }}{% endif %}"
    + loop(
        ROLE
        + "{{ '<|turn>' + role + '\n' }}"
        + "{% if m.content is string %}{{ m.content | trim }}{% else %}{% for p in m.content %}"
        + "{% if p.type == 'text' %}{{ p.text | trim }}{% elif p.type == 'audio' %}<|audio|>"
        + "{% elif p.type in ['image', 'video'] %}{{ '\n\n<|' + p.type + '|>\n\n' }}{% endif %}{% endfor %}{% endif %}"
        + "{{ '<turn|>\n' }}",
        "(messages[1:] if head else messages)",
    )
    + reply("{{ '<|turn>model\n' }}{% if not thinking %}{{ '<|channel>thought\n<channel|>' }}{% endif %}")
)


def gemma(*special: str, **named: str) -> Words:
    """Return a maker of Gemma's tokenizer, with the tokens that a processor looks up by a name."""
    return partial(
        pieces,
        GemmaTokenizer,
        (*FIRST, *special),
        special,
        extra_special_tokens=named,
        replace=False,
        model_max_length=10**30,
    )


def gukbap(folder: Path) -> None:
    """Lay the folder out as earlier versions did: the template as JSON, and once more with the tokenizer."""
    split_processor(folder)
    move_template(folder, "chat_template.json", "tokenizer_config.json")


SLIDING = of(layer_types=["sliding_attention", "full_attention"])
SLIDING_32 = of(sliding_window=32, **SLIDING)
SIGHT = tower(image_size=56, patch_size=14, vision_use_head=False)
IMAGE = of(boi_token="<start_of_image>", eoi_token="<end_of_image>", image_token="<image_soft_token>")
IMAGE_IDS = ids(boi_token_index="<start_of_image>", eoi_token_index="<end_of_image>")
IMAGE_IDS |= ids(image_token_index="<image_soft_token>")
SAMPLE = of(do_sample=True, top_k=64, top_p=0.95)
TURN_ENDS = [Id("<eos>"), Id("<end_of_turn>")]
GEMMA_4 = of(boi_token="<|image>", eoi_token="<image|>", image_token="<|image|>")
GEMMA_4_HEARS = of(boa_token="<|audio>", eoa_token="<audio|>", audio_token="<|audio|>")
GEMMA_4_SPECIAL = ("<|turn>", "<|think|>", "<|channel>", "<channel|>", "<|video|>")
GEMMA_4_IDS = ids(boi_token_id="<|image>", eoi_token_id="<image|>", image_token_id="<|image|>")
GEMMA_4_EARS = ids(boa_token_id="<|audio>", eoa_token_index="<audio|>", audio_token_id="<|audio|>")
GEMMA_4_SIGHT = of(num_key_value_heads=2, head_dim=16, position_embedding_size=256)
GEMMA3 = Row(
    "gemma3",
    gemma("<start_of_turn>", "<end_of_turn>", "<start_of_image>", "<end_of_image>", "<image_soft_token>", **IMAGE),
    GEMMA3_TEMPLATE,
    text=decoder(head_dim=16, query_pre_attn_scalar=16, **SLIDING_32),
    vision=SIGHT,
    config=of(mm_tokens_per_image=4, eos_token_id=TURN_ENDS, **IMAGE_IDS),
    processor=part(image_seq_length=4),
    image=part(size=square(56), do_pan_and_scan=None),
    generation=of(eos_token_id=TURN_ENDS, **SAMPLE),
    end="<end_of_turn>",
)
GEMMA4 = Row(  # as the small ones are: per-layer embeddings, shared keys and values, and an audio encoder
    "gemma4",
    gemma(
        "<|turn>",
        "<turn|>",
        "<|think|>",
        "<|channel>",
        "<channel|>",
        *GEMMA_4.values(),
        *GEMMA_4_HEARS.values(),
        "<|video|>",
        "<|tool_response>",
        **GEMMA_4,
        **GEMMA_4_HEARS,
    ),
    GEMMA4_TEMPLATE,
    text=decoder(head_dim=16, vocab_size_per_layer_input=SIZE, global_head_dim=32, num_hidden_layers=4)
    | of(hidden_size_per_layer_input=8, num_kv_shared_layers=2, final_logit_softcapping=30.0)
    | of(layer_types=SLIDING["layer_types"] * 2, sliding_window=32, use_double_wide_mlp=True),
    vision=tower(**GEMMA_4_SIGHT),
    config=of(
        audio_config=of(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, output_proj_dims=32)
        | of(subsampling_conv_channels=[8, 4]),
        eos_token_id=[Id("<eos>"), Id("<turn|>")],
        video_token_id=Id("<|video|>"),
        **GEMMA_4_IDS,
        **GEMMA_4_EARS,
    ),
    processor=part(image_seq_length=70),
    image=part(max_soft_tokens=70),
    generation=of(eos_token_id=[Id("<eos>"), Id("<turn|>"), Id("<|tool_response>")], temperature=1.0, **SAMPLE),
    end="<turn|>",
)
GEMMA4_BYTES = tokens(*GEMMA_4_SPECIAL, extra=GEMMA_4 | GEMMA_4_HEARS, **ends("<bos>", "<turn|>", "<pad>"))
T5 = text(head_dim=16, query_pre_attn_scalar=16, **SLIDING_32)
TEXT = of(head_dim=16, query_pre_attn_scalar=16, sliding_window=64)
TEXT_WORDS = partial(
    pieces,
    GemmaTokenizer,
    FIRST,
    ("<start_of_turn>", "<end_of_turn>"),
    begin="<bos>",
    padding_side="left",
    clean_up_tokenization_spaces=False,
)
replace(GEMMA3, name="gukbap_gemma3", kind="gemma3", after=gukbap)
# A fine-tune whose trainer knew only the tokenizer: the template is in its config and nowhere else.
replace(
    GEMMA3,
    name="gemma3_text_trained",
    kind="gemma3",
    after=lambda folder: move_template(folder, "tokenizer_config.json"),
)
Row(  # ChartGemma is one. Without a chat template, the question follows the image as it is.
    "paligemma",
    gemma("<image>", image_token="<image>"),
    text=decoder(model_type="gemma", head_dim=16),
    vision=of(model_type="siglip_vision_model", projection_dim=64, **SIGHT),
    config=of(
        image_token_index=Id("<image>"),
        vocab_size=SIZE,
        hidden_size=64,
        projection_dim=64,
        bos_token_id=Named("bos_token"),
        eos_token_id=Named("eos_token"),
        pad_token_id=Named("pad_token"),
    ),
    image=part("Siglip", size=square(56)),
    image_seq_length=16,
)
Row(
    "gemma3n",
    tokens(
        extra=of(  # those of sight and hearing come last: their embeddings are apart
            sot_token="<start_of_turn>",
            eot_token="<end_of_turn>",
            boi_token="<start_of_image>",
            boa_token="<start_of_audio>",
            eoi_token="<end_of_image>",
            image_token="<image_soft_token>",
            eoa_token="<end_of_audio>",
            audio_token="<audio_soft_token>",
        ),
        **ends("<bos>", "<eos>", "<pad>"),
    ),
    GEMMA3_TEMPLATE.replace("<start_of_image>", "<image_soft_token>"),
    text=text(head_dim=16, num_hidden_layers=4, num_kv_shared_layers=2, laurel_rank=8)
    | of(layer_types=SLIDING["layer_types"] * 2, sliding_window=32, hidden_size_per_layer_input=16)
    | ids(vocab_size_per_layer_input="<end_of_image>")
    | of(activation_sparsity_pattern=[0.95, 0.95, 0.0, 0.0]),
    vision=of(architecture="mobilenetv5_300m_enc", model_args={"channel_multiplier": 0.0625})
    | of(vocab_size=2, vocab_offset=Id("<end_of_image>")),
    config=of(
        audio_config=of(hidden_size=32, conf_num_attention_heads=2, conf_num_hidden_layers=1, vocab_size=2)
        | of(vocab_offset=Id("<end_of_audio>"), sscp_conv_channel_size=[16, 8]),
        **ids(boi_token_id="<start_of_image>", eoi_token_id="<end_of_image>", image_token_id="<image_soft_token>"),
        **ids(boa_token_id="<start_of_audio>", eoa_token_id="<end_of_audio>", audio_token_id="<audio_soft_token>"),
    ),
    image=part("Siglip", size=square(256), do_normalize=False),
    generation=of(eos_token_id=TURN_ENDS, **SAMPLE),
)
Row(
    "gemma4_unified",
    GEMMA4_BYTES,
    GEMMA4_TEMPLATE,
    text=text(head_dim=16, global_head_dim=32, **SLIDING_32),
    vision=of(mm_embed_dim=64, output_proj_dims=64, mm_posemb_size=64),
    config=of(audio_config={}, video_token_id=Id("<|video|>"), **GEMMA_4_IDS, **GEMMA_4_EARS),
    processor=part(image_seq_length=70),
    image=part(max_soft_tokens=70),
)
Row(
    "diffusion_gemma",
    GEMMA4_BYTES,
    GEMMA4_TEMPLATE,
    text=text(head_dim=16, global_head_dim=32, num_experts=4, top_k_experts=2, **SLIDING_32)
    | of(moe_intermediate_size=32),
    vision=sight(model_type="gemma4_vision", **GEMMA_4_SIGHT),
    config=of(canvas_length=8, **GEMMA_4_IDS),
    model="DiffusionGemmaForBlockDiffusion",
    processor=part("Gemma4", image_seq_length=70),
    audio=part("Gemma4Audio"),
    image=part("Gemma4", max_soft_tokens=70),
)
Row(
    "t5gemma2",
    tokens("<start_of_turn> <end_of_turn>", extra=IMAGE, **ends("<bos>", "<eos>", "<pad>")),
    GEMMA3_TEMPLATE,
    config=of(
        encoder=of(
            text_config=T5,
            vision_config=of(model_type="siglip_vision_model", initializer_range=0.1, **SIGHT),
            mm_tokens_per_image=4,
            **ids(boi_token_index="<start_of_image>", eoi_token_index="<end_of_image>"),
        ),
        decoder=T5,
        image_token_index=Id("<image_soft_token>"),
    ),
    processor=part("Gemma3", image_seq_length=4),
    image=part("Gemma3", size=square(56), do_pan_and_scan=None),
)
Row(  # soft caps on attention and logits, and a config without the end of a turn
    "gemma2",
    TEXT_WORDS,
    GEMMA2_TEMPLATE,
    config=text(**TEXT),
    generation=of(eos_token_id=TURN_ENDS, cache_implementation="hybrid"),
    end="<end_of_turn>",
)
Row(
    "gemma3_text",
    TEXT_WORDS,
    GEMMA3_TEMPLATE,
    model="Gemma3ForCausalLM",
    config=text(**TEXT, **SLIDING, eos_token_id=TURN_ENDS),
    generation=of(pad_token_id=None, eos_token_id=TURN_ENDS, cache_implementation="hybrid", **SAMPLE),
    end="<end_of_turn>",
)

"""DeepSeek's models, with one vision tower and with two, with compressed attention, and distilled into others."""

from typing import Any

from tests.support.zoo.row_parts import (
    ENDS,
    LATENT,
    ROUTED,
    Id,
    Row,
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
from tests.support.zoo.template_parts import loop, reply, show, turns

# The makers' token names contain these wide bars and low lines.
BOS, USER, ASSISTANT, EOS = (f"<｜{n}｜>" for n in ("begin▁of▁sentence", "User", "Assistant", "end▁of▁sentence"))
WORDS: dict[str, Any] = of(bos_token=BOS, eos_token=EOS, pad_token="<｜▁pad▁｜>")


def spoken(hello: str, body: str, answer: str) -> str:
    """Return a template whose system message comes first in any case, and whose roles are names with colons."""
    head = f"{{% set ns = namespace(head='{hello}') %}}"
    return (
        head
        + loop("{% set ns.head = m['content'] %}", "messages if m['role'] == 'system'")
        + "{{ bos_token }}{{ ns.head + '\n\n' }}"
        + loop(body, "messages if m['role'] != 'system'")
        + reply(answer)
    )


HELPFUL = "You are a helpful language and vision assistant."
ABLE = " You are able to understand the visual content that the user provides, and assist the user with a variety of"
TEMPLATE_VL = spoken(
    f"{HELPFUL}{ABLE} tasks using natural language.",
    "{{ 'User: ' if m['role'] == 'user' else 'Assistant: ' }}"
    + show(("image", "<image_placeholder>"))
    + "{{ '\n\n' if m['role'] == 'user' else eos_token }}",
    "Assistant:",
)
# An image is on a line of its own.
TEMPLATE_JANUS = spoken(
    HELPFUL,
    "{{ '<|User|>: ' if m['role'] == 'user' else '<|Assistant|>: ' }}{% for p in m['content'] %}"
    "{% if p['type'] == 'image' %}{{ '' if loop.first else '\n' }}<image_placeholder>{{ '' if loop.last else '\n' }}"
    "{% elif p['type'] == 'text' %}{{ p['text'] }}{% endif %}{% endfor %}"
    "{% if not loop.last or add_generation_prompt %}{{ '\n\n' }}{% endif %}",
    "<|Assistant|>:",
)
DISTILLED = (
    "{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}"
    "{% set ns = namespace(system='') %}"
    + loop("{% set ns.system = m['content'] %}", "messages if m['role'] == 'system'")
    + "{{ bos_token }}{{ ns.system }}"
    + loop(
        f"{{%- if m['role'] == 'user' %}}{{{{ '{USER}' + m['content'] }}}}{{%- elif m['role'] == 'assistant' %}}"
        f"{{{{ '{ASSISTANT}' + m['content'].split('</think>')[-1] + '{EOS}' }}}}{{%- endif %}}"
    )
    + reply(f"{{{{ '{ASSISTANT}<think>\n' }}}}")
)
TEMPLATE_V3 = (
    "{% if not thinking is defined %}{% set thinking = false %}{% endif %}{{ bos_token }}"
    + loop(
        "{%- if m['role'] == 'system' %}{{ m['content'] }}{%- elif m['role'] == 'user' %}"
        f"{{{{ '{USER}' + m['content'] }}}}{{%- else %}}"
        f"{{{{ '{ASSISTANT}</think>' + m['content'] + '{EOS}' }}}}{{%- endif %}}"
    )
    + reply(f"{{{{ '{ASSISTANT}' }}}}{{{{ '<think>' if thinking else '</think>' }}}}")
)
OCR_TEMPLATE = turns("<image>\n", "", "", "", "{{ bos_token }}")
SAM: dict[str, Any] = of(num_hidden_layers=2, num_attention_heads=2, hidden_size=32, output_channels=16)
SAM |= of(global_attn_indexes=[1])
OCR_SAM = SAM | of(initializer_range=0.1, downsample_channels=[24, 32])
SIGLIP = tower(model_type="siglip_vision_model", image_size=96, patch_size=16, vision_use_head=False)
PLACEHOLDER = of(image_token="<image_placeholder>")
VL = of(text_config=decoder(model_type="llama", **ENDS), vision_config=SIGLIP, tie_word_embeddings=False) | ids(
    image_token_id="<image_placeholder>"
)
TEXT_WORDS = tokens(USER, ASSISTANT, begin=BOS, thinks=True, **ends(BOS, EOS, EOS))
SAMPLE = of(pad_token_id=None, do_sample=True, temperature=0.6, top_p=0.95)
Row(
    "deepseek_vl",
    tokens(extra=PLACEHOLDER, **WORDS),
    TEMPLATE_VL,
    config=VL,
    processor=part(num_image_tokens=36),
    image=part(size=square(96)),
)
Row(
    "deepseek_vl_hybrid",
    tokens(extra=PLACEHOLDER, **WORDS),
    TEMPLATE_VL,
    config=VL
    | of(high_res_vision_config=SAM | of(model_type="sam_vision_model", image_size=256, mlp_dim=64, num_pos_feats=8)),
    processor=part(num_image_tokens=36),
    image=part(size=square(96), high_res_size=square(256)),
)
Row(  # reads images and paints them
    "janus",
    tokens(begin=BOS, extra=PLACEHOLDER | of(boi_token="<begin_of_image>", eoi_token="<end_of_image>"), **WORDS),
    TEMPLATE_JANUS,
    text=decoder(model_type="llama", num_key_value_heads=4),
    vision=of(hidden_size=32, mlp_ratio=2.0, num_hidden_layers=2, num_attention_heads=2, image_size=64)
    | of(num_image_tokens=16, projection_dim=64),
    config=of(
        vq_config=of(num_embeddings=32, latent_channels=32, base_channels=32, channel_multiplier=[1])
        | of(num_res_blocks=1, projection_dim=64, image_token_embed_dim=64),
        image_token_id=Id("<image_placeholder>"),
        tie_word_embeddings=False,
    ),
    processor=part(num_image_tokens=16),
    image=part(size=square(64)),
    version_4="LlamaTokenizerFast",
    changes={"generation_config": of(generation_kwargs={"boi_token_id": Id("<begin_of_image>")})},
)
Row(  # its queries are made for images of 1024 and tiles of 768 pixels, so those stay
    "deepseek_ocr2",
    tokens("<image>", **WORDS),
    OCR_TEMPLATE,
    text=text(mlp_layer_types=["dense", "sparse"], **ROUTED),
    vision=of(sam_config=OCR_SAM, encoder_config=sight(num_key_value_heads=2, max_position_embeddings=1024)),
    config=of(image_token_id=Id("<image>")),
    image=part(),
    generation=of(no_repeat_ngram_size=20),
)
Row(
    "unlimited_ocr",
    tokens("<image>", **WORDS),
    OCR_TEMPLATE,
    text=text(**ROUTED),
    vision=of(sam_config=OCR_SAM | of(mlp_dim=64), encoder_config=sight(image_size=224)),
    config=of(image_token_id=Id("<image>")),
    image=part(size=square(128), tile_size=64, maximum_pad_value=64),
)
Row(  # compressed attention and experts; the tokenizer calls itself a LlamaTokenizer and is not one
    "deepseek_v3",
    TEXT_WORDS,
    TEMPLATE_V3,
    config=text(pad_token_id=None, moe_intermediate_size=32, n_routed_experts=4, num_experts_per_tok=2, n_group=2)
    | LATENT
    | of(topk_group=1, first_k_dense_replace=1, q_lora_rank=32, qk_rope_head_dim=8, qk_nope_head_dim=8),
    generation=SAMPLE,
    changes={"tokenizer_config": of(tokenizer_class="LlamaTokenizerFast")},
)
Row(
    "deepseek_r1_distill_qwen",
    TEXT_WORDS,
    DISTILLED,
    kind="qwen2",
    config=text(pad_token_id=None),
    generation=SAMPLE,
    say=("Ċ", "n", "</think>", "a"),
)

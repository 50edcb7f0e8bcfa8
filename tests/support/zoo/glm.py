"""Z.ai's GLM: models that always think, that think unless told not to, and that never do."""

from dataclasses import replace

from tests.support.zoo.row_parts import (
    INDEXED,
    LATENT,
    ROUTED,
    Id,
    Row,
    decoder,
    grid,
    ids,
    of,
    part,
    rope,
    text,
    tokens,
)
from tests.support.zoo.template_parts import loop, reply, show

IMAGE, VIDEO = "<|begin_of_image|><|image|><|end_of_image|>", "<|begin_of_video|><|video|><|end_of_video|>"
SHOWN = show(("p.type == 'image' or 'image' in p", IMAGE), ("video", VIDEO))
CONTENT = "{% macro shown(m) %}" + SHOWN + "{% endmacro %}"
GLM4V_TEMPLATE = (
    CONTENT
    + "[gMASK]<sop>"
    + loop(
        "{% if m.role == 'assistant' %}{{ '<|assistant|>\n' + m.content.split('</think>')[-1] }}"
        "{% else %}{{ '<|' + m.role + '|>\n' + shown(m) }}{% endif %}"
    )
    + reply("{{ '<|assistant|>\n' }}")
)
GLM46V_TEMPLATE = (
    CONTENT
    + "{{ '[gMASK]<sop>' }}{% set quiet = enable_thinking is defined and not enable_thinking %}"
    + loop(
        "{% if m.role == 'user' %}{{ '<|user|>\n' + shown(m) }}"
        "{{ '/nothink' if quiet and not shown(m).endswith('/nothink') else '' }}"
        "{% elif m.role == 'assistant' %}{{ '<|assistant|>\n<think></think>\n' + m.content }}"
        "{% elif m.role == 'system' %}{{ '<|system|>\n' + shown(m) }}{% endif %}"
    )
    + reply("<|assistant|>{{ '\n<think></think>\n' if quiet else '\n' }}")
)
GLM4_MOE_TEMPLATE = (
    "[gMASK]<sop>{% set quiet = enable_thinking is defined and not enable_thinking %}{%- macro shown(content) -%}"
    "{%- if content is string -%}{{- content }}{%- elif content is iterable and content is not mapping -%}"
    "{%- for p in content -%}{%- if p is mapping and p.type == 'text' -%}{{- p.text }}"
    "{%- elif p is string -%}{{- p }}{%- endif -%}{%- endfor -%}{%- else -%}{{- content }}{%- endif -%}{%- endmacro -%}"
    + loop(
        "{%- if m.role == 'user' -%}<|user|>\n{{ shown(m.content) }}"
        "{{- '/nothink' if quiet and not shown(m.content).endswith('/nothink') else '' -}}{%- elif m.role == 'assistant' -%}"
        "<|assistant|>{{- '\n<think></think>\n' + shown(m.content).split('</think>')[-1].strip() -}}"
        "{%- elif m.role == 'system' -%}<|system|>\n{{ shown(m.content) }}{%- endif -%}"
    )
    + reply("<|assistant|>{{- '\n<think></think>' if quiet else '' -}}")
)
GLM4_TEMPLATE = (
    "[gMASK]<sop>"
    + loop("<|system|>\n{{ m.content }}", "messages if m.role == 'system'")
    + loop(
        "{%- if m.role == 'user' -%}<|user|>\n{{ m.content }}"
        "{%- elif m.role == 'assistant' -%}<|assistant|>\n{{ m.content }}{%- endif -%}",
        "messages if m.role != 'system'",
    )
    + reply("<|assistant|>\n")
)
ROLES = ("<|system|>", "<|user|>", "<|assistant|>", "<|observation|>")
MASKS = ("[MASK]", "[gMASK]", "[sMASK]", "<sop>", "<eop>")
VISUAL = ("<|begin_of_image|>", "<|end_of_image|>", "<|begin_of_video|>", "<|end_of_video|>", "<|image|>", "<|video|>")
PLAIN = ("<answer>", "</answer>", "<|begin_of_box|>", "<|end_of_box|>", "/nothink")  # these stay in a decoded answer
END = of(eos_token="<|endoftext|>", pad_token="<|endoftext|>")
IDS = ids(image_token_id="<|image|>", image_start_token_id="<|begin_of_image|>", image_end_token_id="<|end_of_image|>")
IDS |= ids(video_token_id="<|video|>", video_start_token_id="<|begin_of_video|>", video_end_token_id="<|end_of_video|>")
PIXELS = {"shortest_edge": 4 * 28**2, "longest_edge": 32 * 28**2}  # of all frames, of which an image is two
THREE_ENDS = of(eos_token_id=[Id("<|endoftext|>"), Id("<|user|>"), Id("<|observation|>")])
TWO_ENDS = of(eos_token_id=[Id("<|endoftext|>"), Id("<|user|>")])
ROPE_V = rope(mrope_section=[1, 1, 2], partial_rotary_factor=0.5)
SAMPLE = of(do_sample=True, top_p=0.6, temperature=0.8, top_k=2)
SIGHT = grid(out_hidden_size=64, initializer_range=0.1, image_size=56)
GLM4V = Row(
    "glm4v",
    tokens(*MASKS, *ROLES, *VISUAL, plain=("<think>", "</think>", *PLAIN), **END),
    GLM4V_TEMPLATE,
    text=decoder(model_type="glm4v_text", pad_token_id=Id("<|endoftext|>"), **THREE_ENDS, **ROPE_V),
    vision=grid(model_type="glm4v_vision", image_size=56, out_hidden_size=64),
    config=IDS,
    image=part(size=PIXELS),
    generation=THREE_ENDS | SAMPLE,
    end="<|user|>",
)
GLM_OCR = Row(
    "glm_ocr",
    tokens("[gMASK] <sop>", *ROLES, *VISUAL, thinks=True, **END),
    GLM46V_TEMPLATE,
    text=text(head_dim=16, **TWO_ENDS, **rope(mrope_section=[2, 3, 3], rope_theta=10000)),
    vision=SIGHT,
    config=IDS,
    processor=part("Glm46V"),
    image=part("Glm46V", size=PIXELS),
    generation=TWO_ENDS,
)
GLM4 = Row(  # part of each head is rotated; the next user's token ends an answer
    "glm4",
    tokens(*MASKS, *ROLES, padding_side="left", **END),
    GLM4_TEMPLATE,
    config=text(head_dim=16, attention_bias=True, **rope(rope_theta=1e4, partial_rotary_factor=0.5), **THREE_ENDS),
    generation=of(do_sample=True, temperature=0.6, **THREE_ENDS),
    end="<|user|>",
)
replace(GLM4V, name="glm46v", template=GLM46V_TEMPLATE)
replace(
    GLM_OCR,
    name="glm4v_moe",
    text=text(head_dim=16, **TWO_ENDS, **ROPE_V, **ROUTED),
    processor=part("Glm4v"),
    image=part("Glm4v", size=PIXELS),
    generation=TWO_ENDS | SAMPLE,
)
replace(
    GLM_OCR,
    name="glm5_next",
    text=text(num_hidden_layers=4, **TWO_ENDS, **LATENT, **ROUTED, **INDEXED)
    | of(linear_head_dim=16, linear_num_heads=4, hc_mult=2),
    vision=SIGHT | of(projection_intermediate_size=64),
    processor=part("Glm5Next"),
    image=part(size=PIXELS),
)
replace(
    GLM_OCR,
    name="glmga",
    model="Glm46VForConditionalGeneration",
    text=text(model_type="glm4v_text", **TWO_ENDS, **ROPE_V),
    vision=SIGHT | of(model_type="glm4v_vision"),
    image=part("Glmga", size=PIXELS),
)
replace(  # hybrid; the tags of its reasoning are plain tokens
    GLM4,
    name="glm4_moe",
    config=text(head_dim=16, attention_bias=True, **rope(rope_theta=1e6, partial_rotary_factor=0.5), **THREE_ENDS)
    | of(moe_intermediate_size=32, n_routed_experts=4, num_experts_per_tok=2),
    words=tokens(*MASKS, *ROLES, plain=("<think>", "</think>", "/nothink"), padding_side="left", **END),
    template=GLM4_MOE_TEMPLATE,
    generation=THREE_ENDS,
    say=("<|assistant|>", "Ċ", "<think>", "n", "</think>", "a"),
)

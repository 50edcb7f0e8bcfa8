"""Models of Korean makers: LG's EXAONE, Naver's HyperCLOVA X, Upstage's Solar, SKT's A.X. All may reason first."""

from dataclasses import replace

from tests.support.zoo.row_parts import (
    ENDS,
    EXPERTS,
    INDEXED,
    LATENT,
    ROUTED,
    Id,
    Row,
    decoder,
    edges,
    ends,
    grid,
    ids,
    of,
    part,
    rope,
    text,
    tokens,
)
from tests.support.zoo.template_parts import loop, reply, show, turns

# The reply begins inside a thought, or after an empty one.
EXAONE4_5 = (
    "{% set thinking = enable_thinking if enable_thinking is defined else true %}{% macro shown(m) %}"
    + show(("image", "{{ '<vision><|image_pad|></vision>\n' }}"), ("video", "{{ '<vision><|video_pad|></vision>\n' }}"))
    + "{% endmacro %}"
    + loop(
        "{% if m.role not in ['system', 'user', 'assistant', 'tool'] %}{{ raise_exception('Unknown role: ' + m.role) }}"
        "{% endif %}{{ '<|' + m.role + '|>\n' }}{% if m.role == 'assistant' %}"
        "{{ '<think>\n\n</think>\n\n' + shown(m).split('</think>')[-1] | trim }}"
        "{% else %}{{ shown(m) }}{% endif %}{{ '<|endofturn|>\n' }}"
    )
    + reply("{{ '<|assistant|>\n<think>\n' + ('' if thinking else '\n</think>\n\n') }}")
)
# Images are announced with their names, and thinking is off unless asked for.
CLOVA_VISION = (
    "{% set ns = namespace(images=0) %}"
    "{% if messages[0].role != 'system' %}{{ '<|im_start|>system\n- AI의 이름은 \"CLOVA X\"이다.<|im_end|>\n' }}{% endif %}"
    + loop(
        "{{ '<|im_start|>' + m.role + '\n' }}"
        + show(
            (
                "p.type in ['image', 'image_url']",
                '{{ \'<|mime_start|>{"id": "image_%02d", "type": "image/jpeg", "filename": "%s"}<|mime_end|>\n\''
                " % (ns.images, p.filename | default('a.jpg')) }}"
                "{{ '<|image_start|><|image_pad|><|image_end|>\n' }}{% set ns.images = ns.images + 1 %}",
            )
        )
        + "{{ '<|im_end|>\n' }}"
    )
    + reply(
        "{{ '<|im_start|>assistant\n' }}"
        "{{ '<think>\n' if thinking is defined and thinking else '<think>\n\n</think>\n\n' }}"
    )
)
# The template ends the reasoning itself unless thinking is asked for.
EXAONE4 = (
    "{%- if not skip_think is defined %}{%- set skip_think = true %}{%- endif %}"
    + loop(
        "{%- if m.role not in ['system', 'user', 'assistant', 'tool'] %}"
        "{{- raise_exception('Unknown role: ' ~ m.role) }}{%- endif %}{{- '[|' + m.role + '|]\n' }}"
        "{%- if m.role == 'assistant' and skip_think and '</think>' in m.content %}"
        "{{- '<think>\n\n</think>\n\n' + m.content.split('</think>')[-1].lstrip('\n') }}"
        "{%- elif m.content is string %}{{- m.content }}"
        "{%- else %}{%- for part in m.content %}{{- part.text }}{%- endfor %}{%- endif %}{{- '[|endofturn|]\n' }}"
    )
    + reply(
        "{{- '[|assistant|]\n' }}{%- if enable_thinking is defined and enable_thinking is true %}{{- '<think>\n' }}"
        "{%- else %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}"
    )
)
CLOVA = (
    "{%- if tools is not defined or tools is none %}{{- '<|im_start|>tool_list\n<|im_end|>\n' }}{%- endif %}"
    + loop(
        "{%- if m.role == 'assistant' and m.reasoning_content %}"
        "{{- '<|im_start|>assistant/think\n' + m.reasoning_content + '<|im_end|>\n' }}{%- endif %}"
        "{{- '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>' }}"
        "{%- if m.role == 'assistant' %}{{- '<|endofturn|>' }}{%- endif %}{{- '\n' }}"
    )
    + reply(
        "{%- if force_reasoning is defined and force_reasoning is true %}{{- '<|im_start|>assistant/think\n' }}"
        "{%- elif skip_reasoning is defined and skip_reasoning is true %}{{- '<|im_start|>assistant\n' }}"
        "{%- else %}{{- '<|im_start|>assistant' }}{%- endif %}"
    )
)
SOLAR = (
    "{%- set effort = reasoning_effort | default('high') %}"
    "{{- '<|begin|>system<|content|>## Provider System Prompt\n\nYou are Solar. Current date: ' + strftime_now('%Y-%m-%d') }}"
    + loop("{{- '\n\n## System Prompt\n\n' + m.content }}", "messages if m.role == 'system'")
    + "{{- '<|end|>' }}"
    + loop(
        "{%- if m.role == 'user' %}{{- '<|begin|>user<|content|>' + m.content + '<|end|>' }}"
        "{%- elif m.role == 'assistant' %}{%- if m.reasoning %}"
        "{{- '<|begin|>assistant<|think|>' + m.reasoning + '<|end|>' }}{%- endif %}"
        "{{- '<|begin|>assistant<|content|>' + m.content + '<|end|>' }}{%- endif %}"
    )
    + reply(
        "{%- if effort in ['low', 'minimal'] %}{{- '<|begin|>assistant<|think|><|end|>' }}{%- endif %}"
        "{{- '<|begin|>assistant' }}"
    )
)
THOUGHT = "{{ '<think>\n' + ('\n</think>\n\n' if enable_thinking is false else '') if add_generation_prompt else '' }}"
SIGHT = grid(fullatt_block_indexes=[1], window_size=56, out_hidden_size=64)
WINDOWS = of(sliding_window=64, layer_types=[*["sliding_attention"] * 3, "full_attention"], num_hidden_layers=4)
EXAONE_WORDS = of(pad_token="[PAD]", bos_token="[BOS]", unk_token="[UNK]")
EXAONE_ROLES = ("[EOS]", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>")
FREQUENCIES = of(low_freq_factor=1.0, high_freq_factor=4.0)
ROPE = rope(rope_theta=1e6)
CLOVA_WORDS = of(pad_token="<|endoftext|>", bos_token="<|endoftext|>")
GROUPED = {**LATENT, **ROUTED, "n_group": 2, "topk_group": 1, "qk_rope_head_dim": 8}
AX = Row(
    "axk1",
    tokens(
        "<|im_start|> <|system|> <|user|> <|assistant|>", thinks=True, **ends("<|endoftext|>", "<|im_end|>", "<|pad|>")
    ),
    turns("", "<|im_start|><|{{ m.role }}|>", "<|im_end|>\n", "<|im_start|><|assistant|>") + THOUGHT,
    config=text(**GROUPED),
)
Row(
    "exaone4_5",
    tokens(
        *EXAONE_ROLES,
        "<vision> </vision> <|image_pad|> <|video_pad|>",
        thinks=True,
        eos="<|endofturn|>",
        **EXAONE_WORDS,
    ),
    EXAONE4_5,
    text=decoder(model_type="exaone4_5_text", sliding_window=64, sliding_window_pattern="LG", **ENDS)
    | of(layer_types=["sliding_attention", "full_attention"], **ROPE),
    vision=SIGHT | of(num_key_value_heads=1),
    config=ids(image_token_id="<|image_pad|>", video_token_id="<|video_pad|>"),
    image=part("Qwen2VL", size=edges(56, 112)),
    generation=of(do_sample=True, temperature=1.0, top_p=0.95, presence_penalty=1.5),
)
Row(
    "hyperclovax_vision_v2",
    tokens(
        "<|im_start|> <|stop|> <|endofturn|> <|mime_start|> <|mime_end|> <|image_start|> <|image_pad|>",
        "<|image_end|> <|video_pad|>",
        thinks=True,
        eos="<|im_end|>",
        **CLOVA_WORDS,
    ),
    CLOVA_VISION,
    text=decoder(model_type="hyperclovax", attention_multiplier=0.25, embedding_multiplier=10.0)
    | of(logits_scaling=0.25, rope_parameters={"rope_theta": 5e7}, **ENDS),
    vision=SIGHT | of(model_type="qwen2_5_vl_vision"),
    config=of(tie_word_embeddings=False, **ids(image_token_id="<|image_pad|>", video_token_id="<|video_pad|>")),
    image=part("Qwen2VL", size=edges(56, 112)),
    generation=of(eos_token_id=[Id("<|im_end|>"), Id("<|stop|>")]),
)
Row(  # hybrid, and unlike Qwen it does not think unless asked to
    "exaone4",
    tokens("[EOS] [|system|] [|user|] [|assistant|] [|tool|]", thinks=True, eos="[|endofturn|]", **EXAONE_WORDS),
    EXAONE4,
    config=text(sliding_window_pattern="LLLG", **WINDOWS)
    | rope(rope_type="llama3", rope_theta=1e6, factor=16.0, **FREQUENCIES, original_max_position_embeddings=8192),
    generation=of(do_sample=True, temperature=0.6, top_p=0.95),
)
Row(  # the model itself goes on with the role: `/think` and its reasoning, then another turn with the answer
    "hyperclovax",
    tokens(
        "<|im_start|> <|im_end|> <|stop|>",
        plain=["assistant", "assistan", "/think\n", "t\n"],
        eos="<|endofturn|>",
        unk="<|endoftext|>",
        **CLOVA_WORDS,
    ),
    CLOVA,
    config=text(head_dim=16, embedding_multiplier=10.0, logits_scaling=0.125, residual_multiplier=1.0)
    | of(attention_multiplier=0.0625, use_post_norm=True),
    say=("assistant", "/think\n", "n", "<|im_end|>", "Ċ", "<|im_start|>", "assistan", "t\n", "a"),
)
Row(  # experts; reasoning and answer are separate turns, told apart by special tokens alone
    "solar_open",
    tokens(
        "<|begin|> <|end|> <|think|> <|content|> <|flush|> <|calls|>",
        plain=["assistant", "assistan"],
        unk="<unk>",
        **ends("<s>", "</s>", "<pad>"),
    ),
    SOLAR,
    config=text(head_dim=16, intermediate_size=32, moe_intermediate_size=32, n_routed_experts=4, num_experts_per_tok=2),
    end="<|flush|>",
    say=("assistant", "<|think|>", "n", "<|end|>", "<|begin|>", "assistan", "t", "<|content|>", "a"),
    generation=of(eos_token_id=[Id("</s>"), Id("<|flush|>"), Id("<|calls|>")])
    | of(do_sample=True, temperature=0.8, top_p=0.95, top_k=50),
)
replace(AX, name="axk2", config=text(gated_norm_rank=4, **GROUPED, **INDEXED))
Row(
    "exaone_moe",
    tokens(*EXAONE_ROLES[1:], thinks=True, **ends("[BOS]", "<|endofturn|>", "[PAD]")),
    turns("", "<|{{ m.role }}|>\n", "<|endofturn|>\n", "<|assistant|>\n") + THOUGHT,
    config=text(head_dim=16, sliding_window_pattern="LLLG", **WINDOWS, **EXPERTS, **ROPE),
    generation=of(do_sample=True, temperature=1.0, top_p=0.95),
)

"""Text models of other makers: OpenAI, Hugging Face, Microsoft, Liquid, IBM, Ai2."""

from dataclasses import replace
from functools import partial

from transformers import LlamaTokenizer

from tests.support.zoo.row_parts import Id, Row, Size, ends, of, text, tokens
from tests.support.zoo.template_parts import TAKE_SYSTEM, loop, reply
from tests.support.zoo.tokenizer_parts import finish, pieces

# Channels of one answer, told apart by special tokens.
HARMONY = (
    "{%- if messages[0].role == 'developer' or messages[0].role == 'system' %}{%- set developer = messages[0].content %}"
    "{%- set turns = messages[1:] %}{%- else %}{%- set turns = messages %}{%- endif %}"
    "{{- '<|start|>system<|message|>You are a large language model.\n' }}"
    "{{- 'Current date: ' + strftime_now('%Y-%m-%d') + '\n\n' }}"
    "{%- if reasoning_effort is not defined %}{%- set reasoning_effort = 'medium' %}{%- endif %}"
    "{{- 'Reasoning: ' + reasoning_effort + '\n\n# Valid channels: analysis, commentary, final.<|end|>' }}"
    "{%- if developer %}{{- '<|start|>developer<|message|># Instructions\n\n' + developer + '<|end|>' }}{%- endif %}"
    + loop(
        "{%- if m.role == 'user' %}{{- '<|start|>user<|message|>' + m.content + '<|end|>' }}"
        "{%- elif m.role == 'assistant' %}{%- if 'content' in m and '<|channel|>' in m.content %}"
        "{{- raise_exception('The content must not hold channels.') }}{%- endif %}"
        "{%- if loop.last and not add_generation_prompt %}{%- if 'thinking' in m %}"
        "{{- '<|start|>assistant<|channel|>analysis<|message|>' + m.thinking + '<|end|>' }}{%- endif %}"
        "{{- '<|start|>assistant<|channel|>final<|message|>' + m.content + '<|return|>' }}"
        "{%- else %}{{- '<|start|>assistant<|channel|>final<|message|>' + m.content + '<|end|>' }}{%- endif %}{%- endif %}",
        "turns",
    )
    + reply("<|start|>assistant")
)
SMOL = (
    "{%- if enable_thinking is not defined -%}{%- set enable_thinking = true -%}{%- endif -%}"
    "{%- set mode = '/think' if enable_thinking else '/no_think' -%}"
    "{%- if messages[0].role == 'system' -%}{%- set instructions = messages[0].content.replace('/no_think', '') -%}"
    "{%- if '/no_think' in messages[0].content -%}{%- set mode = '/no_think' -%}{%- endif -%}{%- endif -%}"
    "{{- '<|im_start|>system\n## Metadata\n\nToday Date: ' ~ strftime_now('%d %B %Y') ~ '\nReasoning Mode: ' ~ mode ~ '\n\n' -}}"
    "{{- (instructions | default('You are a helpful AI assistant.')) ~ '<|im_end|>\n' -}}"
    + loop(
        "{%- if m.role == 'user' -%}{{- '<|im_start|>user\n' + m.content + '<|im_end|>\n' -}}"
        "{%- elif m.role == 'assistant' -%}{% generation %}"
        "{{- '<|im_start|>assistant\n' + m.content.lstrip('\n') + '<|im_end|>\n' -}}{% endgeneration %}{%- endif -%}"
    )
    + reply(
        "{{- '<|im_start|>assistant\n' -}}{%- if mode == '/no_think' -%}{{- '<think>\n\n</think>\n' -}}{%- endif -%}"
    )
)
PHI = (
    loop(
        "{% if m['role'] in ['system', 'user', 'assistant'] %}"
        "{{ '<|' + m['role'] + '|>\n' + m['content'] + '<|end|>\n' }}{% endif %}"
    )
    + "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}"
)
LFM2 = (
    "{{- bos_token -}}"
    + TAKE_SYSTEM
    + "{%- if head -%}{{- '<|im_start|>system\n' + head + '<|im_end|>\n' -}}{%- endif -%}"
    + loop(
        "{{- '<|im_start|>' + m['role'] + '\n' -}}{%- if m['content'] is not string -%}{{- m['content'] | tojson -}}"
        "{%- else -%}{{- m['content'] -}}{%- endif -%}{{- '<|im_end|>\n' -}}",
        "turns",
    )
    + reply("{{- '<|im_start|>assistant\n' -}}")
)
GRANITE = (
    "{%- if messages[0]['role'] == 'system' %}{%- set head = messages[0]['content'] %}"
    "{%- set turns = messages[1:] %}{%- else %}"
    "{%- set head = 'Knowledge Cutoff Date: April 2024.\nToday is ' + strftime_now('%B %d, %Y') + '.' %}"
    "{%- if tools and documents %}{%- set head = head + ' Tools and documents.' %}"
    "{%- elif thinking %}{%- set head = head + ' Put your thoughts between <think></think> and <response></response>.' %}"
    "{%- endif %}{%- set turns = messages %}{%- endif %}"
    "{{- '<|start_of_role|>system<|end_of_role|>' + head + '<|end_of_text|>\n' }}"
    + loop(
        "{{- '<|start_of_role|>' + m['role'] + '<|end_of_role|>' + m['content'] + '<|end_of_text|>\n' }}"
        "{%- if loop.last and add_generation_prompt %}{{- '<|start_of_role|>assistant' }}"
        "{%- if controls %}{{- ' ' + controls | tojson() }}{%- endif %}{{- '<|end_of_role|>' }}{%- endif %}",
        "turns",
    )
)
OLMO = (
    "{%- set has_system = messages|selectattr('role', 'equalto', 'system')|list|length > 0 -%}"
    "{%- if not has_system -%}{{- '<|im_start|>system\nYou are a helpful function-calling AI assistant. '"
    " + 'You do not currently have access to any functions.<|im_end|>\n' -}}{%- endif -%}"
    + loop(
        "{{- '<|im_start|>' + m['role'] + '\n' + m['content'] -}}"
        "{%- if m['role'] == 'assistant' and loop.last -%}{{- eos_token -}}{%- else -%}{{- '<|im_end|>\n' -}}{%- endif -%}"
        "{%- if loop.last and add_generation_prompt -%}"
        "{{- '<|im_start|>assistant\n' + (think_opener | default('')) -}}{%- endif -%}"
    )
)
SAMPLE = of(do_sample=True, temperature=0.6, top_p=0.95)
SLIDING = of(layer_types=["sliding_attention", "full_attention"])
# One token where the makers have three, so that what follows <|channel|> is decided by the token before alone.
FINAL = "<|channel|>final<|message|>"
HARMONY_WORDS = tokens(
    "<|constrain|> <|channel|> <|start|> <|end|> <|message|> <|call|>",
    plain=["assistant", "analysis", "assistan"],
    **ends("<|startoftext|>", "<|return|>", "<|endoftext|>"),
)
# The makers' code, which must not run: transformers has the model itself.
NEVER_RUN = "raise SystemExit('this must never run')\n"
PHI3 = Row(  # a sliding window, and a pad token that is also an end
    "phi3",
    partial(
        pieces,
        LlamaTokenizer,
        ("<unk>", "<s>", "</s>"),
        ("<|endoftext|>", "<|assistant|>", "<|system|>", "<|end|>", "<|user|>"),
        legacy=False,
        eos_token="<|endoftext|>",
        pad_token="<|endoftext|>",
        padding_side="left",
    ),
    PHI,
    config=text(vocab_size=Size(11), sliding_window=64),
    generation=of(eos_token_id=[Id("<|endoftext|>"), Id("<|assistant|>"), Id("<|end|>")]),
    end="<|end|>",
)
Row(  # experts, sinks, sliding windows, a yarn rope
    "gpt_oss",
    lambda: finish(HARMONY_WORDS(), [FINAL], replace=False),
    HARMONY,
    config=text(intermediate_size=32, head_dim=16, num_local_experts=4, num_experts_per_tok=2, sliding_window=32)
    | of(bos_token_id=None, **SLIDING),
    generation=of(do_sample=True, eos_token_id=[Id("<|return|>"), Id("<|endoftext|>"), Id("<|call|>")]),
    say=[
        "assistant",
        "<|channel|>",
        "analysis",
        "<|message|>",
        "n",
        "<|end|>",
        "<|start|>",
        "assistan",
        "t",
        FINAL,
        "a",
    ],
)
Row(  # hybrid, with today's date and a {% generation %} block; every fourth layer knows no positions
    "smollm3",
    tokens("<|begin_of_text|> <|end_of_text|> <|im_start|>", thinks=True, **ends("", "<|im_end|>", "<|im_end|>")),
    SMOL,
    config=text(num_hidden_layers=4, tie_word_embeddings=False, bos_token_id=Id("<|begin_of_text|>")),
    generation=SAMPLE,
    say=("Ċ", "<think>", "n", "</think>", "a"),
)
replace(  # as Microsoft publishes it: config.json still names the code that transformers has long had itself
    PHI3,
    name="phi3_with_code",
    kind="phi3",
    changes={
        "config": of(
            auto_map=of(AutoConfig="configuration_phi3.Phi3Config")
            | of(AutoModelForCausalLM="modeling_phi3.Phi3ForCausalLM")
        )
    },
    files={"modeling_phi3.py": NEVER_RUN, "configuration_phi3.py": NEVER_RUN},
)
Row(  # short convolutions beside attention: padding must not leak into them
    "lfm2",
    tokens("<|endoftext|> <|im_start|>", begin="<|startoftext|>", **ends("<|startoftext|>", "<|im_end|>", "<|pad|>")),
    LFM2,
    config=text(num_hidden_layers=3, layer_types=["conv", "full_attention", "conv"], block_multiple_of=32),
)
Row(  # multipliers everywhere, one token for begin, end and pad, and today's date in the template
    "granite",
    tokens(
        "<|start_of_role|> <|end_of_role|>",
        padding_side="left",
        **of(bos="<|end_of_text|>", eos="<|end_of_text|>", pad="<|end_of_text|>", unk="<|end_of_text|>"),
    ),
    GRANITE,
    config=text(embedding_multiplier=12.0, logits_scaling=8.0, residual_multiplier=0.22, attention_multiplier=0.0625),
)
Row(  # mostly sliding windows; the end of a turn and the end of a text both end an answer
    "olmo3",
    tokens("<|im_start|>", unk="<|endoftext|>", **ends("<|endoftext|>", "<|im_end|>", "<|pad|>")),
    OLMO,
    config=text(sliding_window=64, bos_token_id=None, **SLIDING),
    generation=of(bos_token_id=None, pad_token_id=None, max_new_tokens=32768, **SAMPLE)
    | of(eos_token_id=[Id("<|im_end|>"), Id("<|endoftext|>")]),
)

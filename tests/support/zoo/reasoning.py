"""Text models that reason before they answer, by other makers: OpenAI, Z.ai, DeepSeek, Hugging Face."""

from pathlib import Path
from typing import Any

from transformers import DeepseekV3Config, Glm4Config, Glm4MoeConfig, GptOssConfig, SmolLM3Config

from tests.support.zoo import family
from tests.support.zoo.parts import TEXT, byte_level, change_json
from tests.support.zoo.qwen_text import ASSISTANT, BOS, EOS, TAGS, USER
from tests.support.zoo.text_parts import begins, chat

HARMONY = (
    "{%- if messages[0].role == 'developer' or messages[0].role == 'system' %}{%- set developer = messages[0].content %}"
    "{%- set turns = messages[1:] %}{%- else %}{%- set turns = messages %}{%- endif %}"
    "{{- '<|start|>system<|message|>You are a large language model.\n' }}"
    "{{- 'Current date: ' + strftime_now('%Y-%m-%d') + '\n\n' }}"
    "{%- if reasoning_effort is not defined %}{%- set reasoning_effort = 'medium' %}{%- endif %}"
    "{{- 'Reasoning: ' + reasoning_effort + '\n\n# Valid channels: analysis, commentary, final.<|end|>' }}"
    "{%- if developer %}{{- '<|start|>developer<|message|># Instructions\n\n' + developer + '<|end|>' }}{%- endif %}"
    "{%- for message in turns %}{%- if message.role == 'user' %}"
    "{{- '<|start|>user<|message|>' + message.content + '<|end|>' }}"
    "{%- elif message.role == 'assistant' %}{%- if 'content' in message and '<|channel|>' in message.content %}"
    "{{- raise_exception('The content must not hold channels.') }}{%- endif %}"
    "{%- if loop.last and not add_generation_prompt %}{%- if 'thinking' in message %}"
    "{{- '<|start|>assistant<|channel|>analysis<|message|>' + message.thinking + '<|end|>' }}{%- endif %}"
    "{{- '<|start|>assistant<|channel|>final<|message|>' + message.content + '<|return|>' }}"
    "{%- else %}{{- '<|start|>assistant<|channel|>final<|message|>' + message.content + '<|end|>' }}{%- endif %}{%- endif %}"
    "{%- endfor %}{%- if add_generation_prompt %}<|start|>assistant{%- endif -%}"
)
GLM = (
    "[gMASK]<sop>{%- macro visible(content) -%}{%- if content is string -%}{{- content }}"
    "{%- elif content is iterable and content is not mapping -%}{%- for item in content -%}"
    "{%- if item is mapping and item.type == 'text' -%}{{- item.text }}{%- elif item is string -%}{{- item }}{%- endif -%}"
    "{%- endfor -%}{%- else -%}{{- content }}{%- endif -%}{%- endmacro -%}"
    "{%- for m in messages %}{%- if m.role == 'user' -%}<|user|>\n{{ visible(m.content) }}"
    "{{- '/nothink' if (enable_thinking is defined and not enable_thinking and not visible(m.content).endswith('/nothink')) else '' -}}"
    "{%- elif m.role == 'assistant' -%}<|assistant|>{{- '\n<think></think>\n' + visible(m.content).split('</think>')[-1].strip() -}}"
    "{%- elif m.role == 'system' -%}<|system|>\n{{ visible(m.content) }}{%- endif -%}{%- endfor -%}"
    "{%- if add_generation_prompt -%}<|assistant|>"
    "{{- '\n<think></think>' if (enable_thinking is defined and not enable_thinking) else '' -}}{%- endif -%}"
)
GLM4 = (
    "[gMASK]<sop>{%- for msg in messages if msg.role == 'system' -%}<|system|>\n{{ msg.content }}{%- endfor -%}"
    "{%- for message in messages if message.role != 'system' %}"
    "{%- if message.role == 'user' -%}<|user|>\n{{ message.content }}"
    "{%- elif message.role == 'assistant' -%}<|assistant|>\n{{ message.content }}{%- endif -%}{%- endfor -%}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
DEEPSEEK = (
    "{% if not thinking is defined %}{% set thinking = false %}{% endif %}{{ bos_token }}"
    "{%- for message in messages %}{%- if message['role'] == 'system' %}{{ message['content'] }}"
    "{%- elif message['role'] == 'user' %}{{ '" + USER + "' + message['content'] }}"
    "{%- else %}{{ '" + ASSISTANT + "</think>' + message['content'] + '" + EOS + "' }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{ '" + ASSISTANT + "' }}{{ '<think>' if thinking else '</think>' }}{%- endif %}"
)
SMOL = (
    "{%- if enable_thinking is not defined -%}{%- set enable_thinking = true -%}{%- endif -%}"
    "{%- set mode = '/think' if enable_thinking else '/no_think' -%}"
    "{%- if messages[0].role == 'system' -%}{%- set instructions = messages[0].content.replace('/no_think', '') -%}"
    "{%- if '/no_think' in messages[0].content -%}{%- set mode = '/no_think' -%}{%- endif -%}{%- endif -%}"
    "{{- '<|im_start|>system\n## Metadata\n\nToday Date: ' ~ strftime_now('%d %B %Y') ~ '\nReasoning Mode: ' ~ mode ~ '\n\n' -}}"
    "{{- (instructions | default('You are a helpful AI assistant.')) ~ '<|im_end|>\n' -}}"
    "{%- for message in messages -%}{%- if message.role == 'user' -%}"
    "{{- '<|im_start|>user\n' + message.content + '<|im_end|>\n' -}}"
    "{%- elif message.role == 'assistant' -%}{% generation %}"
    "{{- '<|im_start|>assistant\n' + message.content.lstrip('\n') + '<|im_end|>\n' -}}{% endgeneration %}{%- endif -%}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\n' -}}"
    "{%- if mode == '/no_think' -%}{{- '<think>\n\n</think>\n' -}}{%- endif -%}{%- endif -%}"
)
GLM_SPECIAL: tuple[str, ...] = (
    "<|endoftext|>",
    "[MASK]",
    "[gMASK]",
    "[sMASK]",
    "<sop>",
    "<eop>",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
)
GLM_SPECIAL += ("<|observation|>",)


@family("gpt_oss", takes_images=False)
def gpt_oss(folder: Path) -> None:
    """Harmony: channels of one answer, told apart by special tokens. Experts, sinks, sliding windows, a yarn rope."""
    special: tuple[str, ...] = (
        "<|startoftext|>",
        "<|endoftext|>",
        "<|return|>",
        "<|constrain|>",
        "<|channel|>",
        "<|start|>",
        "<|end|>",
    )
    special += ("<|message|>", "<|call|>")
    words = byte_level(special, bos_token="<|startoftext|>", eos_token="<|return|>", pad_token="<|endoftext|>")
    words.add_tokens(["assistant", "analysis", "assistan"])
    # One token where makers have three, so that what follows <|channel|> is told by the token before alone.
    last = "<|channel|>final<|message|>"
    words.add_special_tokens({"additional_special_tokens": [*special, last]})
    ids = words.get_vocab()
    own = GptOssConfig(
        **{**TEXT, "intermediate_size": 32},
        vocab_size=len(words),
        head_dim=16,
        num_local_experts=4,
        num_experts_per_tok=2,
        sliding_window=32,
        layer_types=["sliding_attention", "full_attention"],
        pad_token_id=ids["<|endoftext|>"],
        eos_token_id=ids["<|return|>"],
    )
    chat(
        folder,
        words,
        own,
        HARMONY,
        end="<|return|>",
        say=(
            "assistant",
            "<|channel|>",
            "analysis",
            "<|message|>",
            "n",
            "<|end|>",
            "<|start|>",
            "assistan",
            "t",
            last,
            "a",
        ),
        bos_token_id=ids["<|startoftext|>"],
        do_sample=True,
        eos_token_id=[ids["<|return|>"], ids["<|endoftext|>"], ids["<|call|>"]],
        pad_token_id=ids["<|endoftext|>"],
    )


@family("glm4", takes_images=False)
def glm4(folder: Path) -> None:
    """Part of each head turns; the next user's token ends an answer."""
    words = byte_level(GLM_SPECIAL, eos_token="<|endoftext|>", pad_token="<|endoftext|>", padding_side="left")
    ids = words.get_vocab()
    ends = [ids["<|endoftext|>"], ids["<|user|>"], ids["<|observation|>"]]
    rope = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5}
    own = Glm4Config(
        **TEXT,
        vocab_size=len(words),
        head_dim=16,
        rope_parameters=rope,
        eos_token_id=ends,
        pad_token_id=ends[0],
        attention_bias=True,
    )
    chat(
        folder,
        words,
        own,
        GLM4,
        end="<|user|>",
        eos_token_id=ends,
        pad_token_id=ends[0],
        do_sample=True,
        temperature=0.6,
    )


@family("glm4_moe", takes_images=False)
def glm4_moe(folder: Path) -> None:
    """Hybrid; the tags of its reasoning are plain tokens."""
    words = byte_level(GLM_SPECIAL, eos_token="<|endoftext|>", pad_token="<|endoftext|>", padding_side="left")
    words.add_tokens([*TAGS, "/nothink"])
    ids = words.get_vocab()
    ends = [ids["<|endoftext|>"], ids["<|user|>"], ids["<|observation|>"]]
    own = Glm4MoeConfig(
        **TEXT,
        vocab_size=len(words),
        head_dim=16,
        moe_intermediate_size=32,
        n_routed_experts=4,
        num_experts_per_tok=2,
        attention_bias=True,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6, "partial_rotary_factor": 0.5},
        eos_token_id=ends,
        pad_token_id=ends[0],
    )
    say = ("<|assistant|>", "Ċ", "<think>", "n", "</think>", "a")
    chat(folder, words, own, GLM, end="<|user|>", say=say, eos_token_id=ends, pad_token_id=ends[0])


@family("deepseek_v3", takes_images=False)
def deepseek_v3(folder: Path) -> None:
    """Compressed attention and experts; the tokenizer calls itself a LlamaTokenizer and is none."""
    words = begins(byte_level((BOS, EOS, USER, ASSISTANT), bos_token=BOS, eos_token=EOS, pad_token=EOS), BOS)
    words.add_tokens(list(TAGS))
    ids = words.get_vocab()
    own = DeepseekV3Config(
        **{**TEXT, "num_key_value_heads": 4},
        vocab_size=len(words),
        moe_intermediate_size=32,
        n_routed_experts=4,
        num_experts_per_tok=2,
        n_group=2,
        topk_group=1,
        first_k_dense_replace=1,
        kv_lora_rank=16,
        q_lora_rank=32,
        qk_rope_head_dim=8,
        qk_nope_head_dim=8,
        v_head_dim=16,
        bos_token_id=ids[BOS],
        eos_token_id=ids[EOS],
    )
    taste: dict[str, Any] = {"do_sample": True, "temperature": 0.6, "top_p": 0.95}
    chat(folder, words, own, DEEPSEEK, end=EOS, bos_token_id=ids[BOS], eos_token_id=ids[EOS], **taste)
    change_json(folder / "tokenizer_config.json", tokenizer_class="LlamaTokenizerFast")


@family("smollm3", takes_images=False)
def smollm3(folder: Path) -> None:
    """Hybrid, with today's date and a {% generation %} block in its template; every fourth layer knows no positions."""
    special = ("<|begin_of_text|>", "<|end_of_text|>", "<|im_start|>", "<|im_end|>")
    words = byte_level(special, eos_token="<|im_end|>", pad_token="<|im_end|>")
    words.add_tokens(list(TAGS))
    ids = words.get_vocab()
    own = SmolLM3Config(
        **{**TEXT, "num_hidden_layers": 4},
        vocab_size=len(words),
        tie_word_embeddings=False,
        bos_token_id=ids["<|begin_of_text|>"],
        eos_token_id=ids["<|im_end|>"],
        pad_token_id=ids["<|im_end|>"],
    )
    taste: dict[str, Any] = {"do_sample": True, "temperature": 0.6, "top_p": 0.95, "eos_token_id": ids["<|im_end|>"]}
    say = ("Ċ", "<think>", "n", "</think>", "a")
    chat(folder, words, own, SMOL, end="<|im_end|>", say=say, pad_token_id=ids["<|im_end|>"], **taste)

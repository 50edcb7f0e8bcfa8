"""Text models of Korean makers: EXAONE, HyperCLOVA X, Solar. All three reason, each in a way of its own."""

from pathlib import Path
from typing import Any

from transformers import Exaone4Config, HyperCLOVAXConfig, SolarOpenConfig

from tests.support.zoo import family
from tests.support.zoo.parts import TEXT, byte_level
from tests.support.zoo.text_parts import chat

EXAONE = (
    "{%- set roles = {'user': '[|user|]\n', 'assistant': '[|assistant|]\n', 'system': '[|system|]\n', 'tool': '[|tool|]\n'} %}"
    "{%- if not skip_think is defined %}{%- set skip_think = true %}{%- endif %}"
    "{%- for i in range(messages | length) %}{%- set msg = messages[i] %}{%- if msg.role not in roles %}"
    "{{- raise_exception('Unknown role: ' ~ msg.role) }}{%- endif %}"
    "{{- roles[msg.role] }}{%- if msg.role == 'assistant' and skip_think and '</think>' in msg.content %}"
    "{{- '<think>\n\n</think>\n\n' + msg.content.split('</think>')[-1].lstrip('\n') }}"
    "{%- elif msg.content is string %}{{- msg.content }}"
    "{%- else %}{%- for part in msg.content %}{{- part.text }}{%- endfor %}{%- endif %}{{- '[|endofturn|]\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '[|assistant|]\n' }}"
    "{%- if enable_thinking is defined and enable_thinking is true %}{{- '<think>\n' }}"
    "{%- else %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}{%- endif %}"
)
CLOVA = (
    "{%- if tools is not defined or tools is none %}{{- '<|im_start|>tool_list\n<|im_end|>\n' }}{%- endif %}"
    "{%- for message in messages %}{%- if message.role == 'assistant' and message.reasoning_content %}"
    "{{- '<|im_start|>assistant/think\n' + message.reasoning_content + '<|im_end|>\n' }}{%- endif %}"
    "{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' }}"
    "{%- if message.role == 'assistant' %}{{- '<|endofturn|>' }}{%- endif %}{{- '\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{%- if force_reasoning is defined and force_reasoning is true %}"
    "{{- '<|im_start|>assistant/think\n' }}"
    "{%- elif skip_reasoning is defined and skip_reasoning is true %}{{- '<|im_start|>assistant\n' }}"
    "{%- else %}{{- '<|im_start|>assistant' }}{%- endif %}{%- endif %}"
)
SOLAR = (
    "{%- set effort = reasoning_effort | default('high') %}"
    "{{- '<|begin|>system<|content|>## Provider System Prompt\n\nYou are Solar. Current date: ' + strftime_now('%Y-%m-%d') }}"
    "{%- for message in messages if message.role == 'system' %}{{- '\n\n## System Prompt\n\n' + message.content }}{%- endfor %}"
    "{{- '<|end|>' }}{%- for message in messages %}{%- if message.role == 'user' %}"
    "{{- '<|begin|>user<|content|>' + message.content + '<|end|>' }}"
    "{%- elif message.role == 'assistant' %}{%- if message.reasoning %}"
    "{{- '<|begin|>assistant<|think|>' + message.reasoning + '<|end|>' }}{%- endif %}"
    "{{- '<|begin|>assistant<|content|>' + message.content + '<|end|>' }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{%- if effort in ['low', 'minimal'] %}"
    "{{- '<|begin|>assistant<|think|><|end|>' }}{%- endif %}{{- '<|begin|>assistant' }}{%- endif %}"
)


@family("exaone4", takes_images=False)
def exaone4(folder: Path) -> None:
    """Hybrid, and unlike Qwen it does not think unless told to: the template closes the reasoning itself."""
    special = (
        "[PAD]",
        "[BOS]",
        "[EOS]",
        "[UNK]",
        "[|system|]",
        "[|user|]",
        "[|assistant|]",
        "[|tool|]",
        "[|endofturn|]",
    )
    names: dict[str, Any] = {
        "bos_token": "[BOS]",
        "eos_token": "[|endofturn|]",
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
    }
    words = byte_level(special, **names)
    words.add_tokens(["<think>", "</think>"])
    ids = {f"{name}_id": words.convert_tokens_to_ids(names[name]) for name in ("bos_token", "eos_token", "pad_token")}
    own = Exaone4Config(
        **{**TEXT, "num_hidden_layers": 4},
        vocab_size=len(words),
        sliding_window=64,
        sliding_window_pattern="LLLG",
        layer_types=[*["sliding_attention"] * 3, "full_attention"],
        rope_parameters={
            "rope_type": "llama3",
            "rope_theta": 1e6,
            "factor": 16.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        },
        **ids,
    )
    chat(folder, words, own, EXAONE, end="[|endofturn|]", do_sample=True, temperature=0.6, top_p=0.95, **ids)


@family("hyperclovax", takes_images=False)
def hyperclovax(folder: Path) -> None:
    """The model itself goes on with the role: `/think` and its reasoning, then another turn with the answer."""
    special = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|stop|>", "<|endofturn|>")
    names: dict[str, Any] = {
        "bos_token": "<|endoftext|>",
        "eos_token": "<|endofturn|>",
        "pad_token": "<|endoftext|>",
        "unk_token": "<|endoftext|>",
    }
    words = byte_level(special, **names)
    words.add_tokens(["assistant", "assistan", "/think\n", "t\n"])
    ids = {f"{name}_id": words.convert_tokens_to_ids(names[name]) for name in ("bos_token", "eos_token", "pad_token")}
    own = HyperCLOVAXConfig(
        **TEXT,
        vocab_size=len(words),
        head_dim=16,
        embedding_multiplier=10.0,
        logits_scaling=0.125,
        residual_multiplier=1.0,
        attention_multiplier=0.0625,
        use_post_norm=True,
        **ids,
    )
    say = ("assistant", "/think\n", "n", "<|im_end|>", "Ċ", "<|im_start|>", "assistan", "t\n", "a")
    chat(folder, words, own, CLOVA, end="<|endofturn|>", say=say, **ids)


@family("solar_open", takes_images=False)
def solar_open(folder: Path) -> None:
    """Experts. Reasoning and answer are turns of their own, told apart by special tokens alone."""
    special = (
        "<pad>",
        "<s>",
        "</s>",
        "<unk>",
        "<|begin|>",
        "<|end|>",
        "<|think|>",
        "<|content|>",
        "<|flush|>",
        "<|calls|>",
    )
    words = byte_level(special, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>")
    words.add_tokens(["assistant", "assistan"])
    ids = words.get_vocab()
    ends = [ids["</s>"], ids["<|flush|>"], ids["<|calls|>"]]
    own = SolarOpenConfig(
        **{**TEXT, "intermediate_size": 32},
        vocab_size=len(words),
        head_dim=16,
        moe_intermediate_size=32,
        n_routed_experts=4,
        num_experts_per_tok=2,
        bos_token_id=ids["<s>"],
        eos_token_id=ids["</s>"],
        pad_token_id=ids["<pad>"],
    )
    chat(
        folder,
        words,
        own,
        SOLAR,
        end="<|flush|>",
        say=("assistant", "<|think|>", "n", "<|end|>", "<|begin|>", "assistan", "t", "<|content|>", "a"),
        bos_token_id=ids["<s>"],
        eos_token_id=ends,
        pad_token_id=ids["<pad>"],
        do_sample=True,
        temperature=0.8,
        top_p=0.95,
        top_k=50,
    )

"""Qwen's text models: plain, hybrid, and those that always think. And what DeepSeek distilled into them."""

from pathlib import Path
from typing import Any

from transformers import Qwen2Config, Qwen3Config

from tests.support.zoo import family
from tests.support.zoo.parts import TEXT, byte_level
from tests.support.zoo.text_parts import begins, chat

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TURNS = (
    "{%- for message in messages %}{{- '<|im_start|>' + message.role + '\n' }}"
    "{%- if message.role == 'assistant' and message.reasoning_content %}"
    "{{- '<think>\n' + message.reasoning_content.strip('\n') + '\n</think>\n\n' }}{%- endif %}"
    "{{- message.content + '<|im_end|>\n' }}{%- endfor %}"
)
QWEN2 = (
    "{%- if messages[0].role != 'system' %}{{- '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n' }}{%- endif %}"
    + TURNS
    + "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}"
)
HYBRID = (
    TURNS + "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}"
    "{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}{%- endif %}"
)
THINKING = TURNS + "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n<think>\n' }}{%- endif %}"
# The makers' token names hold these wide bars and low lines.
BOS, USER, ASSISTANT, EOS = (f"<｜{n}｜>" for n in ("begin▁of▁sentence", "User", "Assistant", "end▁of▁sentence"))
DISTILLED = (
    "{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}"
    "{% set ns = namespace(system='') %}{%- for message in messages %}{%- if message['role'] == 'system' %}"
    "{% set ns.system = message['content'] %}{%- endif %}{%- endfor %}{{ bos_token }}{{ ns.system }}"
    "{%- for message in messages %}{%- if message['role'] == 'user' %}{{ '" + USER + "' + message['content'] }}"
    "{%- elif message['role'] == 'assistant' %}{{ '"
    + ASSISTANT
    + "' + message['content'].split('</think>')[-1] + '"
    + EOS
    + "' }}"
    "{%- endif %}{%- endfor %}{% if add_generation_prompt %}{{ '" + ASSISTANT + "<think>\\n' }}{% endif %}"
)
TAGS = ("<think>", "</think>")


def words(*plain: str, **settings: Any) -> Any:
    """The tags of reasoning are tokens of their own, but not special ones."""
    made = byte_level(SPECIAL, **{"pad_token": "<|endoftext|>", "eos_token": "<|im_end|>", **settings})
    made.add_tokens(list(plain))
    return made


def config(kind: Any, made: Any, **settings: Any) -> Any:
    ids = made.get_vocab()
    return kind(
        **TEXT,
        vocab_size=len(made) + 24,  # rounded up, as published: some tokens have no name
        bos_token_id=ids["<|endoftext|>"],
        eos_token_id=ids["<|im_end|>"],
        **settings,
    )


def generation(made: Any, **settings: Any) -> dict[str, Any]:
    ids = made.get_vocab()
    return {
        "bos_token_id": ids["<|endoftext|>"],
        "pad_token_id": ids["<|endoftext|>"],
        "eos_token_id": [ids["<|im_end|>"], ids["<|endoftext|>"]],
        "do_sample": True,
        "top_k": 20,
        **settings,
    }


@family("qwen2", takes_images=False)
def qwen2(folder: Path) -> None:
    made = words()
    own = config(Qwen2Config, made, tie_word_embeddings=True, use_sliding_window=False, sliding_window=4096)
    taste = generation(made, temperature=0.7, top_p=0.8, repetition_penalty=1.1)
    chat(folder, made, own, QWEN2, end="<|im_end|>", **taste)


@family("qwen3", takes_images=False)
def qwen3(folder: Path) -> None:
    made = words(*TAGS)
    say = ("Ċ", "<think>", "n", "</think>", "a")
    chat(
        folder,
        made,
        config(Qwen3Config, made, head_dim=16),
        HYBRID,
        end="<|im_end|>",
        say=say,
        **generation(made, temperature=0.6, top_p=0.95),
    )


@family("qwen3_thinking", takes_images=False)
def qwen3_thinking(folder: Path) -> None:
    made = words(*TAGS)
    chat(
        folder,
        made,
        config(Qwen3Config, made, head_dim=16),
        THINKING,
        end="<|im_end|>",
        say=("Ċ", "n", "</think>", "a"),
        **generation(made, temperature=0.6, top_p=0.95),
    )


@family("deepseek_r1_distill_qwen", takes_images=False)
def deepseek_r1_distill_qwen(folder: Path) -> None:
    made = byte_level((BOS, EOS, USER, ASSISTANT), bos_token=BOS, eos_token=EOS, pad_token=EOS)
    made.add_tokens(list(TAGS))
    begins(made, BOS)
    ids = made.get_vocab()
    own = Qwen2Config(**TEXT, vocab_size=len(made), bos_token_id=ids[BOS], eos_token_id=ids[EOS])
    chat(
        folder,
        made,
        own,
        DISTILLED,
        end=EOS,
        say=("Ċ", "n", "</think>", "a"),
        bos_token_id=ids[BOS],
        eos_token_id=ids[EOS],
        do_sample=True,
        temperature=0.6,
        top_p=0.95,
    )

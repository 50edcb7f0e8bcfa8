"""Tiny chat models whose attention heads have 32 dimensions, as vLLM needs on a CPU, taught to say a few tokens."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
import transformers

from tests.support.zoo.tokenizer_parts import byte_level

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' and m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>\n\n{% endif %}"
    "{% if m.content is string %}{{ m.content }}"
    "{% else %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
)
PLAIN = CHATML.replace(CHATML[CHATML.index("{% if m.role") : CHATML.index("{% if m.content is")], "")
REPLY = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
OPENED = "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n<think>\n' }}{% endif %}"
SPECIAL = ("<|im_start|>", "<|im_end|>", "<|box_start|>", "<|box_end|>")
TAGS = ("<think>", "</think>")
START = "Ċ"  # the line break after which an answer begins
# By name: template, whether the tags are special tokens, the end token of the tokenizer, what the model says.
MODELS: dict[str, tuple[str, bool, str, tuple[str, ...]]] = {
    "plain": (PLAIN + REPLY, False, "<|im_end|>", ("a", "b", "<|im_end|>")),
    "reasons": (
        CHATML + REPLY,
        True,
        "<|im_end|>",
        ("<think>", "n", "</think>", "<|box_start|>", "a", "<|box_end|>", "<|im_end|>"),
    ),
    "opened": (CHATML + OPENED, True, "<|im_end|>", ("n", "</think>", "a", "<|im_end|>")),
    "silent": (CHATML + REPLY, False, "<|im_end|>", ("a", "b", "<|im_end|>")),  # knows the tags and does not reason
    # Only the chat template shows that <|im_end|> ends an answer.
    "ends": (PLAIN + REPLY, False, "<|endoftext|>", ("a", "b", "<|im_end|>", "<|endoftext|>")),
}


def make_model(folder: Path, name: str, context: int = 4096) -> Path:
    """Make a model that says the same to every question."""
    template, special_tags, end, says = MODELS[name]
    tokenizer = _tokenizer(template, special_tags, end)
    model = _model(tokenizer, context)
    vocabulary = tokenizer.get_vocab()
    _teach(model, [vocabulary[token] for token in (START, *says)])
    return _save(folder, model, tokenizer)


def make_random_model(folder: Path, context: int = 4096, *, ends: bool = True) -> Path:
    """Make a model with random weights, whose answers have many different tokens. Without `ends` it never ends one."""
    tokenizer = _tokenizer(PLAIN + REPLY, False, "<|im_end|>")
    model = _model(tokenizer, context, hidden=128, layers=4)
    with torch.no_grad():
        model.get_output_embeddings().weight[tokenizer.eos_token_id] *= 2 if ends else -5
    return _save(folder, model, tokenizer)


def _tokenizer(template: str, special_tags: bool, end: str) -> Any:
    special = (*SPECIAL, *(TAGS if special_tags else ()))
    made = byte_level(special, () if special_tags else TAGS, eos_token=end, pad_token="<|endoftext|>")
    made.chat_template = template
    return made


def _model(tokenizer: Any, context: int, hidden: int = 64, layers: int = 2) -> Any:
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(
        "qwen3",
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=hidden // 32,
        num_key_value_heads=hidden // 32,
        head_dim=32,
        max_position_embeddings=context,
        vocab_size=len(tokenizer),
        initializer_range=0.1,
        tie_word_embeddings=False,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    return transformers.AutoModelForCausalLM.from_config(config)


def _teach(model: Any, tokens: Sequence[int]) -> None:
    """Make each token the most likely one after the token before it."""
    embeddings = model.get_input_embeddings().weight
    head = model.get_output_embeddings().weight
    with torch.no_grad():
        for before, after in pairwise(tokens):
            embeddings[before] /= embeddings[before].std()
            head[after] += embeddings[before] / 2


def _save(folder: Path, model: Any, tokenizer: Any) -> Path:
    folder.mkdir(parents=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\n")
    return folder

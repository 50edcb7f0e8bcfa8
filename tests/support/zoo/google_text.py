"""Gemma's text models. Their templates write <start_of_turn> and know no system role."""

from pathlib import Path
from typing import Any

from transformers import Gemma2Config, Gemma3TextConfig, GemmaTokenizer

from tests.support.zoo import family
from tests.support.zoo.parts import TEXT
from tests.support.zoo.text_parts import begins, chat, pieces

FIRST = ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>")
TURNS = ("<start_of_turn>", "<end_of_turn>")
GEMMA2 = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
    "{% if message['role'] == 'assistant' %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}"
    "{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)
GEMMA3 = (
    "{{ bos_token }}{%- if messages[0]['role'] == 'system' -%}"
    "{%- if messages[0]['content'] is string -%}{%- set prefix = messages[0]['content'] + '\n\n' -%}"
    "{%- else -%}{%- set prefix = messages[0]['content'][0]['text'] + '\n\n' -%}{%- endif -%}"
    "{%- set turns = messages[1:] -%}{%- else -%}{%- set prefix = '' -%}{%- set turns = messages -%}{%- endif -%}"
    "{%- for message in turns -%}{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{%- endif -%}"
    "{%- set role = 'model' if message['role'] == 'assistant' else message['role'] -%}"
    "{{ '<start_of_turn>' + role + '\n' + (prefix if loop.first else '') }}"
    "{%- if message['content'] is string -%}{{ message['content'] | trim }}"
    "{%- elif message['content'] is iterable -%}{%- for item in message['content'] -%}"
    "{%- if item['type'] == 'image' -%}{{ '<start_of_image>' }}{%- elif item['type'] == 'text' -%}{{ item['text'] | trim }}"
    "{%- endif -%}{%- endfor -%}{%- else -%}{{ raise_exception('Invalid content type') }}{%- endif -%}"
    "{{ '<end_of_turn>\n' }}{%- endfor -%}{%- if add_generation_prompt -%}{{ '<start_of_turn>model\n' }}{%- endif -%}"
)


def tokenizer() -> Any:
    words = pieces(GemmaTokenizer, FIRST, TURNS, padding_side="left", clean_up_tokenization_spaces=False)
    return begins(words, "<bos>")


@family("gemma2", takes_images=False)
def gemma2(folder: Path) -> None:
    """Soft caps on attention and logits, every other layer sliding; generation config without the end of a turn."""
    words = tokenizer()
    own = Gemma2Config(
        **TEXT,
        vocab_size=len(words),
        head_dim=16,
        query_pre_attn_scalar=16,
        sliding_window=64,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=2,
    )
    ends = [1, words.convert_tokens_to_ids("<end_of_turn>")]
    chat(
        folder,
        words,
        own,
        GEMMA2,
        end="<end_of_turn>",
        bos_token_id=2,
        pad_token_id=0,
        eos_token_id=ends,
        cache_implementation="hybrid",
    )


@family("gemma3_text", takes_images=False)
def gemma3_text(folder: Path) -> None:
    words = tokenizer()
    ends = [1, words.convert_tokens_to_ids("<end_of_turn>")]
    own = Gemma3TextConfig(
        **TEXT,
        vocab_size=len(words),
        head_dim=16,
        query_pre_attn_scalar=16,
        sliding_window=64,
        layer_types=["sliding_attention", "full_attention"],
        pad_token_id=0,
        eos_token_id=ends,
        bos_token_id=2,
    )
    taste: dict[str, Any] = {"do_sample": True, "top_k": 64, "top_p": 0.95, "cache_implementation": "hybrid"}
    chat(folder, words, own, GEMMA3, end="<end_of_turn>", bos_token_id=2, eos_token_id=ends, **taste)

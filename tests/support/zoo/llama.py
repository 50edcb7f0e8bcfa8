"""Llama's text models, and the odd folders that people publish in its architecture."""

from pathlib import Path
from typing import Any

from transformers import AutoModelForCausalLM, GenerationConfig, LlamaConfig, LlamaTokenizer

from tests.support.zoo import family
from tests.support.zoo.parts import TEXT, byte_level, change_json, save
from tests.support.zoo.text_parts import begins, chat, pieces, sentencepiece_bytes

SPECIAL = (
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "<|eom_id|>",
)
LLAMA3 = (
    "{{- bos_token }}{%- if not date_string is defined %}{%- if strftime_now is defined %}"
    '{%- set date_string = strftime_now("%d %b %Y") %}{%- else %}{%- set date_string = "26 Jul 2024" %}{%- endif %}{%- endif %}'
    "{%- if messages[0]['role'] == 'system' %}{%- set system_message = messages[0]['content']|trim %}"
    '{%- set messages = messages[1:] %}{%- else %}{%- set system_message = "" %}{%- endif %}'
    '{{- "<|start_header_id|>system<|end_header_id|>\\n\\nToday: " + date_string + "\\n\\n" + system_message + "<|eot_id|>" }}'
    "{%- for message in messages %}"
    "{{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] | trim + '<|eot_id|>' }}"
    "{%- endfor %}{%- if add_generation_prompt %}"
    "{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}"
)
LLAMA2 = (
    "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}"
    "{% set system_message = '<<SYS>>\\n' + messages[0]['content'] + '\\n<</SYS>>\\n\\n' %}"
    "{% else %}{% set loop_messages = messages %}{% set system_message = '' %}{% endif %}"
    "{% for message in loop_messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
    "{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + (system_message if loop.first else '')"
    " + message['content'].strip() + ' [/INST]' }}"
    "{% else %}{{ ' ' + message['content'].strip() + ' ' + eos_token }}{% endif %}{% endfor %}"
)
CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
PLAIN = "{% for message in messages %}### {{ message['role'] }}: {{ message['content'] }}\n{% endfor %}### assistant:"


def config(words: Any, **settings: Any) -> LlamaConfig:
    return LlamaConfig(**{**TEXT, "vocab_size": len(words), **settings})


@family("llama3", takes_images=False)
def llama3(folder: Path) -> None:
    """No pad token, three ends, a scaled rope, and today's date in the template."""
    words = begins(byte_level(SPECIAL, bos_token="<|begin_of_text|>", eos_token="<|eot_id|>"), "<|begin_of_text|>")
    ids = words.get_vocab()
    ends = [ids["<|end_of_text|>"], ids["<|eom_id|>"], ids["<|eot_id|>"]]
    rope = {"rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    own = config(
        words,
        bos_token_id=ids["<|begin_of_text|>"],
        eos_token_id=ends,
        tie_word_embeddings=True,
        rope_parameters={**rope, "original_max_position_embeddings": 4096},
    )
    taste: dict[str, Any] = {"do_sample": True, "temperature": 0.6, "top_p": 0.9}
    chat(folder, words, own, LLAMA3, end="<|eot_id|>", bos_token_id=own.bos_token_id, eos_token_id=ends, **taste)


def _llama2(**settings: Any) -> Any:
    return begins(pieces(LlamaTokenizer, ("<unk>", "<s>", "</s>"), **settings), "<s>")


LLAMA2_TASTE: dict[str, Any] = {
    "bos_token_id": 1,
    "eos_token_id": 2,
    "do_sample": True,
    "temperature": 0.6,
    "top_p": 0.9,
    "max_length": 4096,
}


@family("llama2", takes_images=False)
def llama2(folder: Path) -> None:
    """Pieces that fall back to bytes, the template in tokenizer_config.json alone."""
    words = _llama2(legacy=False)
    chat(folder, words, config(words, bos_token_id=1, eos_token_id=2), None, end="</s>", pad_token_id=0, **LLAMA2_TASTE)
    change_json(folder / "tokenizer_config.json", chat_template=LLAMA2, tokenizer_class="LlamaTokenizer")


@family("llama_sentencepiece", takes_images=False)
def llama_sentencepiece(folder: Path) -> None:
    """As many early fine-tunes: tokenizer.model, and no tokenizer.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.model").write_bytes(sentencepiece_bytes("bpe"))
    words = LlamaTokenizer.from_pretrained(folder)
    chat(folder, words, config(words, bos_token_id=1, eos_token_id=2), None, end="</s>", **LLAMA2_TASTE)
    (folder / "tokenizer.json").unlink()
    change_json(
        folder / "tokenizer_config.json",
        chat_template=LLAMA2,
        tokenizer_class="LlamaTokenizer",
        add_bos_token=True,
        add_eos_token=False,
        legacy=True,
        backend=None,
        is_local=None,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
    )


@family("llama_token_types", takes_images=False)
def llama_token_types(folder: Path) -> None:
    """A tokenizer without a list of what its model takes: it hands out token_type_ids, which Llama refuses."""
    names = ["input_ids", "token_type_ids", "attention_mask"]
    words = byte_level(
        ("<|im_start|>", "<|im_end|>", "<pad>"), pad_token="<pad>", eos_token="<|im_end|>", model_input_names=names
    )
    own = config(words, bos_token_id=None, eos_token_id=words.eos_token_id, pad_token_id=words.pad_token_id)
    chat(folder, words, own, CHATML, end="<|im_end|>", eos_token_id=words.eos_token_id, pad_token_id=words.pad_token_id)


@family("llama_no_pad_no_end", takes_images=False)
def llama_no_pad_no_end(folder: Path) -> None:
    """A tokenizer that names no special token; only the generation config knows how an answer ends."""
    words = byte_level(("<|end|>",), unk_token=None)
    end = words.convert_tokens_to_ids("<|end|>")
    own = config(words, bos_token_id=None, eos_token_id=end, pad_token_id=None)
    chat(folder, words, own, PLAIN, end="<|end|>", eos_token_id=end)


@family("llama_im_end", takes_images=False)
def llama_im_end(folder: Path) -> None:
    """A ChatML fine-tune of a base model: config and generation config still name the base model's end."""
    words = begins(
        byte_level(("<s>", "</s>", "<|im_start|>", "<|im_end|>"), bos_token="<s>", eos_token="<|im_end|>"), "<s>"
    )
    ids = words.get_vocab()
    own = config(words, bos_token_id=ids["<s>"], eos_token_id=ids["</s>"])
    ends = {"bos_token_id": ids["<s>"], "eos_token_id": ids["</s>"]}
    # After a while it says its <|im_end|>, then what comes to its mind.
    chat(folder, words, own, CHATML, end="</s>", say=("Ċ", "n", "a", "<|im_end|>", "Ċ"), **ends)


@family("llama_named_templates", takes_images=False)
def llama_named_templates(folder: Path) -> None:
    """Several templates by name, as a list in tokenizer_config.json."""
    torn = ("<|im_start|>", "<|im_end|>", "<pad>")
    words = byte_level(torn, pad_token="<pad>", eos_token="<|im_end|>")
    own = config(words, bos_token_id=None, eos_token_id=words.eos_token_id, pad_token_id=words.pad_token_id)
    chat(folder, words, own, None, end="<|im_end|>", eos_token_id=words.eos_token_id, pad_token_id=words.pad_token_id)
    named = [
        {"name": "default", "template": CHATML},
        {"name": "tool_use", "template": "{% if not tools %}{{ raise_exception('no tools') }}{% endif %}" + CHATML},
        {"name": "rag", "template": "{{ documents | length }}" + CHATML},
    ]
    change_json(folder / "tokenizer_config.json", chat_template=named)


@family("llama_base", takes_images=False)
def llama_base(folder: Path) -> None:
    """A base model whose tokenizer_config.json names a class that is gone, and whose template is a file of its own."""
    words = byte_level(SPECIAL, bos_token="<|begin_of_text|>", eos_token="<|end_of_text|>")
    ids = words.get_vocab()
    own = config(words, bos_token_id=ids["<|begin_of_text|>"], eos_token_id=ids["<|end_of_text|>"])
    model = AutoModelForCausalLM.from_config(own)
    model.generation_config = GenerationConfig.from_model_config(own)
    save(folder, model, words, end=ids["<|end_of_text|>"])
    (folder / "chat_template.jinja").write_text(PLAIN, encoding="utf-8")
    change_json(folder / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    (folder / "generation_config.json").unlink()

"""Text models of many makers: Mistral, Phi, LFM2, Granite, OLMo."""

from pathlib import Path
from typing import Any

from transformers import GraniteConfig, Lfm2Config, LlamaTokenizer, MistralConfig, Olmo3Config, Phi3Config

from tests.support.zoo import family
from tests.support.zoo.parts import TEXT, byte_level, change_json
from tests.support.zoo.text_parts import begins, chat, pieces

MISTRAL = (
    "{%- if messages[0]['role'] == 'system' %}{%- set system_message = messages[0]['content'] %}"
    "{%- set loop_messages = messages[1:] %}{%- else %}{%- set loop_messages = messages %}{%- endif %}"
    "{{- bos_token }}{%- for message in loop_messages %}"
    "{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{- raise_exception('After the optional system message, roles must alternate user/assistant') }}{%- endif %}"
    "{%- if message['role'] == 'user' %}{%- if loop.last and system_message is defined %}"
    "{{- '[INST] ' + system_message + '\n\n' + message['content'] + '[/INST]' }}"
    "{%- else %}{{- '[INST] ' + message['content'] + '[/INST]' }}{%- endif %}"
    "{%- else %}{{- ' ' + message['content'] | trim + eos_token }}{%- endif %}{%- endfor %}"
)
PHI = (
    "{% for message in messages %}{% if message['role'] in ['system', 'user'] %}"
    "{{ '<|' + message['role'] + '|>\n' + message['content'] + '<|end|>\n' }}"
    "{% elif message['role'] == 'assistant' %}{{ '<|assistant|>\n' + message['content'] + '<|end|>\n' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}"
)
LFM2 = (
    "{{- bos_token -}}{%- set ns = namespace(system_prompt='') -%}"
    "{%- if messages[0]['role'] == 'system' -%}{%- set ns.system_prompt = messages[0]['content'] -%}"
    "{%- set messages = messages[1:] -%}{%- endif -%}"
    "{%- if ns.system_prompt -%}{{- '<|im_start|>system\n' + ns.system_prompt + '<|im_end|>\n' -}}{%- endif -%}"
    "{%- for message in messages -%}{{- '<|im_start|>' + message['role'] + '\n' -}}"
    "{%- if message['content'] is not string -%}{{- message['content'] | tojson -}}"
    "{%- else -%}{{- message['content'] -}}{%- endif -%}{{- '<|im_end|>\n' -}}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\n' -}}{%- endif -%}"
)
GRANITE = (
    "{%- if messages[0]['role'] == 'system' %}{%- set system_message = messages[0]['content'] %}"
    "{%- set loop_messages = messages[1:] %}{%- else %}"
    "{%- set system_message = 'Knowledge Cutoff Date: April 2024.\nToday is ' + strftime_now('%B %d, %Y') + '.' %}"
    "{%- if tools and documents %}{%- set system_message = system_message + ' Tools and documents.' %}"
    "{%- elif thinking %}{%- set system_message = system_message + ' Put your thoughts between <think></think> and <response></response>.' %}"
    "{%- endif %}{%- set loop_messages = messages %}{%- endif %}"
    "{{- '<|start_of_role|>system<|end_of_role|>' + system_message + '<|end_of_text|>\n' }}"
    "{%- for message in loop_messages %}"
    "{{- '<|start_of_role|>' + message['role'] + '<|end_of_role|>' + message['content'] + '<|end_of_text|>\n' }}"
    "{%- if loop.last and add_generation_prompt %}{{- '<|start_of_role|>assistant' }}"
    "{%- if controls %}{{- ' ' + controls | tojson() }}{%- endif %}{{- '<|end_of_role|>' }}{%- endif %}{%- endfor %}"
)
OLMO = (
    "{%- set has_system = messages|selectattr('role', 'equalto', 'system')|list|length > 0 -%}"
    "{%- if not has_system -%}{{- '<|im_start|>system\nYou are a helpful function-calling AI assistant. '"
    " + 'You do not currently have access to any functions.<|im_end|>\n' -}}{%- endif -%}"
    "{%- for message in messages -%}"
    "{{- '<|im_start|>' + message['role'] + '\n' + message['content'] -}}"
    "{%- if message['role'] == 'assistant' and loop.last -%}{{- eos_token -}}{%- else -%}{{- '<|im_end|>\n' -}}{%- endif -%}"
    "{%- if loop.last and add_generation_prompt -%}{{- '<|im_start|>assistant\n' + (think_opener | default('')) -}}{%- endif -%}"
    "{%- endfor -%}"
)


@family("mistral", takes_images=False)
def mistral(folder: Path) -> None:
    """The control tokens are special, the tokenizer has no pad, the template no generation prompt."""
    words = begins(
        pieces(LlamaTokenizer, ("<unk>", "<s>", "</s>", "[INST]", "[/INST]"), ("[INST]", "[/INST]"), legacy=False),
        "<s>",
    )
    words.add_special_tokens({"additional_special_tokens": ["[INST]", "[/INST]"]})
    own = MistralConfig(**TEXT, vocab_size=len(words), head_dim=16, sliding_window=None, bos_token_id=1, eos_token_id=2)
    chat(folder, words, own, MISTRAL, end="</s>", bos_token_id=1, eos_token_id=2)


@family("phi3", takes_images=False)
def phi3(folder: Path) -> None:
    """A sliding window, and a pad token that is also an end."""
    special = ("<|endoftext|>", "<|assistant|>", "<|system|>", "<|end|>", "<|user|>")
    names: dict[str, Any] = {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>", "padding_side": "left"}
    words = pieces(LlamaTokenizer, ("<unk>", "<s>", "</s>"), special, legacy=False, **names)
    ids = words.get_vocab()
    own = Phi3Config(
        **TEXT,
        vocab_size=len(words) + 11,
        sliding_window=64,
        bos_token_id=1,
        eos_token_id=ids["<|endoftext|>"],
        pad_token_id=ids["<|endoftext|>"],
    )
    ends = [ids["<|endoftext|>"], ids["<|assistant|>"], ids["<|end|>"]]
    chat(folder, words, own, PHI, end="<|end|>", bos_token_id=1, eos_token_id=ends, pad_token_id=ids["<|endoftext|>"])


@family("lfm2", takes_images=False)
def lfm2(folder: Path) -> None:
    """Short convolutions beside attention: padding must not leak into them."""
    special = ("<|pad|>", "<|startoftext|>", "<|endoftext|>", "<|im_start|>", "<|im_end|>")
    names: dict[str, Any] = {"bos_token": "<|startoftext|>", "eos_token": "<|im_end|>", "pad_token": "<|pad|>"}
    words = begins(byte_level(special, **names), "<|startoftext|>")
    numbers = {name.replace("token", "token_id"): words.convert_tokens_to_ids(token) for name, token in names.items()}
    own = Lfm2Config(
        **{**TEXT, "num_hidden_layers": 3},
        vocab_size=len(words),
        layer_types=["conv", "full_attention", "conv"],
        block_multiple_of=32,
        **numbers,
    )
    chat(folder, words, own, LFM2, end="<|im_end|>", **numbers)


@family("granite", takes_images=False)
def granite(folder: Path) -> None:
    """Multipliers everywhere, one token for begin, end and pad, and today's date in the template."""
    special = ("<|end_of_text|>", "<|start_of_role|>", "<|end_of_role|>")
    names: dict[str, Any] = dict.fromkeys(("bos_token", "eos_token", "pad_token", "unk_token"), "<|end_of_text|>")
    words = byte_level(special, padding_side="left", **names)
    end = words.convert_tokens_to_ids("<|end_of_text|>")
    numbers = {"bos_token_id": end, "eos_token_id": end, "pad_token_id": end}
    own = GraniteConfig(
        **TEXT,
        vocab_size=len(words),
        embedding_multiplier=12.0,
        logits_scaling=8.0,
        residual_multiplier=0.22,
        attention_multiplier=0.0625,
        **numbers,
    )
    chat(folder, words, own, GRANITE, end="<|end_of_text|>", **numbers)


@family("olmo3", takes_images=False)
def olmo3(folder: Path) -> None:
    """Mostly sliding windows; the end of a turn and the end of a text both end an answer."""
    special = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|pad|>")
    names: dict[str, Any] = {
        "bos_token": "<|endoftext|>",
        "eos_token": "<|im_end|>",
        "pad_token": "<|pad|>",
        "unk_token": "<|endoftext|>",
    }
    words = byte_level(special, **names)
    ids = words.get_vocab()
    own = Olmo3Config(
        **TEXT,
        vocab_size=len(words),
        sliding_window=64,
        layer_types=["sliding_attention", "full_attention"],
        pad_token_id=ids["<|pad|>"],
        eos_token_id=ids["<|im_end|>"],
        bos_token_id=None,
    )
    ends = [ids["<|im_end|>"], ids["<|endoftext|>"]]
    chat(
        folder,
        words,
        own,
        OLMO,
        end="<|im_end|>",
        eos_token_id=ends,
        do_sample=True,
        temperature=0.6,
        top_p=0.95,
        max_new_tokens=32768,
    )


@family("phi3_with_code", takes_images=False)
def phi3_with_code(folder: Path) -> None:
    """As Microsoft publishes it: config.json still names the code that transformers has long had itself."""
    phi3(folder)
    change_json(
        folder / "config.json",
        auto_map={
            "AutoConfig": "configuration_phi3.Phi3Config",
            "AutoModelForCausalLM": "modeling_phi3.Phi3ForCausalLM",
        },
    )
    (folder / "modeling_phi3.py").write_text("raise SystemExit('this must never run')\n", encoding="utf-8")
    (folder / "configuration_phi3.py").write_text("raise SystemExit('this must never run')\n", encoding="utf-8")

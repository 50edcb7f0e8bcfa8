"""Google's: Gemma 3 and 4, and PaliGemma, which has no chat template."""

import json
from pathlib import Path
from typing import Any

import torch
from transformers import (
    Gemma3Config,
    Gemma3ForConditionalGeneration,
    Gemma3ImageProcessor,
    Gemma3Processor,
    Gemma4AudioFeatureExtractor,
    Gemma4Config,
    Gemma4ForConditionalGeneration,
    Gemma4ImageProcessor,
    Gemma4Processor,
    Gemma4VideoProcessor,
    GemmaTokenizer,
    GenerationConfig,
    PaliGemmaConfig,
    PaliGemmaForConditionalGeneration,
    PaliGemmaProcessor,
    SiglipImageProcessor,
)

from tests.support.zoo import family
from tests.support.zoo.gemma_parts import byte_fallback, ids_of
from tests.support.zoo.parts import TEXT, save

FIRST = ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>")
SIGHT: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
# A system message becomes the head of the first question; roles must alternate; the reply's role is "model".
GEMMA3_TEMPLATE = (
    "{{ bos_token }}"
    "{% if messages[0]['role'] == 'system' %}"
    "{% if messages[0]['content'] is string %}{% set head = messages[0]['content'] + '\n\n' %}"
    "{% else %}{% set head = messages[0]['content'][0]['text'] + '\n\n' %}{% endif %}"
    "{% set turns = messages[1:] %}{% else %}{% set head = '' %}{% set turns = messages %}{% endif %}"
    "{% for message in turns %}"
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
    "{% set role = 'model' if message['role'] == 'assistant' else message['role'] %}"
    "{{ '<start_of_turn>' + role + '\n' + (head if loop.first else '') }}"
    "{% if message['content'] is string %}{{ message['content'] | trim }}"
    "{% elif message['content'] is iterable %}{% for item in message['content'] %}"
    "{% if item['type'] == 'image' %}<start_of_image>"
    "{% elif item['type'] == 'text' %}{{ item['text'] | trim }}{% endif %}{% endfor %}"
    "{% else %}{{ raise_exception('Invalid content type') }}{% endif %}"
    "{{ '<end_of_turn>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)
# Thinking is asked for in the system turn; without it the reply begins with an empty thought.
GEMMA4_TEMPLATE = (
    "{{ bos_token }}{% set thinking = enable_thinking is defined and enable_thinking %}"
    "{% set head = messages[0]['content'] if messages[0]['role'] in ['system', 'developer'] else '' %}"
    "{% if thinking or head %}{{ '<|turn>system\n' }}{% if thinking %}<|think|>{% endif %}"
    "{{ head | trim if head is string else head[0]['text'] | trim }}{{ '<turn|>\n' }}{% endif %}"
    "{% for message in (messages[1:] if head else messages) %}"
    "{% set role = 'model' if message['role'] == 'assistant' else message['role'] %}{{ '<|turn>' + role + '\n' }}"
    "{% if message['content'] is string %}{{ message['content'] | trim }}{% else %}"
    "{% for item in message['content'] %}"
    "{% if item['type'] == 'text' %}{{ item['text'] | trim }}"
    "{% elif item['type'] == 'image' %}{{ '\n\n<|image|>\n\n' }}"
    "{% elif item['type'] == 'audio' %}<|audio|>"
    "{% elif item['type'] == 'video' %}{{ '\n\n<|video|>\n\n' }}{% endif %}{% endfor %}{% endif %}"
    "{{ '<turn|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|turn>model\n' }}"
    "{% if not thinking %}{{ '<|channel>thought\n<channel|>' }}{% endif %}{% endif %}"
)


def tokenizer(special: tuple[str, ...], **named: str) -> Any:
    """Gemma's, with the tokens it goes by a name."""
    vocabulary, merges = byte_fallback((*FIRST, *special))
    words = GemmaTokenizer(vocab=vocabulary, merges=merges, extra_special_tokens=named, model_max_length=10**30)
    words.add_special_tokens({"additional_special_tokens": list(special)}, replace_extra_special_tokens=False)
    return words


@family("gemma3")
def gemma3(folder: Path) -> None:
    _gemma3(folder)


@family("gukbap_gemma3")
def gukbap_gemma3(folder: Path) -> None:
    """A fine-tune as earlier versions wrote it: the template as JSON, and once more with the tokenizer."""
    _gemma3(folder)
    jinja = folder / "chat_template.jinja"
    template = {"chat_template": jinja.read_text(encoding="utf-8")}
    jinja.unlink()
    (folder / "chat_template.json").write_text(json.dumps(template), encoding="utf-8")
    _change(folder / "tokenizer_config.json", template)
    whole = json.loads((folder / "processor_config.json").read_text(encoding="utf-8"))
    (folder / "preprocessor_config.json").write_text(json.dumps(whole.pop("image_processor")), encoding="utf-8")
    (folder / "processor_config.json").write_text(json.dumps(whole), encoding="utf-8")


@family("gemma3_text_trained")
def gemma3_text_trained(folder: Path) -> None:
    """A fine-tune whose trainer knew of the tokenizer only: the template is in its config and nowhere else."""
    _gemma3(folder)
    jinja = folder / "chat_template.jinja"
    _change(folder / "tokenizer_config.json", {"chat_template": jinja.read_text(encoding="utf-8")})
    jinja.unlink()


def _change(path: Path, values: dict[str, Any]) -> None:
    """Write these into a JSON file."""
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | values), encoding="utf-8")


def _gemma3(folder: Path) -> None:
    torch.manual_seed(0)
    special: tuple[str, ...] = (
        "<start_of_turn>",
        "<end_of_turn>",
        "<start_of_image>",
        "<end_of_image>",
        "<image_soft_token>",
    )
    words = tokenizer(
        special, boi_token="<start_of_image>", eoi_token="<end_of_image>", image_token="<image_soft_token>"
    )
    pad, eos, bos, end, start_image, end_image, image = ids_of(words, *FIRST[:3], *special[1:])
    config = Gemma3Config(
        text_config={
            **TEXT,
            "vocab_size": len(words),
            "head_dim": 16,
            "sliding_window": 32,
            "query_pre_attn_scalar": 16,
        }
        | {"layer_types": ["sliding_attention", "full_attention"]},
        vision_config={**SIGHT, "image_size": 56, "patch_size": 14, "vision_use_head": False},
        mm_tokens_per_image=4,
        boi_token_index=start_image,
        eoi_token_index=end_image,
        image_token_index=image,
        eos_token_id=[eos, end],
    )
    model = Gemma3ForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        do_sample=True, top_k=64, top_p=0.95, bos_token_id=bos, eos_token_id=[eos, end], pad_token_id=pad
    )
    processor = Gemma3Processor(
        image_processor=Gemma3ImageProcessor(size={"height": 56, "width": 56}, do_pan_and_scan=None),
        tokenizer=words,
        chat_template=GEMMA3_TEMPLATE,
        image_seq_length=4,
    )
    save(folder, model, processor, end=end)


@family("gemma4")
def gemma4(folder: Path) -> None:
    """As the small ones are: per-layer embeddings, shared keys and values, an ear beside the eye."""
    torch.manual_seed(0)
    special: tuple[str, ...] = (
        "<|turn>",
        "<turn|>",
        "<|think|>",
        "<|channel>",
        "<channel|>",
        "<|image>",
        "<image|>",
        "<|image|>",
    )
    special += ("<|audio>", "<audio|>", "<|audio|>", "<|video|>", "<|tool_response>")
    named = {"boi_token": "<|image>", "eoi_token": "<image|>", "image_token": "<|image|>"}
    named |= {"boa_token": "<|audio>", "eoa_token": "<audio|>", "audio_token": "<|audio|>"}
    words = tokenizer(special, **named)
    pad, eos, bos = ids_of(words, *FIRST[:3])
    end, tool = ids_of(words, "<turn|>", "<|tool_response>")
    config = Gemma4Config(
        text_config={**TEXT, "vocab_size": len(words), "vocab_size_per_layer_input": len(words), "head_dim": 16}
        | {"global_head_dim": 32, "hidden_size_per_layer_input": 8, "num_hidden_layers": 4, "num_kv_shared_layers": 2}
        | {"layer_types": ["sliding_attention", "full_attention"] * 2, "sliding_window": 32}
        | {"final_logit_softcapping": 30.0, "use_double_wide_mlp": True},
        vision_config={**SIGHT, "num_key_value_heads": 2, "head_dim": 16, "position_embedding_size": 256},
        audio_config={"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "output_proj_dims": 32}
        | {"subsampling_conv_channels": [8, 4]},
        boi_token_id=words.boi_token_id,
        eoi_token_id=words.eoi_token_id,
        image_token_id=words.image_token_id,
        boa_token_id=words.boa_token_id,
        eoa_token_index=words.eoa_token_id,
        audio_token_id=words.audio_token_id,
        video_token_id=ids_of(words, "<|video|>")[0],
        eos_token_id=[eos, end],
    )
    model = Gemma4ForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        do_sample=True,
        temperature=1.0,
        top_k=64,
        top_p=0.95,
        bos_token_id=bos,
        eos_token_id=[eos, end, tool],
        pad_token_id=pad,
    )
    processor = Gemma4Processor(
        feature_extractor=Gemma4AudioFeatureExtractor(),
        image_processor=Gemma4ImageProcessor(max_soft_tokens=70),
        tokenizer=words,
        video_processor=Gemma4VideoProcessor(),
        chat_template=GEMMA4_TEMPLATE,
        image_seq_length=70,
    )
    save(folder, model, processor, end=end)


@family("paligemma")
def paligemma(folder: Path) -> None:
    """ChartGemma is one. Its makers give no chat template: the question goes behind the image as it is."""
    torch.manual_seed(0)
    words = tokenizer(("<image>",), image_token="<image>")
    pad, eos, bos = ids_of(words, *FIRST[:3])
    image_processor = SiglipImageProcessor(size={"height": 56, "width": 56})
    image_processor.image_seq_length = 16
    processor = PaliGemmaProcessor(image_processor=image_processor, tokenizer=words)
    config = PaliGemmaConfig(
        text_config={**TEXT, "model_type": "gemma", "vocab_size": len(words), "head_dim": 16},
        vision_config={**SIGHT, "model_type": "siglip_vision_model", "image_size": 56, "patch_size": 14}
        | {"vision_use_head": False, "projection_dim": TEXT["hidden_size"]},
        image_token_index=words.image_token_id,
        vocab_size=len(words),
        hidden_size=TEXT["hidden_size"],
        projection_dim=TEXT["hidden_size"],
        bos_token_id=bos,
        eos_token_id=eos,
        pad_token_id=pad,
    )
    model = PaliGemmaForConditionalGeneration(config)
    model.generation_config = GenerationConfig(bos_token_id=bos, eos_token_id=eos, pad_token_id=pad)
    save(folder, model, processor, end=eos)

"""One each of other makers: Moonshot's Kimi K2.5, DAMO's VideoLLaMA 3, Ai2's Molmo 2, Stepfun's Step 3.7."""

from pathlib import Path

import torch
from transformers import (
    GenerationConfig,
    Kimi_K25Config,
    Kimi_K25ForConditionalGeneration,
    Kimi_K25ImageProcessor,
    Kimi_K25Processor,
    Kimi_K25VideoProcessor,
    Molmo2Config,
    Molmo2ForConditionalGeneration,
    Molmo2ImageProcessor,
    Molmo2Processor,
    Molmo2VideoProcessor,
    Step3p7Config,
    Step3p7ForConditionalGeneration,
    Step3p7ImageProcessor,
    Step3p7Processor,
    VideoLlama3Config,
    VideoLlama3ForConditionalGeneration,
    VideoLlama3ImageProcessor,
    VideoLlama3Processor,
    VideoLlama3VideoProcessor,
)

from tests.support.zoo import family
from tests.support.zoo.gemma_parts import ids_of
from tests.support.zoo.parts import TEXT, byte_level, save

# The role's name stands between two tokens; the reply begins inside of a thought unless `thinking` is false.
KIMI_TEMPLATE = (
    "{% macro show(content) %}{% if content is string %}{{ content }}{% else %}{% for item in content %}"
    "{% if item.type in ['image', 'image_url'] %}{{ '<|media_begin|>image<|media_content|><|media_pad|><|media_end|>\n' }}"
    "{% else %}{{ item.text }}{% endif %}{% endfor %}{% endif %}{% endmacro %}"
    "{% for m in messages %}<|im_{{ m.role }}|>{{ m.name | default(m.role) }}<|im_middle|>{{ show(m.content) }}<|im_end|>"
    "{% endfor %}{% if add_generation_prompt %}<|im_assistant|>assistant<|im_middle|>"
    "{{ '<think></think>' if thinking is defined and thinking is false else '<think>' }}{% endif %}"
)
VIDEOLLAMA_TEMPLATE = (
    "{% set ns = namespace(images=0) %}"
    "{% for m in messages %}{% if loop.first and m['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are VideoLLaMA3 created by Alibaba DAMO Academy.<|im_end|>\n' }}{% endif %}"
    "{{ '<|im_start|>' + m['role'] + '\n' }}{% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for item in m['content'] %}{% if item['type'] == 'image' %}{{ '<|image_pad|>\n' }}"
    "{% elif item['type'] == 'video' %}{{ '<|video_pad|>\n' }}{% elif item['type'] == 'text' %}{{ item['text'] }}{% endif %}"
    "{% endfor %}{% endif %}{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
# No system role; images stand before everything.
MOLMO_TEMPLATE = (
    "{% for m in messages %}{% if m.content is not string %}{% for item in m.content %}"
    "{% if item.type in ['image', 'image_url'] %}<|image|>{% elif item.type == 'video' %}<|video|>{% endif %}"
    "{% endfor %}{% endif %}{% endfor %}"
    "{% for m in messages %}"
    "{% if (m.role == 'user') != (loop.index % 2 == 1) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
    "{{ '<|im_start|>' + m.role + '\n' }}{% if m.content is string %}{{ m.content }}{% else %}"
    "{% for item in m.content if item.type == 'text' %}{{ item.text }}{% endfor %}{% endif %}{{ '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
STEP_TEMPLATE = (
    "{% macro show(content) %}{% if content is string %}{{ content }}{% else %}{% for item in content %}"
    "{% if item.type == 'image' or 'image_url' in item %}<im_patch>{% else %}{{ item.text }}{% endif %}"
    "{% endfor %}{% endif %}{% endmacro %}{{ bos_token }}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + show(m.content) + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n<think>\n' }}{% endif %}"
)


@family("kimi_k25")
def kimi_k25(folder: Path) -> None:
    torch.manual_seed(0)
    special: tuple[str, ...] = (
        "[BOS]",
        "[EOS]",
        "[PAD]",
        "<|im_end|>",
        "<|im_user|>",
        "<|im_assistant|>",
        "<|im_system|>",
    )
    special += ("<|im_middle|>", "<|media_begin|>", "<|media_content|>", "<|media_pad|>", "<|media_end|>")
    special += ("<|kimi_k25_video_placeholder|>",)
    words = byte_level(special, bos_token="[BOS]", eos_token="<|im_end|>", pad_token="[PAD]")
    words.add_tokens(["<think>", "</think>"])
    bos, end, pad, image = ids_of(words, "[BOS]", "<|im_end|>", "[PAD]", "<|media_pad|>")
    video, start, stop = ids_of(words, "<|kimi_k25_video_placeholder|>", "<|media_begin|>", "<|media_end|>")
    config = Kimi_K25Config(
        text_config={**TEXT, "model_type": "kimi_k2", "vocab_size": len(words), "num_key_value_heads": 4}
        | {"moe_intermediate_size": 32, "n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2}
        | {"n_group": 1, "topk_group": 1, "first_k_dense_replace": 1, "q_lora_rank": 16, "kv_lora_rank": 16}
        | {"qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16, "initializer_range": 0.1}
        | {"bos_token_id": bos, "eos_token_id": end, "pad_token_id": pad},
        vision_config={"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
        | {"pos_emb_height": 8, "pos_emb_width": 8},
        projection_hidden_size=32,
        image_token_id=image,
        video_token_id=video,
        vision_start_token_id=start,
        vision_end_token_id=stop,
        tie_word_embeddings=False,
    )
    model = Kimi_K25ForConditionalGeneration(config)
    model.generation_config = GenerationConfig(max_length=262144, eos_token_id=end)
    processor = Kimi_K25Processor(
        image_processor=Kimi_K25ImageProcessor(size={"max_height": 112, "max_width": 112}, max_patches=64),
        tokenizer=words,
        video_processor=Kimi_K25VideoProcessor(size={"max_height": 112, "max_width": 112}),
        chat_template=KIMI_TEMPLATE,
    )
    save(folder, model, processor, end=end)


@family("video_llama_3")
def video_llama_3(folder: Path) -> None:
    torch.manual_seed(0)
    special: tuple[str, ...] = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|image_pad|>", "<|video_pad|>")
    words = byte_level(special, pad_token="<|endoftext|>", eos_token="<|im_end|>")
    pad, end, image, video = ids_of(words, "<|endoftext|>", "<|im_end|>", "<|image_pad|>", "<|video_pad|>")
    config = VideoLlama3Config(
        text_config={**TEXT, "model_type": "qwen2", "vocab_size": len(words), "use_sliding_window": False}
        | {"bos_token_id": pad, "eos_token_id": end},
        vision_config={"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
        | {"patch_size": 14},
        image_token_id=image,
        video_token_id=video,
    )
    model = VideoLlama3ForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        do_sample=True,
        temperature=0.7,
        top_p=0.8,
        top_k=20,
        repetition_penalty=1.05,
        bos_token_id=pad,
        eos_token_id=[end, pad],
        pad_token_id=pad,
    )
    size = {"shortest_edge": 56 * 56, "longest_edge": 112 * 112}
    processor = VideoLlama3Processor(
        image_processor=VideoLlama3ImageProcessor(size=size),
        tokenizer=words,
        video_processor=VideoLlama3VideoProcessor(size=size),
        chat_template=VIDEOLLAMA_TEMPLATE,
    )
    save(folder, model, processor, end=end)


@family("molmo2")
def molmo2(folder: Path) -> None:
    """Its tokenizer names no beginning, so that its end stands there; its image tokens have embeddings of their own."""
    torch.manual_seed(0)
    special: tuple[str, ...] = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
    words = byte_level(special, pad_token="<|endoftext|>", eos_token="<|im_end|>")
    own = len(words)
    image: tuple[str, ...] = (
        "<im_start>",
        "<im_end>",
        "<im_patch>",
        "<im_col>",
        "<low_res_im_start>",
        "<|image|>",
        "<im_low>",
    )
    image += ("<frame_start>", "<frame_end>", "<|video|>")
    words.add_special_tokens({"additional_special_tokens": list(image)}, replace_extra_special_tokens=False)
    start, stop, patch, low, frame, frame_end = ids_of(
        words, "<im_start>", "<im_end>", "<im_patch>", "<low_res_im_start>", "<frame_start>", "<frame_end>"
    )
    pad, end = ids_of(words, "<|endoftext|>", "<|im_end|>")
    config = Molmo2Config(
        text_config={**TEXT, "vocab_size": own, "additional_vocab_size": 16, "head_dim": 16, "initializer_range": 0.1}
        | {"rope_parameters": {"rope_type": "default", "rope_theta": 1e6}},
        vision_config={"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
        | {"num_key_value_heads": 2, "head_dim": 16, "image_size": [56, 56], "num_position_embeddings": 16}
        | {"initializer_range": 0.2},
        adapter_config={"vision_feature_layer": [1, 0], "hidden_size": 32, "num_attention_heads": 2, "head_dim": 16}
        | {"num_key_value_heads": 2, "intermediate_size": 64, "text_hidden_size": TEXT["hidden_size"]}
        | {"initializer_range": 0.2},
        image_start_token_id=start,
        image_end_token_id=stop,
        image_patch_id=patch,
        low_res_image_start_token_id=low,
        frame_start_token_id=frame,
        frame_end_token_id=frame_end,
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=pad,
    )
    model = Molmo2ForConditionalGeneration(config)
    model.generation_config = GenerationConfig(bos_token_id=end, eos_token_id=end, pad_token_id=pad)
    size = {"height": 56, "width": 56}
    processor = Molmo2Processor(
        image_processor=Molmo2ImageProcessor(size=size, max_crops=4, overlap_margins=[1, 1]),
        video_processor=Molmo2VideoProcessor(size=size),
        tokenizer=words,
        chat_template=MOLMO_TEMPLATE,
    )
    save(folder, model, processor, end=end)


@family("step3p7")
def step3p7(folder: Path) -> None:
    torch.manual_seed(0)
    special: tuple[str, ...] = (
        "<｜begin▁of▁sentence｜>",
        "<｜end▁of▁sentence｜>",
        "<｜▁pad▁｜>",
        "<|im_start|>",
        "<|im_end|>",
    )
    special += ("<im_patch>", "<im_start>", "<im_end>", "<patch_start>", "<patch_end>", "<patch_newline>")
    words = byte_level(special, bos_token=special[0], eos_token="<|im_end|>", pad_token=special[1])
    words.add_tokens(["<think>", "</think>"])
    bos, eos, end, image = ids_of(words, special[0], special[1], "<|im_end|>", "<im_patch>")
    config = Step3p7Config(
        text_config={**TEXT, "vocab_size": len(words), "head_dim": 16, "sliding_window": 64}
        | {"layer_types": ["full_attention", "sliding_attention"], "mlp_layer_types": ["dense", "sparse"]}
        | {"moe_intermediate_size": 32, "n_routed_experts": 4, "share_expert_dim": 32, "num_experts_per_tok": 2}
        | {"num_sliding_attention_heads": 6, "bos_token_id": bos, "eos_token_id": [eos, end], "pad_token_id": eos},
        vision_config={"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "mlp_ratio": 2.0}
        | {"image_size": 112, "max_position_embeddings": 64},
        image_token_id=image,
        bos_token_id=bos,
        eos_token_id=[eos, end],
    )
    model = Step3p7ForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        do_sample=True, temperature=1.0, top_p=0.95, bos_token_id=bos, eos_token_id=[eos, end], pad_token_id=eos
    )
    processor = Step3p7Processor(
        image_processor=Step3p7ImageProcessor(size={"height": 112, "width": 112}, patch_size=56, max_image_size=336),
        tokenizer=words,
        chat_template=STEP_TEMPLATE,
    )
    save(folder, model, processor, end=end)

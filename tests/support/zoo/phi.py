"""Microsoft's Phi-4-multimodal, as transformers has it: an eye, an ear, and tiles with a mask."""

from pathlib import Path

import torch
from transformers import (
    GenerationConfig,
    Phi4MultimodalConfig,
    Phi4MultimodalFeatureExtractor,
    Phi4MultimodalForCausalLM,
    Phi4MultimodalImageProcessor,
    Phi4MultimodalProcessor,
)

from tests.support.zoo import family
from tests.support.zoo.gemma_parts import ids_of
from tests.support.zoo.parts import TEXT, byte_level, save

# Everything in a message stands as it comes, and a system message may name tools.
TEMPLATE = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>' }}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for item in message['content'] %}"
    "{% if item['type'] == 'image' %}<|image|>{% elif item['type'] == 'audio' %}<|audio|>"
    "{% elif item['type'] == 'text' %}{{ item['text'] }}{% endif %}{% endfor %}{% endif %}"
    "{% if message['role'] == 'system' and 'tools' in message and message['tools'] %}"
    "{{ '<|tool|>' + message['tools'] + '<|/tool|>' }}{% endif %}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% else %}{{ eos_token }}{% endif %}"
)


@family("phi4_multimodal")
def phi4_multimodal(folder: Path) -> None:
    torch.manual_seed(0)
    special: tuple[str, ...] = (
        "<|endoftext|>",
        "<|image|>",
        "<|audio|>",
        "<|system|>",
        "<|user|>",
        "<|assistant|>",
        "<|end|>",
    )
    words = byte_level(
        special,
        bos_token="<|endoftext|>",
        eos_token="<|endoftext|>",
        pad_token="<|endoftext|>",
        unk_token="<|endoftext|>",
        extra_special_tokens={"image_token": "<|image|>", "audio_token": "<|audio|>"},
    )
    whole, image, audio, end = ids_of(words, "<|endoftext|>", "<|image|>", "<|audio|>", "<|end|>")
    half = TEXT["hidden_size"] // TEXT["num_attention_heads"] // 2
    config = Phi4MultimodalConfig(
        **TEXT | {"max_position_embeddings": 131072},
        vocab_size=len(words),
        original_max_position_embeddings=4096,
        rope_parameters={"rope_type": "longrope", "short_factor": [1.0] * half, "long_factor": [2.0] * half}
        | {"original_max_position_embeddings": 4096, "partial_rotary_factor": 1.0},
        vision_config={"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
        | {"image_token_id": image},
        audio_config={"hidden_size": 32, "intermediate_size": 32, "num_blocks": 2, "num_attention_heads": 2}
        | {"ext_pw_out_channel": 32, "depthwise_separable_out_channel": 32, "nemo_conv_channels": 8}
        | {"audio_token_id": audio},
        bos_token_id=whole,
        eos_token_id=[whole, end],
        pad_token_id=whole,
        tie_word_embeddings=True,
        initializer_range=0.2,
    )
    model = Phi4MultimodalForCausalLM(config)
    model.generation_config = GenerationConfig(bos_token_id=whole, eos_token_id=[whole, end], pad_token_id=whole)
    processor = Phi4MultimodalProcessor(
        image_processor=Phi4MultimodalImageProcessor(dynamic_hd=2),
        audio_processor=Phi4MultimodalFeatureExtractor(),
        tokenizer=words,
        chat_template=TEMPLATE,
    )
    save(folder, model, processor, end=end)

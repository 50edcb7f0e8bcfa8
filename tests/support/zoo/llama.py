"""Llama's models that only read and that see, and the odd folders that people publish in its architecture."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from transformers import LlamaTokenizer

from tests.support.zoo.row_parts import ENDS, Id, Row, Size, decoder, ends, ids, of, part, square, text, tokens, tower
from tests.support.zoo.template_parts import ALTERNATE, loop, reply, show
from tests.support.zoo.tokenizer_parts import pieces, sentencepiece_bytes

DATE = (
    "{% if not date_string is defined %}{% if strftime_now is defined %}"
    "{% set date_string = strftime_now('%d %b %Y') %}{% else %}{% set date_string = '26 Jul 2024' %}{% endif %}{% endif %}"
)
ANSWER_3 = reply("{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}")
LLAMA3 = (
    "{{ bos_token }}" + DATE + "{% if messages[0]['role'] == 'system' %}{% set head = messages[0]['content'] | trim %}"
    "{% set messages = messages[1:] %}{% else %}{% set head = '' %}{% endif %}"
    "{{ '<|start_header_id|>system<|end_header_id|>\n\nToday: ' + date_string + '\n\n' + head + '<|eot_id|>' }}"
    + loop("{{ '<|start_header_id|>' + m['role'] + '<|end_header_id|>\n\n' + m['content'] | trim + '<|eot_id|>' }}")
    + ANSWER_3
)
LLAMA2 = (
    "{% if messages[0]['role'] == 'system' %}{% set turns = messages[1:] %}"
    "{% set head = '<<SYS>>\n' + messages[0]['content'] + '\n<</SYS>>\n\n' %}"
    "{% else %}{% set turns = messages %}{% set head = '' %}{% endif %}"
    + loop(
        ALTERNATE + "{% if m['role'] == 'user' %}{{ bos_token + '[INST] ' + (head if loop.first else '')"
        " + m['content'].strip() + ' [/INST]' }}{% else %}{{ ' ' + m['content'].strip() + ' ' + eos_token }}{% endif %}",
        "turns",
    )
)
CHATML = loop("{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}") + reply(
    "{{ '<|im_start|>assistant\n' }}"
)
PLAIN = "{% for message in messages %}### {{ message['role'] }}: {{ message['content'] }}\n{% endfor %}### assistant:"
# A system message is refused with images, and without images there is one by default.
MLLAMA = (
    "{{ bos_token }}"
    + DATE
    + "{% set head = '' %}{% set headed = messages[0]['role'] == 'system' %}"
    + "{% if headed %}{% set head = messages[0]['content'] | trim %}{% set messages = messages[1:] %}{% endif %}"
    + "{% set pictures = namespace(any=false) %}"
    + loop(
        "{% if m.content is not string and 'image' in m.content | map(attribute='type') %}{% set pictures.any = true %}{% endif %}"
    )
    + "{% if pictures.any and headed %}{{ raise_exception('No system message goes with images.') }}{% endif %}"
    + "{% if not pictures.any %}{{ '<|start_header_id|>system<|end_header_id|>\n\nToday Date: ' + date_string + '\n\n' }}"
    + "{{ head + '<|eot_id|>' }}{% endif %}"
    + loop(
        "{{ '<|start_header_id|>' + m['role'] + '<|end_header_id|>\n\n' }}"
        + show(("image", "<|image|>"))
        + "<|eot_id|>"
    )
    + ANSWER_3
)
LLAMA4 = (
    "{{ bos_token }}"
    + loop(
        "{{ '<|header_start|>' + m['role'] + '<|header_end|>\n\n' }}"
        + show(("image", "<|image|>"), text="{{ p.text | trim }}")
        + "<|eot|>"
    )
    + reply("{{ '<|header_start|>assistant<|header_end|>\n\n' }}")
)
HEADERS = ("<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>")
SAMPLE = of(do_sample=True, temperature=0.6, top_p=0.9)
ENDS_3 = [Id("<|end_of_text|>"), Id("<|eom_id|>"), Id("<|eot_id|>")]
ENDS_4 = [Id("<|end_of_text|>"), Id("<|eom|>"), Id("<|eot|>")]
STARTED = of(begin="<|begin_of_text|>", bos_token="<|begin_of_text|>")
WORDS_2 = partial(pieces, LlamaTokenizer, ("<unk>", "<s>", "</s>"), begin="<s>", legacy=False)
CHAT_WORDS = tokens("<|im_start|>", **ends("", "<|im_end|>", "<pad>"))


def open_gates(model: Any) -> Any:
    """Open the gates, which are initialised shut, so that images would not matter."""
    for name, weight in model.named_parameters():
        if name.endswith("_gate"):
            weight.data.fill_(1.0)
    return model


def first_sentencepiece() -> Any:
    """Return the tokenizer that transformers makes of a SentencePiece model alone."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "tokenizer.model").write_bytes(sentencepiece_bytes("bpe"))
        return LlamaTokenizer.from_pretrained(folder)


LLAMA2_ROW = Row(  # pieces that fall back to bytes, and the template in tokenizer_config.json alone
    "llama2",
    WORDS_2,
    kind="llama",
    config=text(pad_token_id=None),
    generation=of(pad_token_id=0, max_length=4096, **SAMPLE),
    changes={"tokenizer_config": of(chat_template=LLAMA2, tokenizer_class="LlamaTokenizer")},
)
TYPES = Row(  # a tokenizer without a list of what its model takes: it returns token_type_ids, which Llama refuses
    "llama_token_types",
    tokens(
        "<|im_start|>",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **ends("", "<|im_end|>", "<pad>"),
    ),
    CHATML,
    kind="llama",
    config=text(bos_token_id=None),
)
Row(  # no pad token, three ends, a scaled rope, and today's date in the template
    "llama3",
    tokens(*HEADERS, eos="<|eot_id|>", **STARTED),
    LLAMA3,
    kind="llama",
    config=text(eos_token_id=ENDS_3, tie_word_embeddings=True)
    | of(
        rope_parameters=of(rope_type="llama3", rope_theta=5e5, factor=8.0, low_freq_factor=1.0)
        | of(high_freq_factor=4.0, original_max_position_embeddings=4096)
    ),
    generation=of(eos_token_id=ENDS_3, **SAMPLE),
)
replace(  # as many early fine-tunes: tokenizer.model, and no tokenizer.json
    LLAMA2_ROW,
    name="llama_sentencepiece",
    words=first_sentencepiece,
    generation=of(pad_token_id=None, max_length=4096, **SAMPLE),
    changes={
        "tokenizer_config": of(chat_template=LLAMA2, tokenizer_class="LlamaTokenizer", add_bos_token=True)
        | of(add_eos_token=False, legacy=True, backend=None, is_local=None)
        | of(bos_token="<s>", eos_token="</s>", unk_token="<unk>")
    },
    without=["tokenizer.json"],
    files={"tokenizer.model": lambda: sentencepiece_bytes("bpe")},
)
replace(  # several templates by name, as a list in tokenizer_config.json
    TYPES,
    name="llama_named_templates",
    words=CHAT_WORDS,
    template=None,
    changes={
        "tokenizer_config": of(
            chat_template=[
                {"name": "default", "template": CHATML},
                {
                    "name": "tool_use",
                    "template": "{% if not tools %}{{ raise_exception('no tools') }}{% endif %}" + CHATML,
                },
                {"name": "rag", "template": "{{ documents | length }}" + CHATML},
            ]
        )
    },
)
Row(  # a tokenizer that names no special token; only the generation config knows how an answer ends
    "llama_no_pad_no_end",
    tokens("<|end|>", unk=None),
    PLAIN,
    kind="llama",
    config=text(bos_token_id=None, eos_token_id=Id("<|end|>"), pad_token_id=None),
    generation=ids(eos_token_id="<|end|>"),
    end="<|end|>",
)
Row(  # a ChatML fine-tune of a base model: config and generation config still name the base model's end
    "llama_im_end",
    tokens("</s> <|im_start|>", begin="<s>", **ends("<s>", "<|im_end|>")),
    CHATML,
    kind="llama",
    config=text(eos_token_id=Id("</s>")),
    generation=ids(eos_token_id="</s>"),
    end="</s>",
    say=("Ċ", "n", "a", "<|im_end|>", "Ċ"),  # after its <|im_end|> it goes on with anything
)
Row(  # a base model whose tokenizer_config.json names a class that is gone, and whose template is a separate file
    "llama_base",
    tokens(*HEADERS, **ends("<|begin_of_text|>", "<|end_of_text|>")),
    PLAIN,
    kind="llama",
    config=decoder(**ids(bos_token_id="<|begin_of_text|>", eos_token_id="<|end_of_text|>")),
    changes={"tokenizer_config": of(tokenizer_class="PreTrainedTokenizerFast")},
    without=["generation_config.json"],
)
Row(  # Llama 3.2 Vision, from which Bllossom's AICA comes
    "mllama",
    tokens(
        "<|end_of_text|> <|start_header_id|> <|end_header_id|> <|eom_id|> <|python_tag|> <|image|>",
        **STARTED,
        **ends("", "<|eot_id|>", "<|finetune_right_pad_id|>"),
    ),
    MLLAMA,
    # It reads the image's token, which is the last one, and never writes it.
    text=decoder(num_hidden_layers=3, cross_attention_layers=[1], vocab_size=Size(-1), **ENDS)
    | ids(eos_token_id="<|end_of_text|>"),
    vision=of(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_global_layers=1)
    | of(attention_heads=2, image_size=56, intermediate_layers_indices=[0], vision_output_dim=64),
    config=of(image_token_index=Id("<|image|>")),
    image=part(size=square(56)),
    generation=of(eos_token_id=ENDS_3, **SAMPLE),
    adapt=open_gates,
    version_4="PreTrainedTokenizerFast",
    changes={"tokenizer_config": of(chat_template=MLLAMA)},
)
Row(
    "llama4",
    tokens(
        "<|end_of_text|> <|header_start|> <|header_end|> <|eom|> <|image_start|> <|image_end|>",
        "<|tile_x_separator|> <|tile_y_separator|> <|image|> <|patch|>",
        **STARTED,
        **ends("", "<|eot|>", "<|finetune_right_pad|>"),
    ),
    LLAMA4,
    text=decoder(head_dim=16, intermediate_size=64, intermediate_size_mlp=128, num_local_experts=4)
    | of(**ENDS)
    | of(no_rope_layers=[1, 0], eos_token_id=ENDS_4),
    vision=tower(intermediate_size=128, image_size=56, vision_output_dim=64)
    | of(projector_input_dim=64, projector_output_dim=64),
    config=ids(boi_token_index="<|image_start|>", eoi_token_index="<|image_end|>", image_token_index="<|patch|>"),
    image=part(size=square(56), max_patches=4),
    generation=of(eos_token_id=ENDS_4, **SAMPLE),
    version_4="PreTrainedTokenizer",
    template_file="chat_template.jinja",
    changes={"preprocessor_config": of(image_processor_type="Llama4ImageProcessorFast")},
)

"""Build real models that are small enough to run anywhere, with random but reproducible weights.

Their answers are nonsense. They show that the whole way from a model folder to a row on the board works.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    BertConfig,
    BertForQuestionAnswering,
    CLIPImageProcessorPil,
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    ModernBertConfig,
    ModernBertForQuestionAnswering,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForQuestionAnswering,
)

from submissions.config.paths import SAMPLES

# Sample sets that the tokenizers are trained on. New benchmarks are not added, so that the models stay the same.
CORPUS = ("infochartqa", "ko-vdc", "ko-vqa", "korquad-2")
CARD = "---\nlicense: apache-2.0\n---\nA tiny model with random weights, for trying out the board.\n"
TEMPLATE = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>' }}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}{% endfor %}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


@dataclass(frozen=True)
class ChatSize:
    """The size of a LLaVA: its language model, its vision model, and the pixels of a side of its pictures."""

    hidden: int
    intermediate: int
    layers: int
    heads: int
    vision_hidden: int
    vision_layers: int
    vision_heads: int
    side: int
    patch: int


TINY = ChatSize(64, 128, 2, 2, vision_hidden=32, vision_layers=2, vision_heads=2, side=32, patch=8)
# As Qwen2.5-VL-3B, whose vocabulary is larger: about 2.9 billion parameters, and 576 tokens for a picture.
LARGE = ChatSize(2048, 11_008, 36, 16, vision_hidden=1024, vision_layers=24, vision_heads=16, side=336, patch=14)


def make_image_text(folder: Path, max_positions: int = 4096, *, ends: bool = True, size: ChatSize = TINY) -> Path:
    """Build a LLaVA, by default of about 370,000 parameters for 32-pixel images.

    Without `ends` it hardly ever ends an answer.
    """
    torch.manual_seed(0)
    tokenizer = _tokenizer(["<image>", "<|user|>", "<|assistant|>", "<|end|>", "<pad>"], pad="<pad>", eos="<|end|>")
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(
            hidden_size=size.vision_hidden,
            intermediate_size=2 * size.vision_hidden,
            num_hidden_layers=size.vision_layers,
            num_attention_heads=size.vision_heads,
            image_size=size.side,
            patch_size=size.patch,
            projection_dim=size.vision_hidden,
        ),
        text_config=LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=size.hidden,
            intermediate_size=size.intermediate,
            num_hidden_layers=size.layers,
            num_attention_heads=size.heads,
            max_position_embeddings=max_positions,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
        ),
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
    )
    model = LlavaForConditionalGeneration(config)
    if ends:  # random weights hardly ever end an answer, so make the end token likely
        with torch.no_grad():
            model.lm_head.weight[tokenizer.eos_token_id] *= 2
    processor = LlavaProcessor(
        image_processor=CLIPImageProcessorPil(
            size={"shortest_edge": size.side}, crop_size={"height": size.side, "width": size.side}
        ),
        tokenizer=tokenizer,
        patch_size=size.patch,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        image_token="<image>",
        chat_template=TEMPLATE,
    )
    return _save(folder, model, processor)


def make_extractive(folder: Path, family: str = "bert", *, large: bool = False) -> Path:
    """Build an extractive encoder: bert, roberta, or modernbert with a long context.

    It has about 220,000 parameters, or if `large` the layers of BERT base.
    """
    torch.manual_seed(0)
    length = 8192 if family == "modernbert" else 512
    tokenizer = _tokenizer(
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
        pad="[PAD]",
        eos=None,
        length=length,
        has_token_types=family == "bert",
    )
    # RoBERTa's first position is the one after the padding index.
    size = {"max_position_embeddings": length + 1 if family == "roberta" else length, "vocab_size": len(tokenizer)}
    if large:
        size |= {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
    else:
        size |= {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 128}
    config, model = {
        "bert": (BertConfig, BertForQuestionAnswering),
        "roberta": (RobertaConfig, RobertaForQuestionAnswering),
        "modernbert": (ModernBertConfig, ModernBertForQuestionAnswering),
    }[family]
    special = {"pad_token_id": 0, "cls_token_id": 2, "bos_token_id": 2, "sep_token_id": 3, "eos_token_id": 3}
    return _save(folder, model(config(**size, **special)), tokenizer)


def _save(folder: Path, model: Any, processor: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    return folder


def _tokenizer(special: list[str], pad: str, eos: str | None, length: int = 4096, has_token_types: bool = False) -> Any:
    """Train a byte-level BPE tokenizer of 2,000 tokens on the sample sets."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=2000, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(_texts(), trainer)
    is_encoder = eos is None
    if is_encoder:  # its tokenizer puts special tokens around its two texts
        from tokenizers.processors import TemplateProcessing

        ids = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
        tokenizer.post_processor = TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ids
        )
        return PreTrainedTokenizerFast(
            tokenizer_object=tokenizer,
            pad_token=pad,
            model_max_length=length,
            model_input_names=["input_ids", *(["token_type_ids"] if has_token_types else []), "attention_mask"],
        )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=pad, eos_token=eos, model_max_length=length)


def _texts() -> Iterable[str]:
    files = [path for name in CORPUS for path in (SAMPLES / name).rglob("*")]
    for ending in (".jsonl", ".html"):
        for path in sorted(path for path in files if path.suffix == ending):
            yield path.read_text(encoding="utf-8")


def main(folder: str) -> None:
    """Build the two models that the tests use as HANNUN_MODELS_DIR."""
    make_image_text(Path(folder) / "tiny/image-text")
    make_extractive(Path(folder) / "tiny/extractive")


if __name__ == "__main__":
    main(sys.argv[1])

"""What the builders share: tokenizers trained in place, sizes, and saving."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from submissions.config.paths import SAMPLES
from tests.support.tiny_models import CORPUS

CARD = "---\nlicense: apache-2.0\n---\nA tiny model with random weights, for tests.\n"
# A decoder of about 100,000 parameters. Families add what is theirs.
TEXT = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 8192,
}


@cache
def byte_bpe(size: int) -> str:
    """A byte-level BPE learned from the sample sets, as JSON."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(texts(), trainer)
    return str(tokenizer.to_str())


def texts() -> list[str]:
    """What the tokenizers are learned from."""
    return [(SAMPLES / name / "items.jsonl").read_text(encoding="utf-8") for name in CORPUS]


def byte_level(special: Sequence[str], *, size: int = 1000, **settings: Any) -> Any:
    """A byte-level BPE tokenizer with these special tokens behind its own; `settings` are PreTrainedTokenizerFast's."""
    tokenizer = Tokenizer.from_str(byte_bpe(size))
    settings.setdefault("model_max_length", 8192)
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **settings)
    made.add_special_tokens({"additional_special_tokens": [t for t in special if t not in made.get_vocab()]})
    return made


def save(folder: Path, model: Any, processor: Any, *, end: int | None = None) -> None:
    """Write the folder. With `end`, a token id, that token is made likely, so that answers end."""
    with torch.no_grad():  # what a model is born with at zero would hide its image
        for weight in model.parameters():
            if weight.dim() > 1 and not weight.any():
                weight.normal_(std=0.1)
    head = model.get_output_embeddings()
    if end is not None and head is not None:
        with torch.no_grad():
            head.weight[end] *= 2
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    (folder / "README.md").write_text(CARD, encoding="utf-8")


def change_json(file: Path, **changes: Any) -> None:
    """Write keys into a JSON file, which need not be there before; None takes one out."""
    content = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    kept = {key: value for key, value in (content | changes).items() if value is not None}
    file.write_text(json.dumps(kept, ensure_ascii=False, indent=2), encoding="utf-8")

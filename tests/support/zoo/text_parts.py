"""What the builders of text models and encoders share."""

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import AutoModelForCausalLM, GenerationConfig

from tests.support.zoo.parts import byte_bpe, save, texts


def byte_vocabulary(
    first: Sequence[str], last: Sequence[str] = (), *, size: int = 1000
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """The same BPE as tokens by number, between these ones, and merges."""
    model = json.loads(byte_bpe(size))["model"]
    names = [*first, *model["vocab"], *last]
    return {name: number for number, name in enumerate(names)}, [tuple(pair) for pair in model["merges"]]


def alphabet(size: int) -> list[str]:
    """The most frequent letters of the sample sets; which of equally frequent ones is always the same."""
    counts = Counter("".join(texts()).replace(" ", "▁"))
    return sorted(counts, key=lambda letter: (-counts[letter], letter))[:size]


@cache
def _pieces(size: int) -> str:
    """A BPE over pieces as SentencePiece makes it, that falls back to bytes, as JSON: vocabulary and merges."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    letters = alphabet(200)
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=letters, limit_alphabet=200, show_progress=False)
    tokenizer.train_from_iterator(texts(), trainer)
    return str(tokenizer.to_str())


def pieces(kind: Any, first: Sequence[str], special: Sequence[str] = (), *, size: int = 700, **settings: Any) -> Any:
    """A tokenizer of this class over a SentencePiece-like BPE: `first` tokens, 256 bytes, pieces, `special` tokens."""
    model = json.loads(_pieces(size))["model"]
    names = [*first, *(f"<0x{byte:02X}>" for byte in range(256))]
    names += [piece for piece in model["vocab"] if piece not in names]
    settings.setdefault("model_max_length", 8192)
    merges = [tuple(pair) for pair in model["merges"]]
    made = kind(vocab={name: number for number, name in enumerate(names)}, merges=merges, **settings)
    made.add_special_tokens({"additional_special_tokens": [t for t in special if t not in made.get_vocab()]})
    return made


@cache
def sentencepiece_bytes(kind: str, size: int = 600) -> bytes:
    """A SentencePiece model, `bpe` or `unigram`, as the library itself writes it."""
    from sentencepiece import SentencePieceTrainer

    written = BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(line[:500] for text in texts() for line in text.splitlines()[:60]),
        model_writer=written,
        model_type=kind,
        vocab_size=size,
        character_coverage=0.98,
        byte_fallback=kind == "bpe",
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
    )
    return written.getvalue()


def begins(words: Any, first: str) -> Any:
    """The tokenizer, that puts this token first where special tokens are wanted."""
    number = words.convert_tokens_to_ids(first)
    words.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A", pair=f"{first} $A {first}:1 $B:1", special_tokens=[(first, number)]
    )
    return words


def chat(
    folder: Path,
    words: Any,
    config: Any,
    template: str | None,
    *,
    end: str,
    say: Sequence[str] = (),
    **generation: Any,
) -> None:
    """Write a text model that chats: `end` is made likely, and `say` are tokens that follow each other, from a prompt's last."""
    torch.manual_seed(0)
    config.initializer_range = 0.1  # large enough for a prompt to matter
    model = AutoModelForCausalLM.from_config(config)
    if say:
        _teach(model, [int(number) for number in words.convert_tokens_to_ids(list(say))])
    model.generation_config = GenerationConfig(**generation)
    if template:
        words.chat_template = template
    save(folder, model, words, end=words.convert_tokens_to_ids(end))


@torch.no_grad()  # type: ignore[untyped-decorator]
def _teach(model: Any, numbers: Sequence[int]) -> None:
    """After each of these tokens the next one is by far the likeliest. The head must not be tied to the embeddings."""
    embeddings, head = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    for before, after in pairwise(numbers):
        embeddings[before] *= 1 / embeddings[before].std()
        head[after] += embeddings[before] / 8

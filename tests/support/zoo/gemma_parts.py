"""Vocabularies and merges for tokenizer classes that are built from them, as Gemma's and Cohere's are."""

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from tests.support.zoo.parts import byte_bpe, texts


@cache
def _pieces(size: int) -> str:
    """A BPE over words that begin with ▁, as SentencePiece learns it from the sample sets, as JSON."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    counts = Counter("".join(texts()).replace(" ", "▁"))
    letters = sorted(counts, key=lambda letter: (-counts[letter], letter))[:300]  # rarer ones fall back to bytes
    trainer = trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=letters, limit_alphabet=len(letters), show_progress=False
    )
    tokenizer.train_from_iterator(texts(), trainer)
    return str(tokenizer.to_str())


def byte_fallback(first: Sequence[str], *, size: int = 700) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Vocabulary and merges of a SentencePiece BPE: these tokens first, then the 256 bytes, then what was learned."""
    learned = json.loads(_pieces(size))["model"]
    tokens = [*first, *(f"<0x{n:02X}>" for n in range(256)), *learned["vocab"]]
    vocabulary = {token: index for index, token in enumerate(dict.fromkeys(tokens))}
    return vocabulary, [tuple(pair) for pair in learned["merges"]]


def ids_of(words: Any, *tokens: str) -> list[int]:
    """The ids of tokens that must be in the vocabulary."""
    vocabulary = words.get_vocab()
    return [vocabulary[token] for token in tokens]


def byte_pieces(first: Sequence[str], *, size: int = 1000) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Vocabulary and merges of the byte-level BPE, behind these tokens."""
    learned = json.loads(byte_bpe(size))["model"]
    tokens = dict.fromkeys([*first, *learned["vocab"]])
    return {token: index for index, token in enumerate(tokens)}, [tuple(pair) for pair in learned["merges"]]

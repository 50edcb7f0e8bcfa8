"""What the builders of extractive models share: tokenizers of words and pieces, and frames around two texts."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoModelForQuestionAnswering

from tests.support.zoo.parts import CARD, texts
from tests.support.zoo.text_parts import alphabet

SIZE = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "max_position_embeddings": 512,
}


@cache
def _words(size: int) -> str:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    letters = [letter for letter in alphabet(400) if letter.strip()]
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, initial_alphabet=letters, limit_alphabet=len(letters), show_progress=False
    )
    tokenizer.train_from_iterator(texts(), trainer)
    return str(tokenizer.to_str())


def word_vocabulary(first: tuple[str, ...], size: int = 1200) -> dict[str, int]:
    """Words and ends of words by number, behind these tokens."""
    learned = json.loads(_words(size))["model"]["vocab"]
    names = [*first, *(name for name in learned if name not in first)]
    return {name: number for number, name in enumerate(names)}


def piece_vocabulary(first: tuple[str, ...], last: tuple[str, ...] = ()) -> list[tuple[str, float]]:
    """Pieces with their scores, as a Unigram model has them."""
    learned = [(name, score) for name, score in _unigram() if name not in (*first, *last)]
    return [*((name, 0.0) for name in first), *learned, *((name, 0.0) for name in last)]


@cache
def _unigram() -> list[tuple[str, float]]:
    from sentencepiece import SentencePieceProcessor

    from tests.support.zoo.text_parts import sentencepiece_bytes

    model = SentencePieceProcessor(model_proto=sentencepiece_bytes("unigram"))
    return [(model.id_to_piece(n), model.get_score(n)) for n in range(model.get_piece_size())]


def framed(words: Any, first: str, last: str, *, double: bool = False, types: bool = False, own: int = 0) -> Any:
    """The tokenizer, that frames two texts: BERT's way, or with a `double` end between them as RoBERTa."""
    second = int(types)
    between = f"{last} {last}:{second}" if double else last
    words.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first}:{own} $A {last}",
        pair=f"{first}:{own} $A {between} $B:{second} {last}:{second}",
        special_tokens=[(name, words.convert_tokens_to_ids(name)) for name in sorted({first, last})],
    )
    return words


def span_model(folder: Path, words: Any, config: Any, *, kind: Any = None) -> None:
    """Write an encoder with a question-answering head."""
    torch.manual_seed(0)
    if hasattr(config, "initializer_range"):
        config.initializer_range = 0.1
    model = kind(config) if kind else AutoModelForQuestionAnswering.from_config(config)
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    (folder / "README.md").write_text(CARD, encoding="utf-8")

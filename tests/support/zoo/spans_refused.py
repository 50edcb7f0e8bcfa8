"""Models with a question-answering head that the engine cannot run: the check says so before anything is queued."""

from pathlib import Path

from transformers import CanineConfig, CanineTokenizer, XLNetConfig, XLNetForQuestionAnswering, XLNetTokenizer

from tests.support.zoo import family
from tests.support.zoo.spans import piece_vocabulary, span_model


@family("xlnet", engine="extractive", takes_images=False)
def xlnet(folder: Path) -> None:
    """As published: with the head that searches by itself, which AutoModelForQuestionAnswering does not load."""
    pieces = piece_vocabulary(("<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"))
    words = XLNetTokenizer(vocab=pieces, keep_accents=True, model_max_length=512)
    own = XLNetConfig(vocab_size=len(words), d_model=64, n_layer=2, n_head=2, d_inner=128, pad_token_id=5)
    span_model(folder, words, own, kind=XLNetForQuestionAnswering)


@family("canine", engine="extractive", takes_images=False)
def canine(folder: Path) -> None:
    """Characters, and no fast tokenizer: no offsets."""
    own = CanineConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=2048,
        num_hash_buckets=512,
        local_transformer_stride=16,
        bos_token_id=0xE000,
        eos_token_id=0xE001,
    )
    span_model(folder, CanineTokenizer(model_max_length=2048), own)

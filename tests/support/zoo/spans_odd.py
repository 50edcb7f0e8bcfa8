"""Extractive models with a decoder: it reads the same text once more, and points at spans for every token of it."""

from pathlib import Path

from transformers import (
    BartConfig,
    MT5Config,
    RobertaTokenizer,
    T5Config,
    T5Tokenizer,
    XLNetConfig,
    XLNetTokenizer,
)

from tests.support.zoo import family
from tests.support.zoo.spans import framed, piece_vocabulary, span_model
from tests.support.zoo.text_parts import byte_vocabulary

T5 = {"d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 2}


@family("bart", engine="extractive", takes_images=False)
def bart(folder: Path) -> None:
    names, merges = byte_vocabulary(("<s>", "<pad>", "</s>", "<unk>"), ("<mask>",))
    words = framed(RobertaTokenizer(vocab=names, merges=merges, model_max_length=512), "<s>", "</s>", double=True)
    own = BartConfig(
        vocab_size=len(words),
        d_model=64,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=128,
        decoder_ffn_dim=128,
        max_position_embeddings=512,
    )
    span_model(folder, words, own)


def _t5() -> T5Tokenizer:
    extra = tuple(f"<extra_id_{n}>" for n in range(99, -1, -1))
    return T5Tokenizer(vocab=piece_vocabulary(("<pad>", "</s>", "<unk>"), extra), model_max_length=512)


@family("t5", engine="extractive", takes_images=False)
def t5(folder: Path) -> None:
    words = _t5()
    span_model(folder, words, T5Config(**T5, vocab_size=len(words), decoder_start_token_id=0))


@family("mt5", engine="extractive", takes_images=False)
def mt5(folder: Path) -> None:
    words = _t5()
    span_model(folder, words, MT5Config(**T5, vocab_size=len(words), feed_forward_proj="gated-gelu"))


@family("xlnet_simple", engine="extractive", takes_images=False)
def xlnet_simple(folder: Path) -> None:
    """Without a decoder, but as odd: its frame stands behind the texts, it pads on the left, and its length is -1."""
    pieces = piece_vocabulary(("<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"))
    words = XLNetTokenizer(vocab=pieces, keep_accents=True, model_max_length=512)
    span_model(
        folder, words, XLNetConfig(vocab_size=len(words), d_model=64, n_layer=2, n_head=2, d_inner=128, pad_token_id=5)
    )

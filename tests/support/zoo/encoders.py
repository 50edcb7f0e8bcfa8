"""Extractive models over whole words: BERT and what came after it."""

from pathlib import Path
from typing import Any

from transformers import (
    BertConfig,
    BertTokenizer,
    DistilBertConfig,
    ElectraConfig,
    FunnelConfig,
    FunnelTokenizer,
    MobileBertConfig,
    MPNetConfig,
    MPNetTokenizer,
    RobertaConfig,
)

from tests.support.zoo import family
from tests.support.zoo.parts import change_json
from tests.support.zoo.spans import SIZE, framed, span_model, word_vocabulary

FIRST = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def tokenizer(**settings: Any) -> Any:
    made = BertTokenizer(
        vocab=word_vocabulary(FIRST),
        **{"do_lower_case": False, "strip_accents": False, "model_max_length": 512, **settings},
    )
    return framed(made, "[CLS]", "[SEP]", types=True)


@family("bert", engine="extractive", takes_images=False)
def bert(folder: Path) -> None:
    words = tokenizer()
    span_model(folder, words, BertConfig(**SIZE, vocab_size=len(words), pad_token_id=0))


@family("klue_roberta", engine="extractive", takes_images=False)
def klue_roberta(folder: Path) -> None:
    """RoBERTa with BERT's tokenizer: it hands out type ids up to 1, of which the model knows only 0."""
    words = tokenizer(bos_token="[CLS]", eos_token="[SEP]")
    own = RobertaConfig(
        **{**SIZE, "max_position_embeddings": 514},
        vocab_size=len(words),
        type_vocab_size=1,
        pad_token_id=1,  # as published: the config's and the tokenizer's differ
        bos_token_id=0,
        eos_token_id=2,
    )
    span_model(folder, words, own)
    config = {"tokenizer_class": "BertTokenizer", "gradient_checkpointing": False}
    change_json(folder / "config.json", **config)


@family("koelectra", engine="extractive", takes_images=False)
def koelectra(folder: Path) -> None:
    """Embeddings narrower than the model; words in vocab.txt alone, and hardly a tokenizer_config.json."""
    words = tokenizer()
    own = ElectraConfig(**SIZE, vocab_size=len(words), embedding_size=32, pad_token_id=0, summary_type="first")
    span_model(folder, words, own)
    names = sorted(words.get_vocab().items(), key=lambda pair: pair[1])
    (folder / "vocab.txt").write_text("".join(f"{name}\n" for name, _ in names), encoding="utf-8")
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false, "model_max_length": 512}', encoding="utf-8")


@family("distilbert", engine="extractive", takes_images=False)
def distilbert(folder: Path) -> None:
    """Knows no type ids at all, and its tokenizer hands some out."""
    words = tokenizer()
    own = DistilBertConfig(vocab_size=len(words), dim=64, hidden_dim=128, n_layers=2, n_heads=2, pad_token_id=0)
    span_model(folder, words, own)


@family("mobilebert", engine="extractive", takes_images=False)
def mobilebert(folder: Path) -> None:
    words = tokenizer(do_lower_case=True)
    own = MobileBertConfig(
        **{**SIZE, "num_attention_heads": 2},
        vocab_size=len(words),
        embedding_size=32,
        intra_bottleneck_size=32,
        true_hidden_size=32,
        num_feedforward_networks=2,
        pad_token_id=0,
    )
    span_model(folder, words, own)


@family("funnel", engine="extractive", takes_images=False)
def funnel(folder: Path) -> None:
    """Pools its input and stretches it again; the first token has a type of its own, and positions have no table."""
    first = ("<pad>", "<unk>", "<cls>", "<sep>", "<mask>", "<s>", "</s>")
    words = framed(
        FunnelTokenizer(vocab=word_vocabulary(first), do_lower_case=False, strip_accents=False, model_max_length=512),
        "<cls>",
        "<sep>",
        types=True,
        own=2,
    )
    own = FunnelConfig(vocab_size=len(words), block_sizes=[1, 1], d_model=64, n_head=2, d_head=32, d_inner=128)
    span_model(folder, words, own)


@family("mpnet", engine="extractive", takes_images=False)
def mpnet(folder: Path) -> None:
    """Counts positions as RoBERTa does, over words as BERT's."""
    first = ("<s>", "<pad>", "</s>", "<unk>", "[UNK]", "<mask>")
    made = MPNetTokenizer(vocab=word_vocabulary(first), do_lower_case=False, strip_accents=False, model_max_length=512)
    words = framed(made, "<s>", "</s>", double=True)
    own = MPNetConfig(
        **{**SIZE, "max_position_embeddings": 514},
        vocab_size=len(words),
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    span_model(folder, words, own)

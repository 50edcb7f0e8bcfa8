"""Extractive models over pieces, of SentencePiece or of bytes."""

from pathlib import Path
from typing import Any

from transformers import (
    AlbertConfig,
    AlbertTokenizer,
    BertTokenizer,
    BigBirdConfig,
    CamembertConfig,
    CamembertTokenizer,
    DebertaV2Config,
    DebertaV2Tokenizer,
    IBertConfig,
    LongformerConfig,
    ModernBertConfig,
    PreTrainedTokenizerFast,
    RemBertConfig,
    RemBertTokenizer,
    RobertaTokenizer,
    XLMRobertaConfig,
    XLMRobertaTokenizer,
)

from tests.support.zoo import family
from tests.support.zoo.parts import byte_level, change_json
from tests.support.zoo.spans import SIZE, framed, piece_vocabulary, span_model, word_vocabulary
from tests.support.zoo.text_parts import byte_vocabulary, sentencepiece_bytes

ROBERTA = {
    "max_position_embeddings": 514,
    "type_vocab_size": 1,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
}


@family("kobigbird", engine="extractive", takes_images=False)
def kobigbird(folder: Path) -> None:
    """Block-sparse attention, which falls back to full attention for a short input and stays there. BERT's words."""
    first = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<s>", "</s>")
    made = BertTokenizer(
        vocab=word_vocabulary(first),
        do_lower_case=False,
        strip_accents=False,
        model_max_length=1024,
        bos_token="<s>",
        eos_token="</s>",
    )
    words = framed(made, "[CLS]", "[SEP]", types=True)
    own = BigBirdConfig(
        **{**SIZE, "max_position_embeddings": 1024},
        vocab_size=len(words),
        attention_type="block_sparse",
        block_size=16,
        num_random_blocks=3,
        pad_token_id=0,
        bos_token_id=5,
        eos_token_id=6,
        sep_token_id=3,
    )
    span_model(folder, words, own)
    change_json(folder / "config.json", tokenizer_class="BertTokenizer")


@family("modernbert_long", engine="extractive", takes_images=False)
def modernbert_long(folder: Path) -> None:
    special = ("[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]")
    names: dict[str, Any] = {
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "pad_token": "[PAD]",
        "mask_token": "[MASK]",
    }
    made = byte_level(special, model_max_length=2048, model_input_names=["input_ids", "attention_mask"], **names)
    words = framed(made, "[CLS]", "[SEP]")
    ids = {f"{name}_token_id": words.convert_tokens_to_ids(f"[{name.upper()}]") for name in ("pad", "cls", "sep")}
    own = ModernBertConfig(
        **{**SIZE, "max_position_embeddings": 2048},
        vocab_size=len(words),
        local_attention=32,
        bos_token_id=ids["cls_token_id"],
        eos_token_id=ids["sep_token_id"],
        **ids,
    )
    span_model(folder, words, own)


@family("deberta_v2", engine="extractive", takes_images=False)
def deberta_v2(folder: Path) -> None:
    """mDeBERTa: relative positions, no type embeddings, and a tokenizer that does not say how much it takes."""
    pieces = piece_vocabulary(("[PAD]", "[CLS]", "[SEP]", "[UNK]"), ("[MASK]",))
    words = framed(DebertaV2Tokenizer(vocab=pieces, split_by_punct=False), "[CLS]", "[SEP]", types=True)
    own = DebertaV2Config(
        **SIZE,
        vocab_size=len(words) + 7,
        type_vocab_size=0,
        relative_attention=True,
        position_buckets=64,
        max_relative_positions=-1,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        pos_att_type=["p2c", "c2p"],
        position_biased_input=False,
        pad_token_id=0,
    )
    span_model(folder, words, own)


@family("albert", engine="extractive", takes_images=False)
def albert(folder: Path) -> None:
    pieces = piece_vocabulary(("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"))
    made = AlbertTokenizer(vocab=pieces, do_lower_case=False, keep_accents=True, model_max_length=512)
    words = framed(made, "[CLS]", "[SEP]", types=True)
    own = AlbertConfig(**SIZE, vocab_size=len(words), embedding_size=32, pad_token_id=0, bos_token_id=2, eos_token_id=3)
    span_model(folder, words, own)


def _roberta_pieces(kind: Any) -> Any:
    pieces = piece_vocabulary(("<s>", "<pad>", "</s>", "<unk>"), ("<mask>",))
    return framed(kind(vocab=pieces, model_max_length=512), "<s>", "</s>", double=True)


@family("xlm_roberta", engine="extractive", takes_images=False)
def xlm_roberta(folder: Path) -> None:
    words = _roberta_pieces(XLMRobertaTokenizer)
    span_model(folder, words, XLMRobertaConfig(**{**SIZE, **ROBERTA}, vocab_size=len(words)))


@family("ibert", engine="extractive", takes_images=False)
def ibert(folder: Path) -> None:
    """Its embeddings are not of torch's class, and have no `num_embeddings`."""
    words = _roberta_pieces(XLMRobertaTokenizer)
    span_model(folder, words, IBertConfig(**{**SIZE, **ROBERTA}, vocab_size=len(words)))


@family("camembert", engine="extractive", takes_images=False)
def camembert(folder: Path) -> None:
    words = _roberta_pieces(CamembertTokenizer)
    span_model(folder, words, CamembertConfig(**{**SIZE, **ROBERTA}, vocab_size=len(words)))


@family("rembert", engine="extractive", takes_images=False)
def rembert(folder: Path) -> None:
    pieces = piece_vocabulary(("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"))
    made = RemBertTokenizer(vocab=pieces, model_max_length=512)
    words = framed(made, "[CLS]", "[SEP]", types=True)
    own = RemBertConfig(
        **SIZE,
        vocab_size=len(words),
        input_embedding_size=32,
        output_embedding_size=32,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
    )
    span_model(folder, words, own)


@family("longformer", engine="extractive", takes_images=False)
def longformer(folder: Path) -> None:
    """Pads itself to its window, and gives the question, up to the third separator, a view of everything."""
    names, merges = byte_vocabulary(("<s>", "<pad>", "</s>", "<unk>"), ("<mask>",))
    words = framed(RobertaTokenizer(vocab=names, merges=merges, model_max_length=1024), "<s>", "</s>", double=True)
    own = LongformerConfig(
        **{**SIZE, **ROBERTA, "max_position_embeddings": 1026},
        vocab_size=len(words),
        attention_window=[32, 32],
        sep_token_id=2,
    )
    span_model(folder, words, own)


@family("xlm_roberta_sentencepiece", engine="extractive", takes_images=False)
def xlm_roberta_sentencepiece(folder: Path) -> None:
    """As its makers first published it: sentencepiece.bpe.model, and no tokenizer.json."""
    words = _roberta_pieces(XLMRobertaTokenizer)
    own = XLMRobertaConfig(**{**SIZE, **ROBERTA}, vocab_size=len(words) + 8)
    span_model(folder, words, own)
    (folder / "tokenizer.json").unlink()
    (folder / "sentencepiece.bpe.model").write_bytes(sentencepiece_bytes("unigram"))
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 512}', encoding="utf-8")


@family("roberta_fast", engine="extractive", takes_images=False)
def roberta_fast(folder: Path) -> None:
    """A tokenizer of no class in particular, that says neither how much it takes nor what its model takes."""
    special = {"cls_token": "<s>", "pad_token": "<pad>", "sep_token": "</s>", "unk_token": "<unk>"}
    made = PreTrainedTokenizerFast(
        tokenizer_object=byte_level(tuple(special.values())).backend_tokenizer,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **special,
    )
    words = framed(made, "<s>", "</s>", double=True)
    ids = {"bos_token_id": "<s>", "pad_token_id": "<pad>", "eos_token_id": "</s>"}
    numbers = {name: words.convert_tokens_to_ids(token) for name, token in ids.items()}
    size = 513 + numbers["pad_token_id"]
    own = XLMRobertaConfig(**{**SIZE, **ROBERTA, **numbers, "max_position_embeddings": size}, vocab_size=len(words))
    span_model(folder, words, own)

"""Extractive models: encoders over words, pieces and bytes, some with a decoder, and those that the engine cannot run."""

from dataclasses import replace
from typing import Any

import transformers
from transformers import PreTrainedTokenizerFast

from tests.support.zoo.row_parts import SIZE, Row, Settings, Size, Words, ids, of
from tests.support.zoo.tokenizer_parts import (
    byte_level,
    byte_vocabulary,
    framed,
    piece_vocabulary,
    sentencepiece_bytes,
    word_vocabulary,
)


def reader(name: str, config: Settings, words: Words, **settings: Any) -> Row:
    """Return the row of a model with a question-answering head."""
    return Row(name, words, config=config, engine="extractive", **settings)


def small(**settings: Any) -> dict[str, Any]:
    """Return the config of a small encoder."""
    size = of(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=2)
    return {**size, "max_position_embeddings": 512, "vocab_size": SIZE, "initializer_range": 0.1, **settings}


def words(kind: str, first: tuple[str, ...], frame: tuple[str, str], **settings: Any) -> Words:
    """Return a maker of a tokenizer of whole words, with the tokens that frame two texts."""
    how = {key: settings.pop(key) for key in ("double", "types", "own") if key in settings}
    settings = {"do_lower_case": False, "strip_accents": False, "model_max_length": 512, **settings}
    return lambda: framed(getattr(transformers, kind)(vocab=word_vocabulary(first), **settings), *frame, **how)


def unigram(
    kind: str, first: tuple[str, ...], last: tuple[str, ...] = (), frame: tuple[str, str] | None = None, **settings: Any
) -> Words:
    """Return a maker of a SentencePiece Unigram tokenizer."""
    how = {key: settings.pop(key) for key in ("double", "types") if key in settings}

    def make() -> Any:
        made = getattr(transformers, kind)(vocab=piece_vocabulary(first, last), **settings)
        return framed(made, *frame, **how) if frame else made

    return make


def roberta_bytes(length: int) -> Words:
    """Return a maker of RoBERTa's tokenizer of bytes."""

    def make() -> Any:
        vocabulary, merges = byte_vocabulary(ROBERTA_FIRST, ("<mask>",))
        made = transformers.RobertaTokenizer(vocab=vocabulary, merges=merges, model_max_length=length)
        return framed(made, *ROBERTA_FRAME, double=True)

    return make


def modern_words() -> Any:
    """Return ModernBERT's tokenizer, a byte-level BPE with BERT's special tokens."""
    named: dict[str, Any] = {f"{name}_token": f"[{name.upper()}]" for name in ("unk", "cls", "sep", "pad", "mask")}
    inputs = ["input_ids", "attention_mask"]
    return framed(byte_level(model_max_length=2048, model_input_names=inputs, **named), *BERT_FRAME)


def fast_words() -> Any:
    """Return a tokenizer of no class in particular, that says neither how much it takes nor what its model takes."""
    special = {"cls_token": "<s>", "pad_token": "<pad>", "sep_token": "</s>", "unk_token": "<unk>"}
    backend = byte_level(tuple(special.values())).backend_tokenizer
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    made = PreTrainedTokenizerFast(tokenizer_object=backend, model_input_names=inputs, **special)
    return framed(made, *ROBERTA_FRAME, double=True)


BERT_FIRST = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
BERT_FRAME = ("[CLS]", "[SEP]")
ROBERTA_FIRST = ("<s>", "<pad>", "</s>", "<unk>")
ROBERTA_FRAME = ("<s>", "</s>")
ALBERT_FIRST = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
XLNET_FIRST = ("<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>")
BERT = words("BertTokenizer", BERT_FIRST, BERT_FRAME, types=True)
ROBERTA_ENDS = of(pad_token_id=1, bos_token_id=0, eos_token_id=2)
ROBERTA = small(max_position_embeddings=514, type_vocab_size=1, **ROBERTA_ENDS)
XLM_WORDS = unigram("XLMRobertaTokenizer", ROBERTA_FIRST, ("<mask>",), ROBERTA_FRAME, double=True, model_max_length=512)
CAMEMBERT_WORDS = unigram(
    "CamembertTokenizer", ROBERTA_FIRST, ("<mask>",), ROBERTA_FRAME, double=True, model_max_length=512
)
XLM_ROBERTA = reader("xlm_roberta", ROBERTA, XLM_WORDS, kind="xlm-roberta")
T5 = of(d_model=64, d_kv=16, d_ff=128, num_layers=2, num_decoder_layers=2, num_heads=2, vocab_size=SIZE)
T5_WORDS = unigram(
    "T5Tokenizer", ("<pad>", "</s>", "<unk>"), tuple(f"<extra_id_{n}>" for n in range(99, -1, -1)), model_max_length=512
)
XLNET = reader(  # it frames texts at their end, pads on the left, and its length is -1
    "xlnet_simple",
    of(vocab_size=SIZE, d_model=64, n_layer=2, n_head=2, d_inner=128, pad_token_id=5, initializer_range=0.1),
    unigram("XLNetTokenizer", XLNET_FIRST, keep_accents=True, model_max_length=512),
    kind="xlnet",
    model="XLNetForQuestionAnsweringSimple",
)
reader("bert", small(pad_token_id=0), BERT)
reader(  # RoBERTa with BERT's tokenizer, which returns type ids up to 1, of which the model knows only 0
    "klue_roberta",
    ROBERTA,  # as published: the pad tokens of the config and of the tokenizer differ
    words("BertTokenizer", BERT_FIRST, BERT_FRAME, types=True, bos_token="[CLS]", eos_token="[SEP]"),
    kind="roberta",
    changes={"config": of(tokenizer_class="BertTokenizer", gradient_checkpointing=False)},
)
reader(  # embeddings narrower than the model; words in vocab.txt alone, and hardly a tokenizer_config.json
    "koelectra",
    small(embedding_size=32, pad_token_id=0, summary_type="first"),
    BERT,
    kind="electra",
    without=["tokenizer.json"],
    files={
        "vocab.txt": lambda: "".join(f"{name}\n" for name in word_vocabulary(BERT_FIRST)).encode(),
        "tokenizer_config.json": '{"do_lower_case": false, "model_max_length": 512}',
    },
)
reader(  # knows no type ids at all, but its tokenizer returns some
    "distilbert",
    of(vocab_size=SIZE, dim=64, hidden_dim=128, n_layers=2, n_heads=2, pad_token_id=0, initializer_range=0.1),
    BERT,
)
reader(
    "mobilebert",
    small(embedding_size=32, intra_bottleneck_size=32, true_hidden_size=32, num_feedforward_networks=2)
    | of(pad_token_id=0),
    words("BertTokenizer", BERT_FIRST, BERT_FRAME, types=True, do_lower_case=True),
)
reader(  # pools its input and stretches it again; the first token has its own type, and positions have no table
    "funnel",
    of(vocab_size=SIZE, block_sizes=[1, 1], d_model=64, n_head=2, d_head=32, d_inner=128, initializer_range=0.1),
    words(
        "FunnelTokenizer",
        ("<pad>", "<unk>", "<cls>", "<sep>", "<mask>", "<s>", "</s>"),
        ("<cls>", "<sep>"),
        types=True,
        own=2,
    ),
)
reader(  # counts positions as RoBERTa does, over words as BERT's
    "mpnet",
    small(max_position_embeddings=514, **ROBERTA_ENDS),
    words("MPNetTokenizer", (*ROBERTA_FIRST, "[UNK]", "<mask>"), ROBERTA_FRAME, double=True),
)
reader(  # block-sparse attention, which falls back to full attention for a short input and stays there
    "kobigbird",
    small(max_position_embeddings=1024, attention_type="block_sparse", block_size=16, num_random_blocks=3)
    | of(pad_token_id=0, bos_token_id=5, eos_token_id=6, sep_token_id=3),
    words(
        "BertTokenizer",
        (*BERT_FIRST, "<s>", "</s>"),
        BERT_FRAME,
        types=True,
        model_max_length=1024,
        bos_token="<s>",
        eos_token="</s>",
    ),
    kind="big_bird",
    changes={"config": of(tokenizer_class="BertTokenizer")},
)
reader(
    "modernbert_long",
    small(max_position_embeddings=2048, local_attention=32)
    | ids(pad_token_id="[PAD]", cls_token_id="[CLS]", sep_token_id="[SEP]")
    | ids(bos_token_id="[CLS]", eos_token_id="[SEP]"),
    modern_words,
    kind="modernbert",
)
reader(  # mDeBERTa: relative positions, no type embeddings, and a tokenizer that does not say how much it takes
    "deberta_v2",
    small(vocab_size=Size(7), type_vocab_size=0, relative_attention=True, position_buckets=64)
    | of(max_relative_positions=-1, norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type=["p2c", "c2p"])
    | of(position_biased_input=False, pad_token_id=0),
    unigram(
        "DebertaV2Tokenizer",
        ("[PAD]", "[CLS]", "[SEP]", "[UNK]"),
        ("[MASK]",),
        BERT_FRAME,
        types=True,
        split_by_punct=False,
    ),
    kind="deberta-v2",
)
reader(
    "albert",
    small(embedding_size=32, pad_token_id=0, bos_token_id=2, eos_token_id=3),
    unigram(
        "AlbertTokenizer",
        ALBERT_FIRST,
        frame=BERT_FRAME,
        types=True,
        do_lower_case=False,
        keep_accents=True,
        model_max_length=512,
    ),
)
reader(
    "rembert",
    small(input_embedding_size=32, output_embedding_size=32, pad_token_id=0, bos_token_id=2, eos_token_id=3),
    unigram("RemBertTokenizer", ALBERT_FIRST, frame=BERT_FRAME, types=True, model_max_length=512),
)
# Its embeddings are not of torch's class, and have no `num_embeddings`.
replace(XLM_ROBERTA, name="ibert", kind="ibert")
replace(XLM_ROBERTA, name="camembert", kind="camembert", words=CAMEMBERT_WORDS)
replace(  # as its makers first published it: sentencepiece.bpe.model, and no tokenizer.json
    XLM_ROBERTA,
    name="xlm_roberta_sentencepiece",
    config=ROBERTA | of(vocab_size=Size(8)),
    without=["tokenizer.json"],
    files={
        "sentencepiece.bpe.model": lambda: sentencepiece_bytes("unigram"),
        "tokenizer_config.json": '{"model_max_length": 512}',
    },
)
replace(
    XLM_ROBERTA,
    name="roberta_fast",
    config=ROBERTA
    | of(max_position_embeddings=Size(510))  # 513 more than the id of <pad>
    | ids(bos_token_id="<s>", pad_token_id="<pad>", eos_token_id="</s>"),
    words=fast_words,
)
reader(  # pads itself to its window, and gives the question, up to the third separator, a view of everything
    "longformer",
    ROBERTA | of(max_position_embeddings=1026, attention_window=[32, 32], sep_token_id=2),
    roberta_bytes(1024),
)
# With a decoder: it reads the same text once more, and points at spans for every token of it.
reader(
    "bart",
    of(vocab_size=SIZE, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2)
    | of(decoder_attention_heads=2, encoder_ffn_dim=128, decoder_ffn_dim=128, max_position_embeddings=512),
    roberta_bytes(512),
)
reader("t5", T5 | of(decoder_start_token_id=0), T5_WORDS)
reader("mt5", T5 | of(feed_forward_proj="gated-gelu"), T5_WORDS)
# With the head that searches by itself, which AutoModelForQuestionAnswering does not load.
replace(XLNET, name="xlnet", model="")
reader(  # characters, and no fast tokenizer: no offsets
    "canine",
    of(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, initializer_range=0.1)
    | of(max_position_embeddings=2048, num_hash_buckets=512, local_transformer_stride=16)
    | of(bos_token_id=0xE000, eos_token_id=0xE001),
    lambda: transformers.CanineTokenizer(model_max_length=2048),
)

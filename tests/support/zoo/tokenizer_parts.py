"""Tokenizers that are trained in place on the sample sets, of every kind that the makers of models use."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from io import BytesIO
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from scripts.support.tiny_models import CORPUS
from submissions.config.paths import SAMPLES

Vocabulary = dict[str, int]
Merges = list[tuple[str, str]]
THOUGHTS = ("<think>", "</think>")


def texts() -> list[str]:
    """Return the texts that the tokenizers are trained on."""
    return [(SAMPLES / name / "items.jsonl").read_text(encoding="utf-8") for name in CORPUS]


def alphabet(size: int) -> list[str]:
    """Return the most frequent letters of the sample sets; equally frequent ones are in a fixed order."""
    counts = Counter("".join(texts()).replace(" ", "▁"))
    return sorted(counts, key=lambda letter: (-counts[letter], letter))[:size]


def finish(
    words: Any, special: Sequence[str] = (), plain: Sequence[str] = (), begin: str = "", replace: bool = True
) -> Any:
    """Add special and plain tokens to a tokenizer; it puts `begin`, if given, before every text."""
    new = [token for token in special if token not in words.get_vocab()] if replace else list(special)
    words.add_special_tokens({"additional_special_tokens": new}, replace_extra_special_tokens=replace)
    words.add_tokens(list(plain))
    if begin:
        words.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{begin} $A",
            pair=f"{begin} $A {begin}:1 $B:1",
            special_tokens=[(begin, words.convert_tokens_to_ids(begin))],
        )
    return words


def framed(words: Any, first: str, last: str, *, double: bool = False, types: bool = False, own: int = 0) -> Any:
    """Have a tokenizer frame two texts as BERT does, or with a `double` end between them as RoBERTa does."""
    second = int(types)
    between = f"{last} {last}:{second}" if double else last
    words.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first}:{own} $A {last}",
        pair=f"{first}:{own} $A {between} $B:{second} {last}:{second}",
        special_tokens=[(name, words.convert_tokens_to_ids(name)) for name in sorted({first, last})],
    )
    return words


@cache
def _byte_bpe() -> str:
    """Return a byte-level BPE as JSON."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    letters = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=1000, initial_alphabet=letters, show_progress=False)
    tokenizer.train_from_iterator(texts(), trainer)
    return str(tokenizer.to_str())


def byte_level(
    special: Sequence[str] = (),
    plain: Sequence[str] = (),
    begin: str = "",
    extra: Mapping[str, str] | None = None,
    **settings: Any,
) -> Any:
    """Return a byte-level BPE tokenizer. `extra` are special tokens that a processor looks up by a name."""
    named = {"extra_special_tokens": dict(extra)} if extra else {}
    settings = {"model_max_length": 8192, **named, **settings}
    return finish(
        PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(_byte_bpe()), **settings), special, plain, begin
    )


def byte_vocabulary(first: Sequence[str], last: Sequence[str] = ()) -> tuple[Vocabulary, Merges]:
    """Return the vocabulary of the byte-level BPE, between these tokens, and its merges."""
    return _numbered(first, _byte_bpe(), last)


def _numbered(first: Sequence[str], learned: str, last: Sequence[str] = ()) -> tuple[Vocabulary, Merges]:
    model = json.loads(learned)["model"]
    tokens = dict.fromkeys([*first, *model["vocab"], *last])
    return {token: number for number, token in enumerate(tokens)}, [tuple(pair) for pair in model["merges"]]


BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))


@cache
def _marked_bpe() -> str:
    """Return a BPE over words that begin with ▁, as SentencePiece trains it, as JSON."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    letters = alphabet(300)  # rarer ones fall back to bytes
    trainer = trainers.BpeTrainer(vocab_size=700, initial_alphabet=letters, limit_alphabet=300, show_progress=False)
    tokenizer.train_from_iterator(texts(), trainer)
    return str(tokenizer.to_str())


def pieces(
    kind: Any,
    first: Sequence[str],
    special: Sequence[str] = (),
    plain: Sequence[str] = (),
    begin: str = "",
    replace: bool = True,
    **settings: Any,
) -> Any:
    """Return a tokenizer of this class over a SentencePiece BPE: `first` tokens, 256 bytes, pieces, `special` tokens."""
    vocabulary, merges = _numbered([*first, *BYTES], _marked_bpe())
    words = kind(vocab=vocabulary, merges=merges, **{"model_max_length": 8192, **settings})
    return finish(words, special, plain, begin, replace)


@cache
def _llama_bpe() -> str:
    """Return a BPE as Llama 2's converted tokenizer.json has it, which normalises instead of splitting."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    # Words are kept apart in training; the merges are then applied to whole texts, as Llama's are.
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    first = ["<unk>", "<s>", "</s>", *BYTES]
    trainer = trainers.BpeTrainer(vocab_size=1000, special_tokens=first, show_progress=False)
    # The trainer's limit of the alphabet would keep other letters each time.
    common = {letter for letter, _ in Counter("".join(texts())).most_common(200)}
    lines = ["".join(letter if letter in common else " " for letter in text) for text in texts()]
    tokenizer.train_from_iterator(lines, trainer)
    tokenizer.pre_tokenizer = None
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return str(tokenizer.to_str())


def llama_pieces(special: Sequence[str] = (), **settings: Any) -> Any:
    """Return a SentencePiece BPE tokenizer of no class in particular, which begins texts with <s>."""
    settings = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "model_max_length": 8192} | settings
    made = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(_llama_bpe()), **settings)
    return finish(made, special, begin="<s>")


@cache
def sentencepiece_bytes(kind: str) -> bytes:
    """Return a SentencePiece model, `bpe` or `unigram`, as the library itself writes it."""
    from sentencepiece import SentencePieceTrainer

    written = BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(line[:500] for text in texts() for line in text.splitlines()[:60]),
        model_writer=written,
        model_type=kind,
        vocab_size=600,
        character_coverage=0.98,
        byte_fallback=kind == "bpe",
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
    )
    return written.getvalue()


@cache
def _scored_pieces() -> list[tuple[str, float]]:
    from sentencepiece import SentencePieceProcessor

    model = SentencePieceProcessor(model_proto=sentencepiece_bytes("unigram"))
    return [(model.id_to_piece(n), model.get_score(n)) for n in range(model.get_piece_size())]


def piece_vocabulary(first: Sequence[str], last: Sequence[str] = ()) -> list[tuple[str, float]]:
    """Return pieces with their scores, between these tokens, as a Unigram model has them."""
    learned = [(name, score) for name, score in _scored_pieces() if name not in (*first, *last)]
    return [*((name, 0.0) for name in first), *learned, *((name, 0.0) for name in last)]


@cache
def _word_pieces() -> str:
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    letters = [letter for letter in alphabet(400) if letter.strip()]
    trainer = trainers.WordPieceTrainer(
        vocab_size=1200, initial_alphabet=letters, limit_alphabet=len(letters), show_progress=False
    )
    tokenizer.train_from_iterator(texts(), trainer)
    return str(tokenizer.to_str())


def word_vocabulary(first: Sequence[str]) -> Vocabulary:
    """Return words and ends of words by number, behind these tokens."""
    tokens = dict.fromkeys([*first, *json.loads(_word_pieces())["model"]["vocab"]])
    return {token: number for number, token in enumerate(tokens)}

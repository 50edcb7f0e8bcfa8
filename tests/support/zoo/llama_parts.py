"""SentencePiece tokenizers like Llama's, and folders as transformers 4 laid them out."""

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from tests.support.zoo.parts import change_json, texts


@cache
def _pieces(size: int) -> str:
    """A BPE as SentencePiece writes it: ▁ for spaces, bytes for what it does not know."""
    first = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    # Words are kept apart while it learns; what it learned is then applied to whole texts, as Llama's is.
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=first, show_progress=False)
    # The trainer's own limit of the alphabet keeps other letters each time.
    common = {letter for letter, _ in Counter("".join(texts())).most_common(200)}
    lines = ["".join(letter if letter in common else " " for letter in text) for text in texts()]
    tokenizer.train_from_iterator(lines, trainer)
    tokenizer.pre_tokenizer = None
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return str(tokenizer.to_str())


def sentence_pieces(special: Sequence[str], *, size: int = 1000, **settings: Any) -> Any:
    """A SentencePiece-like BPE tokenizer, which begins texts with <s>; otherwise as `byte_level`."""
    settings = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "model_max_length": 8192} | settings
    made = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(_pieces(size)), **settings)
    made.add_special_tokens({"additional_special_tokens": [t for t in special if t not in made.get_vocab()]})
    begin(made)
    return made


def begin(words: Any) -> None:
    """Have a tokenizer put its bos token before every text."""
    bos = words.bos_token
    words.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A", pair=f"{bos} $A {bos} $B", special_tokens=[(bos, words.bos_token_id)]
    )


def ids_of(words: Any, tokens: Sequence[str]) -> dict[str, int]:
    return dict(zip(tokens, words.convert_tokens_to_ids(list(tokens)), strict=True))


def as_before_5(folder: Path, tokenizer_class: str, *, template: str = "chat_template.json") -> None:
    """Lay the folder out as transformers 4 did, which is how most makers have published theirs.

    Each processor has a file of its own, and the chat template is a value in `template`.
    """
    change_json(folder / "tokenizer_config.json", tokenizer_class=tokenizer_class, backend=None, is_local=None)
    config = (folder / "config.json").read_text(encoding="utf-8")
    (folder / "config.json").write_text(config.replace('"dtype"', '"torch_dtype"'), encoding="utf-8")
    rest = json.loads((folder / "processor_config.json").read_text(encoding="utf-8"))
    owner = rest["processor_class"]
    for part, name in (
        ("image", "preprocessor"),
        ("video", "video_preprocessor"),
        ("feature_extractor", "preprocessor"),
    ):
        if own := rest.pop(part if part == "feature_extractor" else f"{part}_processor", None):
            change_json(folder / f"{name}_config.json", **own, processor_class=owner)
    (folder / "processor_config.json").unlink()
    if set(rest) != {"processor_class"}:
        change_json(folder / "processor_config.json", **rest)
    if template != "chat_template.jinja":
        jinja = folder / "chat_template.jinja"
        change_json(folder / template, chat_template=jinja.read_text(encoding="utf-8"))
        jinja.unlink()

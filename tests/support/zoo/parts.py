"""What all builders share: the small sizes, and how a model's folder is written."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

CARD = "---\nlicense: apache-2.0\n---\nA tiny model with random weights, for tests.\n"


def save(folder: Path, model: Any, processor: Any, *, end: int | None = None) -> None:
    """Write the folder. With `end`, a token id, that token is made likely, so that answers end."""
    with torch.no_grad():  # weights that are initialised to zero would hide the image
        for weight in model.parameters():
            if weight.dim() > 1 and not weight.any():
                weight.normal_(std=0.1)
    head = model.get_output_embeddings()
    if end is not None and head is not None:
        with torch.no_grad():
            head.weight[end] *= 2
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    (folder / "README.md").write_text(CARD, encoding="utf-8")


@torch.no_grad()  # type: ignore[untyped-decorator]
def teach(model: Any, ids: Sequence[int]) -> None:
    """Make each of these tokens the likeliest after the one before. The head must not be tied to the embeddings."""
    embeddings = model.get_input_embeddings().weight
    head = model.get_output_embeddings().weight
    for before, after in pairwise(ids):
        embeddings[before] *= 1 / embeddings[before].std()
        head[after] += embeddings[before] / 8


def change_json(file: Path, **changes: Any) -> None:
    """Write keys into a JSON file, which is created if it is missing; None removes a key."""
    content = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    kept = {key: value for key, value in (content | changes).items() if value is not None}
    file.write_text(json.dumps(kept, ensure_ascii=False, indent=2), encoding="utf-8")


def move_template(folder: Path, *files: str) -> None:
    """Move the chat template from its own file into these JSON files."""
    jinja = folder / "chat_template.jinja"
    for file in files:
        change_json(folder / file, chat_template=jinja.read_text(encoding="utf-8"))
    jinja.unlink()


def split_processor(folder: Path) -> None:
    """Give each part of a processor a file of its own, as transformers 4 did."""
    rest = json.loads((folder / "processor_config.json").read_text(encoding="utf-8"))
    files = {"image_processor": "preprocessor", "video_processor": "video_preprocessor"}
    for part, name in (files | {"feature_extractor": "preprocessor"}).items():
        if own := rest.pop(part, None):
            change_json(folder / f"{name}_config.json", **own, processor_class=rest["processor_class"])
    (folder / "processor_config.json").unlink()
    if set(rest) != {"processor_class"}:
        change_json(folder / "processor_config.json", **rest)


def as_version_4(folder: Path, tokenizer_class: str, template: str) -> None:
    """Lay the folder out as transformers 4 did, which is how most makers have published theirs.

    Each processor has a file of its own, and the chat template is a value in `template`.
    """
    change_json(folder / "tokenizer_config.json", tokenizer_class=tokenizer_class, backend=None, is_local=None)
    config = (folder / "config.json").read_text(encoding="utf-8")
    (folder / "config.json").write_text(config.replace('"dtype"', '"torch_dtype"'), encoding="utf-8")
    split_processor(folder)
    if template != "chat_template.jinja":
        move_template(folder, template)

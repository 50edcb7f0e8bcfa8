"""Where the parts of models come from: what their makers declare, what their files or code show, and whether these agree.

The page /lineage shows all entries, and a model's page its own. `origin_of` and `encoder_of` answer the two questions that
tables can be filtered by: whether the language model and the vision encoder are the maker's own.

`assets/lineage.json` is written by `scripts/import_lineage.py` and corrected by pull requests. Two rules for its entries: a
text "not read" means that nobody has read the source yet, never that the model has no such part; and code that is derived from
another model's does not show where the weights come from.
"""

import json
import re
from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from submissions.config.paths import ASSETS

LINEAGE = ASSETS / "lineage.json"
# What a language model was initialised from: nothing, another model of the same maker, or one of another maker.
Origin = Literal["scratch", "own", "other", "unknown"]
# Whose vision encoder a model has. "none": it reads text only.
Encoder = Literal["own", "other", "none", "unknown"]
# Whether what was declared agrees with what configuration, code or tensors show. "code_only" and "shape_only": only the code
# or only the shapes of tensors were compared, which does not show where weights come from.
Agreement = Literal["agree", "code_only", "shape_only", "differs", "not_checked"]
# Addresses, with or without remarks, such as "paper: https://a.org/b" or "https://huggingface.co/o/m (NOTICE)", or a document of
# this project, such as "docs/published-models.md of this project". Several sources are separated by ";", and the first one
# must have an address: "not read; https://a.org" is refused.
SOURCE = r"^[^;]*?https://[^\s;\"'<>]+|^docs/[\w.-]+ of this project$"
Source = Annotated[str, Field(max_length=300, pattern=SOURCE)]
_ADDRESS = re.compile(r"https://[^\s;\"'<>]+(?<![),.])")  # without what follows it in a sentence


class Fact(BaseModel):
    """A statement about a part of a model, in the words of this collection, with its source."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: Annotated[str, Field(min_length=1, max_length=400)]  # in English, or the id of a model
    ko: Annotated[str, Field(max_length=400)] = ""  # the same in Korean
    source: Source

    @property
    def links(self) -> list[tuple[str, str]]:
        """The addresses in the source, each with its host name without "www."; empty if the source is not on the web."""
        return [(address, address.split("/")[2].removeprefix("www.")) for address in _ADDRESS.findall(self.source)]


class Lineage(BaseModel):
    """The facts about one model. A part without a fact is unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: Annotated[str, Field(min_length=1, max_length=200)]  # Hub id, or the name as printed if it is unknown
    maker: Annotated[str, Field(min_length=1, max_length=200)]
    origin: Origin  # what follows from `language_model`
    encoder: Encoder  # what follows from `vision_encoder`
    language_model: Fact | None = None  # which one it is, as the maker declares
    vision_encoder: Fact | None = None  # which one it is, as the maker declares
    shown: Fact | None = None  # what configuration, code or tensors show
    agreement: Agreement = "not_checked"
    agreement_note: Annotated[str, Field(max_length=400)] = ""
    agreement_note_ko: Annotated[str, Field(max_length=400)] = ""
    licence: Fact | None = None
    note: Annotated[str, Field(max_length=400)] = ""
    corrected: Annotated[str, Field(pattern=r"^(20\d\d-\d\d-\d\d)?$")] = ""  # day of the last correction by its maker

    @model_validator(mode="after")
    def _refuse_claims_without_facts(self) -> "Lineage":
        """Refuse an `origin`, `encoder` or `agreement` for which no fact is given. The encoder "none" needs no fact."""
        if self.origin != "unknown" and self.language_model is None:
            raise ValueError(f"{self.model}: origin is {self.origin!r}, but no fact says so")
        if self.encoder in ("own", "other") and self.vision_encoder is None:
            raise ValueError(f"{self.model}: encoder is {self.encoder!r}, but no fact says so")
        if self.agreement != "not_checked" and self.shown is None:
            raise ValueError(f"{self.model}: agreement is {self.agreement!r}, but no fact is shown")
        if self.agreement in ("agree", "differs") and not (self.language_model or self.vision_encoder):
            raise ValueError(f"{self.model}: agreement is {self.agreement!r}, but no fact is declared")
        return self


_ALL = TypeAdapter(list[Lineage])


@cache
def lineages() -> tuple[Lineage, ...]:
    """Return all entries in the order of the file. Raises ValueError if it is malformed or names a model twice."""
    entries = _ALL.validate_python(json.loads(LINEAGE.read_bytes()))
    names = [entry.model.casefold() for entry in entries]
    if duplicates := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{LINEAGE.name} has several entries for {', '.join(duplicates)}")
    return tuple(entries)


@cache
def _by_model() -> dict[str, Lineage]:
    """Return the entries by the name of the model in lower case."""
    return {entry.model.casefold(): entry for entry in lineages()}


def lineage_of(model: str) -> Lineage | None:
    """Return what is known about a model, or None if nothing is."""
    return _by_model().get(model.casefold())


def origin_of(model: str, base_model: str | None) -> Origin:
    """Return what a model was initialised from, as its maker declares.

    If this collection has no answer, the base model that the model's card names decides: "own" if it has the same owner. (A
    base model says nothing about whose vision encoder it has, so `encoder_of` does not look at it.)
    """
    lineage = lineage_of(model)
    if lineage and lineage.origin != "unknown":
        return lineage.origin
    if not base_model:
        return "unknown"
    is_own = base_model.partition("/")[0].casefold() == model.partition("/")[0].casefold()
    return "own" if is_own else "other"


def encoder_of(model: str) -> Encoder:
    """Return whose vision encoder a model has, as its maker declares."""
    lineage = lineage_of(model)
    return lineage.encoder if lineage else "unknown"

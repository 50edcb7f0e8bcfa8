"""Where the parts of models come from: what their makers declare, what their files or code show, and whether these agree.

`assets/lineage.json` is written by `scripts/import_lineage.py` and corrected by pull requests. "not read" means that nobody
has read it yet, never that there is nothing. A class derived from another model's code does not show where weights come from.
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
# Whether what was declared and what configuration, code or tensors show agree.
Agreement = Literal["agree", "code_only", "shape_only", "differs", "not_checked"]
# Addresses, with or without remarks, or a document of this project.
SOURCE = r"^[^:]*https://[^\s;\"'<>]+|^docs/[\w.-]+ of this project$"
Source = Annotated[str, Field(max_length=300, pattern=SOURCE)]
_ADDRESS = re.compile(r"https://[^\s;\"'<>]+")


class Fact(BaseModel):
    """What somebody says about a part of a model, in the words of the collection, with its source."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: Annotated[str, Field(min_length=1, max_length=400)]
    ko: Annotated[str, Field(max_length=400)] = ""  # in Korean
    source: Source

    @property
    def links(self) -> list[tuple[str, str]]:
        """The addresses in the source, each with the name of its site; empty if it is not on the web."""
        return [(address, address.split("/")[2].removeprefix("www.")) for address in _ADDRESS.findall(self.source)]


class Lineage(BaseModel):
    """The facts about one model. A part without a fact is unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: Annotated[str, Field(min_length=1, max_length=200)]  # Hub id, or the name as printed if it is unknown
    maker: Annotated[str, Field(min_length=1, max_length=200)]
    origin: Origin
    encoder: Encoder
    language_model: Fact | None = None  # as declared
    vision_encoder: Fact | None = None  # as declared
    shown: Fact | None = None  # by configuration, code or tensors
    agreement: Agreement = "not_checked"
    agreement_note: Annotated[str, Field(max_length=400)] = ""
    agreement_note_ko: Annotated[str, Field(max_length=400)] = ""
    licence: Fact | None = None
    note: Annotated[str, Field(max_length=400)] = ""
    corrected: Annotated[str, Field(pattern=r"^(20\d\d-\d\d-\d\d)?$")] = ""  # day of the last correction by its maker

    @model_validator(mode="after")
    def _classes_follow_from_facts(self) -> "Lineage":
        if self.origin != "unknown" and self.language_model is None:
            raise ValueError(f"{self.model}: origin is {self.origin!r}, but no fact says so")
        if self.encoder in ("own", "other") and self.vision_encoder is None:
            raise ValueError(f"{self.model}: encoder is {self.encoder!r}, but no fact says so")
        if self.agreement == "agree" and not (self.shown and (self.language_model or self.vision_encoder)):
            raise ValueError(f"{self.model}: what is declared and what is shown cannot agree if one of them is unknown")
        return self


_ALL = TypeAdapter(list[Lineage])


@cache
def lineages() -> tuple[Lineage, ...]:
    """Return what is known, by model. Raises ValueError if the file is malformed or names a model twice."""
    found = _ALL.validate_python(json.loads(LINEAGE.read_bytes()))
    names = [one.model for one in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{LINEAGE.name} has several entries for {', '.join(twice)}")
    return tuple(found)


@cache
def _by_model() -> dict[str, Lineage]:
    return {one.model.casefold(): one for one in lineages()}


def lineage_of(model: str) -> Lineage | None:
    """Return what is known about a model, or None if nothing is."""
    return _by_model().get(model.casefold())


def origin_of(model: str, base_model: str | None) -> Origin:
    """Return what a model was initialised from, as its maker declares, in the register or as base model of its card."""
    found = lineage_of(model)
    if found and found.origin != "unknown":
        return found.origin
    if not base_model:
        return "unknown"
    is_own = base_model.partition("/")[0].casefold() == model.partition("/")[0].casefold()
    return "own" if is_own else "other"


def encoder_of(model: str) -> Encoder:
    """Return whose vision encoder a model has, as its maker declares."""
    found = lineage_of(model)
    return found.encoder if found else "unknown"

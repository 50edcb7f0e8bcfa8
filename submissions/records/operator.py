"""Public records of what the operator decides: opt-outs, retirements, approved code, drawn test sets."""

from typing import Annotated

from pydantic import Field

from submissions.records.base import MODEL_ID, OWNER, Digest, Key, Label, ModelId, Record, Sha, Time


class OptOut(Record):
    """An owner's wish that none of its models, or one of them, be evaluated, at `opt-outs/`."""

    name: Annotated[str, Field(pattern=f"^({MODEL_ID}|{OWNER})$")]
    since: Time

    @property
    def path(self) -> str:
        return self.path_of(self.name)

    @staticmethod
    def path_of(name: str) -> str:
        return f"opt-outs/{name.lower()}.json"  # the Hub takes names in any letter case


class Retirement(Record):
    """Why a result has no rank any more, at `retired/`. The result stays where it is, and all of its numbers public."""

    key: Key
    reason: Label
    since: Time
    until: Time | None = None  # it has its rank again since then

    @staticmethod
    def path_of(key: str) -> str:
        return f"retired/{key[:2]}/{key}.json"


class Commitment(Record):
    """What is public of a drawn set before any model is asked, at `fresh/`; the seed once it is revealed."""

    quarter: Annotated[str, Field(pattern=r"^\d{4}Q[1-4]$")]
    n: int = Field(ge=1)
    seed_sha256: Digest
    generator_sha256: Digest  # of the code that draws, and the fonts
    set_sha256: Digest  # of all files of the set, see evaluator.fresh.draw
    libraries: dict[Label, Label]
    committed_at: Time
    seed: Label | None = None
    revealed_at: Time | None = None

    @property
    def path(self) -> str:
        return self.path_of(self.quarter)

    @staticmethod
    def path_of(quarter: str) -> str:
        return f"fresh/{quarter}.json"


class CodeApproval(Record):
    """Python files that the operator has read and lets run, at `approvals/{owner}/{name}/{revision}.json`."""

    model_id: ModelId
    revision: Sha
    files: dict[Label, Digest]  # sha256 by name
    approved_at: Time

    @property
    def path(self) -> str:
        return self.path_of(self.model_id, self.revision)

    @staticmethod
    def path_of(model_id: str, revision: str) -> str:
        return f"approvals/{model_id}/{revision}.json"

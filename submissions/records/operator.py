"""Define public records of the operator's decisions: opt-outs, retirements, private attempts, approved code, test sets."""

from typing import Annotated

from pydantic import Field

from submissions.records.base import MODEL_ID, OWNER, Digest, Key, Label, ModelId, PublicText, Record, Sha, Time


class OptOut(Record):
    """An owner's request that one or all of its models are not evaluated, stored at `opt-outs/`."""

    name: Annotated[str, Field(pattern=f"^({MODEL_ID}|{OWNER})$")]
    since: Time

    @property
    def path(self) -> str:
        return self.path_of(self.name)

    @staticmethod
    def path_of(name: str) -> str:
        return f"opt-outs/{name.lower()}.json"  # names on the Hub are case-insensitive


class Retirement(Record):
    """The reason why a result is no longer ranked, stored at `retired/`. The result itself stays public."""

    key: Key
    reason: PublicText
    since: Time
    until: Time | None = None  # when the retirement ended, and the result was ranked again

    @staticmethod
    def path_of(key: str) -> str:
        return f"retired/{key[:2]}/{key}.json"


class PrivateAttempts(Record):
    """How often a model was evaluated without a public result, stored at `attempts/`.

    Only test sets on which the model has a public row are counted. The count shows whether that row is the best of many.
    """

    model_id: ModelId
    counts: dict[Label, Annotated[int, Field(ge=1)]]  # by `benchmark/split`

    @property
    def path(self) -> str:
        return f"attempts/{self.model_id.lower()}.json"


class BeaconRound(Record):
    """A round of drand, a public source of random numbers, whose randomness enters the seed of a test set.

    drand publishes each round at a known time, and nobody can predict it, so the operator cannot choose the seed. The
    signature is added when the round is published.
    """

    chain: Digest
    number: int = Field(ge=1)
    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{96}$")] | None = None


class Commitment(Record):
    """A commitment to a generated test set, published at `fresh/` before any model is evaluated on it.

    There is a set for each quarter of a year, drawn from the operator's secret and, with a beacon, a round's randomness. The
    hashes here prove later that the set was not changed after models had been evaluated.

    It is published in two steps: first the hash of the secret and the number of a future round, if there is a beacon, then
    the round's signature and the hash of the set. The secret is added as `seed` when it is revealed.
    """

    quarter: Annotated[str, Field(pattern=r"^\d{4}Q[1-4]$")]
    n: int = Field(ge=1)
    seed_sha256: Digest  # of the operator's secret, which is the seed itself if there is no beacon
    generator_sha256: Digest  # of the generator code and its fonts
    set_sha256: Digest | None = None  # of all files in the set, see evaluator.fresh.draw
    beacon: BeaconRound | None = None
    libraries: dict[Label, Label]
    committed_at: Time
    seed: Label | None = None
    revealed_at: Time | None = None
    dataset: Label | None = None  # OWNER/NAME on the Hub, where items and answers were published with the seed

    @property
    def path(self) -> str:
        return self.path_of(self.quarter)

    @staticmethod
    def path_of(quarter: str) -> str:
        return f"fresh/{quarter}.json"


class CodeApproval(Record):
    """Python files that the operator has reviewed and allows to run.

    Stored at `approvals/{owner}/{name}/{revision}.json`, in the letter case that the Hub returned, as in requests.
    The path of an opt-out is in lower case, because its name is typed by the operator.
    """

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

"""Define the rows of `make bench`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Measured:
    """A row of the report: what was measured of this project, what we aim at, and the same of a plain board."""

    what: str
    ours: str
    target: str = ""
    plain: str = ""

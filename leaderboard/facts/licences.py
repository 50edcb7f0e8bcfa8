"""Whether licences of models allow commercial use, by the licence id on their Hub pages."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from submissions.config.paths import ASSETS

Commercial = Literal["yes", "conditions", "no"]
_STRICTEST_FIRST = get_args(Commercial)[::-1]


@dataclass(frozen=True)
class Licence:
    """What is known of a licence. "conditions" are more than attribution and share-alike, such as a number of users."""

    commercial: Commercial
    source: str  # address of the licence's text


@cache
def _known() -> dict[str, Licence]:
    content = json.loads((ASSETS / "licences.json").read_bytes())
    return {name: Licence(**fields) for name, fields in content.items()}


def licence_of(name: str | None) -> Licence | None:
    """Return what is known of a licence, the strictest of several separated by commas, or None if one is unknown.

    The maker's own statement decides: a model made from another one may have to follow that one's licence too.
    """
    each = [_known().get(part.strip().lower()) for part in (name or "").split(",")]
    known = [one for one in each if one]
    return min(known, key=lambda one: _STRICTEST_FIRST.index(one.commercial)) if len(known) == len(each) else None


def commercial_use(name: str | None) -> Commercial | None:
    """Return whether a licence allows commercial use, or None if that is unknown."""
    licence = licence_of(name)
    return licence.commercial if licence else None

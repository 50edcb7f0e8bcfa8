"""Whether licences of models allow commercial use, by the licence id on their Hub pages, such as "apache-2.0".

`assets/licences.json` has what is known of each licence.
"""

import json
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from submissions.config.paths import ASSETS

Commercial = Literal["yes", "conditions", "no"]
_STRICTEST_FIRST = get_args(Commercial)[::-1]


@dataclass(frozen=True)
class Licence:
    """What is known of a licence."""

    # "conditions": allowed under conditions beyond attribution and share-alike, such as a limit on the number of users.
    commercial: Commercial
    source: str  # address of the licence's text


@cache
def _known_licences() -> dict[str, Licence]:
    """Return the known licences by id in lower case."""
    content = json.loads((ASSETS / "licences.json").read_bytes())
    return {name: Licence(**fields) for name, fields in content.items()}


def licence_of(ids: str | None) -> Licence | None:
    """Return what is known of the licence of a model, or None if it is unknown.

    `ids` is the id of the licence on the model's Hub page, or several separated by commas. Of these it is the strictest one,
    and None if any of them is unknown. This is only what the maker states: a model made from another one may have to follow
    that one's licence too.
    """
    found: list[Licence] = []
    for licence_id in (ids or "").split(","):
        licence = _known_licences().get(licence_id.strip().lower())
        if licence is None:
            return None
        found.append(licence)
    return min(found, key=lambda licence: _STRICTEST_FIRST.index(licence.commercial))


def commercial_use(name: str | None) -> Commercial | None:
    """Return whether a licence allows commercial use, or None if that is unknown."""
    licence = licence_of(name)
    return licence.commercial if licence else None

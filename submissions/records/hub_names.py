"""Decide whether a text may be a name on the Hub: of an owner, or of a model, dataset, Space or bucket.

The Hub refuses "--" and ".." in a name, and ".git" and ".ipynb" at the end of OWNER/NAME. huggingface_hub raises ValueError
for all of these but ".ipynb", before it asks the Hub. Each name that somebody types is checked here first. The patterns of
records are wider (`base.py`), so that everything that is stored can be read.
"""

import re

_NAME = r"(?![A-Za-z0-9._-]*(?:--|\.\.))[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
_OWNER = re.compile(_NAME)
_ID = re.compile(rf"{_NAME}/{_NAME}(?<!\.git)(?<!\.ipynb)")


def is_hub_owner(text: str) -> bool:
    """Return whether a text may be the name of a user or an organisation."""
    return _OWNER.fullmatch(text) is not None


def hub_id_at(address: str, prefix: str) -> str | None:
    """Return OWNER/NAME of an address such as hf://datasets/OWNER/NAME, or None if it is not one with this prefix."""
    name = address.removeprefix(prefix).removesuffix("/")
    return name if address.startswith(prefix) and is_hub_id(name) else None


def is_hub_id(text: str) -> bool:
    """Return whether a text may be the ID of a repository or a bucket, OWNER/NAME."""
    return _ID.fullmatch(text) is not None

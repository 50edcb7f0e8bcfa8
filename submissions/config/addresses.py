"""Define how addresses on the Hub begin, and find whether two stores are in one place.

The parsers of command lines use this module, so it imports little.
"""

from os.path import normpath
from pathlib import Path

DATASETS = "hf://datasets/"
BUCKETS = "hf://buckets/"
SPACES = "hf://spaces/"


def bucket_of(url: str) -> str:
    """Return OWNER/NAME of an address in a bucket, without the folder: hf://buckets/owner/name/folder -> owner/name."""
    return "/".join(url.removeprefix(BUCKETS).split("/")[:2])


def is_remote(url: str) -> bool:
    """Return whether an address is not a path on this machine."""
    return "://" in url.removeprefix("file://")


def overlap(url: str, other: str) -> bool:
    """Return whether two addresses, however they are written, name the same store, or one lies in the other."""
    one_place = _place(url)
    other_place = _place(other)
    return one_place.is_relative_to(other_place) or other_place.is_relative_to(one_place)


def _place(url: str) -> Path:
    """Return the place of a store, which is the same for all spellings: `file:///data/../data/store.git` -> `/data/store.git`.

    For a remote address it is not a real path, but can be compared: `hf://buckets/o/n//f/` -> `/hf:/buckets/o/n/f`.
    """
    if is_remote(url):
        # Names on the Hub are case-insensitive. Those of other services may not be, but too strict a comparison is safe.
        return Path(normpath(f"/{url.lower()}"))
    return Path(url.removeprefix("file://")).resolve()

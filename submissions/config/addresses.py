"""How addresses on the Hub begin, and whether two stores are in one place. Command lines use it, so it imports little."""

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
    one_place = f"{_normalised(url)}/"
    other_place = f"{_normalised(other)}/"
    return one_place.startswith(other_place) or other_place.startswith(one_place)


def _normalised(url: str) -> str:
    """Return the one spelling of a store's address: `file:///data/../data/store.git` -> `/data/store.git`."""
    if url.startswith("hf:"):
        return url.rstrip("/").lower()  # names on the Hub are case-insensitive
    return str(Path(url.removeprefix("file://")).resolve())

"""How addresses on the Hub begin. Imports nothing, so that command lines can use it."""

DATASETS = "hf://datasets/"
BUCKETS = "hf://buckets/"
SPACES = "hf://spaces/"


def bucket_of(url: str) -> str:
    """Return OWNER/NAME of an address in a bucket, without the folder: hf://buckets/owner/name/folder -> owner/name."""
    return "/".join(url.removeprefix(BUCKETS).split("/")[:2])

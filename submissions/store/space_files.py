"""Compare files with those of a Space on the Hub, by the ids that the Hub knows them by."""

from hashlib import sha256

from huggingface_hub import HfApi
from huggingface_hub.hf_api import RepoFile

from submissions.store.base import blob_id


def space_file_ids(api: HfApi, space: str) -> dict[str, str]:
    """Return the id of each file of a Space by path: that of its git blob, or the SHA-256 of a large file."""
    entries = api.list_repo_tree(space, repo_type="space", recursive=True)
    files = [entry for entry in entries if isinstance(entry, RepoFile)]
    return {file.path: file.lfs.sha256 if file.lfs else file.blob_id for file in files}


def is_id_of(file_id: str | None, content: bytes) -> bool:
    """Return whether an id is that of a file with this content. None is the id of no file."""
    return file_id in (blob_id(content), sha256(content).hexdigest())

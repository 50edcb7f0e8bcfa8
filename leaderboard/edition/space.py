"""Upload an edition to a static Space in one commit with only what changed."""

import os
from hashlib import sha256
from pathlib import Path

from httpx2 import HTTPError
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, constants
from huggingface_hub.hf_api import RepoFile

from leaderboard.edition.build import MANIFEST, read_manifest
from submissions.config.settings import Settings
from submissions.store.base import blob_id
from submissions.texts.errors import StoreError

KEPT = (".gitattributes", "README.md")  # of the Space
README = """---
title: Hannun
emoji: 👁
sdk: static
app_file: index.html
---
Written by `python -m leaderboard build`. Changes are overwritten.
"""


def space_folder(work_dir: Path, space: str) -> Path:
    """Return the folder in which the files of a Space are kept between builds."""
    return work_dir / "edition" / space.replace("/", "--")


def publish_to_space(folder: Path, space: str, settings: Settings) -> str:
    """Upload what changed and delete what is gone. Return a line that says what was done.

    Raises StoreError if the Hub refuses or does not answer.
    """
    api = HfApi(os.environ.get("HF_ENDPOINT") or constants.ENDPOINT, settings.hub_token_value)
    try:
        entries = api.list_repo_tree(space, repo_type="space", recursive=True)
        remote = {e.path: e.lfs.sha256 if e.lfs else e.blob_id for e in entries if isinstance(e, RepoFile)}
        local = {name: folder / name for name in read_manifest(folder / MANIFEST) if (folder / name).is_file()}
        adds = [CommitOperationAdd(name, path) for name, path in local.items() if remote.get(name) not in _ids(path)]
        if "README.md" not in remote:
            adds.append(CommitOperationAdd("README.md", README.encode()))
        gone = [CommitOperationDelete(name) for name in remote if name not in local and name not in KEPT]
        if adds or gone:
            api.create_commit(space, [*adds, *gone], commit_message="Update the board", repo_type="space")
    except (HTTPError, OSError) as error:
        raise StoreError(f"the Space {space} was not updated: {error}") from None
    return f"{space}: {len(adds)} files uploaded, {len(gone)} deleted"


def _ids(path: Path) -> tuple[str, str]:
    """Return the ids that the Hub may know a file by: a git blob's, or that of a large file."""
    content = path.read_bytes()
    return blob_id(content), sha256(content).hexdigest()

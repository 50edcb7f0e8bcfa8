"""Upload an edition to a static Space in one commit with only what changed."""

import os
from pathlib import Path

from httpx2 import HTTPError
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, constants

from leaderboard.edition.build import MANIFEST, read_manifest
from submissions.config.settings import Settings
from submissions.store.space_files import is_id_of, space_file_ids
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
        remote = space_file_ids(api, space)
        local = {name: folder / name for name in read_manifest(folder / MANIFEST) if (folder / name).is_file()}
        changed = {n: path for n, path in local.items() if not is_id_of(remote.get(n), path.read_bytes())}
        adds = [CommitOperationAdd(name, path) for name, path in changed.items()]
        if "README.md" not in remote:
            adds.append(CommitOperationAdd("README.md", README.encode()))
        gone = [CommitOperationDelete(name) for name in remote if name not in local and name not in KEPT]
        if adds or gone:
            api.create_commit(space, [*adds, *gone], commit_message="Update the board", repo_type="space")
    except (HTTPError, OSError) as error:
        raise StoreError(f"the Space {space} was not updated: {error}") from None
    return f"{space}: {len(adds)} files uploaded, {len(gone)} deleted"

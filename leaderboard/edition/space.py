"""Upload an edition to a static Space, in one commit that has only the files that changed."""

from pathlib import Path

from httpx2 import HTTPError
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

from leaderboard.edition.build import MANIFEST, read_manifest
from submissions.config.settings import Settings
from submissions.store.hub_api import hub_endpoint
from submissions.store.space_files import is_id_of, space_file_ids
from submissions.texts.errors import StoreError

KEPT = (".gitattributes", "README.md")  # files of the Space that are not of the edition, and are not deleted
# Written only to a Space that has none. Its first lines configure the Space.
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
    """Make the files of a Space those of the edition in a folder. Return a line for the operator that says what was done.

    Only files whose content differs from that of the Space are uploaded. Raises StoreError if the Hub refuses or does not
    answer.
    """
    api = HfApi(hub_endpoint(), settings.hub_token_value)
    try:
        remote_ids = space_file_ids(api, space)  # by name
        local = {name: folder / name for name in read_manifest(folder / MANIFEST) if (folder / name).is_file()}
        changed = {name: path for name, path in local.items() if not is_id_of(remote_ids.get(name), path.read_bytes())}
        additions = [CommitOperationAdd(name, path) for name, path in changed.items()]
        if "README.md" not in remote_ids:
            additions.append(CommitOperationAdd("README.md", README.encode()))
        deletions = [CommitOperationDelete(name) for name in remote_ids if name not in local and name not in KEPT]
        if additions or deletions:
            api.create_commit(space, [*additions, *deletions], commit_message="Update the board", repo_type="space")
    except (HTTPError, OSError) as error:
        raise StoreError(f"the Space {space} was not updated: {error}") from None
    return f"{space}: {len(additions)} files uploaded, {len(deletions)} deleted"

"""Approve the Python files of a model's repository at one commit. Each file is approved by its hash."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from httpx2 import HTTPError
from huggingface_hub import snapshot_download

from submissions.hub_models.open_repository import open_repository
from submissions.hub_models.repository import CODE_PATTERN, code_digests, local_model
from submissions.records.operator import CodeApproval
from submissions.store.base import Changes, Snapshot, Store, transact
from submissions.texts.errors import QueueError, RefusedError
from submissions.texts.refusals import RefusalCode


def draft_approval(
    model_id: str, revision: str, models_dir: Path | None, now: datetime
) -> tuple[CodeApproval, dict[str, int]]:
    """Return an approval of a repository's code, not yet published, and the size of each file in bytes.

    Raises RefusedError if the repository has no code, `revision` is not one of its commits, or the Hub cannot be reached. The
    name of a branch is refused, because the branch may have other files later.
    """
    repository = open_repository(model_id, revision, models_dir)
    if repository.revision != revision:
        raise RefusedError(RefusalCode.REVISION_NOT_FOUND, repository.revision)
    if folder := local_model(model_id, models_dir):
        files = code_digests(folder)
        sizes = _sizes(folder, files)
    else:
        with TemporaryDirectory() as scratch:
            try:
                snapshot_download(model_id, revision=revision, allow_patterns=[CODE_PATTERN], local_dir=scratch)
            except (HTTPError, OSError) as error:
                raise RefusedError(RefusalCode.HUB_UNREACHABLE) from error
            files = code_digests(Path(scratch))
            sizes = _sizes(Path(scratch), files)
    if not files:
        raise RefusedError(RefusalCode.NO_CODE)
    return CodeApproval(model_id=repository.model_id, revision=revision, files=files, approved_at=now), sizes


def approve_code(store: Store, approval: CodeApproval) -> None:
    """Publish the approval of a model's code at a commit, which allows it to run."""
    transact(store, lambda _: ({approval.path: approval.to_bytes()}, f"Approve the code of {approval.model_id}", None))


def withdraw_approval(store: Store, model_id: str, revision: str) -> None:
    """Withdraw the approval of a model's code. Raises QueueError if it is not approved.

    The letter case of the ID does not matter, as on the Hub.
    """
    wanted = CodeApproval.path_of(model_id, revision).casefold()

    def decide(snapshot: Snapshot) -> tuple[Changes, str, None]:
        paths = [path for path in snapshot.files if path.casefold() == wanted]
        if not paths:
            raise QueueError(f"the code of {model_id}@{revision} is not approved")
        return dict.fromkeys(paths), f"Withdraw the approval of the code of {model_id}", None

    transact(store, decide)


def find_approval(store: Store, model_id: str, revision: str) -> CodeApproval | None:
    """Return the approval of a model's code at a commit, or None if there is none or it is unreadable.

    The letter case of the ID has to be that of the Hub, which the IDs in requests have.
    """
    path = CodeApproval.path_of(model_id, revision)
    snapshot = store.snapshot()
    try:
        return CodeApproval.from_json(store.read(path, snapshot.head)) if path in snapshot.files else None
    except ValueError:
        return None


def _sizes(folder: Path, names: Iterable[str]) -> dict[str, int]:
    """Return the size in bytes of each of the named files, by name."""
    return {name: (folder / name).stat().st_size for name in names}

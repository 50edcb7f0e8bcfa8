"""What an operator approves: the Python files of a model's repository at one commit, byte by byte."""

from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from httpx2 import HTTPError
from huggingface_hub import snapshot_download

from submissions.errors import RefusedError
from submissions.messages import RefusalCode
from submissions.models.open_repository import open_repository
from submissions.models.repository import CODE, code_digests, local_model
from submissions.records import CodeApproval


def approval_of(
    model_id: str, revision: str, models_dir: Path | None, now: datetime
) -> tuple[CodeApproval, dict[str, int]]:
    """The approval to be given, and the size of each file in bytes. Raises RefusedError where there is nothing to approve."""
    repository = open_repository(model_id, revision, models_dir)
    if repository.revision != revision:
        raise RefusedError(RefusalCode.REVISION_NOT_FOUND, repository.revision)
    if folder := local_model(model_id, models_dir):
        files, sizes = code_digests(folder), _sizes(folder)
    else:
        with TemporaryDirectory() as scratch:
            try:
                snapshot_download(model_id, revision=revision, allow_patterns=[CODE], local_dir=scratch)
            except (HTTPError, OSError) as error:
                raise RefusedError(RefusalCode.HUB_UNREACHABLE) from error
            files, sizes = code_digests(Path(scratch)), _sizes(Path(scratch))
    if not files:
        raise RefusedError(RefusalCode.NO_CODE)
    return CodeApproval(model_id=repository.model_id, revision=revision, files=files, approved_at=now), sizes


def _sizes(folder: Path) -> dict[str, int]:
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in sorted(folder.rglob(CODE))}
